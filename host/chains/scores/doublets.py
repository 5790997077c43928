"""The score with doublets: a cell is one of the tree's clones, or two of them (docs/model.md, "Doublets")."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.scores.powers import logarithm_of_two
from syclade.fallback.sums.numbers import Numbers, powers_of_two, product, put, total
from syclade.host.chains.scores.score import Score, blocks_of_columns
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.doublets import call_doublets, doublet_log_likelihood
from syclade.host.data.model.pairs import Forest
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.tree import children, preorder
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.kernels.scores.powers import FRACTION_BITS, LOGARITHM
from syclade.kernels.sums.numbers import MANTISSA_BITS
from syclade.kernels.sums.rates import DOUBLETS, SHARES

__all__ = [
    "BLOCK",
    "ONE",
    "ZERO",
    "Number",
    "definition",
    "factor_of",
    "logarithm_of",
    "number_of",
    "root_powers",
    "scores_of_trees",
    "shares_of",
    "with_doublets",
]

BLOCK = 2**15
"""Sums of nodes and columns, over all trees, that are worked on at once."""

_LOWEST = -(2**20)


class Number(NamedTuple):
    """Positive number: mantissa * 2^(exponent - 30), the mantissa of 31 bits; see kernels/sums/numbers.py."""

    mantissa: int
    exponent: int

    def __mul__(self, other: object) -> Number:
        """Return the product, rounded down."""
        assert isinstance(other, Number)
        mantissa = (self.mantissa * other.mantissa) >> MANTISSA_BITS
        carry = mantissa >> (MANTISSA_BITS + 1)
        return Number(mantissa >> carry, self.exponent + other.exponent + carry)

    def __add__(self, other: object) -> Number:
        """Return the sum, rounded down."""
        assert isinstance(other, Number)
        exponent = max(self.exponent, other.exponent)
        mantissa = (self.mantissa >> (exponent - self.exponent)) + (
            other.mantissa >> (exponent - other.exponent)
        )
        carry = mantissa >> (MANTISSA_BITS + 1)
        return Number(mantissa >> carry, exponent + carry)


ONE, ZERO = Number(2**MANTISSA_BITS, 0), Number(0, _LOWEST)


def number_of(value: float) -> Number:
    """Return a float >= 0 as a Number, rounded to the nearest."""
    if value == 0:
        return ZERO
    part, exponent = math.frexp(value)
    mantissa = round(math.ldexp(part, MANTISSA_BITS + 1))
    carry = mantissa >> (MANTISSA_BITS + 1)
    return Number(mantissa >> carry, exponent - 1 + carry)


@cache
def root_powers(count: int) -> tuple[int, ...]:
    """Return 2^(2^-k) in units of 2^-30, k = 0 … count - 1, rounded to the nearest."""
    wide = 4 * MANTISSA_BITS
    powers: list[int] = []
    power = 2 << wide
    for _ in range(count):
        powers.append((power + (1 << (wide - MANTISSA_BITS - 1))) >> (wide - MANTISSA_BITS))
        power = math.isqrt(power << wide)
    return tuple(powers)


def settings_of(problem: Problem, rate: float, *, with_shares: bool = False) -> dict[str, int]:
    """Return the settings of a slot for a rate of doublets: weights of single cells and of doublets.

    Args:
        problem: the problem.
        rate: rate of doublets.
        with_shares: whether sums over nodes are means, because each node has its share of the cells.
    """
    single, pair = number_of((1.0 - rate) * (1 if with_shares else problem.nodes)), number_of(rate)
    return dict(zip(SHARES, (*single, *pair), strict=True))


def shares_of(problem: Problem) -> NDArray[np.int64]:
    """Return these settings at every point of the grid of the rate of doublets.

    Returns:
        int64, shape (points, 4); zeros for one point if the rate is fixed.
    """
    grid = problem.rate_tables.model.doublets
    if grid is None:
        return np.zeros((1, len(SHARES)), dtype=np.int64)
    return np.array(
        [list(settings_of(problem, rate).values()) for rate in grid.rates.tolist()], dtype=np.int64
    )


def with_doublets(problem: Problem, rate: float, *, with_shares: bool = False) -> Score:
    """Return the score with doublets for a problem whose scores are in octaves.

    Args:
        problem: the problem.
        rate: probability that a cell is a doublet, at least 0 and below 1; if it is learned, the mean of its
            prior, for which the score is that at the nearest point of the grid.
        with_shares: whether states have shares of the cells at the nodes; then no rate is learned.

    Raises:
        MatrixError: the scores of a cell are too large.
    """
    assert problem.octaves
    if problem.scale_bits != FRACTION_BITS:
        raise MatrixError(
            f"{problem.mutations} mutations, with these error rates, are too many for scores with doublets",
            hint=f"leave out {flag_of('doublets')}, or use larger error rates",
        )
    grid = problem.rate_tables.model.doublets
    if grid is None:
        return _at(problem, rate, with_shares=with_shares)
    rates = grid.rates

    def at(places: Places) -> Score:
        return _at(problem, float(rates[places[DOUBLETS]]))

    return replace(at(problem.rate_tables.model.start), at=at)


def _at(problem: Problem, rate: float, *, with_shares: bool = False) -> Score:
    """Return the score at a rate of doublets."""
    pairs = 2.0 * math.log2(problem.nodes)
    return Score(
        name="doublets",
        log_likelihood=partial(doublet_log_likelihood, rate=rate),
        detail=partial(_with_calls, rate),
        of=_of,
        device="syclade.kernels.scores.doublets:SCORE",
        numpy="syclade.fallback.scores.doublets:SCORE",
        shares=with_shares,
        defaults={
            **settings_of(problem, rate, with_shares=with_shares),
            "pair_count": round(math.ldexp(0.0 if with_shares else pairs, FRACTION_BITS)),
        },
    )


def _with_calls(
    rate: float, assignment: Assignment, matrix: Matrix, rates: ObservationModel, parents: NDArray[np.int32]
) -> Assignment:
    """Return the assignment with the calls of doublets."""
    return replace(assignment, doublets=call_doublets(matrix, rates, parents, rate))


def _of(problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]) -> int:
    """Return the same as `definition`, but fast."""
    shares = np.array([rates.log_shares or [0] * problem.nodes], dtype=np.int64)
    return int(scores_of_trees(problem, Forest(parents[None]), shares, settings, rates)[0])


def scores_of_trees(
    problem: Problem,
    forest: Forest,
    log_shares: NDArray[np.int64],
    settings: Mapping[str, int],
    rates: SlotRates | None = None,
) -> NDArray[np.int64]:
    """Return the scores of several trees: int64, (trees,).

    Args:
        problem: the problem.
        forest: the trees.
        log_shares: shape (trees, n + 1); zeros without shares.
        settings: weights of single cells and of doublets.
        rates: None for the problem's own.
    """
    bits = np.int64(problem.scale_bits)
    shares = powers_of_two(log_shares.reshape(-1, 1))
    alone = (shares, product(shares, shares))
    single, pair = (
        Numbers(np.int64(settings[f"{name}_share"]), np.int64(settings[f"{name}_exponent"]))  # type: ignore[arg-type]
        for name in ("single", "pair")
    )
    weights = (problem.rates if rates is None else rates).weights
    powers = powers_of_two(np.array(weights, dtype=np.int64))
    classes = np.full((1, problem.columns), problem.classes - 1, dtype=np.uint8)
    observed = np.tile(np.concatenate((problem.observed, classes)), (forest.trees, 1))
    scores = np.zeros(forest.trees, dtype=np.int64)
    for block in blocks_of_columns(problem, problem.nodes * forest.trees, BLOCK):
        seen = observed[:, block]
        singles, pairs = (Numbers(*(np.repeat(x, seen.shape[1], axis=1) for x in one)) for one in alone)
        for rows, parents in forest.up:
            factor, own = powers.at(seen[rows]), singles.at(parents)
            added = product(factor, singles.at(rows))
            found = total(pairs.at(parents), product(own, added).twice())
            put(pairs, parents, total(found, product(factor, pairs.at(rows))))
            put(singles, parents, total(own, added))
        both = total(product(singles.at(forest.root), single), product(pairs.at(forest.root), pair))
        octaves = (both.exponent - MANTISSA_BITS) << bits
        of_cells = octaves + logarithm_of_two(both.mantissa.astype(np.int32), bits) - settings["pair_count"]
        scores += of_cells @ problem.multiplicity[block]
    return scores


def definition(
    problem: Problem, parents: NDArray[np.int32], rates: SlotRates, settings: Mapping[str, int]
) -> int:
    """Return the sum over all cells of the log of the mean over singles and pairs of nodes.

    With shares, each node's likelihood is multiplied by the share of the cells there, and a pair's by both.
    This is slow and plain.
    """
    single = Number(settings["single_share"], settings["single_exponent"])
    pair = Number(settings["pair_share"], settings["pair_exponent"])
    factors = [factor_of(weight) for weight in rates.weights]
    order, below = preorder(parents).tolist()[::-1], children(parents)
    shares = [factor_of(share) for share in rates.log_shares] or [ONE] * len(order)
    score = 0
    for column, count in zip(problem.observed.T.tolist(), problem.multiplicity.tolist(), strict=True):
        singles, pairs = _sums(order, below, [factors[code] for code in column], shares)
        worth = logarithm_of(single * singles + pair * pairs)
        score += count * (worth - settings["pair_count"])
    return score


def _sums(
    order: list[int], below: list[list[int]], factors: list[Number], shares: list[Number]
) -> tuple[Number, Number]:
    """Return a cell's sums over the nodes of the tree and over their pairs, relative to the root's score.

    Args:
        order: all nodes, children before their parents.
        below: children of each node, in ascending order.
        factors: 2^weight of what was observed, by mutation.
        shares: weight of each node.
    """
    singles, pairs = shares.copy(), [share * share for share in shares]
    for node in order:
        for child in below[node]:
            own, of_child = singles[node], factors[child] * singles[child]
            crossed = own * of_child
            twice = Number(crossed.mantissa, crossed.exponent + 1)
            pairs[node] = pairs[node] + twice + factors[child] * pairs[child]
            singles[node] = own + of_child
    return singles[-1], pairs[-1]


def factor_of(weight: int) -> Number:
    """Return 2^weight, for a weight in units of 2^-16."""
    powers = root_powers(FRACTION_BITS + 1)
    bits = [k for k in range(1, FRACTION_BITS + 1) if weight >> (FRACTION_BITS - k) & 1]
    part = reduce(Number.__mul__, (Number(powers[k], 0) for k in bits), ONE)
    return Number(part.mantissa, weight >> FRACTION_BITS)


def logarithm_of(number: Number) -> int:
    """Return log2 of a number in units of 2^-16, rounded to the nearest."""
    x = (number.mantissa - 2**MANTISSA_BITS) >> 10
    part = 0
    for coefficient in LOGARITHM:
        part = coefficient + (x * part >> 20)
    curve = (x * (2**20 - x) >> 20) * part >> 20
    spare = 20 - FRACTION_BITS
    return int((number.exponent << FRACTION_BITS) + ((x + curve + (1 << (spare - 1))) >> spare))
