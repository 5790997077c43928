"""Outcome of the study of exported pipelines: a value with a report, a text and a figure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import Drawn, new_figure
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Built", "Pipelines"]


@dataclass(frozen=True)
class Built:
    """A project that was built and run.

    Attributes:
        flavour: opencl, vitis or oneapi.
        nodes: nodes of the trees, and cells.
        build_seconds: time of the compiler; 0 for opencl, which the driver compiles in each run.
        as_expected: whether all states of all runs are those of the golden vectors.
        as_chains: whether the golden vectors have the best scores of `infer --encoding ancestor`.
        steps: steps of all runs together.
        rates: steps per second of each turn, by states in flight.
        at_once: mean and largest number of stages at work when one begins, by states in flight.
    """

    flavour: str
    nodes: int
    build_seconds: float
    as_expected: bool
    as_chains: bool
    steps: int
    rates: Mapping[int, tuple[float, ...]]
    at_once: Mapping[int, tuple[float, int]]

    def ratio(self, states: int) -> tuple[float, float, float]:
        """Return steps per second with so many states over those with the fewest: of turns, in order.

        Returns:
            The smallest, the median and the largest ratio of two runs of the same turn.
        """
        pairs = zip(self.rates[states], self.rates[min(self.rates)], strict=True)
        found = sorted(many / few for many, few in pairs)
        return found[0], statistics.median(found), found[-1]


@dataclass(frozen=True, eq=False, repr=False)
class Pipelines(Drawn):
    """Outcome of `pipelines`.

    Attributes:
        built: the projects.
        ended: of 1 to 64 states in flight, how many runs ended as expected, by flavour.
        noticed: whether the testbench notices a broken stage, by flavour.
        settings: options and versions, as plain values.
        machine: processor and cores.
    """

    built: tuple[Built, ...]
    ended: Mapping[str, int]
    noticed: Mapping[str, bool]
    settings: Mapping[str, Any]
    machine: Mapping[str, str | int]

    @property
    def holds(self) -> bool:
        """Return whether all states are as expected, no run stands still, and broken stages are noticed."""
        right = all(one.as_expected and one.as_chains for one in self.built)
        return right and all(count == 64 for count in self.ended.values()) and all(self.noticed.values())

    def __repr__(self) -> str:
        """Return one line with the verdict."""
        verdict = "as chains" if self.holds else "not as expected"
        return f"<Pipelines: {len(self.built)} projects, {verdict}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in pipeline.json."""
        return {
            "check": "pipeline",
            "holds": self.holds,
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "ended": dict(self.ended),
            "noticed": dict(self.noticed),
            "built": [asdict(one) for one in self.built],
        }

    def lines(self) -> list[str]:
        """Return the outcome as lines of text: a table of the projects, and the controls."""
        counts = sorted({count for one in self.built for count in one.rates})
        heads = (
            "project",
            "nodes",
            "built in s",
            "states as expected",
            *(f"ksteps/s, c = {count}" for count in counts),
            *(f"× for c = {count}" for count in counts[1:]),
            *(f"at once, c = {count}" for count in counts),
        )
        rows = []
        for one in self.built:
            ratios = [one.ratio(count) for count in counts[1:]]
            rows.append(
                [
                    one.flavour,
                    str(one.nodes),
                    f"{one.build_seconds:.1f}" if one.build_seconds else "by the driver",
                    "yes" if one.as_expected and one.as_chains else "NO",
                    *(f"{max(one.rates[count]) / 1e3:.3g}" for count in counts),
                    *(f"{middle:.2f} ({low:.2f} to {high:.2f})" for low, middle, high in ratios),
                    *(f"{one.at_once[count][0]:.2f}, most {one.at_once[count][1]}" for count in counts),
                ]
            )
        ends = ", ".join(f"{flavour} {count} of 64" for flavour, count in self.ended.items())
        controls = ", ".join(f"{flavour} {'yes' if one else 'NO'}" for flavour, one in self.noticed.items())
        return [
            text_table(heads, rows),
            f"1 to 64 states in flight end as expected: {ends}",
            f"a broken stage is noticed: {controls}",
        ]

    def figure(self) -> Figure:
        """Draw steps per second over the states in flight, one line per project: the fastest turn."""
        figure = new_figure(5.5, 3.8)
        axes = figure.subplots()
        for one in self.built:
            counts = sorted(one.rates)
            best = [max(one.rates[count]) / 1e3 for count in counts]
            axes.plot(counts, best, "o-", markersize=4, label=f"{one.flavour}, {one.nodes} nodes")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("chain states in flight")
        axes.set_ylabel("thousand steps per second")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=7)
        return figure
