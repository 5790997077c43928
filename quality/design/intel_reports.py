"""Read the reports of Intel's FPGA compilers: aoc from 17 on, oneAPI up to 2025.

Loops are in loops.json (up to 19) or loop_attr.json, estimated resources in summary.json, and both are known
before the hours of a full compilation. That writes quartus.json and acl_quartus_report.txt. Since 2024 the
JSON files have a line for each record, and nodes refer to their children by number (.ndjson).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syclade.quality.design.model import LoopReport, Resources
from syclade.quality.design.table import DesignFileError, Table

__all__ = ["OF_REPORTS", "intel_report", "quartus_text", "records_of"]

OF_REPORTS = "is the file complete? Reports of other versions may have other keys"
"""Hint where a key of a report is missing."""

_LOOPS, _ESTIMATE = "loop_attributes", "estimatedResources"

_STAGES_LINE = re.compile(r"stages\.h['\"], ['\"]line['\"]: ['\"]?(\d+)", re.IGNORECASE)
_ESTIMATED_II = re.compile(r"(?:~|>=)?(\d+(?:\.\d+)?)")
"""Initiation intervals that depend on memory or on inner loops are marked as approximate."""

_RAMS = ("RAM blocks", "M20K blocks", "M10K blocks")
"""Names of the RAM blocks in acl_quartus_report.txt: of all chips, of Stratix V, of Cyclone V."""


def records_of(text: str) -> list[dict[str, Any]]:
    """Return the objects of a JSON file, or of a file with an object in each line.

    Raises:
        json.JSONDecodeError: it is neither.
    """
    try:
        found = [json.loads(text)]
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            found = [json.loads(line) for line in lines]
        except json.JSONDecodeError:
            raise error from None
    return [one for one in found if isinstance(one, dict)]


def intel_report(records: Sequence[Mapping[str, Any]], path: str) -> dict[str, Any] | None:
    """Return what a report says, as fields of `Measured`; None if it is none of Intel's.

    Args:
        records: the objects in the file.
        path: the file, for messages.

    Raises:
        DesignFileError: a number is missing, or is none; the message names the key.
    """
    if not records:
        return None
    merged = Table({key: value for one in records for key, value in one.items()}, path, hint=OF_REPORTS)
    if merged.has("quartusFitResourceUsageSummary"):
        return _quartus(merged)
    first = Table(records[0], path, hint=OF_REPORTS)
    if first.has("nodes") and first.take("name", "") == _LOOPS:
        return _loops(Table(_nested(records), path, hint=OF_REPORTS))
    if "II" in first.take("columns", []) and first.has("children"):
        return {"loops": tuple(_old_loops(first, ""))}
    if first.has(_ESTIMATE):
        estimate = first.table(_ESTIMATE)
        return _estimate(estimate, estimate.tables("children"), path)
    header = next((one for one in records if one.get("summary_type") == _ESTIMATE), None)
    if header is not None:
        rows = [Table(one, path, hint=OF_REPORTS) for one in records if one.get("parent") == _ESTIMATE]
        return _estimate(Table(header, path, hint=OF_REPORTS), rows, path)
    return None


def _nested(records: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the first record with nodes in place of their numbers; it may have them already."""
    by_number = {one["id"]: one for one in records[1:] if isinstance(one.get("id"), int)}

    def whole(node: Any) -> Any:
        # A node is taken out when it is used, so that a circle of numbers ends.
        node = by_number.pop(node, {}) if isinstance(node, int) else node
        children = node.get("children") if isinstance(node, dict) else None
        return {**node, "children": [whole(one) for one in children]} if isinstance(children, list) else node

    nodes = records[0]["nodes"]
    return {**records[0], "nodes": [whole(one) for one in nodes] if isinstance(nodes, list) else nodes}


def _loops(table: Table) -> dict[str, Any]:
    """Return loops and clock of loop_attr.json: kernels, in them loops and blocks."""
    loops: list[LoopReport] = []
    clocks = []
    for kernel in table.tables("nodes"):
        if kernel.has("fmax"):
            clocks.append(_number(kernel, "fmax"))
        loops += _loops_in(kernel, kernel.text("name"))
    return {"loops": tuple(loops)} | ({"clock_mhz": min(clocks)} if clocks else {})


def _loops_in(node: Table, kernel: str) -> Iterator[LoopReport]:
    for child in node.tables("children", optional=True):
        if child.take("type", "") == "loop" and child.take("ii", "n/a") != "n/a":
            depth = _number(child, "lt") if child.has("lt") else 0.0
            yield LoopReport(kernel, _line(child), _interval(child, child.take("ii")), depth)
        yield from _loops_in(child, kernel)


def _old_loops(node: Table, kernel: str) -> Iterator[LoopReport]:
    """Yield the loops of loops.json: kernels, in them loops; the first columns are pipelined and II."""
    for child in node.tables("children", optional=True):
        name = child.text("name")
        own = name.removeprefix("Kernel: ") if name.startswith("Kernel: ") else kernel
        data = child.take("data", [])
        if isinstance(data, list) and len(data) > 1 and data[0] == "Yes":
            yield LoopReport(own, _line(child), _interval(child, data[1]), 0.0)
        yield from _old_loops(child, own)


def _line(loop: Table) -> int | None:
    """Return the line of stages.h in a loop's place, if it is there."""
    place = _STAGES_LINE.search(repr(loop.take("debug", [])))
    return int(place[1]) if place else None


def _interval(loop: Table, value: object) -> float:
    found = _ESTIMATED_II.fullmatch(str(value))
    if found is None:
        loop.refuse("ii", f"expected an initiation interval, found {value!r}")
    return float(found[1])


def _estimate(header: Table, rows: Sequence[Table], path: str) -> dict[str, Any]:
    """Return the resources of summary.json: all but the board's."""
    columns = [name.strip() for name in header.texts("columns")[1:]]
    by_name = {row.text("name"): row for row in rows}
    if "Total" not in by_name:
        header.refuse("children", "there is no row Total")
    names = ("Total", "Board Interface")
    total, board = (_row(by_name[one], columns, path) if one in by_name else {} for one in names)
    own = {key: number - board.get(key, 0.0) for key, number in total.items()}
    luts, ffs, rams, mlabs, dsps = (own.get(key, 0.0) for key in ("ALUTs", "FFs", "RAMs", "MLABs", "DSPs"))
    dsps += own.get("Frac. DSPs", 0.0) / header.number("dsp_packing_factor", 1)
    return {"resources": Resources(luts, ffs, rams, mlabs, dsps), "is_estimate": True}


def _row(row: Table, columns: Sequence[str], path: str) -> dict[str, float]:
    values = row.take("data")
    if not isinstance(values, list) or len(values) > len(columns):
        row.refuse("data", f"expected a number for each of {', '.join(columns)}")
    named = Table(dict(zip(columns, values, strict=False)), path, "data", OF_REPORTS)
    return {key: _number(named, key) for key in named.names()}


def _quartus(table: Table) -> dict[str, Any]:
    """Return clock and resources of quartus.json: the kernels' system, without the static partition."""
    clocks = table.table("quartusFitClockSummary").tables("nodes")
    name = next((key for key in ("kernel clock", "clock") if clocks[0].has(key)), "clock")
    rows = table.table("quartusFitResourceUsageSummary").tables("nodes")
    kinds = ("system", "aclsystem")
    row = next((one for one in rows if one.take("type", "") in kinds), rows[-1])
    names = ("alut", "alm", "reg", "ram", "mlab", "dsp")
    alut, alm, *others = (_number(row, key) if row.has(key) else 0.0 for key in names)
    # Without a count of the look-up tables, both of each adaptive logic module count.
    resources = Resources(alut or 2 * alm, *others)
    return {"clock_mhz": _number(clocks[0], name), "resources": resources}


def quartus_text(text: str, path: str) -> dict[str, Any]:
    """Return clock and resources of acl_quartus_report.txt: the whole chip.

    Raises:
        DesignFileError: a line is missing.
    """
    rows = dict(re.findall(r"^([\w /]+): *([\d,.]+)", text, re.MULTILINE))

    def number(*keys: str) -> float:
        key = next((one for one in keys if one in rows), None)
        if key is None:
            raise DesignFileError("this line is missing", path=path, key=keys[0])
        return float(rows[key].replace(",", ""))

    luts, ffs, rams, dsps = number("ALUTs"), number("Registers"), number(*_RAMS), number("DSP blocks")
    # The platform's clock generator reaches the highest possible clock only nearly.
    clock = number("Actual clock freq", "Kernel fmax")
    return {"clock_mhz": clock, "resources": Resources(luts, ffs, rams, 0.0, dsps), "has_static": True}


def _number(table: Table, key: str) -> float:
    """Return a number, which these tools write as text."""
    value = table.take(key)
    try:
        return float(str(value).replace(",", ""))
    except ValueError:
        table.refuse(key, f"expected a number, found {value!r}", "is the compilation complete?")
