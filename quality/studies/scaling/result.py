"""Outcome of the study of scaling: a value with a report, a text and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from syclade.quality.figures import Drawn
from syclade.quality.studies.scaling.model import Model
from syclade.quality.studies.scaling.plot import scaling_figure
from syclade.quality.studies.scaling.published import Speedups, StoredSpeed
from syclade.quality.studies.scaling.runs import Case, Speed
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CORES", "NEAR", "CaseResult", "ScalingResult"]

CORES = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of cores of the model."""

NEAR = 0.1
"""Slots are no worse than a divided chain if their speedup is at most this part smaller."""

_MEASURED = ("input", "threads", "slots", "ksteps/s", "speedup", "us a step and core", "efficiency")
_STORED = ("input", "doublets", "steps/s, stored", "syclade on one core, steps/s", "times")
_DIVIDED = ("input", "us, all cells", "us, half", "serial part", "divided in two, at most", "two slots")


@dataclass(frozen=True)
class CaseResult:
    """One input size.

    Attributes:
        case: the size.
        speeds: many slots, by the number of threads from 1 on.
        whole, half: one slot on one core, with all cells and with half of them.
        model: the fitted model.
    """

    case: Case
    speeds: tuple[Speed, ...]
    whole: Speed
    half: Speed
    model: Model

    def speedup(self, speed: Speed) -> float:
        """Return the speedup over one thread in wall time."""
        return speed.steps / self.speeds[0].steps

    def efficiency(self, speed: Speed) -> float:
        """Return the processor time of a step on one core, divided by that on several."""
        return self.speeds[0].cpu_ns / speed.cpu_ns

    @property
    def halves(self) -> float:
        """Largest speedup of one slot that is divided in two: cells are halved, and nobody waits."""
        return self.whole.cpu_ns / self.half.cpu_ns

    @property
    def two_slots(self) -> float:
        """Speedup of slots on two cores, by processor time; on one if there is only one."""
        cores = min(2, len(self.speeds))
        return cores * self.efficiency(self.speeds[cores - 1])


@dataclass(frozen=True, eq=False, repr=False)
class ScalingResult(Drawn):
    """Outcome of `scaling`.

    Attributes:
        cases: one per input size.
        published: speedups of the publication.
        stored: stored speeds of ∞SCITE.
        settings: numbers of repeats and so on, as plain values.
        machine: processor and cores.
    """

    cases: tuple[CaseResult, ...]
    published: tuple[Speedups, ...]
    stored: tuple[StoredSpeed, ...]
    settings: Mapping[str, Any]
    machine: Mapping[str, str | int]

    @property
    def holds(self) -> bool:
        """Return whether slots on two cores are no worse than one slot divided in two could be."""
        return all(len(each.speeds) < 2 or each.two_slots >= (1 - NEAR) * each.halves for each in self.cases)

    def __repr__(self) -> str:
        """Return one line with the speedups on two cores."""
        listing = ", ".join(f"{each.case.name}: {each.two_slots:.2f}" for each in self.cases)
        return f"<ScalingResult: speedup of slots on two cores, {listing}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in scaling.json."""
        return {
            "check": "scaling",
            "holds": self.holds,
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "cases": [
                {
                    **asdict(each),
                    "speedups": [each.speedup(speed) for speed in each.speeds],
                    "efficiencies": [each.efficiency(speed) for speed in each.speeds],
                    "divided_at_most": each.halves,
                    "two_slots": each.two_slots,
                    "modelled": [
                        {"cores": n, "slots": each.model.slots(n), "divided": each.model.divided(n)}
                        for n in CORES
                    ],
                }
                for each in self.cases
            ],
            "published": [asdict(table) for table in self.published],
            "stored_speeds": [asdict(one) for one in self.stored],
        }

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        yield "many slots; speedup in wall time, efficiency in processor time, medians of turns"
        yield text_table(_MEASURED, [row for each in self.cases for row in _speed_rows(each)])
        yield "∞SCITE on one core (stored: measured elsewhere, not in turns with ours)"
        yield text_table(_STORED, [row for one in self.stored for row in _stored_rows(one, self.cases)])
        yield "one slot on one core, and what two cores could gain"
        yield text_table(_DIVIDED, [_divided_row(each) for each in self.cases])
        yield "MODEL, not measured: speedup over one core"
        heads = ("input", "", *map(str, CORES))
        yield text_table(heads, [row for each in self.cases for row in _model_rows(each)])
        for table in self.published:
            yield f"stored: ∞SCITE on {table.name}, 50,000 cells x 100 mutations"
            columns = zip(table.cores, table.threads, strict=True)
            yield text_table(
                ("tasks", *(f"{cores}/{threads}" for cores, threads in columns)),
                [
                    (str(tasks), *("" if one is None else f"{one:.1f}" for one in table.row(tasks)))
                    for tasks in table.tasks
                ],
            )

    def figure(self) -> Figure:
        """Draw measured and modelled speedups beside the published ones."""
        return scaling_figure(self.cases, self.published, CORES)


def _speed_rows(each: CaseResult) -> list[list[str]]:
    return [
        [
            each.case.name,
            str(speed.run.threads),
            str(speed.run.slots),
            f"{speed.steps / 1e3:.4g}",
            f"{each.speedup(speed):.2f}",
            f"{speed.cpu_ns / 1e3:.4g}",
            f"{each.efficiency(speed):.2f}",
        ]
        for speed in each.speeds
    ]


def _stored_rows(one: StoredSpeed, cases: Sequence[CaseResult]) -> list[list[str]]:
    rows = []
    for each in cases:
        if each.case.name == one.input:
            own = 1e9 / each.speeds[0].cpu_ns
            low, high = one.steps
            steps = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            times = f"{own / low:.3g}" if low == high else f"{own / high:.3g} to {own / low:.3g}"
            rows.append([one.input, one.doublets, steps, f"{own:.4g}", times])
    return rows


def _divided_row(each: CaseResult) -> list[str]:
    return [
        each.case.name,
        f"{each.whole.cpu_ns / 1e3:.4g}",
        f"{each.half.cpu_ns / 1e3:.4g}",
        f"{each.model.serial:.0%}",
        f"{each.halves:.2f}",
        f"{each.two_slots:.2f}",
    ]


def _model_rows(each: CaseResult) -> list[list[str]]:
    return [
        [each.case.name, name, *(f"{of(cores):.3g}" for cores in CORES)]
        for name, of in (("slots", each.model.slots), ("one slot, divided", each.model.divided))
    ]
