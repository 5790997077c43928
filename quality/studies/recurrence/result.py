"""Outcome of the study of recurrences: a value with a report and a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from syclade.host.findings.recurrences import EVIDENCE
from syclade.quality.text_table import text_table

__all__ = ["MOST", "OfInput", "RecurrenceResult"]

MOST: Final = 0.02
"""Largest part of the mutations of inputs without a recurrence that may have a log Bayes factor above 3."""


@dataclass(frozen=True)
class OfInput:
    """Tests of all mutations of one input.

    Attributes:
        kind, seed: kind and seed of the input.
        recurrent: mutations that recur or are lost, from 0.
        factors: log Bayes factors of the first round.
        accepted: accepted mutations, from 0.
        control: log Bayes factors with equal probabilities of all nodes; empty if they are not computed.
    """

    kind: str
    seed: int
    recurrent: tuple[int, ...]
    factors: tuple[float, ...]
    accepted: tuple[int, ...]
    control: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class RecurrenceResult:
    """Outcome of `recurrence_study`.

    Attributes:
        tests: the tests of each input.
        cells, mutations: size of the inputs.
        inputs: number of inputs of each kind.
        device: where the chains ran.
        seed: seed of the first input.
        seconds: processor seconds of this process.
    """

    tests: tuple[OfInput, ...]
    cells: int
    mutations: int
    inputs: int
    device: str
    seed: int
    seconds: float

    @property
    def holds(self) -> bool:
        """Return whether few mutations without a recurrence have evidence, and more of the control."""
        without = [_above([one.factors for one in self.of(kind)]) for kind in self.without]
        control = _above([one.control for one in self.tests])
        return max(without) <= MOST < control

    @property
    def without(self) -> list[str]:
        """Kinds of inputs without a recurrence."""
        return list(dict.fromkeys(one.kind for one in self.tests if not one.recurrent))

    def of(self, kind: str) -> list[OfInput]:
        """Return the inputs of a kind."""
        return [one for one in self.tests if one.kind == kind]

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        return f"<RecurrenceResult: {len(self.tests)} inputs, {'as' if self.holds else 'NOT as'} expected>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in recurrence.json."""
        names = ("cells", "mutations", "inputs", "device", "seed")
        return {
            "check": "recurrence",
            "holds": self.holds,
            "settings": {name: getattr(self, name) for name in names},
            "seconds": self.seconds,
            "results": [asdict(one) for one in self.tests],
        }

    def markdown(self) -> str:
        """Return the numbers of mutations with evidence, by kind of input, as a table."""
        rows = [_row(kind, self.of(kind)) for kind in dict.fromkeys(one.kind for one in self.tests)]
        control = [one for one in self.tests if one.control]
        if control:
            numbers = _numbers(f"{control[0].kind} (equal nodes)", [(one.control, ()) for one in control])
            rows.append((*numbers, "", ""))
        heads = ("recurrences", "inputs", "others", "above 3", "largest", "accepted", "true ones accepted")
        verdict = "as expected" if self.holds else "NOT AS EXPECTED"
        allowed = f"{MOST:.0%} of the mutations may have log Bayes factors above {EVIDENCE:g}"
        return (
            f"{text_table(heads, rows)}\n\nIn inputs without recurrences, {allowed}, and more have if all "
            f"nodes are equally probable: {verdict}"
        )


def _above(factors: Sequence[Sequence[float]]) -> float:
    """Return the part of log Bayes factors that count as evidence."""
    found = [one > EVIDENCE for of_input in factors for one in of_input]
    return sum(found) / len(found) if found else 0.0


def _row(kind: str, inputs: list[OfInput]) -> tuple[str, ...]:
    """Return the numbers of a kind of inputs."""
    right = [[one for one in test.accepted if one in test.recurrent] for test in inputs]
    wrong = sum(len(test.accepted) for test in inputs) - sum(map(len, right))
    true = sum(len(test.recurrent) for test in inputs)
    numbers = _numbers(kind, [(test.factors, test.recurrent) for test in inputs])
    return (*numbers, str(wrong), f"{sum(map(len, right))} of {true}" if true else "")


def _numbers(kind: str, tests: Sequence[tuple[Sequence[float], Sequence[int]]]) -> tuple[str, ...]:
    """Return the numbers of log Bayes factors of mutations that do not recur."""
    others = [[one for at, one in enumerate(factors) if at not in true] for factors, true in tests]
    found = [one for of_input in others for one in of_input]
    above = sum(one > EVIDENCE for one in found)
    return (
        kind,
        str(len(tests)),
        str(len(found)),
        f"{above} ({above / len(found):.1%})",
        f"{max(found):.1f}",
    )
