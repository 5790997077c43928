"""Table of a batch: results.tsv and the page with its lines; and the record of each task, in its folder.

The record says whether the results are complete, and of which options and input. It is written before the
other files, as begun, and once more when all of them are there. So a killed process leaves no files that the
next one takes for complete, or for a user's own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NotRequired, TypedDict

from syclade.host.answer.batch.task import MATRICES
from syclade.host.answer.output.result_files import multiqc_row
from syclade.host.answer.report.page import require_report, template
from syclade.host.data.input.checks import left_out_words
from syclade.host.data.model.rates import all_rates
from syclade.host.device.work import STEPS, SWEEPS
from syclade.host.ground.files import is_file, write_files
from syclade.host.ground.values import JsonObject, ParsedJson, counted

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = [
    "COLUMNS",
    "RECORD",
    "TIMES",
    "Line",
    "Record",
    "failed_line",
    "is_complete",
    "line_of",
    "page_of",
    "read_record",
    "table_of",
    "write_record",
]


COLUMNS = (
    "name", "state", "mutations", "cells", "log_likelihood", "fp_rate", "fn_rate", "agreeing", "runs",
    "converged", "certainty", "warnings", "seconds", "steps", "sweeps", "device", "error",
    "warned",
)  # fmt: skip
"""Columns of results.tsv: `agreeing` of the `runs` (searches, or chains) found the best score, `certainty` is
the mean probability of the tree's edges by its support, `warnings` their number, `seconds` the time of the
whole inference, and `steps` and `sweeps` are those of this run; `warned` has the texts of the warnings, with
` | ` between them."""

TIMES = ("seconds", "device")
"""Columns in which equal runs differ, besides the work of resumed runs."""


class Line(TypedDict):
    """Values by `COLUMNS`, as far as they are known; the warnings, the row for MultiQC, and the labels."""

    name: str
    state: str
    mutations: NotRequired[int]
    cells: NotRequired[int]
    log_likelihood: NotRequired[float]
    fp_rate: NotRequired[float | None]
    fn_rate: NotRequired[float | None]
    agreeing: NotRequired[int]
    runs: NotRequired[int]
    converged: NotRequired[str]
    certainty: NotRequired[float | None]
    warnings: NotRequired[int]
    warned: NotRequired[list[str]]
    seconds: NotRequired[float]
    steps: NotRequired[int]
    sweeps: NotRequired[int]
    device: NotRequired[str | None]
    error: NotRequired[str | None]
    multiqc: NotRequired[JsonObject]
    labels: NotRequired[dict[str, str]]


def _rates_of(result: Result) -> dict[str, float | None]:
    """Return the error rates by name: of estimated ones the means over sampled trees, if there are any."""
    rates = all_rates(result.model)
    posterior = None if result.support is None else result.support.rates
    if posterior is None:
        return rates
    means = {name: float(f"{own.mean:.3g}") for name, own in posterior.intervals.items()}
    return rates | {name: mean for name, mean in means.items() if name in rates}


def line_of(name: str, result: Result) -> Line:
    """Return the line of a result."""
    rates = _rates_of(result)
    out = result.observed.left_out
    warned = [*([f"left out: {left_out_words(out)}"] if out else []), *result.warnings]
    work = {unit: sum(one.count for one in result.work if one.unit == unit) for unit in (STEPS, SWEEPS)}
    return {
        "name": name,
        "state": "done",
        "mutations": len(result.measured),
        "cells": result.n_cells,
        "log_likelihood": result.log_likelihood,
        "fp_rate": rates["fp_rate"],
        "fn_rate": rates["fn_rate"],
        "agreeing": result.agreeing,
        "runs": result.run_count,
        "converged": "yes" if result.converged else "no",
        "certainty": None if result.support is None else result.support.certainty,
        "warnings": len(warned),
        "warned": warned,
        "seconds": result.total_seconds,
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


def table_of(lines: Sequence[Line]) -> str:
    """Return the text of results.tsv: `COLUMNS`, and a column for each label."""
    labels = _labels_of(lines)
    rows = [(*COLUMNS, *labels)]
    for line in lines:
        values = (*(line.get(name) for name in COLUMNS), *(line.get("labels", {}).get(one) for one in labels))
        rows.append(tuple(map(_text, values)))
    return "".join("\t".join(row) + "\n" for row in rows)


def _labels_of(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the names of all labels of lines."""
    return tuple(dict.fromkeys(name for line in lines for name in line.get("labels", {})))


def _text(value: object) -> str:
    if isinstance(value, list):
        return " | ".join(value)
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


RECORD = "task.json"


class Record(NamedTuple):
    """State of a task.

    Attributes:
        digest: digest of the options and inputs (`digest_of`); None if they could not be read.
        line: its line of results.tsv; None while it runs.
        files: names of the files of its result.
    """

    digest: str | None
    line: Line | None = None
    files: tuple[str, ...] = ()


def read_record(folder: Path) -> Record | None:
    """Return the record in a folder; None if there is none, or it is damaged."""
    try:
        stored: ParsedJson = json.loads((folder / RECORD).read_text("utf-8"))
        return Record(stored["digest"], stored["line"], tuple(stored["files"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write_record(folder: Path, record: Record) -> None:
    """Write a record in place of the earlier one.

    Raises:
        OutputError: it cannot be written.
    """
    text = json.dumps(record._asdict(), indent=2) + "\n"
    write_files(folder, {RECORD: text}, force=True, links=True)


def is_complete(folder: Path, record: Record | None, besides: Iterable[str] = ()) -> bool:
    """Return whether a record is of a result, all of whose files are there.

    Args:
        folder: the folder of the result.
        record: its record.
        besides: files that must be among them.
    """
    if record is None or record.line is None or record.line.get("state") != "done":
        return False
    return {*besides} <= {*record.files} and all(is_file(folder / name) for name in record.files)


class _Column(NamedTuple):
    """A column of the page.

    Attributes:
        name: its name in the lines.
        title: its title.
        form: format of its numbers; empty for texts.
        of: column with the number that this one is a part of.
    """

    name: str
    title: str
    form: str = ""
    of: str = ""

    def text(self, line: Mapping[str, object]) -> str:
        """Return the text of a cell."""
        value = line.get(self.name)
        text = "" if value is None else (self.form or "{}").format(value)
        return f"{text} of {line[self.of]}" if text and self.of else text


_COLUMNS = (
    _Column("name", "Name"),
    _Column("mutations", "Mutations", "{}"),
    _Column("cells", "Cells", "{}"),
    _Column("log_likelihood", "Log-likelihood", "{:.4f}"),
    _Column("fp_rate", "False positives", "{:.3g}"),
    _Column("fn_rate", "False negatives", "{:.3g}"),
    _Column("agreeing", "Agreeing", "{}", "runs"),
    _Column("converged", "Converged"),
    _Column("certainty", "Certainty", "{:.0%}"),
    _Column("warnings", "Warnings", "{}"),
    _Column("seconds", "Seconds", "{:.2f}"),
    _Column("error", "Error"),
)


def page_of(lines: Sequence[Line], reported: Collection[str]) -> str:
    """Return the HTML of the page, without scripts or external resources.

    Args:
        lines: the lines of all matrices.
        reported: names of those that have report.html in their folders.

    Raises:
        OptionError: jinja2 is not installed.
    """
    require_report()
    done = sum(line["state"] == "done" for line in lines)
    page: str = template("batch.html").render(
        lines=lines,
        columns=_COLUMNS,
        labels=_labels_of(lines),
        done=done,
        count=counted(len(lines), *MATRICES),
        reported=reported,
    )
    return page
