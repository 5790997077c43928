"""Moves of a chain: names, implementations, probabilities, and the guides of guided moves.

A move has a device implementation, a numpy implementation, and the oracle's slow definition. Implementations
are given by name and not imported: loading the device implementation does not load the numpy one, and vice
versa.

A guide is a table of promising proposals (kernels/moves/guide.py), learned from sampled trees. It does not
change while later samples count, so that these are of the posterior: for every guide, the guided moves fulfil
detailed balance (docs/model.md, "Guided moves").
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import real, shown
from syclade.kernels.arguments import Argument
from syclade.kernels.moves.guide import (
    LEAST_BITS,
    LONGER_ABOVE,
    MORE_BITS,
    NEVER,
    OF_REATTACH,
    OF_SWAP,
    UPPER_BITS,
)

if TYPE_CHECKING:
    from syclade.host.data.model.rate_grid import RatePrior

__all__ = [
    "GUIDED_MOVES",
    "JUMPS",
    "MOVES",
    "NULL_KIND",
    "Move",
    "cumulative",
    "guide_entries",
    "guide_from",
    "kinds_of",
    "make_guide",
    "uniform_guide",
    "with_jumps",
]

_OF_TREES = 9
"""Share of the entries of a mutation that follow the sampled trees, in tenths; the other tenth is uniform."""

Counts = NDArray[np.int64]


def guide_entries(mutations: int) -> int:
    """Return the length of a table of proposals for this number of mutations."""
    return 1 << LEAST_BITS + MORE_BITS * sum(mutations > above for above in LONGER_ABOVE)


def uniform_guide(mutations: int, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return a guide that prefers nothing; see `make_guide`."""
    pairs = np.ones((mutations, mutations + 1), dtype=np.int64)
    return make_guide(pairs, pairs[:, :mutations], unit, gamma)


def guide_from(edges: Counts, often: Counts, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return the guide that proposes what sampled trees have.

    A mutation moves below a parent as often as the edge is in the trees, or, once in ten, below any node: in
    a place without entries, it would not move again. Two mutations swap by the root of the probability that
    they have the same parent in two independent trees, or are parent and child in one.

    Args:
        edges: int64, shape (n, n + 1): number of trees with each parent (column) of each mutation; the sum
            of a row, the number of trees, is below 2^17.
        often: int64, shape (n,), from 1 to 2^8: how often to propose each mutation; a swap as often as the
            geometric mean of its two.
        unit, gamma: as for `make_guide`.
    """
    mutations, trees = len(edges), int(edges[0].sum())
    counts = edges.astype(np.float64)  # products of whole numbers below 2^53 are exact in any order
    related = counts[:, :mutations] + counts[:, :mutations].T
    alike = counts @ counts.T + trees * related
    swaps = np.floor(np.sqrt(alike * np.outer(often, often))).astype(np.int64)
    return make_guide(often[:, None] * (_OF_TREES * (mutations + 1) * edges + trees), swaps, unit, gamma)


def make_guide(edges: Counts, swaps: Counts, unit: float, gamma: float) -> Mapping[str, NDArray[np.int32]]:
    """Return the tables of a guide, by argument name.

    Args:
        edges: int64, shape (n, n + 1), >= 0: weight of moving each mutation below each node.
        swaps: int64, shape (n, n), >= 0: weight of swapping two labels; entries above the diagonal count.
        unit: unit of scores, in nats.
        gamma: exponent of the likelihood.

    Returns:
        guide_edges, guide_logs, guide_swaps: int32.
    """
    mutations, width = edges.shape
    own = np.arange(width) != np.arange(mutations)[:, None]
    length = guide_entries(mutations)
    chosen = _entries((edges * own).ravel(), length)
    number = np.bincount(chosen, minlength=edges.size)
    logs = {count: round(math.log(count) / unit / gamma) for count in np.unique(number).tolist() if count}
    of_count = np.full(length + 1, NEVER, dtype=np.int32)
    of_count[list(logs)] = list(logs.values())
    first, second = np.triu_indices(mutations, 1)
    pairs = _entries(swaps[first, second], length) if len(first) else np.zeros(length, dtype=np.int64)
    first, second = (np.append(one, 0) for one in (first, second))  # one mutation has no pair
    return {
        "guide_edges": _packed(chosen // width, chosen % width),
        "guide_logs": of_count[number],
        "guide_swaps": _packed(first[pairs], second[pairs]),
    }


def _entries(weights: Counts, length: int) -> Counts:
    """Return so many indices, each as often as its weight demands, rounded up or down; ascending.

    Args:
        weights: int64, shape (k,), >= 0, with a sum from 1 to below 2^62.
        length: below 2^30.
    """
    ends = np.cumsum(weights)
    whole, rest = divmod(int(ends[-1]), 2 * length)
    middles = 2 * np.arange(length) + 1
    return np.asarray(np.searchsorted(ends, middles * whole + middles * rest // (2 * length), side="right"))


def _packed(first: Counts, second: Counts) -> NDArray[np.int32]:
    return np.asarray((first << UPPER_BITS) | second, dtype=np.int32)


NULL_KIND = "null move"
"""Kind that counts the steps in which a move can do nothing; the last of all kinds."""

UNIT = 65536
"""Probabilities of moves are multiples of 1/65536."""


@dataclass(frozen=True)
class Move:
    """A way to propose a tree.

    Attributes:
        name: name shown to users.
        kinds: the kinds that its steps are counted as.
        device: `module:NAME` of a `kernels.chain.parts.Move`.
        numpy: `module:NAME` of a `fallback.chain.parts.Move`.
        arguments: the kernel's arguments for the move, tables of a slot (`ChainState.tables`).
    """

    name: str
    kinds: tuple[str, ...]
    device: str
    numpy: str
    arguments: tuple[Argument, ...] = ()


def _own(module: str, *kinds: str, arguments: tuple[Argument, ...] = ()) -> Move:
    name = module.replace("_", " ")
    return Move(
        name,
        kinds or (name,),
        f"syclade.kernels.moves.{module}:MOVE",
        f"syclade.fallback.moves.{module}:MOVE",
        arguments,
    )


MOVES = (
    _own("prune_and_reattach"),
    _own("swap_labels"),
    _own("swap_subtrees", "swap unrelated subtrees", "swap related subtrees"),
)
"""SCITE's moves on mutation trees, in the order of `--move-probs`."""

GUIDED_MOVES = (
    *MOVES,
    _own("guided_reattach", arguments=OF_REATTACH),
    _own("guided_swap", arguments=OF_SWAP),
)
"""The same, and moves that draw from a guide (host/chains/moves.py): each state brings its tables."""


def _jump(name: str, module: str) -> Move:
    move = f"LEARN_{name.removesuffix('_rate').upper()}"
    return Move(
        f"learn {name}",
        (f"jump of {name}",),
        f"syclade.kernels.{module}.moves:{move}",
        f"syclade.fallback.rates.moves:{move}",
    )


JUMPS = {name: _jump(name, "rates") for name in ("fn_rate", "fp_rate")}
"""Moves of learned error rates, by name of the rate."""

JUMPS_WITH_DOUBLETS = {name: _jump(name, "sums") for name in (*JUMPS, "doublets")}
"""Moves of learned rates on trees with doublets."""


def with_jumps(
    moves: Sequence[Move],
    below: Sequence[int],
    priors: Sequence[RatePrior],
    jumps: Mapping[str, Move] = MappingProxyType(JUMPS),
    *,
    every: bool = False,
) -> tuple[tuple[Move, ...], tuple[int, ...]]:
    """Append the moves of learned rates to the moves of trees.

    Args:
        moves: moves of trees.
        below: their cumulative probabilities, from `cumulative`.
        priors: priors of the learned rates, with the probabilities of their moves.
        jumps: the moves of learned rates, by name of the rate.
        every: if any rate is learned, append the moves of fixed rates, too, with probability 0.

    Returns:
        All moves, and their cumulative probabilities in 1/65536, the last one 65536.
    """
    parts = {prior.name: max(1, round(UNIT * prior.probability)) for prior in priors}
    names = tuple(jumps) if every and parts else tuple(parts)
    ends = [UNIT]
    for name in reversed(names):
        ends.insert(0, ends[0] - parts.get(name, 0))
    tree = ends[0] / UNIT
    own = [round(tree * one) for one in below[:-1]]
    return (*moves, *(jumps[name] for name in names)), (*own, *ends)


def kinds_of(moves: Sequence[Move]) -> tuple[str, ...]:
    """Return the kinds that steps are counted as, in the order of the tallies."""
    return (*(kind for move in moves for kind in move.kinds), NULL_KIND)


def cumulative(moves: Sequence[Move], probabilities: Sequence[float]) -> tuple[int, ...]:
    """Return the cumulative probabilities of the moves in 1/65536, the last one 65536.

    Args:
        moves: moves of a plan.
        probabilities: weights, one per move; scaled to sum 1.

    Raises:
        OptionError: there is not one finite weight >= 0 per move, or the sum of the weights is 0 or infinite.
    """
    weights = _weights(probabilities)
    if len(weights) != len(moves) or not all(math.isfinite(one) and one >= 0 for one in weights):
        names = ", ".join(move.name for move in moves)
        raise OptionError(
            f"move probabilities {shown(probabilities)} are not {len(moves)} numbers >= 0",
            hint=f"give one for each: {names}; such as 0.55 0.4 0.05",
        )
    total = sum(weights)
    if total <= 0:
        raise OptionError("all move probabilities are 0", hint="give at least one move a chance")
    if not math.isfinite(total):
        raise OptionError("the move probabilities add up to infinity", hint="give smaller numbers")
    sums, so_far = [], 0.0
    for weight in weights:
        so_far += weight
        sums.append(round(UNIT * so_far / total))
    return _each_possible(weights, (*sums[:-1], UNIT))


def _each_possible(weights: Sequence[float], ends: Sequence[int]) -> tuple[int, ...]:
    """Return cumulative probabilities in which no weight above 0 is rounded to 0; the largest pays for it."""
    parts = np.diff(ends, prepend=0)
    lost = (parts == 0) & (np.array(weights) > 0)
    parts[lost] = 1
    parts[parts.argmax()] -= np.count_nonzero(lost)
    return tuple(parts.cumsum().tolist())


def _weights(probabilities: Iterable[object]) -> list[float]:
    """Return the given numbers as floats; an empty list if they are not numbers."""
    try:
        return [real("a move probability", one) for one in probabilities]
    except (TypeError, OptionError):
        return []
