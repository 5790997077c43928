"""Flavour vitis: streams and a dataflow region in C++, for AMD's Vitis HLS; g++ compiles and runs it, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from syclade.host.commands.export.hls.layout import IO, Hop, circulating, hops
from syclade.host.commands.export.hls.processes import (
    PROCESSES,
    io_body,
    io_parameters,
    stage_body,
    streams_of,
)
from syclade.host.commands.export.hls.program import Loop
from syclade.host.commands.export.hls.project import Flavour, filled, unrolled

__all__ = ["VITIS"]

_PARTITION = "#pragma HLS array_partition variable=NAME cyclic factor=UNROLL"


def _label(loop: Loop) -> Sequence[str]:
    """Return the line that names a loop in reports."""
    return () if unrolled(loop) == "" else (f"{loop.label}:",)


def _pragmas(loop: Loop) -> Sequence[str]:
    factor = unrolled(loop)
    if factor is None:
        return ()
    return (f"#pragma HLS unroll factor={factor}",) if factor else ("#pragma HLS unroll",)


def _stream(hop: Hop) -> str:
    return f"hls::stream<{'wide' if hop.is_packed else hop.element}>"


def _pointers() -> list[str]:
    changed = circulating()
    return [
        f"{'' if memory in changed else 'const '}{memory.c_type} *all_{memory.name}"
        for memory in io_parameters()
    ]


def _process(process: str) -> str:
    """Return the function of a process; its streams are parameters."""
    streams = [f"{_stream(hop)} &{hop.name}" for hop in streams_of(process)]
    first = ["u64 chains", "u64 states", *_pointers()] if process == IO else ["u64 passes"]
    body = io_body(_PARTITION) if process == IO else stage_body(process, _PARTITION)
    parameters = ",\n    ".join([*first, *streams])
    return f"static void {process}_process(\n    {parameters})\n{{\n{body}}}\n"


def _start(process: str) -> str:
    pointers = [f"all_{memory.name}" for memory in io_parameters()]
    first = ["chains", "states", *pointers] if process == IO else ["passes"]
    given = ",\n        ".join([*first, *(hop.name for hop in streams_of(process))])
    return f"    START({process}_process(\n        {given}));\n"


def _make() -> Mapping[str, str]:
    pointers = ",\n    ".join(_pointers())
    ports = [
        f"#pragma HLS interface m_axi port=all_{one.name} bundle={one.name}\n" for one in io_parameters()
    ]
    streams = [
        f'    {_stream(hop)} {hop.name}("{hop.name}");\n'
        f"#pragma HLS stream variable={hop.name} depth={hop.depth}\n"
        for hop in hops()
    ]
    arrays = [
        f'arrays.at("{one.name}").data()' if one.c_type == "u64" else f'signed_of(arrays, "{one.name}")'
        for one in io_parameters()
    ]
    parts = {
        "PROCESSES": "\n".join(map(_process, PROCESSES)),
        "POINTERS": pointers,
        "INTERFACES": "".join(ports),
        "STREAMS": "".join(streams),
        "STARTS": "".join(map(_start, PROCESSES)),
        "ARRAYS": ",\n            ".join(arrays),
    }
    return {
        "pipeline.cpp": filled("vitis_pipeline.cpp", parts),
        "pipeline.h": filled("vitis_pipeline.h", {"POINTERS": pointers}),
        "testbench.h": filled("testbench.h"),
        "project.tcl": filled("vitis_project.tcl"),
        "Makefile": filled("vitis_Makefile"),
        "README.md": filled("vitis.md"),
    }


VITIS = Flavour(
    "vitis",
    ("pipeline.cpp", "pipeline.h", "testbench.h", "project.tcl", "Makefile", "README.md"),
    _make,
    _label,
    _pragmas,
)
