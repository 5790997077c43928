"""Flavour opencl: channels and autorun kernels, for Intel's FPGA SDK for OpenCL and its emulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from syclade.host.commands.export.hls import opencl_testbench
from syclade.host.commands.export.hls.layout import hops
from syclade.host.commands.export.hls.processes import io_body, io_parameters, stage_body
from syclade.host.commands.export.hls.program import Loop
from syclade.host.commands.export.hls.project import Flavour, filled, unrolled
from syclade.kernels.ancestor.stage_arguments import STAGES

__all__ = ["OPENCL"]


def _pragmas(loop: Loop) -> Sequence[str]:
    factor = unrolled(loop)
    return () if factor is None else (f"#pragma unroll {factor}".rstrip(),)


def _nothing(_loop: Loop) -> Sequence[str]:
    return ()


def _make() -> Mapping[str, str]:
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
    script = Path(str(opencl_testbench.__file__)).read_text(encoding="utf-8")
    return {"pipeline.cl": text, "run_pipeline.py": script, "README.md": filled("opencl.md")}


OPENCL = Flavour("opencl", ("pipeline.cl", "run_pipeline.py", "README.md"), _make, _pragmas, _nothing)
