"""Dialects: the differences between the commands of SCITE and of ∞SCITE, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.scores.named import ScoreOptions
from syclade.host.commands.scite.arguments import SciteCall
from syclade.host.commands.scite.files import graphviz_text
from syclade.host.commands.scite.problem import rate_model_of, rates_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.findings.samples.lines import sample_lines

__all__ = ["Best", "Dialect", "scites_dialect", "score_of"]

Drawing: TypeAlias = Callable[
    [NDArray[np.int32], Sequence[str] | None, NDArray[np.bool_] | None],
    str,
]


class Best(NamedTuple):
    """The best tree's figures.

    Attributes:
        log_likelihood: natural log, float64.
        rates: learned rates, and others that are reported, by name.
    """

    log_likelihood: float
    rates: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Dialect:
    """Model, score and files of a command.

    Attributes:
        model: rates of the chains.
        score: score of mutation trees.
        lists_trees: whether chains record all trees with the best score; else only the best one is written.
        judge: (matrix, plan, best tree, its grid points) -> its figures; None for those of the plan's score.
        graphviz: (parents, names or None, best nodes of the cells or None) -> the text of the `.gv` file.
        lines_of_samples: (matrix, plan, samples) -> the lines of the `.samples` file.
    """

    model: RateModel
    score: ScoreOptions
    lists_trees: bool
    graphviz: Drawing
    lines_of_samples: Callable[[Matrix, Plan, SampleStore], Iterator[str]]
    judge: Callable[[Matrix, Plan, NDArray[np.int32], Places], Best] | None = None


def score_of(call: SciteCall) -> ScoreOptions:
    """Return the score that -s selects."""
    return ScoreOptions("sum" if call.sum_score else "max")


def scites_dialect(call: SciteCall) -> Dialect:
    """Return the dialect of SCITE.

    Raises:
        RatesError, OptionError: the rates are invalid.
    """
    return Dialect(
        model=rate_model_of(call, rates_of(call)),
        score=score_of(call),
        lists_trees=call.tree_list,
        graphviz=graphviz_text,
        lines_of_samples=lines_of_samples,
    )


def lines_of_samples(_matrix: Matrix, plan: Plan, samples: SampleStore) -> Iterator[str]:
    """Yield the lines of SCITE's `.samples` file."""
    return sample_lines(samples, plan.problem.to_nats, plan.problem.rate_tables.model)
