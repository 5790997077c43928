"""Outcome of the race as data, as a table and as curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.simulate import Simulation
from syclade.quality.figures import new_figure, write_figure
from syclade.quality.race.answers import Answer
from syclade.quality.race.bound import MOST_MUTATIONS, upper_bound
from syclade.quality.race.inputs import RaceInput

__all__ = ["Round", "plot_rounds", "report_of", "round_of", "table_of", "unbeaten"]

SAME = 1e-6
"""Log-likelihoods that differ by no more than this, in nats, are equal."""


@dataclass(frozen=True)
class Round:
    """One input with all answers.

    Attributes:
        given: the input.
        true_log_likelihood: log-likelihood of the tree that the input was simulated from.
        bound: upper bound on the log-likelihood of all trees; None if there are too many mutations.
        answers: answers of all contestants, in their order.
    """

    given: RaceInput
    true_log_likelihood: float
    bound: float | None
    answers: tuple[Answer, ...]

    @property
    def best(self) -> float:
        """Best log-likelihood of all answers."""
        return max(one.log_likelihood for one in self.answers if one.log_likelihood is not None)


def round_of(given: RaceInput, simulation: Simulation, answers: Sequence[Answer]) -> Round:
    """Collect an input's answers, the log-likelihood of its true tree, and its upper bound."""
    few = given.mutations <= MOST_MUTATIONS
    return Round(
        given,
        log_likelihood(simulation.matrix, given.rates, simulation.parents),
        upper_bound(simulation.matrix, given.rates).log_likelihood if few else None,
        tuple(answers),
    )


def unbeaten(rounds: Sequence[Round], name: str) -> int:
    """Return the number of inputs on which no other contestant found a more likely tree."""
    own = ((one, each.best) for each in rounds for one in each.answers if one.name == name)
    return sum(one.log_likelihood is not None and one.log_likelihood >= best - SAME for one, best in own)


def report_of(rounds: Sequence[Round], settings: dict[str, object]) -> dict[str, object]:
    """Return the outcome as plain values, for JSON."""
    names = [one.name for one in rounds[0].answers]
    return {
        "settings": settings,
        "inputs": [
            {
                **each.given.to_dict(),
                "true_log_likelihood": each.true_log_likelihood,
                "bound": each.bound,
                "answers": [asdict(one) for one in each.answers],
            }
            for each in rounds
        ],
        "unbeaten": {name: unbeaten(rounds, name) for name in names},
    }


def table_of(rounds: Sequence[Round]) -> Iterator[str]:
    """Yield the outcome as lines of text: one line per answer, with the difference from the best one."""
    for each in rounds:
        bound = "" if each.bound is None else f", no tree above {each.bound:.4f}"
        yield (
            f"{each.given.name}, seed {each.given.seed}: best {each.best:.4f}, "
            f"true tree {each.true_log_likelihood:.4f}{bound}"
        )
        for one in each.answers:
            yield f"  {one.name:<12}{_words(one, each.best)}"
    names = [one.name for one in rounds[0].answers]
    if len(names) == 1:
        yield f"{names[0]}: nothing to compare with (--chains, --peers)"
        return
    for name in names:
        yield f"{name}: not beaten on {unbeaten(rounds, name)} of {len(rounds)}"


def _words(one: Answer, best: float) -> str:
    if one.log_likelihood is None or one.ancestors is None or one.lineages is None:
        return f"no answer: {one.problem}"
    return (
        f"{one.log_likelihood - best:+10.3f} in {one.seconds:8.2f} s; ancestors "
        f"{one.ancestors[0]:.3f}/{one.ancestors[1]:.3f}, lineages {one.lineages[0]:.3f}/{one.lineages[1]:.3f}"
    )


def plot_rounds(rounds: Sequence[Round], path: Path) -> None:
    """Plot the distance to the best log-likelihood against processor time, one panel per input (PNG)."""
    columns = min(4, len(rounds))
    rows = math.ceil(len(rounds) / columns)
    figure = new_figure(4 * columns, 3.2 * rows)
    for number, each in enumerate(rounds, start=1):
        axes = figure.add_subplot(rows, columns, number)
        for one, marker in zip(each.answers, "os^vDP", strict=False):
            if one.log_likelihood is None:
                continue
            points = [*one.curve, (one.seconds, one.log_likelihood)]
            apart = [max(each.best - value, 0.01) for _seconds, value in points]
            axes.step([seconds for seconds, _value in points], apart, where="post")
            axes.plot(points[-1][0], apart[-1], marker, color=axes.lines[-1].get_color(), label=one.name)
        axes.set(xscale="log", yscale="log", title=each.given.name)
        axes.set_xlabel("processor time / s")
        axes.set_ylabel("nats below the best")
        axes.legend(fontsize="x-small")
    write_figure(figure, path)
