"""Outcome of the study of calibration: a value with a report, a text and a figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from syclade.quality.calibration.credible import LEVELS, Covered
from syclade.quality.calibration.plot import calibration_figure
from syclade.quality.calibration.ranks import DRAWS, uniformity
from syclade.quality.calibration.reliability import Reliability, together
from syclade.quality.calibration.replicate import Replicate
from syclade.quality.calibration.settings import MOST_ERROR, Setting
from syclade.quality.figures import Drawn
from syclade.quality.text_table import text_table
from syclade.quality.work import mean_work

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CalibrationResult", "OfSetting"]

SIGNIFICANCE = 0.01
"""Probability that any rank test of the whole study rejects by chance."""

STATEMENTS = ("pairs", "edges", "clades")
_HEADS = (
    "setting", "inputs", "mixed", "ranks: lowest p", "of", "pairs", "edges", "clades", "90 % sets", "verdict",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class OfSetting:
    """The inputs of one setting.

    Attributes:
        setting: the setting.
        replicates: its inputs.
        seconds: processor seconds of this process.
    """

    setting: Setting
    replicates: tuple[Replicate, ...]
    seconds: float

    @cached_property
    def ranks(self) -> dict[str, list[int]]:
        """Ranks of the truths, by the name of the number."""
        return {name: [one.ranks[name] for one in self.replicates] for name in self.replicates[0].ranks}

    @cached_property
    def p_values(self) -> dict[str, float]:
        """p-values of the tests that ranks are uniform, by the name of the number."""
        return {name: uniformity(ranks) for name, ranks in self.ranks.items()}

    @cached_property
    def statements(self) -> dict[str, Reliability]:
        """Reliability of pairs, edges and clades over all inputs."""
        return {name: together(getattr(one, name) for one in self.replicates) for name in STATEMENTS}

    @cached_property
    def covered(self) -> tuple[Covered, ...]:
        """Credible sets of all inputs, by level."""
        return tuple(
            Covered(
                level,
                sum(one.sets[at].sets for one in self.replicates),
                sum(one.sets[at].claimed for one in self.replicates),
                sum(one.sets[at].covering for one in self.replicates),
            )
            for at, level in enumerate(LEVELS)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            **self.setting.to_dict(),
            "seconds": self.seconds,
            "inputs": len(self.replicates),
            "mixed": sum(one.mixed for one in self.replicates),
            "work": mean_work([one.work for one in self.replicates]),
            "p_values": self.p_values,
            "ranks": self.ranks,
            **{name: one.to_dict() for name, one in self.statements.items()},
            "credible_sets": [asdict(one) for one in self.covered],
        }


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationResult(Drawn):
    """Outcome of `calibration`.

    Attributes:
        settings: every setting with its inputs.
        inputs: inputs of each.
        device: where the chains ran.
        seed: seed of the first input.
        support: level of the support whose chains sampled, quick or full; None for chains from random trees.
    """

    settings: tuple[OfSetting, ...]
    inputs: int
    device: str
    seed: int
    support: str | None = None

    @property
    def threshold(self) -> float:
        """A rank test with a lower p-value rejects (Bonferroni's correction over all tests)."""
        return SIGNIFICANCE / sum(len(one.p_values) for one in self.settings)

    def rejects(self, one: OfSetting) -> bool:
        """Return whether samples of a setting are not of the posterior: by a rank test, or by the pairs.

        Of few inputs, pairs may be off by as much as chance does.
        """
        most, pairs = one.setting.most_error, one.statements["pairs"]
        off = most is not None and pairs.error > max(most, pairs.chance)
        return off or min(one.p_values.values()) < self.threshold

    @property
    def holds(self) -> bool:
        """Return whether all settings that do not fit the model are rejected, and no others."""
        return all(self.rejects(one) != one.setting.fits for one in self.settings)

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        wrong = sum(self.rejects(one) == one.setting.fits for one in self.settings)
        return f"<CalibrationResult: {len(self.settings)} settings, {wrong} not as expected>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in calibration.json."""
        return {
            "check": "calibration",
            "holds": self.holds,
            "draws": DRAWS,
            "threshold": self.threshold,
            "settings": {
                "inputs": self.inputs,
                "device": self.device,
                "seed": self.seed,
                "support": self.support,
            },
            "results": [{**one.to_dict(), "rejected": self.rejects(one)} for one in self.settings],
        }

    def lines(self) -> list[str]:
        """Return the outcome as lines of text, as the command prints it."""
        return [
            text_table(_HEADS, [self._row(one) for one in self.settings]),
            f"rank tests reject below p = {self.threshold:.1g}, errors of pairs above {MOST_ERROR} and above "
            "that of independent statements by chance (in brackets) where shares are studied; "
            f"{'as expected of all settings' if self.holds else 'NOT AS EXPECTED OF ALL SETTINGS'}",
        ]

    def _row(self, one: OfSetting) -> tuple[str, ...]:
        lowest = min(one.p_values, key=lambda name: one.p_values[name])
        ninety = one.covered[LEVELS.index(0.9)]
        rejected = self.rejects(one)
        expected = "" if rejected != one.setting.fits else ", NOT EXPECTED"
        return (
            one.setting.name,
            str(len(one.replicates)),
            str(sum(each.mixed for each in one.replicates)),
            f"{one.p_values[lowest]:.2g}",
            lowest,
            *(f"{each.error:.3f} ({each.chance:.3f})" for each in one.statements.values()),
            f"{ninety.covering / ninety.sets:.3f} of {ninety.claimed / ninety.sets:.3f}",
            f"{'rejected' if rejected else 'calibrated'}{expected}",
        )

    def figure(self) -> Figure:
        """Draw reliability and ranks."""
        return calibration_figure(self.settings)
