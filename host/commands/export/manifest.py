"""manifest.json: everything that a program or a person needs to use an export; and its test vector."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import syclade
from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.backends.stages.described import DescribedKernel, stage_kernels
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import Plan, chain_allocation, chain_kernel, chain_sizes
from syclade.host.chains.runs.pipeline import initial_states, run_chains
from syclade.host.device.compile.image import parts_of
from syclade.host.device.compile.translate import compiler_versions
from syclade.host.device.device import NUMPY, Device
from syclade.host.device.engines.local import NumpyEngine
from syclade.host.ground.spirv import header
from syclade.host.ground.values import JsonObject
from syclade.kernels.ancestor import stage_arguments
from syclade.kernels.ancestor.stage_arguments import StageArgument
from syclade.kernels.arguments import SCRATCH
from syclade.kernels.chain.arguments import PARAMETERS
from syclade.kernels.rates.arguments import RATES

__all__ = [
    "STAGES",
    "ExportedKernel",
    "Vector",
    "common_parts",
    "describe_vector",
    "exported_kernels",
    "make_manifest",
    "sha256",
    "symbol_values",
    "vector_file",
]


FLATTENED = ("items", "item_bytes", "data", "shape", "stride_bytes")
_FLATTENING = {
    "order": list(FLATTENED),
    "meaning": "every array is five arguments of the kernel, in this order: number of elements (int64), "
    "bytes of an element (int64), address in global memory, number of elements again (int64), bytes from "
    "one element to the next (int64). Arrays are flat, C order, the last axis of `shape` fastest.",
}
_DIRECTIONS = {
    "in": "read only",
    "out": "the launch reads only what it has written itself; needs no contents beforehand",
    "inout": "read and written",
}
_ROLES = {
    "problem": "the same for all slots, for a whole inference",
    "setting": "one per slot, set by the host between launches",
    "state": "what a chain's next step needs; copy it in and out to move a chain",
    "info": "diagnostics",
    "events": "samples of a slot, in a ring that the host empties: it sets event_count to 0",
    "scratch": "from one stage to the next; has no meaning between steps",
}


def sha256(content: bytes) -> str:
    """Return the hexadecimal SHA-256 digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


def make_manifest(
    kernels: Sequence[tuple[ExportedKernel, bytes]],
    sizes: Mapping[str, int],
    values: Mapping[str, int],
    vector: JsonObject,
    files: Mapping[str, bytes],
) -> JsonObject:
    """Return the manifest as plain values.

    Args:
        kernels: each kernel and its module.
        sizes: the capacities `cells` and `mutations`.
        values: of the symbols in shapes, except `slots`.
        vector: from `describe_vector`.
        files: content of the other files of the folder, such as images, by name.
    """
    return common_parts(kernels, values, files) | {
        "encoding": "ancestor",
        "sizes": dict(sizes),
        "constants": dict(kernels[0][0].kernel.constants),
        "symbols": {
            "slots": "chain states in memory, free to choose at run time",
            "log_sizes": "mutations of the problem + 2, free to choose at run time",
            "nodes": "tree nodes, root included, padded to a multiple of lanes",
            "words": "64-bit words of a row of ancestors",
            "cells": "distinct columns of the matrix, padded to a multiple of lanes",
            "lanes": "work-items of a work-group",
            "values": "informative observed values: 0 and 1, and 2 where it occurs",
            "classes": "the same, and one more for uninformative entries",
            "moves": "moves that a chain makes",
            "tallies": "steps proposed and accepted, by kind of move",
            "events": "length of a slot's ring of samples, free to choose at run time",
            "fn_points": "points of the grid of the rate of false negatives; 1 if that is fixed",
            "fp_points": "likewise for the rate of false positives",
        },
        "parameters": list(PARAMETERS),
        "stages": {
            "order": [kernel.name for kernel, _ in kernels[1:]],
            "meaning": "one launch of each is one step of every slot's chain",
        },
        "problem": vector,
    }


def common_parts(
    kernels: Sequence[tuple[ExportedKernel, bytes]], values: Mapping[str, int], files: Mapping[str, bytes]
) -> JsonObject:
    """Return the parts that the manifests of all families of kernels have.

    Args:
        kernels: each kernel and its module.
        values: of the symbols in shapes that are fixed.
        files: content of the other files of the folder, by name.
    """
    version = header(kernels[0][1])[1]
    return {
        "format": "syclade export",
        "format_version": 4,
        "syclade": syclade.__version__,
        "sources": kernels[0][0].kernel.sources,
        "compilers": compiler_versions(),
        "spirv_version": f"{version >> 16 & 255}.{version >> 8 & 255}",
        "flattening": _FLATTENING,
        "directions": _DIRECTIONS,
        "roles": _ROLES,
        "kernels": [_kernel(kernel, module, values) for kernel, module in kernels],
        "files": {name: sha256(content) for name, content in files.items()},
    }


def _kernel(kernel: ExportedKernel, module: bytes, numbers: Mapping[str, int]) -> JsonObject:
    return {
        "name": kernel.name,
        "meaning": kernel.meaning,
        "file": kernel.file,
        "sha256": sha256(module),
        "entry_point": kernel.entry_point,
        "constants": dict(kernel.kernel.constants),
        "parts": parts_of(kernel.kernel),
        "work_size": {"global": [f"slots * {kernel.kernel.lanes}"], "local": [kernel.kernel.lanes]},
        "arguments": [_argument(index, one, numbers) for index, one in enumerate(kernel.arguments)],
    }


def _argument(index: int, described: StageArgument, numbers: Mapping[str, int]) -> JsonObject:
    argument, direction = described
    first = index * len(FLATTENED)
    return {
        "name": argument.name,
        "type": argument.dtype,
        "shape": list(argument.shape),
        "numbers": [numbers.get(part, part) if isinstance(part, str) else part for part in argument.shape],
        "direction": direction,
        "role": argument.role,
        "meaning": argument.meaning,
        "flat_arguments": [first, first + len(FLATTENED) - 1],
    }


STAGES = tuple(stage_arguments.STAGES)
"""One launch of each, in this order, is one step of every chain."""


@dataclass(frozen=True)
class ExportedKernel(DescribedKernel):
    """One kernel of an export; its name is used in the manifest and as its file's name."""

    @property
    def entry_point(self) -> str:
        """Name of the kernel in its module."""
        return self.kernel.name

    @property
    def file(self) -> str:
        """File name of the module."""
        return f"{self.name}.spv"


def exported_kernels(plan: Plan, encoding: AncestorEncoding) -> tuple[ExportedKernel, ...]:
    """Return the kernels for the encoding's capacities: chain_steps, and the stages."""
    kernel = chain_kernel(plan, encoding)
    whole = ExportedKernel(
        name="chain_steps",
        kernel=kernel,
        arguments=stage_arguments.whole_steps(kernel.arguments, learned=plan.problem.learns),
        meaning="take every slot's chain from step to last_step; all stages in one kernel",
    )
    return whole, *(
        ExportedKernel(stage.name, stage.kernel, stage.arguments, stage.meaning)
        for stage in stage_kernels(plan, encoding)
    )


def symbol_values(plan: Plan, encoding: AncestorEncoding, mutations: int) -> dict[str, int]:
    """Return the values of the symbols in argument shapes, except `slots`, for a capacity in mutations."""
    # A tree has one node more than mutations, and ln(k) is needed for k = 0 ... nodes.
    sizes = chain_sizes(plan, encoding, slots=1) | {"log_sizes": mutations + 2}
    del sizes["slots"]
    return sizes


@dataclass(frozen=True, eq=False)
class Vector:
    """The inference of a test vector.

    Attributes:
        plan: the plan of the chains.
        cells: number of cells of the matrix.
        chains: number of chains, one per slot.
        steps: steps of each chain.
        seed: seed of the random numbers.
    """

    plan: Plan
    cells: int
    chains: int
    steps: int
    seed: int


def vector_file(vector: Vector, encoding: AncestorEncoding) -> bytes:
    """Return an npz file of all arguments of chain_steps that need values before the first launch, by name.

    Args:
        vector: the inference.
        encoding: has the capacities of the kernels, to which the arrays are padded.
    """
    plan = vector.plan
    arguments = chain_kernel(plan, encoding).arguments
    engine = NumpyEngine(NUMPY, chain_allocation(plan, encoding, vector.chains, vector.seed, arguments))
    runner = Runner(plan, encoding, vector.seed, engine)
    runner.put_all(initial_states(plan, vector.seed, range(vector.chains)))
    arrays = {one.name: engine.read(one.name) for one in arguments if one.role != SCRATCH}
    arrays["last_step"][:] = vector.steps
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


_NUMPY_STEPS = 10_000
"""Up to this many steps, the numpy fallback is fast enough."""


def describe_vector(vector: Vector, content: bytes, device: Device) -> JsonObject:
    """Return the manifest's part on the test vector, with the expected results.

    The expected results come from an ordinary run that shares nothing with the exported kernels. It uses the
    numpy fallback or, if there are many steps, `device`, with the default encoding there.
    """
    plan, problem = vector.plan, vector.plan.problem
    device = NUMPY if vector.steps <= _NUMPY_STEPS else device
    encoding = choose_encoding("auto", device, problem)
    slots = default_slots(device, plan, encoding, vector.chains)
    runner = make_runner(device, plan, encoding, slots, vector.seed)
    try:
        outcome = run_chains(runner, chains=vector.chains, steps=vector.steps)
    finally:
        runner.close()
    return {
        "file": "problem.npz",
        "sha256": sha256(content),
        "mutations": problem.mutations,
        "cells": vector.cells,
        "distinct_columns": problem.columns,
        "slots": vector.chains,
        "steps": vector.steps,
        "seed": vector.seed,
        "unit": problem.unit,
        "base": problem.base,
        "expected": {
            "best_scores": outcome.best_scores.tolist(),
            "parents": outcome.best.best_parents.tolist(),
            **({"rates_at": list(outcome.best.best_rate_at[:RATES])} if problem.learns else {}),
        },
    }
