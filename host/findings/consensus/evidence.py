"""Check of claims on the data: cells that support a relation of two mutations, and cells that contradict it.

It uses no tree and no prior. Only cells in which both mutations are observed count. With evidence, an
entry counts as mutated or not by what is more likely, and at a depth of 1 or 2 it is hardly sure. So the
evidence itself has to contradict a claim as well (`Evident`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.levels import Levels, log_odds_of
from syclade.host.data.model.likelihood import fitted_shares
from syclade.host.data.model.rate_fit import CHANCE, chance_of
from syclade.host.data.model.rates import ObservationModel, Rates
from syclade.host.data.model.reads import observed_states
from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.relations import Relations
from syclade.host.ground.values import JsonObject, counted, short_repr

__all__ = [
    "CLAIMED",
    "Conflict",
    "Contradiction",
    "Evident",
    "PairCounts",
    "conflicts_in",
    "contradictions_in",
    "count_pairs",
    "evident_in",
    "unsupported_in",
]

CLAIMED = 0.95
"""Probability from which a relation is a claim."""

_AGAINST = 0.2
"""Part of the cells that no error explains, and that contradict a claim, from which on a warning names it."""

_KEPT_BACK = 0.5
"""The same part, above which a claim is kept back, whatever the samples say."""

_CLEAR = 2
"""Cells on the side of a claim for each one on the other side, from which on the cells decide it clearly."""

_SUPPORTED = 0.3
"""Part of the telling cells below which a rate that one mutation alone has does not explain the others."""

_FEWEST = 5
"""Fewest telling cells of a claim that is kept back: single cells are errors more often."""

_BY_CHANCE = 0.05
"""Expected number of claims with so many errors by chance, from which on claims are not kept back: an open
pair makes one clone of everything between the two mutations. Also the greatest chance of a clear majority of
cells (`Conflict.clear`)."""


_DEVIATIONS = 4.0
"""Standard deviations of the interval of a rate of errors in some cells."""


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Numbers of cells for all pairs of mutations, of those in which both are observed: int64, shape (n, n).

    Attributes:
        both: cells seen with the row's and the column's mutation.
        only: cells seen with the row's mutation and without the column's.
        neither: cells seen without either.
    """

    both: NDArray[np.int64]
    only: NDArray[np.int64]
    neither: NDArray[np.int64]

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def with_second(self) -> NDArray[np.int64]:
        """Cells seen with the column's mutation, in which the row's is observed, too: int64, shape (n, n)."""
        return np.asarray(self.both + self.only.T)

    @property
    def seen(self) -> NDArray[np.int64]:
        """Cells seen with each mutation: int64, shape (n,)."""
        return np.diagonal(self.both)

    @property
    def observed(self) -> NDArray[np.int64]:
        """Cells in which each mutation is observed: int64, shape (n,)."""
        return np.asarray(self.seen + np.diagonal(self.neither))


class Contradiction(NamedTuple):
    """Claim that the cells contradict.

    Attributes:
        first, second: rows of the mutations.
        relation: `before` (the first before the second) or `apart`.
        probability: probability of the relation in the samples.
        supporting, contradicting: numbers of cells.
    """

    first: int
    second: int
    relation: str
    probability: float
    supporting: int
    contradicting: int

    def words(self, mutations: tuple[str, ...], counts: PairCounts) -> str:
        """Return the claim and the cells of both mutations as text."""
        return _claim_words(self, mutations, counts)

    def to_dict(self, mutations: tuple[str, ...]) -> JsonObject:
        """Return plain values for summary.json, with the names of the mutations."""
        return {**self._asdict(), "first": mutations[self.first], "second": mutations[self.second]}


class Conflict(NamedTuple):
    """Pair of mutations with different relations in the consensus and in the most likely tree.

    Attributes:
        first, second: rows of the mutations.
        relation: relation in the consensus: `before` (the first before the second) or `apart`.
        probability: probability of this relation in the samples.
        supporting: columns of the cells on its side: those that contradict the most likely tree.
        contradicting: columns of the cells that contradict it: with the second only, or with both.
    """

    first: int
    second: int
    relation: str
    probability: float
    supporting: tuple[int, ...]
    contradicting: tuple[int, ...]

    @property
    def doubtful(self) -> bool:
        """Return whether more cells contradict it than the relation in the most likely tree."""
        return len(self.contradicting) > len(self.supporting)

    @property
    def clear(self) -> bool:
        """Return whether most of the cells that decide are on its side, more than by chance."""
        from scipy import special

        on_its_side, others = len(self.supporting), len(self.contradicting)
        by_chance = float(special.bdtr(others, on_its_side + others, 0.5))
        return on_its_side >= _CLEAR * others and by_chance < _BY_CHANCE

    def words(self, mutations: tuple[str, ...], counts: PairCounts) -> str:
        """Return the relation in the consensus, and the cells of both mutations, as text."""
        return _claim_words(self, mutations, counts)

    def to_dict(self, mutations: tuple[str, ...]) -> JsonObject:
        """Return plain values for summary.json, with the names of the mutations and numbers of cells."""
        return {
            **self._asdict(),
            "first": mutations[self.first],
            "second": mutations[self.second],
            "supporting": len(self.supporting),
            "contradicting": len(self.contradicting),
        }


def _claim_words(claim: Contradiction | Conflict, mutations: tuple[str, ...], counts: PairCounts) -> str:
    """Return a claim, and the numbers of cells with one of its mutations and with both, as text."""
    one, two = claim.first, claim.second
    first, second = mutations[one], mutations[two]
    relation = "before" if claim.relation == "before" else "apart from"
    having = counted(int(counts.only[one, two]), "cell has", "cells have")
    others, both = counts.only[two, one], counts.both[one, two]
    return f"{first} {relation} {second} ({having} {first} alone, {others} {second} alone, {both} both)"


def conflicts_in(
    consensus: CloneTree, likely: CloneTree, relations: Relations, matrix: Matrix
) -> list[Conflict]:
    """Return the claims of the consensus that the most likely tree contradicts, most probable first.

    Only relations with a probability above `CLAIMED` count: of the others, the samples are in doubt, too.

    Args:
        consensus, likely: the two trees, of the same mutations.
        relations: relations in the samples.
        matrix: the observed values of these mutations.
    """
    states = observed_states(matrix)
    seen, absent = (states == 1) | (states == 2), states == 0

    def against(one: int, two: int, before: bool) -> tuple[int, ...]:
        """Return the columns of the cells that contradict one mutation before, or apart from, another."""
        return tuple(np.flatnonzero((absent if before else seen)[one] & seen[two]).tolist())

    sure = consensus.before & (relations.before > CLAIMED)
    before = np.argwhere(sure & ~likely.before & (likely.before.T | likely.apart))
    found = [
        Conflict(
            one, two, "before", float(relations.before[one, two]),
            against(two, one, bool(likely.before[two, one])), against(one, two, True),
        )
        for one, two in before.tolist()
    ]  # fmt: skip
    apart = np.argwhere(np.triu(consensus.apart & (relations.apart > CLAIMED) & ~likely.apart, 1))
    for one, two in apart.tolist():
        upper, lower = (one, two) if likely.before[one, two] else (two, one)
        sides = against(upper, lower, True), against(one, two, False)
        found.append(Conflict(one, two, "apart", float(relations.apart[one, two]), *sides))
    return sorted(found, key=lambda one: (-one.probability, one))


def count_pairs(matrix: Matrix) -> PairCounts:
    """Count the cells of all pairs of mutations; a homozygous mutation counts as one.

    With evidence, an entry counts by what it says (`observed_states`).
    """
    states = observed_states(matrix)
    seen = ((states == 1) | (states == 2)).astype(np.float64)  # products of whole numbers are exact
    absent = (states == 0).astype(np.float64)
    return PairCounts(
        *(
            np.rint(one @ other.T).astype(np.int64)
            for one, other in ((seen, seen), (seen, absent), (absent, absent))
        )
    )


Evident: TypeAlias = "Callable[[Contradiction, float], float]"
"""Function that returns how improbable evidence so much against a true claim is; 1 if the part of the telling
cells that contradict the claim is no larger than the given one."""


def evident_in(matrix: Matrix, model: ObservationModel) -> Evident | None:
    """Return how evident contradictions are by the log odds of a matrix; None if calls decide.

    Cells have, or have not, each of the two mutations. The parts of these four kinds of cells are fitted with
    and without the kind that the claim excludes. The quotient of both likelihoods weighs each cell by what
    its reads say: many cells with a read each say less than a few with many.

    Args:
        matrix: the matrix of the placed mutations.
        model: the observation model of the run.
    """
    if not isinstance(model, Levels):
        return None
    log_odds = log_odds_of(matrix)

    def evident(claim: Contradiction, least: float) -> float:
        first, second = log_odds[[claim.first, claim.second]]
        known = (first != 0) & (second != 0)
        first, second = first[known], second[known]
        kinds = np.stack((np.zeros_like(first), first, second, first + second))
        cells, excluded = np.ones(len(first)), 2 if claim.relation == "before" else 3
        shares, best = fitted_shares(kinds, cells)
        supporting = shares[3] if excluded == 2 else min(shares[1], shares[2])
        if shares[excluded] <= least * (shares[excluded] + supporting):
            return 1.0
        return math.exp(min(0.0, fitted_shares(np.delete(kinds, excluded, axis=0), cells)[1] - best))

    return evident


def unsupported_in(
    relations: Relations,
    counts: PairCounts,
    rates: Rates,
    fn_rates: NDArray[np.float64] | None = None,
    evident: Evident | None = None,
    doublets: float | None = None,
) -> list[Contradiction]:
    """Return the claims that most of their own telling cells contradict, of five or more.

    A consensus keeps them back. Of "A before B", the cells with B tell, by A; of "A apart from B", the cells
    with the rarer one, by the other one. Those that errors explain do not count. Of thousands of pairs with
    few cells each, some have so many errors by chance: claims are left out if errors would give one such
    claim in 20 matrices or more.

    Where mutations have rates of their own, and few cells support "A before B", cells with B have A at the
    mean of these rates, and none of them are false: samples fit a high rate of one mutation to a wrong order
    as well as to a true one.

    Args:
        relations: relations of the mutations in the samples.
        counts: of the same mutations.
        rates, fn_rates, evident, doublets: as for `contradictions_in`.
    """
    expected = _most_errors(counts, rates, fn_rates, doublets)
    if fn_rates is not None:
        few = counts.both < _SUPPORTED * counts.with_second
        expected["before"] = np.where(few, float(fn_rates.mean()) * counts.with_second, expected["before"])
    claims = int((relations.before > CLAIMED).sum() + (np.triu(relations.apart) > CLAIMED).sum())

    def is_no_chance(one: Contradiction) -> bool:
        seen = one.supporting + one.contradicting
        error = float(expected[one.relation][one.first, one.second]) / seen
        if seen < _FEWEST or claims * _chance_of_part(one.contradicting / seen, error, seen) >= _BY_CHANCE:
            return False
        return evident is None or claims * evident(one, _KEPT_BACK) < _BY_CHANCE

    found = _claims(relations, counts, expected, _KEPT_BACK)
    return sorted(filter(is_no_chance, found), key=lambda one: (-one.contradicting, one))


def _chance_of_part(part: float, error: float, count: int) -> float:
    """Return a bound on the probability that such a part of some cells has errors, or more.

    Args:
        part: the part, above 0.
        error: probability of an error.
        count: number of cells.

    Source: Hoeffding, "Probability inequalities for sums of bounded random variables", 1963, theorem 1.
    """
    if error >= part:
        return 1.0
    distance = part * math.log(part / error)
    if part < 1:
        distance += (1 - part) * math.log((1 - part) / (1 - error))
    return math.exp(-count * distance)


def _most_errors(
    counts: PairCounts, rates: Rates, fn_rates: NDArray[np.float64] | None, doublets: float | None
) -> dict[str, NDArray[np.float64]]:
    """Return how many cells contradict a true claim by errors, at most: by relation, shape (n, n).

    Where one mutation is before another, a cell with the second lacks the first only by an error: a false
    negative of the first, or a false positive of the second. Where they are apart, a cell with one of them
    has a false positive of the other, or is a doublet of a cell with each (a doublet with the later of two
    mutations has the earlier one, too). Rates are those of the run, or the highest that the cells of each
    mutation allow, where these are lower.
    """
    count = len(counts.both)
    given = np.full(count, rates.fn_rate) if fn_rates is None else fn_rates
    only, unlike = counts.only, counts.only.T
    false = np.minimum(_highest_part((counts.both, unlike), (only, counts.neither)), rates.fp_rate)
    missed = np.minimum(_highest_part((unlike, counts.both), (counts.neither, only)), given)
    of_second = false[:, np.newaxis] * counts.with_second
    return {
        "before": missed[:, np.newaxis] * counts.with_second + false * (unlike + counts.neither),
        "apart": of_second + of_second.T + (doublets or 0.0) * _in_pairs(counts),
    }


def _in_pairs(counts: PairCounts) -> NDArray[np.float64]:
    """Return how many cells would show both mutations if each were a doublet, of cells that have one at most.

    Either cell of it may have either mutation: the parts of the cells in which these are seen multiply.
    """
    cells = np.maximum(counts.with_second + counts.only + counts.neither, 1)
    return np.asarray(2.0 * counts.with_second * (counts.with_second.T / cells))


def _highest_part(*groups: tuple[NDArray[np.int64], NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return the highest rate of an error of each mutation that all groups of cells allow: shape (n,).

    Errors do not depend on other mutations. So the part of any cells in which a mutation is seen is at least
    its rate of false positives, and the part in which it is not at least that of false negatives. The
    upper end of Wilson's interval of such a part is a bound of the rate.

    Args:
        groups: numbers of cells with the error, or what looks like it, and of others, both of shape (n, n):
            of the row's mutation, among the cells that have, or that lack, the column's.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    lowest = np.ones(len(groups[0][0]))
    for wrong, right in groups:
        cells = np.maximum(wrong + right, 1)
        part, square = wrong / cells, _DEVIATIONS**2 / cells
        end = (part + square / 2 + np.sqrt(square * (part * (1.0 - part) + square / 4))) / (1.0 + square)
        end[(wrong + right == 0) | np.eye(len(end), dtype=np.bool_)] = 1.0
        lowest = np.minimum(lowest, end.min(axis=1, initial=1.0))
    return lowest


def _one_only(counts: PairCounts) -> NDArray[np.int64]:
    """Return the numbers of cells with the rarer mutation of each pair, and without the other."""
    with_second = counts.with_second
    return np.asarray(np.minimum(with_second, with_second.T) - counts.both)


def contradictions_in(
    relations: Relations,
    counts: PairCounts,
    rates: Rates,
    fn_rates: NDArray[np.float64] | None = None,
    evident: Evident | None = None,
    doublets: float | None = None,
) -> list[Contradiction]:
    """Return the claims that a fifth or more of the telling cells contradict, beyond what errors explain.

    A bound on the Poisson probability of so many errors has to be below 0.001 over all pairs.

    Args:
        relations: relations of the mutations in the samples.
        counts: of the same mutations.
        rates: the error rates.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
        evident: how evident a contradiction is by evidence, which has to agree; None for calls.
        doublets: rate of doublets; None if all cells are single.
    """
    pairs = max(1, len(counts.both) * (len(counts.both) - 1) // 2)
    expected = _most_errors(counts, rates, fn_rates, doublets)
    against = [
        one
        for one in _claims(relations, counts, expected, _AGAINST)
        if chance_of(one.contradicting, float(expected[one.relation][one.first, one.second])) < CHANCE / pairs
        and (evident is None or evident(one, _AGAINST) < CHANCE / pairs)
    ]
    return sorted(against, key=lambda one: (-one.contradicting, one))


def _claims(
    relations: Relations, counts: PairCounts, expected: dict[str, NDArray[np.float64]], least: float
) -> list[Contradiction]:
    """Return the claims that more than a part of their telling cells contradict, without expected errors."""
    upper = np.triu(relations.apart)  # one of each two entries
    return [
        *_against(relations.before, "before", counts.both, counts.only.T, expected["before"], least),
        *_against(upper, "apart", _one_only(counts), counts.both, expected["apart"], least),
    ]


def _against(
    probability: NDArray[np.float64],
    relation: str,
    supporting: NDArray[np.int64],
    contradicting: NDArray[np.int64],
    expected: NDArray[np.float64],
    least: float,
) -> list[Contradiction]:
    """Return the claims of one relation; all arrays have the shape (n, n)."""
    beyond = contradicting - expected
    claimed = np.argwhere((probability > CLAIMED) & (beyond > least * np.maximum(beyond + supporting, 0)))
    return [
        Contradiction(
            first,
            second,
            relation,
            float(probability[first, second]),
            int(supporting[first, second]),
            int(contradicting[first, second]),
        )
        for first, second in claimed.tolist()
    ]
