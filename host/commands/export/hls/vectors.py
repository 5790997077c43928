"""Golden vectors: the inference that a project's testbench runs, and the states that it must end with.

The file consists of blocks: a name (32 bytes, padded with zeros), the number of elements (64 bits, little
endian), and the elements, of 64 bits each. First `run` (chains, steps), then what io takes, in the order of
its parameters, then the expected states, each as ``expected_NAME``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from syclade.host.chains.backends import make_runner
from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.backends.stages.opening import stage_arrays
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.commands.export.hls.processes import circulating, tables
from syclade.host.device.choice import choose_device
from syclade.host.device.device import NUMPY
from syclade.host.ground.values import Array

__all__ = ["VECTORS", "Vectors", "block", "vectors_file"]

VECTORS = "vectors.bin"

_NUMPY_STEPS = 10_000
"""Up to this many steps of a chain, the numpy fallback is fast enough."""

_WHOLE = ("parameters", "move_below", "planes", "multiplicity")
"""Tables without a part for each slot."""


@dataclass(frozen=True)
class Vectors:
    """The inference of the golden vectors: chains, steps of each, and the seed."""

    chains: int
    steps: int
    seed: int


def vectors_file(plan: Plan, encoding: AncestorEncoding, vectors: Vectors, mutations: int) -> bytes:
    """Return the content of the file.

    Args:
        plan: the parts of the chains.
        encoding: has the capacities of the project, to which the arrays are padded.
        vectors: the inference.
        mutations: capacity in mutations, to which the table of logarithms of sizes is padded.
    """
    engine = stage_arrays(stage_kernels(plan, encoding), plan, encoding, vectors.chains, vectors.seed)
    starts = [initial_state(plan, vectors.seed, chain) for chain in range(vectors.chains)]
    Runner(plan, encoding, vectors.seed, engine).put_all(starts)
    engine.named["last_step"][:] = vectors.steps
    blocks = [block("run", np.array([vectors.chains, vectors.steps]))]
    for memory in tables():
        array = engine.named[memory.name]
        own = array if memory.name in _WHOLE else array[0]
        blocks.append(
            block(
                memory.name, np.pad(own, (0, mutations + 2 - len(own))) if memory.name == "log_sizes" else own
            )
        )
    blocks += [block(memory.name, engine.named[memory.name]) for memory in circulating()]
    blocks += [block(f"expected_{name}", array) for name, array in _expected(plan, encoding, vectors)]
    return b"".join(blocks)


def block(name: str, array: Array) -> bytes:
    """Return a block of the file; the array's numbers have 64 bits."""
    assert array.dtype.itemsize == 8
    return (
        struct.pack("<32sQ", name.encode(), array.size)
        + array.astype(array.dtype.newbyteorder("<")).tobytes()
    )


def _expected(plan: Plan, encoding: AncestorEncoding, vectors: Vectors) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of the states after the last step.

    They come from an ordinary run, which has no code in common with the stages in C: of the numpy fallback
    or, for many steps, of the device and the encoding that a run would choose.
    """
    device = NUMPY if vectors.steps <= _NUMPY_STEPS else choose_device("auto")
    chosen = choose_encoding("auto", device, plan.problem)
    runner = make_runner(device, plan, chosen, vectors.chains, vectors.seed)
    try:
        runner.put_all([initial_state(plan, vectors.seed, chain) for chain in range(vectors.chains)])
        runner.advance(np.full(vectors.chains, vectors.steps, dtype=np.int64))
        ends = [runner.get(slot) for slot in range(vectors.chains)]
        tallies = [runner.info(slot).tallies for slot in range(vectors.chains)]
    finally:
        runner.close()
    yield "step", np.array([end.step for end in ends], dtype=np.int64)
    yield "score", np.array([end.score for end in ends], dtype=np.int64)
    yield "best_score", np.array([end.best_score for end in ends], dtype=np.int64)
    yield "ancestors", np.stack([encoding.encode(end.parents)["ancestors"] for end in ends])
    yield "best_ancestors", np.stack([encoding.encode(end.best_parents)["ancestors"] for end in ends])
    yield "tallies", np.stack(tallies)
