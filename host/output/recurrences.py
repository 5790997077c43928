"""Tests of all mutations for a recurrence: the table recurrences.tsv."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.common.values import short_repr
from syclade.host.model.recurrence import Recurrence

__all__ = ["COLUMNS", "Recurrences", "Tested"]

COLUMNS = (
    "mutation", "row", "kind", "log_likelihood", "log_likelihood_without", "gain", "log_bayes_factor",
    "error",
)  # fmt: skip
"""Columns: name of the mutation; its row in the matrix, from 1; kind of the recurrence in the best tree with
two copies; log-likelihood of that tree, and of the best tree without a recurrence (natural logs); their
difference; the natural log of the Bayes factor of a recurrence against none, and its standard error."""


class Tested(NamedTuple):
    """A mutation's test.

    Attributes:
        recurrence: its recurrence in the best tree found; node n is the copy.
        parents: int32, shape (n + 2,): that tree.
        log_likelihood: its log-likelihood, natural log, float64.
        log_bayes_factor: natural log of the Bayes factor of a recurrence against none (docs/model.md).
        error: its standard error by Monte Carlo; NaN with one chain.
    """

    recurrence: Recurrence
    parents: NDArray[np.int32]
    log_likelihood: float
    log_bayes_factor: float
    error: float

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)


@dataclass(frozen=True, eq=False)
class Recurrences:
    """Tests of all mutations, in the order of the matrix.

    Attributes:
        tests: a test of each mutation.
        chains, steps: number of chains for each mutation, and of their steps.
    """

    tests: tuple[Tested, ...]
    chains: int
    steps: int

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def best(self) -> Tested:
        """The test with the greatest gain; of equal ones, the first."""
        return max(self.tests, key=lambda test: test.log_likelihood)

    @property
    def words(self) -> str:
        """The greatest gain as a line of text."""
        return f"the greatest gain by a recurrence: {self.best.recurrence.words}"

    def to_dict(self) -> dict[str, Any]:
        """Return this as plain values."""
        tests = [
            {
                **test.recurrence.to_dict(),
                "log_likelihood": test.log_likelihood,
                "log_bayes_factor": _digits(test.log_bayes_factor),
                "error": _digits(test.error),
                "parents": test.parents.tolist(),
            }
            for test in self.tests
        ]
        return {"chains": self.chains, "steps": self.steps, "tests": tests}

    def table(self) -> str:
        """Return the text of recurrences.tsv: a line with `COLUMNS`, then one line per mutation."""
        text = io.StringIO()
        table = csv.writer(text, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for number, test in enumerate(self.tests, 1):
            found, factor = test.recurrence, (_digits(test.log_bayes_factor), _digits(test.error))
            own = (found.mutation, number, found.kind, test.log_likelihood, found.without, found.gain)
            table.writerow((*own, *("" if value is None else value for value in factor)))
        return text.getvalue()


def _digits(value: float) -> float | None:
    """Return a number with ten digits, which all versions of numpy share; None for NaN."""
    return None if math.isnan(value) else float(f"{value:.10g}")
