"""Projects of all flavours: the stages in C, sizes, golden vectors, and the folder that they are written to.

The stages are those of the macro-pipeline, for one chain state in memory of its own, and one lane. The golden
vectors are the inference that a project's testbench runs, and the states that it must end with.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType, ModuleType

import numpy as np

import syclade
from syclade.host.chains.backends import make_runner
from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.backends.stages.opening import stage_arrays
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import Plan, chain_sizes, make_plan
from syclade.host.chains.runs.pipeline import initial_states
from syclade.host.commands.export.hls.body import translated
from syclade.host.commands.export.hls.processes import circulating, tables
from syclade.host.commands.export.hls.program import Loop, Program
from syclade.host.commands.export.hls.values import Array, Number, Record
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import Problem, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import choose_device
from syclade.host.device.device import NUMPY
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import write_files
from syclade.host.ground.values import Array as Numbers
from syclade.kernels.ancestor.capacity import Capacity
from syclade.kernels.ancestor.stage_arguments import STAGES, StageArgument
from syclade.kernels.arguments import record_of
from syclade.kernels.target.traits import Traits

__all__ = [
    "ONE_LANE", "VECTORS", "Design", "Flavour", "Vectors", "block", "export_project", "filled", "no_lines",
    "of_state", "script", "stage_program", "unrolled",
]  # fmt: skip

MOST_ELEMENTS = 1 << 30
"""Limit of an array's length: sizes are computed in 32 bits in C."""


@dataclass(frozen=True)
class Design:
    """Sizes of a project, besides those of its matrices.

    Attributes:
        states: maximum number of chain states in flight.
        unroll: how many rows of a matrix a loop works on at once.
    """

    states: int
    unroll: int


@dataclass(frozen=True)
class Flavour:
    """Projects for one compiler: files in addition to those of all, and pragmas.

    Attributes:
        name: name of the flavour.
        files: names of the files that it adds.
        make: () -> their contents.
        before_loop, in_loop: pragmas, as for `Program`.
    """

    name: str
    files: tuple[str, ...]
    make: Callable[[], Mapping[str, str]]
    before_loop: Callable[[Loop], Sequence[str]]
    in_loop: Callable[[Loop], Sequence[str]]

    @property
    def all_files(self) -> tuple[str, ...]:
        """Names of all files of a project."""
        return ("parameters.h", "stages.h", VECTORS, *self.files)


def filled(name: str, parts: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a template, with each ``@NAME@`` replaced by the part of this name.

    A line ``@file.h@`` is replaced by that template, which may have parts, too.
    """

    def text_of(file: str) -> str:
        return (resources.files(__package__) / "templates" / file).read_text(encoding="utf-8")

    text = re.sub(r"^@(\w+\.h)@\n", lambda found: text_of(found[1]), text_of(name), flags=re.MULTILINE)
    for part, content in parts.items():
        assert f"@{part}@" in text, part
        text = text.replace(f"@{part}@", content)
    return text


def script(module: ModuleType) -> str:
    """Return the text of a script of this folder, as it is where the modules that it needs lie beside it."""
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    return text.replace(f"from {__package__}.", "from ")


def unrolled(loop: Loop) -> str | None:
    """Return by how much a loop is unrolled: "" for all trips, a number of trips, or None for not at all."""
    if loop.has_rows:
        return None
    return {"NODES": "UNROLL", "CELLS": None}.get(loop.trips, "")


def export_project(
    directory: str | os.PathLike[str],
    flavour: Flavour,
    matrix: Matrix,
    rates: Rates,
    capacity: tuple[int, int],
    design: Design,
    vectors: Vectors,
    force: bool = False,
) -> list[str]:
    """Write a project for high-level synthesis, with golden vectors of an inference.

    Args:
        directory: created if needed.
        flavour: the compiler that it is for.
        matrix, rates: of the golden vectors.
        capacity: most distinct columns and most mutations that fit, at least those of the matrix.
        design: other sizes of the pipeline.
        vectors: chains, steps and seed of the golden vectors.
        force: whether existing files may be replaced.

    Returns:
        The names of the files.

    Raises:
        OptionError: the matrix does not fit, or the design is too large.
        OutputError: the files cannot be written.
    """
    problem = make_problem(matrix, rates)
    encoding = AncestorEncoding(problem, ONE_LANE, _sizes(problem, *capacity, design))
    plan, mutations = make_plan(problem), capacity[1]
    files: dict[str, str | bytes] = {
        "parameters.h": _parameters(plan, encoding, mutations, design),
        "stages.h": _stages(plan, encoding, flavour),
        VECTORS: _vectors_file(plan, encoding, vectors, mutations),
        **flavour.make(),
    }
    write_files(directory, files, force)
    return list(files)


def _sizes(problem: Problem, cells: int, mutations: int, design: Design) -> dict[str, int]:
    """Return the sizes of an encoding for a capacity; rows and columns are multiples of UNROLL.

    Raises:
        OptionError: the problem does not fit, or arrays are too long for C.
    """
    if problem.mutations > mutations or problem.columns > cells:
        raise OptionError(
            f"the matrix has {problem.mutations} mutations and {problem.columns} distinct columns, more than "
            f"fit in {mutations} and {cells}",
            hint="export for more mutations and cells, or for those of the matrix",
        )
    wide = ONE_LANE._replace(lanes=design.unroll)
    sizes = AncestorEncoding.capacity(wide, mutations + 1, cells, len(problem.values)) | {"lanes": 1}
    rows, words = sizes["nodes"], sizes["words"]
    longest = max(
        rows * sizes["cells"], design.states * rows * words, sizes["values"] * words * sizes["cells"]
    )
    if longest > MOST_ELEMENTS:
        raise OptionError(
            f"an array of this design has {longest} elements, and the limit is {MOST_ELEMENTS}",
            hint="export for fewer mutations, cells or states",
        )
    return sizes


def _parameters(plan: Plan, encoding: AncestorEncoding, mutations: int, design: Design) -> str:
    """Return parameters.h: the sizes, and the types of numbers."""
    sizes = chain_sizes(plan, encoding, slots=1)
    rows = [
        (
            "NODES",
            sizes["nodes"],
            f"rows of a matrix: {mutations} mutations and the root, and padding",
        ),
        ("WORDS", sizes["words"], "64-bit words of a row"),
        ("CELLS", sizes["cells"], "columns, and padding"),
        ("VALUES", sizes["values"], "observed values that say something of the tree"),
        ("CLASSES", sizes["classes"], "the same, and one for the others"),
        ("MOVES", sizes["moves"], "moves of a chain"),
        ("TALLIES", sizes["tallies"], "counts of steps"),
        ("LOG_SIZES", mutations + 2, "logarithms of numbers of nodes"),
        ("LANES", 1, "parts of a sum: one"),
        ("STATES", design.states, "chain states that may be in flight"),
        ("UNROLL", design.unroll, "rows that a loop works on at once"),
    ]
    defines = "".join(f"#define {name} {value}  /* {meaning} */\n" for name, value, meaning in rows)
    return filled("parameters.h", {"DEFINES": defines, "VERSION": syclade.__version__})


def _stages(plan: Plan, encoding: AncestorEncoding, flavour: Flavour) -> str:
    """Return stages.h: the functions of the stages."""
    program = stage_program(plan, encoding, flavour.before_loop, flavour.in_loop, unrolled)
    entries = "".join(f" \\\n    ENTRY({label})" for label in program.loops)
    return filled("stages.h", {"FUNCTIONS": program.text(), "ENTRIES": entries})


ONE_LANE = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)
"""Traits of stages in C: a work-item does all rows and columns, one after another or unrolled."""

_NO_SLOT = Number("0", "uint64", 0, stable=True, absent=True)


def no_lines(_loop: Loop) -> Sequence[str]:
    """Return no lines for a loop."""
    return ()


def stage_program(
    plan: Plan,
    encoding: AncestorEncoding,
    before_loop: Callable[[Loop], Sequence[str]] = no_lines,
    in_loop: Callable[[Loop], Sequence[str]] = no_lines,
    unrolled: Callable[[Loop], str | None] = lambda _loop: "",
) -> Program:
    """Translate the stages of a plan; the sizes of the encoding stay names (NODES, WORDS, CELLS, VALUES).

    Args:
        plan: the parts of the chains.
        encoding: made with the traits ONE_LANE.
        before_loop, in_loop, unrolled: as for `Program`.

    Returns:
        The program; the function of stage x has the name ``ancestor_x``, and as parameters the arrays of
        `STAGES`, in order.
    """
    remarks = {one.argument.name: _remark(one) for stage in STAGES.values() for one in stage}
    program = Program(Capacity, before_loop, in_loop, remarks, unrolled=unrolled)
    for stage in stage_kernels(plan, encoding):
        names = [one.argument.name for one in stage.arguments]
        arrays = tuple(Array(one.argument.name, one.argument.dtype) for one in stage.arguments)
        given = Record(record_of("Given", [one.argument for one in stage.arguments]), arrays)
        made = translated(program, stage.kernel.body(), [_NO_SLOT, _NO_SLOT, given])
        unused = [name for name, is_used in zip(names, made.used, strict=True) if not is_used]
        assert not unused, f"{stage.name} does not use {unused}"
    return program


def of_state(argument: StageArgument) -> tuple[str | int, ...]:
    """Return the shape of an argument's part that belongs to one state."""
    return tuple(part for part in argument.argument.shape if part != "slots")


def _remark(argument: StageArgument) -> str:
    """Return a comment on an array: shape and meaning."""
    shape = ", ".join(str(part).upper() for part in of_state(argument)) or "1"
    return f"({shape}): {argument.argument.meaning}"


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


def _vectors_file(plan: Plan, encoding: AncestorEncoding, vectors: Vectors, mutations: int) -> bytes:
    """Return the content of the file of golden vectors.

    It consists of blocks: a name (32 bytes, padded with zeros), the number of elements (64 bits, little
    endian), and the elements, of 64 bits each. First `run` (chains, steps), then what io takes, in the order
    of its parameters, then the expected states, each as ``expected_NAME``.

    Args:
        plan: the parts of the chains.
        encoding: has the capacities of the project, to which the arrays are padded.
        vectors: the inference.
        mutations: capacity in mutations, to which the table of logarithms of sizes is padded.
    """
    engine = stage_arrays(stage_kernels(plan, encoding), plan, encoding, vectors.chains, vectors.seed)
    starts = initial_states(plan, vectors.seed, range(vectors.chains))
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


def block(name: str, array: Numbers) -> bytes:
    """Return a block of the file; the array's numbers have 64 bits."""
    assert array.dtype.itemsize == 8
    return (
        struct.pack("<32sQ", name.encode(), array.size)
        + array.astype(array.dtype.newbyteorder("<")).tobytes()
    )


def _expected(plan: Plan, encoding: AncestorEncoding, vectors: Vectors) -> Iterator[tuple[str, Numbers]]:
    """Yield the arrays of the states after the last step.

    They come from an ordinary run, which has no code in common with the stages in C: of the numpy fallback
    or, for many steps, of the device and the encoding that a run would choose.
    """
    device = NUMPY if vectors.steps <= _NUMPY_STEPS else choose_device("auto")
    chosen = choose_encoding("auto", device, plan.problem)
    runner = make_runner(device, plan, chosen, vectors.chains, vectors.seed)
    try:
        runner.put_all(initial_states(plan, vectors.seed, range(vectors.chains)))
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
