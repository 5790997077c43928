"""Read what a testbench counted, and what synthesis tools report, of a circuit: cycles, clock, resources.

A file is recognised by its content: the JSON of an exported project's testbench; csynth.xml of Vitis HLS or
Vivado HLS; the files of Intel's compilers (intel_reports.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from syclade.quality.design.intel_reports import OF_REPORTS, intel_report, quartus_text, records_of
from syclade.quality.design.model import LoopReport, Resources
from syclade.quality.design.table import DesignFileError, Table

__all__ = ["Count", "Measured", "read_measured"]


@dataclass(frozen=True)
class Count:
    """Iterations of a loop in one step, as a testbench counted them.

    Attributes:
        kernel: its process.
        loop: its name; receive or send for all loops that move arrays.
        iterations: of all of them.
        longest: of the longest one.
    """

    kernel: str
    loop: str
    iterations: int
    longest: int


@dataclass(frozen=True)
class Measured:
    """Measurements of a circuit; what no file says is empty or None.

    Attributes:
        files: their paths.
        nodes, cells, unroll: sizes of the testbench's project.
        counts: iterations by kernel and loop.
        lines: the line of stages.h in which each loop counts.
        loops: loops of synthesis reports.
        clock_mhz: clock.
        resources: resources, and whether the board's static partition is among them.
        has_static: see `resources`.
        is_estimate: whether the resources are a compiler's estimate.
    """

    files: tuple[str, ...] = ()
    nodes: int | None = None
    cells: int | None = None
    unroll: int | None = None
    counts: tuple[Count, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    loops: tuple[LoopReport, ...] = ()
    clock_mhz: float | None = None
    resources: Resources | None = None
    has_static: bool = False
    is_estimate: bool = False


def read_measured(paths: Sequence[Path]) -> Measured:
    """Read files of one circuit; of what several of them say, the last one counts.

    Raises:
        DesignFileError: a file cannot be read, or is none of the known ones; it names file and key.
    """
    found: dict[str, Any] = {}
    for path in paths:
        said = _read(path)
        if "resources" in said:
            said = {"has_static": False, "is_estimate": False} | said
        found |= said
    return Measured(files=tuple(map(str, paths)), **found)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DesignFileError(f"cannot read what was measured: {error}", path=str(path)) from error
    if text.lstrip().startswith("<"):
        return _vitis(text, str(path))
    if text.lstrip().startswith("{"):
        return _json(text, str(path))
    if re.search(r"^(ALUTs|Kernel fmax): ", text, re.MULTILINE):
        return quartus_text(text, str(path))
    raise _unknown(path)


def _unknown(path: Path | str) -> DesignFileError:
    return DesignFileError(
        "this is no file of measurements that is known",
        path=str(path),
        hint="give a testbench's JSON, csynth.xml, loop_attr.json, loops.json, summary.json, quartus.json "
        "or acl_quartus_report.txt",
    )


def _json(text: str, path: str) -> dict[str, Any]:
    try:
        records = records_of(text)
    except json.JSONDecodeError as error:
        raise DesignFileError(
            f"this is not JSON: {error.msg} (line {error.lineno}, column {error.colno})", path=path
        ) from error
    if records and "runs" in records[0]:
        return _testbench(Table(records[0], path, hint=OF_REPORTS))
    found = intel_report(records, path)
    if found is None:
        raise _unknown(path)
    return found


def _testbench(table: Table) -> dict[str, Any]:
    """Return the counts of the run with the fewest states in flight that has any."""
    runs = [one for one in table.tables("runs") if one.has("loops")]
    counted = [one for one in runs if _counts(one)]
    if not counted:
        table.refuse(
            "runs", "no run has counts", "run the testbench with --trace, or compile it with -DCOUNT"
        )
    sizes = {name: table.count(name) for name in ("nodes", "cells", "unroll")}
    lines = table.table("lines", optional=True)
    return {
        **sizes,
        "counts": _counts(min(counted, key=lambda run: run.number("states", 1))),
        "lines": {name: lines.count(name) for name in lines.names()},
    }


def _counts(run: Table) -> tuple[Count, ...]:
    loops, longest = run.table("loops"), run.table("longest_transfer", optional=True)
    made = []
    for kernel in loops.names():
        own = loops.table(kernel)
        most = longest.table(kernel, optional=True)
        for loop in own.names():
            iterations = int(own.number(loop))
            if iterations:
                made.append(Count(kernel, loop, iterations, int(most.number(loop, iterations))))
    return tuple(made)


def _vitis(text: str, path: str) -> dict[str, Any]:
    """Return clock, resources and loops of csynth.xml, of the top module and all others."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DesignFileError(f"this is not XML: {error}", path=path) from error

    def number(where: ElementTree.Element, key: str) -> float:
        value = where.findtext(key)
        try:
            return float(value or "")
        except ValueError:
            message = "this key is missing" if value is None else f"expected a number, found {value!r}"
            raise DesignFileError(message, path=path, key=key.replace("/", ".")) from None

    if root.find("AreaEstimates") is None:
        raise _unknown(path)
    period = number(root, "PerformanceEstimates/SummaryOfTimingAnalysis/EstimatedClockPeriod")
    if period <= 0:
        raise DesignFileError("the clock period is 0", path=path, key="EstimatedClockPeriod")
    # Vivado HLS, before 2020.2, names the DSP blocks after the chip's.
    dsp = "DSP" if root.find("AreaEstimates/Resources/DSP48E") is None else "DSP48E"
    keys = ("LUT", "FF", "BRAM_18K", dsp)
    luts, ffs, rams, dsps = (number(root, f"AreaEstimates/Resources/{key}") for key in keys)
    loops = [
        LoopReport(
            loop.findtext("Name") or loop.tag, None, number(loop, "PipelineII"), number(loop, "PipelineDepth")
        )
        for summary in root.iter("SummaryOfLoopLatency")
        for loop in summary.iter()
        if loop.find("PipelineII") is not None
    ]
    # A block RAM of 36 Kb is two of 18 Kb.
    return {
        "clock_mhz": 1e3 / period,
        "resources": Resources(luts, ffs, rams / 2, 0.0, dsps),
        "loops": tuple(loops),
    }
