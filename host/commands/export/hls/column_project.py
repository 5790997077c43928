"""Projects of the column unit for high-level synthesis: processes for each compiler, and golden columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import syclade
from syclade.fallback.tails.blocked import tail_of_trials
from syclade.fallback.tails.grouped import reduce_groups
from syclade.host.calls.tails.columns import Columns
from syclade.host.commands.export.hls import column_testbench, opencl_device
from syclade.host.commands.export.hls.column_unit import (
    PROCESSES,
    STREAMS,
    Process,
    column_functions,
    elements_at_once,
    streams_of,
)
from syclade.host.commands.export.hls.flavours import (
    indented,
    oneapi_kernel,
    oneapi_pipe,
    vitis_port,
    vitis_stream,
    vitis_stream_type,
)
from syclade.host.commands.export.hls.program import Loop
from syclade.host.commands.export.hls.project import VECTORS, block, filled, no_lines, script
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import write_files

__all__ = ["COLUMN_FILES", "COLUMN_FLAVOURS", "ColumnFlavour", "ColumnUnit", "export_column_unit"]

COLUMN_FILES = ("parameters.h", "functions.h", VECTORS)
"""Files of the projects of all flavours."""

MOST_ENTRIES = 1 << 24
"""Limit of the entries on the chip."""


@dataclass(frozen=True)
class ColumnUnit:
    """Sizes of a column unit.

    Attributes:
        entries: entries of a block, which are on the chip (W of the article).
        elements: processing elements: entries that are updated at once (P).

    Raises:
        OptionError: a block has too many entries, or fewer than two.
    """

    entries: int
    elements: int

    def __post_init__(self) -> None:
        if not 2 <= self.entries <= MOST_ENTRIES:
            raise OptionError(f"a block has {self.entries} entries, and 2 to {MOST_ENTRIES} are possible")


def export_column_unit(
    directory: str | os.PathLike[str],
    flavour: ColumnFlavour,
    unit: ColumnUnit,
    columns: Columns,
    force: bool = False,
) -> list[str]:
    """Write the project of a column unit.

    Args:
        directory: created if needed.
        flavour: the compiler that it is for.
        unit: its sizes.
        columns: golden columns; those whose tail is certain or impossible are left out.
        force: whether existing files may be replaced.

    Returns:
        The names of the files.

    Raises:
        OutputError: the files cannot be written.
    """
    rows = (
        ("BLOCK", unit.entries, "entries of a block, on the chip"),
        ("ELEMENTS", unit.elements, "processing elements: entries that are updated at once"),
    )
    defines = "".join(f"#define {name} {value} /* {meaning} */\n" for name, value, meaning in rows)
    program = column_functions(flavour.before_loop, flavour.in_loop)
    loops = "".join(f" \\\n    ENTRY({label})" for label in program.loops)
    files: dict[str, str | bytes] = {
        "parameters.h": filled("columns_parameters.h", {"DEFINES": defines, "VERSION": syclade.__version__}),
        "functions.h": filled("columns_functions.h", {"FUNCTIONS": program.text(), "ENTRIES": loops}),
        VECTORS: _vectors(columns),
        **flavour.make(),
    }
    write_files(directory, files, force)
    return list(files)


def _vectors(columns: Columns) -> bytes:
    """Return the golden columns, with their tails by numpy, which has no code in common with the unit in C.

    Blocks as those of the stages: `run` (columns), `sizes` (trials), `at_least`, `error` (of all
    trials), room for boundary values, and the expected `log_tail`. Real numbers are stored as their bits.
    """
    errors, at_least = [], []
    for (first, end), wanted in zip(pairwise(columns.starts), columns.at_least, strict=True):
        p, counts, k = reduce_groups(columns.probabilities[first:end], columns.counts[first:end], int(wanted))
        if 0 < k <= counts.sum():
            errors.append(np.repeat(p, counts))
            at_least.append(k)
    room = np.zeros(max(map(len, errors), default=1))
    tails = np.array([tail_of_trials(p, k) for p, k in zip(errors, at_least, strict=True)])
    parts = {
        "run": np.array([len(errors)]),
        "sizes": np.array([len(p) for p in errors], dtype=np.int64),
        "at_least": np.array(at_least, dtype=np.int64),
        "error": np.concatenate([*errors, np.zeros(0)]),
        "edge": room,
        "edge_low": room,
        "log_tail": np.zeros(len(errors)),
        "expected_log_tail": tails,
    }
    return b"".join(block(name, array.view(np.int64)) for name, array in parts.items())


@dataclass(frozen=True)
class ColumnFlavour:
    """Projects for one compiler.

    Attributes:
        files: names of the files in addition to those of all.
        make: () -> their contents.
        before_loop, in_loop: pragmas, as for `Program`.
    """

    files: tuple[str, ...]
    make: Callable[[], Mapping[str, str]]
    before_loop: Callable[[Loop], Sequence[str]] = no_lines
    in_loop: Callable[[Loop], Sequence[str]] = no_lines


_IN_MEMORY = [(process, one) for process in PROCESSES for one in process.memory]
_NAMES = {"NAME": "columns"}


def _body(process: Process, each: str = "for (u64 number = 0; number < count; number++)") -> str:
    """Return what a process does: it gets one column after another."""
    get = f"READ(own, columns_to_{process.name})"
    own = "const column own = {all_sizes[number], all_at_least[number]};"
    first = own if process.name == "fetch" else f"column own;\n{get}"
    before = f"{process.before}\n" if process.before else ""
    inner = indented(f"{first}\n{process.body}", 1)
    return indented(f"{before}{each} {{\n{inner}}}", 1)


def _unroll(loop: Loop) -> Sequence[str]:
    factor = elements_at_once(loop)
    return (f"#pragma unroll {factor}",) if factor else ()


def _opencl_kernel(process: Process) -> str:
    """Return a kernel: one with memory is started by the host, others run by themselves."""
    head = f"/* {process.meaning} */\n"
    if not process.memory:
        body = _body(process, "while (1)")
        return f"{head}AUTORUN\n__kernel void {process.name}(void)\n{{\n{body}}}\n"
    arrays = [f"__global {kind} *restrict {name}" for kind, name, _ in process.memory]
    parameters = ",\n    ".join(["u64 count", *arrays])
    return f"{head}TASK\n__kernel void {process.name}(\n    {parameters})\n{{\n{_body(process)}}}\n"


def _opencl_files() -> Mapping[str, str]:
    channels = "".join(
        f"channel {one.type} {one.name} __attribute__((depth({one.depth})));\n" for one in STREAMS
    )
    kernels = "\n".join(map(_opencl_kernel, PROCESSES))
    return {
        "columns.cl": filled("columns.cl", {"CHANNELS": channels, "KERNELS": kernels}),
        "run_columns.py": script(column_testbench),
        "opencl_device.py": script(opencl_device),
        "README.md": filled("columns_opencl.md"),
    }


def _vitis_pragmas(loop: Loop) -> Sequence[str]:
    factor = elements_at_once(loop)
    return ("#pragma HLS pipeline II=1", f"#pragma HLS unroll factor={factor}") if factor else ()


def _vitis_process(process: Process) -> str:
    arrays = [f"{kind} *{name}" for kind, name, _ in process.memory]
    streams = [f"{vitis_stream_type(stream.type)} &{stream.name}" for stream in streams_of(process)]
    parameters = ",\n    ".join(["u64 count", *arrays, *streams])
    body = _body(process)
    for name in ("high", "low_part") if process.name == "elements" else ():
        pragma = f"#pragma HLS array_partition variable={name} cyclic factor=ELEMENTS\n"
        at = body.index("\n") + 1
        body = body[:at] + pragma + body[at:]
    return f"/* {process.meaning} */\nstatic void {process.name}(\n    {parameters})\n{{\n{body}}}\n"


def _vitis_start(process: Process) -> str:
    arrays = [name for _, name, _ in process.memory]
    given = ", ".join(["count", *arrays, *(stream.name for stream in streams_of(process))])
    return f"    START({process.name}({given}));\n"


def _vitis_files() -> Mapping[str, str]:
    pointers = ",\n    ".join(f"{kind} *{name}" for _, (kind, name, _) in _IN_MEMORY)
    ports = [vitis_port(name, name) for _, (_, name, _) in _IN_MEMORY]
    streams = [vitis_stream(one.name, one.type, one.depth) for one in STREAMS]
    parts = {
        "PROCESSES": "\n".join(map(_vitis_process, PROCESSES)),
        "POINTERS": pointers,
        "INTERFACES": "".join(ports),
        "STREAMS": "".join(streams),
        "STARTS": "".join(map(_vitis_start, PROCESSES)),
        "ARRAYS": ",\n            ".join(
            _of_vectors(kind, name, 'arrays.at("{0}").data()') for _, (kind, name, _) in _IN_MEMORY
        ),
    }
    return {
        "columns.cpp": filled("columns_vitis.cpp", parts),
        "columns.h": filled("columns_vitis.h", {"POINTERS": pointers}),
        "testbench.h": filled("columns_testbench.h"),
        "project.tcl": filled("vitis_project.tcl", _NAMES),
        "Makefile": filled("vitis_Makefile", _NAMES | {"FUNCTIONS": "functions.h"}),
        "README.md": filled("columns_vitis.md"),
    }


def _of_vectors(kind: str, name: str, array: str) -> str:
    """Return an array of the golden vectors as a pointer of its type; `array` has {0} for the name there."""
    return f"reinterpret_cast<{kind} *>({array.format(_in_vectors(name))})"


def _in_vectors(name: str) -> str:
    """Return the name that an array of a process has in the golden vectors."""
    return name.removeprefix("all_").removesuffix("_in").removesuffix("_out")


def _oneapi_kernel(process: Process) -> str:
    arrays = [f"{kind} *{name}" for kind, name, _ in process.memory]
    parameters = ",\n    ".join(["u64 count", *arrays])
    started = oneapi_kernel(process.name, f"start_{process.name}", parameters, _body(process))
    return f"/* {process.meaning} */\n{started}"


def _oneapi_start() -> str:
    lines = []
    for process in PROCESSES:
        arrays = [_of_vectors(kind, name, "on_{0}.device") for kind, name, _ in process.memory]
        lines.append(f"start_{process.name}({', '.join(['queue', 'count', *arrays])});\n")
    return indented("".join([*lines, "queue.wait();\n"]), 2)


def _oneapi_files() -> Mapping[str, str]:
    pipes = [oneapi_pipe(one.name, one.type, one.depth) for one in STREAMS]
    names = dict.fromkeys(_in_vectors(name) for _, (_, name, _) in _IN_MEMORY)
    memories = [f'OnDevice on_{name}(queue, arrays.at("{name}"));\n' for name in names]
    parts = {
        "PIPES": "".join(pipes),
        "KERNELS": "\n".join(map(_oneapi_kernel, PROCESSES)),
        "ON_DEVICE": indented("".join(memories), 2),
        "START": _oneapi_start(),
    }
    return {
        "columns.cpp": filled("columns_oneapi.cpp", parts),
        "testbench.h": filled("columns_testbench.h"),
        "CMakeLists.txt": filled("oneapi_CMakeLists.txt", _NAMES | {"FLAGS": " -fp-model=precise"}),
        "README.md": filled("columns_oneapi.md"),
    }


COLUMN_FLAVOURS = {
    "opencl": ColumnFlavour(
        ("columns.cl", "run_columns.py", "opencl_device.py", "README.md"), _opencl_files, _unroll
    ),
    "vitis": ColumnFlavour(
        ("columns.cpp", "columns.h", "testbench.h", "project.tcl", "Makefile", "README.md"),
        _vitis_files,
        in_loop=_vitis_pragmas,
    ),
    "oneapi": ColumnFlavour(
        ("columns.cpp", "testbench.h", "CMakeLists.txt", "README.md"), _oneapi_files, _unroll
    ),
}
"""Projects of the column unit by the name of the flavour."""
