"""Recurrences as a finding: of one mutation in the tree, or tests of all mutations, with recurrences.tsv."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.recurrence import Recurrence
from syclade.host.findings.finding import Finding, FindingKind, Question, Section, cut, sentence
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import flag_of
from syclade.host.ground.options.types import ALL_MUTATIONS
from syclade.host.ground.values import JsonObject, counted, listed, short_repr

if TYPE_CHECKING:
    from syclade.host.findings.finding import Draft
    from syclade.host.ground.atomic import Content

__all__ = ["COLUMNS", "EVIDENCE", "RECURRENCES", "Recurrences", "RecurrencesFinding", "Tested"]

FILE = "recurrences.tsv"

COLUMNS = (
    "mutation", "row", "kind", "log_likelihood", "log_likelihood_without", "gain", "log_bayes_factor",
    "error", "accepted", "last_round", "last_log_bayes_factor", "last_error",
)  # fmt: skip
"""Columns: name of the mutation; its row in the matrix, from 1; kind of the recurrence in the best tree with
two copies; log-likelihood of that tree, and of the best tree without a recurrence (natural logs); their
difference; the natural log of the Bayes factor of a recurrence against none, and its standard error. These
are of the first round. Then the round in which it had the greatest Bayes factor, and evidence; empty if it
had not; the last round in which it was tested; its Bayes factor in that round, and the error."""

EVIDENCE = 3.0
"""Natural log of a Bayes factor, two standard errors below the estimate, that counts as evidence: 20 to 1."""

_SHORT = ("mutation", "kind", "gain")
"""Fields of a recurrence in later rounds; numbers of nodes are left out, as they are of other trees."""


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

    @property
    def is_evident(self) -> bool:
        """Return whether the Bayes factor is evidence for a recurrence, beyond two standard errors."""
        error = 0.0 if math.isnan(self.error) else self.error
        return self.log_bayes_factor - 2.0 * error >= EVIDENCE


@dataclass(frozen=True, eq=False)
class Recurrences:
    """Tests of all mutations, in the order of the matrix.

    Attributes:
        tests: a test of each mutation: the first round.
        chains, steps: number of chains for each mutation, and of their steps.
        rounds: later rounds: tests by number of the mutation, from 0, of those that had evidence in the round
            before. Their trees have the mutations of the matrix without the accepted ones of earlier rounds.
        accepted: the mutation with the greatest Bayes factor of each round, from 0, where that is evidence.
        stopped: whether a stop request has ended the rounds.
        dropout: log Bayes factor of rates of false negatives that differ between mutations, if the first
            round has a rate for each; None for one rate.
        fn_rates: float64, shape (n,): these rates, without a recurrence.
        unseen: rows of mutations that were seen in no cell: their rates are those of the prior.
    """

    tests: tuple[Tested, ...]
    chains: int
    steps: int
    rounds: tuple[Mapping[int, Tested], ...] = ()
    accepted: tuple[int, ...] = ()
    stopped: bool = False
    dropout: float | None = None
    fn_rates: NDArray[np.float64] | None = None
    unseen: tuple[int, ...] = ()

    def last_of(self, mutation: int) -> tuple[int, Tested]:
        """Return the last round in which a mutation was tested, from 1, and its test there."""
        found = [
            (number, tests[mutation]) for number, tests in enumerate(self.rounds, 2) if mutation in tests
        ]
        return found[-1] if found else (1, self.tests[mutation])

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def best(self) -> Tested:
        """The test with the greatest gain; of equal ones, the first."""
        return max(self.tests, key=lambda test: test.log_likelihood)

    @property
    def words(self) -> str:
        """The mutations with evidence, or else the greatest gain, as a line of text."""
        names = [test.recurrence.mutation for test in self.tests]
        tests = [(names[mutation], self.last_of(mutation)[1]) for mutation in self.accepted]
        evident = ", ".join(
            f"{name} ({test.recurrence.kind}, log Bayes factor {test.log_bayes_factor:.2f})"
            for name, test in tests
        )
        if evident:
            parts = [f"evidence for a recurrence: {evident}"]
        else:
            gain = f"{self.best.recurrence.words} (log Bayes factor {self.best.log_bayes_factor:.2f})"
            parts = ["no evidence for a recurrence of any mutation", f"the greatest gain: {gain}"]
        alone = self.explained
        if alone:
            parts.append(f"no longer for {', '.join(names[mutation] for mutation in alone)}")
        if self.fn_rates is not None and len(self.unseen) < len(self.fn_rates):
            seen = np.delete(self.fn_rates, list(self.unseen))
            parts.append(
                f"each mutation has its rate of false negatives, {seen.min():.3g} to "
                f"{seen.max():.3g} (log Bayes factor {self.dropout:.1f})"
            )
        return "; ".join(parts)

    @property
    def explained(self) -> tuple[int, ...]:
        """Mutations with evidence in the first round, and none with stronger ones set aside; from 0."""
        evident = (number for number, test in enumerate(self.tests) if test.is_evident)
        return tuple(
            one for one in evident if one not in self.accepted and not self.last_of(one)[1].is_evident
        )

    def to_dict(self) -> JsonObject:
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
        return {
            "chains": self.chains,
            "steps": self.steps,
            "tests": tests,
            "accepted": [self.tests[number].recurrence.mutation for number in self.accepted],
            "rounds": [
                [
                    {
                        **{name: value for name, value in one.recurrence.to_dict().items() if name in _SHORT},
                        "log_bayes_factor": _digits(one.log_bayes_factor),
                        "error": _digits(one.error),
                    }
                    for one in tests.values()
                ]
                for tests in self.rounds
            ],
            **(
                {}
                if self.fn_rates is None or self.dropout is None
                else {
                    "dropout": float(f"{self.dropout:.6g}"),
                    "fn_rates": [
                        None if row in self.unseen else float(f"{rate:.6g}")
                        for row, rate in enumerate(self.fn_rates.tolist())
                    ],
                }
            ),
        }

    def table(self) -> str:
        """Return the text of recurrences.tsv: a line with `COLUMNS`, then one line per mutation."""
        rows = []
        for number, test in enumerate(self.tests, 1):
            found, factor = test.recurrence, (_digits(test.log_bayes_factor), _digits(test.error))
            own = (found.mutation, number, found.kind, test.log_likelihood, found.without, found.gain)
            at, last = self.last_of(number - 1)
            accepted = self.accepted.index(number - 1) + 1 if number - 1 in self.accepted else None
            columns = (*own, *factor, accepted, at, _digits(last.log_bayes_factor), _digits(last.error))
            rows.append(["" if value is None else value for value in columns])
        return tsv_text(COLUMNS, rows)


@dataclass(frozen=True, eq=False, repr=False)
class RecurrencesFinding(Finding):
    """The recurrent mutation of the tree, and tests of all mutations.

    Attributes:
        one: recurrence of the tree's mutation with two nodes; None without.
        tests: the tests; None without.
        testable: whether all mutations can be tested, which takes calls.
        doublets: whether the model has doublets.
    """

    name = "recurrences"
    one: Recurrence | None
    tests: Recurrences | None
    testable: bool = True
    doublets: bool = False

    def files(self) -> dict[str, Content]:
        """Return recurrences.tsv with the tests."""
        return {} if self.tests is None else {FILE: self.tests.table()}

    def summary(self) -> JsonObject:
        """Return the recurrence and the tests."""
        return {
            **({} if self.one is None else {"recurrence": self.one.to_dict()}),
            **({} if self.tests is None else {"recurrences": self.tests.to_dict()}),
        }

    @property
    def lines(self) -> list[str]:
        """The recurrence and what its gain says; the greatest gain by one, and mutations with evidence."""
        lines = [one.words for one in (self.one, self.tests) if one is not None]
        if self.one is not None and self.one.gain is not None:
            test = f": {flag_of('recurrent', ALL_MUTATIONS)} tests it" if self.testable else ""
            why = ", since two copies fit at least as well as one" if self.one.gain >= 0.0 else ""
            lines[0] += f"; this gain alone is no evidence{why}{test}"
        return lines

    @property
    def warnings(self) -> list[str]:
        """Factors that may be wrong, since shares are taken as equal, or trees were not sampled."""
        return [] if self.tests is None else [*self._of_doublets(self.tests), *_unseen_places(self.tests)]

    def _of_doublets(self, tests: Recurrences) -> list[str]:
        """Return a message if mutations are accepted with doublets in the model."""
        if not (self.doublets and tests.accepted):
            return []
        return [
            "with doublets, tests of recurrences take all nodes as equally probable: where clones are of "
            "unequal sizes, they can accept mutations that occur once; test those without doublets, too"
        ]

    def section(self) -> Section:
        """Return the tests, the greatest gain first."""
        words = tuple(f"{line}." for line in self.lines)
        tests = self.tests
        if tests is None:
            return Section("Recurrence", words)
        head = (
            "mutation", "kind", "gain", "log Bayes factor", "error", "last round", "its factor", "its error",
        )  # fmt: skip
        rows = []
        for number in sorted(range(len(tests.tests)), key=lambda number: -tests.tests[number].log_likelihood):
            found, _, _, factor, error = tests.tests[number]
            at, last = tests.last_of(number)
            in_last = (f"{last.log_bayes_factor:.2f}", f"{last.error:.2f}")
            gain = f"{round(found.gain or 0.0, 3) + 0.0:.3f}"
            own = (found.mutation, found.kind, gain, f"{factor:.2f}", f"{error:.2f}")
            rows.append((*own, str(at), *in_last))
        warnings = tuple(map(sentence, self.warnings))
        return Section("Mutations that may recur", words, cut(head, rows), warnings)


_LARGE_GAIN = 10.0
"""Gain, in nats, that a mutation seldom has by chance."""


def _unseen_places(tests: Recurrences) -> list[str]:
    """Return a message: mutations with a large gain, and no evidence even in their last round."""
    found = []
    for number, test in enumerate(tests.tests):
        gain, last = test.recurrence.gain or 0.0, tests.last_of(number)[1]
        if gain >= _LARGE_GAIN and number not in tests.accepted and not test.is_evident:
            found.append((-gain, f"{test.recurrence.mutation} ({gain:.1f}, {last.log_bayes_factor:.2f})"))
    if not found:
        return []
    names = [name for _, name in sorted(found)]
    return [
        f"{counted(len(names), 'mutation has', 'mutations have')} a large gain without evidence (gain, log "
        f"Bayes factor): {listed(names, 3)}; factors are of trees sampled with one copy of each mutation, so "
        "they are too low, beyond their error, where two copies need another tree: look at the trees of "
        f"{flag_of('recurrent', 'NAME')}"
    ]


def _make(draft: Draft) -> RecurrencesFinding | None:
    one, found = draft.best.assignment.recurrence, draft.get(RecurrencesFinding)
    if one is None:
        return found
    tests, doublets = None if found is None else found.tests, draft.best.assignment.doublets is not None
    return RecurrencesFinding(one, tests, draft.best.testable, doublets)


def _names(question: Question) -> Iterable[str]:
    return (FILE,) if question.options.recurrent == ALL_MUTATIONS else ()


RECURRENCES = FindingKind(RecurrencesFinding.name, _make, _names)


def _digits(value: float) -> float | None:
    """Return a number with ten digits, which all versions of numpy share; None for NaN."""
    return None if math.isnan(value) else float(f"{value:.10g}")
