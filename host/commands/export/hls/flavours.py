"""Flavours of projects: the compilers that they can be made for, and what differs between them.

OpenCL has channels and autorun kernels, for Intel's FPGA SDK for OpenCL and its emulator. Vitis has streams
and a dataflow region in C++, for AMD's Vitis HLS; g++ compiles and runs it, too. oneAPI has kernels and pipes
in SYCL, for Intel's oneAPI with FPGA support (up to 2025.0). Projects of the column unit declare streams,
ports and kernels by the same functions, so that both follow a compiler alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from syclade.host.commands.export.hls import opencl_device, opencl_testbench
from syclade.host.commands.export.hls.processes import (
    IO,
    PROCESSES,
    Hop,
    circulating,
    hops,
    io_body,
    io_parameters,
    stage_body,
    streams_of,
)
from syclade.host.commands.export.hls.program import Loop
from syclade.host.commands.export.hls.project import Flavour, filled, no_lines, script, unrolled
from syclade.kernels.ancestor.stage_arguments import STAGES

__all__ = [
    "FLAVOURS",
    "indented",
    "oneapi_kernel",
    "oneapi_pipe",
    "vitis_port",
    "vitis_stream",
    "vitis_stream_type",
]


NAMES = {"NAME": "pipeline"}


def indented(text: str, depth: int = 1) -> str:
    """Return lines moved right by a number of steps; empty ones stay empty."""
    pad = "    " * depth
    return "".join(f"{pad}{line}\n" if line.strip() else "\n" for line in text.splitlines())


def vitis_stream_type(element: str) -> str:
    """Return the type of a stream of elements."""
    return f"hls::stream<{element}>"


def vitis_stream(name: str, element: str, depth: int | str) -> str:
    """Return the declaration of a stream in a function, with its depth."""
    return (
        f'    {vitis_stream_type(element)} {name}("{name}");\n'
        f"#pragma HLS stream variable={name} depth={depth}\n"
    )


def vitis_port(pointer: str, bundle: str) -> str:
    """Return the pragma that gives a pointer a port of its own."""
    return f"#pragma HLS interface m_axi port={pointer} bundle={bundle}\n"


def oneapi_pipe(name: str, element: str, depth: int | str) -> str:
    """Return the declaration of a pipe; the identity of a pipe is a class."""
    return f"class {name}_id;\nusing {name} = Stream<{name}_id, {element}, {depth}>;\n"


def oneapi_kernel(name: str, function: str, parameters: str, body: str) -> str:
    """Return the function that starts a kernel.

    Args:
        name: name of the kernel, whose class is named after it.
        function: name of the function.
        parameters: those after the queue, as C.
        body: the kernel's statements, indented by one step.
    """
    return (
        f"class {name}_kernel;\n\n"
        f"static sycl::event {function}(\n    sycl::queue &queue,\n    {parameters})\n{{\n"
        f"    return queue.single_task<{name}_kernel>([=]() [[intel::kernel_args_restrict]] {{\n"
        f"{indented(body)}    }});\n}}\n"
    )


def _unroll_pragmas(loop: Loop) -> Sequence[str]:
    factor = unrolled(loop)
    return () if factor is None else (f"#pragma unroll {factor}".rstrip(),)


def _opencl_files() -> Mapping[str, str]:
    channels = "".join(
        f"channel {hop.element} {hop.name} __attribute__((depth({hop.depth})));\n" for hop in hops()
    )
    stages = "\n".join(
        f"AUTORUN\n__kernel void {stage}_process(void)\n{{\n{stage_body(stage)}}}\n" for stage in STAGES
    )
    pointers = ",\n    ".join(
        f"__global {memory.c_type} *restrict all_{memory.name}" for memory in io_parameters()
    )
    head = f"TASK\n__kernel void io_process(\n    u64 chains,\n    u64 states,\n    {pointers})\n"
    io = f"{head}{{\n{io_body()}}}\n"
    text = filled("pipeline.cl", {"CHANNELS": channels, "STAGES": stages, "IO": io})
    return {
        "pipeline.cl": text,
        "run_pipeline.py": script(opencl_testbench),
        "opencl_device.py": script(opencl_device),
        "README.md": filled("opencl.md"),
    }


OPENCL = Flavour(
    "opencl",
    ("pipeline.cl", "run_pipeline.py", "opencl_device.py", "README.md"),
    _opencl_files,
    _unroll_pragmas,
    no_lines,
)


_PARTITION = "#pragma HLS array_partition variable=NAME cyclic factor=UNROLL"


def _vitis_label(loop: Loop) -> Sequence[str]:
    """Return the line that names a loop in reports."""
    return () if unrolled(loop) == "" else (f"{loop.label}:",)


def _vitis_pragmas(loop: Loop) -> Sequence[str]:
    factor = unrolled(loop)
    if factor is None:
        return ()
    return (f"#pragma HLS unroll factor={factor}",) if factor else ("#pragma HLS unroll",)


def _vitis_element(hop: Hop) -> str:
    return "wide" if hop.is_packed else hop.element


def _vitis_pointers() -> list[str]:
    changed = circulating()
    return [
        f"{'' if memory in changed else 'const '}{memory.c_type} *all_{memory.name}"
        for memory in io_parameters()
    ]


def _vitis_process(process: str) -> str:
    """Return the function of a process; its streams are parameters."""
    streams = [f"{vitis_stream_type(_vitis_element(hop))} &{hop.name}" for hop in streams_of(process)]
    first = ["u64 chains", "u64 states", *_vitis_pointers()] if process == IO else ["u64 passes"]
    body = io_body(_PARTITION) if process == IO else stage_body(process, _PARTITION)
    parameters = ",\n    ".join([*first, *streams])
    return f"static void {process}_process(\n    {parameters})\n{{\n{body}}}\n"


def _vitis_start(process: str) -> str:
    pointers = [f"all_{memory.name}" for memory in io_parameters()]
    first = ["chains", "states", *pointers] if process == IO else ["passes"]
    given = ",\n        ".join([*first, *(hop.name for hop in streams_of(process))])
    return f"    START({process}_process(\n        {given}));\n"


def _vitis_files() -> Mapping[str, str]:
    pointers = ",\n    ".join(_vitis_pointers())
    ports = [vitis_port(f"all_{one.name}", one.name) for one in io_parameters()]
    streams = [vitis_stream(hop.name, _vitis_element(hop), hop.depth) for hop in hops()]
    arrays = [
        f'arrays.at("{one.name}").data()' if one.c_type == "u64" else f'signed_of(arrays, "{one.name}")'
        for one in io_parameters()
    ]
    parts = {
        "PROCESSES": "\n".join(map(_vitis_process, PROCESSES)),
        "POINTERS": pointers,
        "INTERFACES": "".join(ports),
        "STREAMS": "".join(streams),
        "STARTS": "".join(map(_vitis_start, PROCESSES)),
        "ARRAYS": ",\n            ".join(arrays),
    }
    return {
        "pipeline.cpp": filled("vitis_pipeline.cpp", parts),
        "pipeline.h": filled("vitis_pipeline.h", {"POINTERS": pointers}),
        "testbench.h": filled("testbench.h"),
        "project.tcl": filled("vitis_project.tcl", NAMES),
        "Makefile": filled("vitis_Makefile", NAMES | {"FUNCTIONS": "stages.h"}),
        "README.md": filled("vitis.md"),
    }


VITIS = Flavour(
    "vitis",
    ("pipeline.cpp", "pipeline.h", "testbench.h", "project.tcl", "Makefile", "README.md"),
    _vitis_files,
    _vitis_label,
    _vitis_pragmas,
)


def _oneapi_kernel(process: str) -> str:
    """Return the function that starts a process."""
    pointers = [f"{memory.c_type} *all_{memory.name}" for memory in io_parameters()]
    own = ["u64 chains", "u64 states", *pointers] if process == IO else ["u64 passes"]
    body = io_body() if process == IO else stage_body(process)
    return oneapi_kernel(process, f"{process}_process", ",\n    ".join(own), body)


def _oneapi_start() -> str:
    """Return the lines that start all processes and wait for io, which ends last."""
    given = [
        f"on_{one.name}.device" if one.c_type == "u64" else f"reinterpret_cast<i64 *>(on_{one.name}.device)"
        for one in io_parameters()
    ]
    stages = [f"        {stage}_process(queue, passes);\n" for stage in PROCESSES if stage != IO]
    io = ",\n            ".join(["queue", "chains", "states", *given])
    return "".join(stages) + f"        io_process(\n            {io}).wait();\n        queue.wait();\n"


def _oneapi_files() -> Mapping[str, str]:
    pipes = [oneapi_pipe(hop.name, hop.element, f"({hop.depth})") for hop in hops()]
    memories = [
        f'        OnDevice on_{one.name}(queue, arrays.at("{one.name}"));\n' for one in io_parameters()
    ]
    parts = {
        "PIPES": "".join(pipes),
        "KERNELS": "\n".join(map(_oneapi_kernel, PROCESSES)),
        "ON_DEVICE": "".join(memories),
        "START": _oneapi_start(),
    }
    return {
        "pipeline.cpp": filled("oneapi_pipeline.cpp", parts),
        "testbench.h": filled("testbench.h"),
        "CMakeLists.txt": filled("oneapi_CMakeLists.txt", NAMES | {"FLAGS": ""}),
        "README.md": filled("oneapi.md"),
    }


ONEAPI = Flavour(
    "oneapi",
    ("pipeline.cpp", "testbench.h", "CMakeLists.txt", "README.md"),
    _oneapi_files,
    _unroll_pragmas,
    no_lines,
)


FLAVOURS = {flavour.name: flavour for flavour in (OPENCL, VITIS, ONEAPI)}
"""Flavours by name."""
