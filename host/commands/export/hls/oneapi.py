"""Flavour oneapi: kernels and pipes in SYCL, for Intel's oneAPI with FPGA support (up to 2025.0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from syclade.host.commands.export.hls.layout import IO, hops
from syclade.host.commands.export.hls.processes import PROCESSES, io_body, io_parameters, stage_body
from syclade.host.commands.export.hls.program import Loop
from syclade.host.commands.export.hls.project import Flavour, filled, unrolled

__all__ = ["ONEAPI"]


def _pragmas(loop: Loop) -> Sequence[str]:
    factor = unrolled(loop)
    return () if factor is None else (f"#pragma unroll {factor}".rstrip(),)


def _nothing(_loop: Loop) -> Sequence[str]:
    return ()


def _kernel(process: str) -> str:
    """Return the function that starts a process."""
    pointers = [f"{memory.c_type} *all_{memory.name}" for memory in io_parameters()]
    own = ["u64 chains", "u64 states", *pointers] if process == IO else ["u64 passes"]
    parameters = ",\n    ".join(["sycl::queue &queue", *own])
    body = io_body() if process == IO else stage_body(process)
    inner = "".join(f"    {line}\n" if line.strip() else "\n" for line in body.splitlines())
    return (
        f"class {process}_kernel;\n\nstatic sycl::event {process}_process(\n    {parameters})\n{{\n"
        f"    return queue.single_task<{process}_kernel>([=]() [[intel::kernel_args_restrict]] {{\n{inner}"
        "    });\n}\n"
    )


def _start() -> str:
    """Return the lines that start all processes and wait for io, which ends last."""
    given = [
        f"on_{one.name}.device" if one.c_type == "u64" else f"reinterpret_cast<i64 *>(on_{one.name}.device)"
        for one in io_parameters()
    ]
    stages = [f"        {stage}_process(queue, passes);\n" for stage in PROCESSES if stage != IO]
    io = ",\n            ".join(["queue", "chains", "states", *given])
    return "".join(stages) + f"        io_process(\n            {io}).wait();\n        queue.wait();\n"


def _make() -> Mapping[str, str]:
    pipes = [
        f"class {hop.name}_id;\nusing {hop.name} = Stream<{hop.name}_id, {hop.element}, ({hop.depth})>;\n"
        for hop in hops()
    ]
    memories = [
        f'        OnDevice on_{one.name}(queue, arrays.at("{one.name}"));\n' for one in io_parameters()
    ]
    parts = {
        "PIPES": "".join(pipes),
        "KERNELS": "\n".join(map(_kernel, PROCESSES)),
        "ON_DEVICE": "".join(memories),
        "START": _start(),
    }
    return {
        "pipeline.cpp": filled("oneapi_pipeline.cpp", parts),
        "testbench.h": filled("testbench.h"),
        "CMakeLists.txt": filled("oneapi_CMakeLists.txt"),
        "README.md": filled("oneapi.md"),
    }


ONEAPI = Flavour(
    "oneapi", ("pipeline.cpp", "testbench.h", "CMakeLists.txt", "README.md"), _make, _pragmas, _nothing
)
