"""Page of a batch: its table, with links to the reports of the results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from syclade.host.answer.batch.result_row import Line
from syclade.host.answer.batch.task import MATRICES
from syclade.host.answer.report.page import require_report, template
from syclade.host.ground.values import counted

__all__ = ["page_of"]


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
        done=done,
        count=counted(len(lines), *MATRICES),
        reported=reported,
    )
    return page
