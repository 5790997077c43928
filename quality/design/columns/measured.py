"""Counts of an exported column unit's testbench, beside the model's cycles for the same columns."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syclade.host.ground.errors import OptionError
from syclade.quality.design.columns.model import ColumnDesign
from syclade.quality.design.table import DesignFileError

__all__ = ["UnitCount", "count_of", "read_unit_report"]

_LOOP = "process_trial_k"
"""The loop of the processing elements in functions.h."""


@dataclass(frozen=True)
class UnitCount:
    """Cycles of a unit for the golden columns, counted and modelled.

    Attributes:
        columns, bases: of the golden columns.
        block, pes: sizes of the exported unit: entries on the chip, processing elements.
        passes: bases of all blocks, and as the model has them.
        iterations: of the processing elements' loop.
        modelled_passes, modelled_iterations: what the model has for these.
        depth: cycles of a pass besides its iterations.
    """

    columns: int
    bases: int
    block: int
    pes: int
    passes: int
    iterations: int
    modelled_passes: int
    modelled_iterations: int
    depth: int

    @property
    def cycles(self) -> int:
        """Cycles by the counts, at an initiation interval of 1."""
        return self.iterations + self.depth * self.passes

    @property
    def modelled_cycles(self) -> int:
        """Cycles by the model."""
        return self.modelled_iterations + self.depth * self.modelled_passes

    def to_dict(self) -> dict[str, Any]:
        """Return it as `syclade design --json` prints it."""
        return dataclasses.asdict(self) | {"cycles": self.cycles, "modelled_cycles": self.modelled_cycles}


def read_unit_report(path: Path) -> Mapping[str, Any]:
    """Return the report of a column unit's testbench.

    Raises:
        DesignFileError: it cannot be read, or is no such report, or nothing was counted.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DesignFileError(f"cannot read what was measured: {error}", path=str(path)) from error
    needed = ("block", "elements", "sizes", "at_least", "passes", "iterations")
    missing = [name for name in needed if name not in report] if isinstance(report, dict) else needed
    if missing or _LOOP not in report["iterations"]:
        raise DesignFileError(
            f"this is no report of a column unit: it has no {(*missing, _LOOP)[0]}",
            path=str(path),
            hint="run the testbench of a column unit so that it counts: its README.md says how",
        )
    found: Mapping[str, Any] = report
    return found


def count_of(design: ColumnDesign, report: Mapping[str, Any]) -> UnitCount:
    """Return the counts of a report beside the model of a design with the sizes of the exported unit.

    Raises:
        OptionError: the design has outer pipelining, which exported units have not.
    """
    if design.outer:
        raise OptionError(
            f"{design.name} has outer pipelining, and exported units have inner",
            hint="compare with I/S/32, I/S/16, I/S/8 or I/S/4",
        )
    same = dataclasses.replace(design, dram=True, pes=report["elements"], block=report["block"])
    columns = list(zip(report["sizes"], report["at_least"], strict=True))
    passes = sum(bases * len(same.blocks_of(k)) for bases, k in columns)
    cycles = sum(bases * same.cycles_per_base(k) for bases, k in columns)
    return UnitCount(
        columns=len(columns),
        bases=sum(report["sizes"]),
        block=same.block,
        pes=same.pes,
        passes=report["passes"],
        iterations=report["iterations"][_LOOP],
        modelled_passes=passes,
        modelled_iterations=cycles - (same.pe_depth - 1) * passes,
        depth=same.pe_depth - 1,
    )
