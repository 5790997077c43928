"""Line of results.tsv: what a batch reports of each matrix, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from syclade.host.answer.output.multiqc import multiqc_row
from syclade.host.device.work import STEPS, SWEEPS

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["COLUMNS", "TIMES", "Line", "failed_line", "line_of", "table_of"]

COLUMNS = (
    "name", "state", "mutations", "cells", "log_likelihood", "fp_rate", "fn_rate", "agreeing", "runs",
    "converged", "certainty", "seconds", "steps", "sweeps", "device", "error",
)  # fmt: skip
"""Columns of results.tsv: `agreeing` of the `runs` (searches, or chains) found the best score, `certainty` is
the mean probability of the tree's edges by its support, and `steps` and `sweeps` are those of this run."""

TIMES = ("seconds", "device")
"""Columns in which equal runs differ, besides the work of resumed runs."""

Line = dict[str, Any]
"""Values by `COLUMNS`, None for those that are not known; and the row for MultiQC, as `multiqc`."""


def line_of(name: str, result: Result) -> Line:
    """Return the line of a result."""
    work = {unit: sum(one.count for one in result.work if one.unit == unit) for unit in (STEPS, SWEEPS)}
    return {
        "name": name,
        "state": "done",
        "mutations": len(result.mutations),
        "cells": result.n_cells,
        "log_likelihood": result.log_likelihood,
        "fp_rate": result.rates.fp_rate,
        "fn_rate": result.rates.fn_rate,
        "agreeing": result.agreeing,
        "runs": len(result.searches) or result.chains,
        "converged": "yes" if result.converged else "no",
        "certainty": None if result.support is None else result.support.certainty,
        "seconds": result.seconds,
        "steps": work[STEPS],
        "sweeps": work[SWEEPS],
        "device": result.device,
        "error": None,
        "multiqc": multiqc_row(result),
    }


def failed_line(name: str, error: str, state: str = "failed") -> Line:
    """Return the line of a matrix without a result.

    Args:
        name: its name.
        error: the reason.
        state: failed, or waiting where it is not yet known.
    """
    return {"name": name, "state": state, "error": " ".join(error.replace("\nhint: ", "; ").split())}


def table_of(lines: Iterable[Line]) -> str:
    """Return the text of results.tsv."""
    rows = [COLUMNS, *(tuple(_text(line.get(name)) for name in COLUMNS) for line in lines)]
    return "".join("\t".join(row) + "\n" for row in rows)


def _text(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)
