"""Outcome of the study of arithmetic: a value with a report, a text and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import Drawn
from syclade.quality.studies.arithmetic.hotspots import Hotspot
from syclade.quality.studies.arithmetic.plot import arithmetic_figure
from syclade.quality.studies.arithmetic.scores import own_scores
from syclade.quality.studies.arithmetic.steps import StepCost, slope_of
from syclade.quality.studies.arithmetic.table import Published, Row
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ArithmeticResult"]

_FUNCTIONS = ("function", "order", "largest error", "error of scores", "same best tree", "ns", "cycles")
_TABLE = ("function", "largest error", "error of scores", "cycles")
_HOTSPOTS = ("", "hotspot", "publication (stored)", "here", "measured")
_STEPS = ("mutations", "cells", "us a step", "accepted", "visited", "ns per visit and cell", "cycles")


@dataclass(frozen=True, eq=False, repr=False)
class ArithmeticResult(Drawn):
    """Outcome of `arithmetic`.

    Attributes:
        rows: every function and score.
        published: Table 1 of the publication.
        hotspots: its hotspots, with what stands in their place.
        linear: cost of steps for rising numbers of mutations, at one number of cells.
        others: cost of steps of other sizes.
        cycle: length of a clock cycle in ns.
        settings: sizes and numbers of repeats, as plain values.
        machine: processor and cores.
    """

    rows: tuple[Row, ...]
    published: tuple[Published, ...]
    hotspots: tuple[Hotspot, ...]
    linear: tuple[StepCost, ...]
    others: tuple[StepCost, ...]
    cycle: float
    settings: dict[str, Any]
    machine: dict[str, str | int]

    @property
    def holds(self) -> bool:
        """Return whether devices' scores have the best trees of the exact score.

        The time of a step must not grow faster than the number of nodes, either.
        """
        compared = [row.best for row in self.rows if row.best is not None and row.name in own_scores()]
        return all(best.same == best.inputs for best in compared) and slope_of(self.linear) <= 1.0

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        errors = {row.name: row.score_error for row in self.rows if row.name in own_scores()}
        return (
            f"<ArithmeticResult: errors of scores {errors}, time of a step ~ n^{slope_of(self.linear):.2f}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in arithmetic.json."""
        return {
            "check": "arithmetic",
            "holds": self.holds,
            "settings": self.settings,
            "machine": self.machine,
            "cycle_ns": self.cycle,
            "functions": [asdict(row) for row in self.rows],
            "published": [asdict(row) for row in self.published],
            "hotspots": [asdict(one) for one in self.hotspots],
            "exponent_of_nodes": slope_of(self.linear),
            "linear": [_cost_dict(cost) for cost in self.linear],
            "other_sizes": [_cost_dict(cost) for cost in self.others],
        }

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"a clock cycle has {self.cycle:.3g} ns; times are processor time, medians of turns"
        yield text_table(_FUNCTIONS, [_row(row) for row in self.rows])
        yield "stored: Table 1 of the publication, GCC 8.3 on a Coffee Lake"
        yield text_table(_TABLE, [_published_row(row) for row in self.published])
        spots = [[one.section, one.name, one.published, one.here, one.measured] for one in self.hotspots]
        yield text_table(_HOTSPOTS, spots)
        yield text_table(_STEPS, [_cost_row(cost, self.cycle) for cost in (*self.linear, *self.others)])
        yield f"the time of a step grows with the number of nodes to the power {slope_of(self.linear):.2f}"

    def figure(self) -> Figure:
        """Draw errors against cycles, and the time of a step against the number of mutations."""
        return arithmetic_figure(self.rows, self.linear)


def _cost_dict(cost: StepCost) -> dict[str, Any]:
    return {
        **asdict(cost),
        "ns_per_visit": cost.ns_per_visit,
        "ns_per_node": cost.ns_per_node,
        "ns_per_pair": cost.ns_per_pair,
    }


def _cost_row(cost: StepCost, cycle: float) -> list[str]:
    return [
        str(cost.mutations),
        str(cost.cells),
        f"{cost.ns / 1e3:.3g}",
        f"{cost.acceptance:.0%}",
        f"{cost.visits.children:.1f}",
        f"{cost.ns_per_visit:.2f}",
        f"{cost.ns_per_visit / cycle:.1f}",
    ]


def _row(row: Row) -> list[str]:
    best = "" if row.best is None else f"{row.best.same} of {row.best.inputs}"
    return [
        row.name,
        "" if row.order is None else str(row.order),
        _small(row.error),
        _small(row.score_error),
        best,
        "" if row.cost is None else f"{row.cost.median:.3g}",
        _number(row.cycles),
    ]


def _published_row(row: Published) -> list[str]:
    return [row.name, _small(row.error), _small(row.score_error), _number(row.cycles)]


def _small(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}" if value else "0"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"
