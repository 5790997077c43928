"""State spaces: which trees a chain can visit, and where it starts; states of chains, and events they emit.

A state is a plain value with all that the next step of its chain needs; statistics are kept separately. A
recorder selects the states that a chain emits as events while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.chains.moves import JUMPS, JUMPS_WITH_DOUBLETS, Move
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.model.rate_model import NOWHERE, Places
from syclade.host.data.model.recurrence import is_allowed
from syclade.host.data.trees.cells import are_leaf_trees, validate_leaf_parents
from syclade.host.data.trees.tree import (
    are_trees,
    initial_leaf_parents,
    initial_parents,
    tree_key,
    validate_parents,
)

__all__ = [
    "CELL_LEAF_TREES",
    "EQUAL_BEST",
    "MUTATION_TREES",
    "NEW_BEST",
    "SUMMED_TREES",
    "ChainInfo",
    "ChainState",
    "Event",
    "Recorder",
    "Sink",
    "Space",
    "bytes_of_states",
    "every",
    "no_tallies",
    "recurrent_trees",
]

Table = tuple[NDArray[np.uint8], NDArray[np.int64]]


@dataclass(frozen=True)
class Space:
    """A space of trees.

    Attributes:
        name: name shown to users.
        initial: (labels, seed, chain) -> the tree that a chain starts from.
        check: (array) -> the tree as an int32 parent vector; raises a TreeError if it is not valid.
        are_trees: (int32, shape (trees, labels + 1)) -> whether all rows are valid; fast.
        key: (parents) -> 64-bit key that depends on the parents only; kernels compute the same key.
        labels: (problem) -> number of nodes of a tree besides the root, which has the next number.
        table: (problem) -> input of the numpy implementation: classes of the observed values, uint8, shape
            (rows, columns), one row per mutation or per cell; and how often each column counts, int64, shape
            (columns,).
        numpy: `module:NAME` of a `fallback.chain.parts.Space`.
        jumps: moves of learned rates, by name of the rate.
        every_jump: if any rate is learned, chains have all these moves, those of fixed rates with probability
            0, so that one kernel serves all sets of learned rates.
        encoding: the only encoding of these trees that has kernels; empty if there are several.
    """

    name: str
    initial: Callable[[int, int, int], NDArray[np.int32]]
    check: Callable[[ArrayLike], NDArray[np.int32]]
    are_trees: Callable[[NDArray[np.int32]], bool]
    key: Callable[[NDArray[np.int32]], int]
    labels: Callable[[Problem], int]
    table: Callable[[Problem], Table]
    numpy: str
    encoding: str = ""
    jumps: Mapping[str, Move] = field(default_factory=lambda: JUMPS)
    every_jump: bool = False


def _mutations(problem: Problem) -> int:
    return problem.mutations


def _nodes_but_root(problem: Problem) -> int:
    return 2 * len(problem.column_of) - 2


def _leaf_tree(parents: ArrayLike) -> NDArray[np.int32]:
    return validate_leaf_parents(parents)


def _by_mutation(problem: Problem) -> Table:
    return problem.observed, problem.multiplicity


def _by_cell(problem: Problem) -> Table:
    cells = np.ascontiguousarray(problem.observed[:, problem.column_of].T)
    return cells, np.ones(problem.mutations, dtype=np.int64)


MUTATION_TREES = Space(
    "mutation trees",
    initial_parents,
    validate_parents,
    are_trees,
    tree_key,
    _mutations,
    _by_mutation,
    "syclade.fallback.chain.space:SPACE",
)
"""Rooted trees of mutations: parent vectors of shape (n + 1,); the root is node n."""

CELL_LEAF_TREES = Space(
    "cell trees",
    initial_leaf_parents,
    _leaf_tree,
    are_leaf_trees,
    tree_key,
    _nodes_but_root,
    _by_cell,
    "syclade.fallback.leaf.space:SPACE",
    encoding="clade",
)
"""Binary trees whose leaves are the m cells, nodes 0 ... m-1: parent vectors of shape (2m - 1,)."""

SUMMED_TREES = replace(
    MUTATION_TREES, numpy="syclade.fallback.sums.tables:SPACE", encoding="sums", jumps=JUMPS_WITH_DOUBLETS
)
"""Trees of mutations whose score adds up nodes, and pairs of nodes, over each cell's subtrees."""


def recurrent_trees(mutation: int, *, pairs: bool = False) -> Space:
    """Return the space of mutation trees in which a mutation has two nodes; the last one is its copy.

    Chains start from a tree that is uniform among those whose copies are neither siblings nor parent and
    child. The scores of other trees are so low that chains never go there.

    Args:
        mutation: number of the mutation.
        pairs: whether the kernel of the score has a rate of doublets.
    """
    return replace(
        MUTATION_TREES,
        initial=partial(_initial_with_copy, mutation),
        numpy="syclade.fallback.parities.tables:SPACE",
        encoding="parities",
        jumps={name: JUMPS_WITH_DOUBLETS[name] for name in (JUMPS_WITH_DOUBLETS if pairs else JUMPS)},
        every_jump=True,
    )


_NEXT_SEED = 0x9E3779B97F4A7C15
"""Odd, so that seeds repeat only after 2^64 attempts."""


def _initial_with_copy(mutation: int, labels: int, seed: int, chain: int) -> NDArray[np.int32]:
    """Draw trees until the copies of a mutation are allowed."""
    while True:
        parents = initial_parents(labels, seed, chain)
        if is_allowed(parents, mutation):
            return parents
        seed = (seed + _NEXT_SEED) % 2**64


@dataclass(frozen=True)
class Recorder:
    """Selection of the states to emit.

    Attributes:
        name: name shown to users.
        device: `module:NAME` of a `kernels.chain.parts.Recorder`.
        numpy: `module:NAME` of a `fallback.chain.parts.Recorder`.
        defaults: the settings of a slot that it uses, with the values they have unless a state sets them.
    """

    name: str
    device: str
    numpy: str
    defaults: Mapping[str, int] = field(default_factory=dict)


def _own(name: str, module: str, **defaults: int) -> Recorder:
    place = f"recorders.{module}:RECORDER"
    return Recorder(name, f"syclade.kernels.{place}", f"syclade.fallback.{place}", defaults)


def every(steps: int, first: int = 0) -> Recorder:
    """Return a recorder that emits the state after `first` steps, and then every `steps` steps.

    If `first` is 0, the first state is that after `steps` steps.
    """
    return _own(f"every {steps} steps", "every", every=steps, first_sample=first or steps)


NEW_BEST = _own("new best", "new_best")
EQUAL_BEST = _own("equal to the best", "equal_best")


class Event(NamedTuple):
    """A state that a recorder selected.

    Attributes:
        chain: number of the chain.
        step: steps that the chain had done.
        score: integer score of the tree, in units of 2^-f nat.
        why: bit r is set if the plan's r-th recorder selected the state.
        key: key of the tree (`host.data.trees.tree`).
        parents: int32, shape (n + 1,): the tree.
        rate_at: grid indices of the learned rates.
    """

    chain: int
    step: int
    score: int
    why: int
    key: int
    parents: NDArray[np.int32]
    rate_at: Places = NOWHERE


class Sink(Protocol):
    """A consumer of events. It receives the events of each chain in the order of the chain's steps."""

    def take(self, events: Sequence[Event]) -> None:
        """Take the events of a launch."""


_BYTES = 1000
"""Bytes of a state and its statistics in Python besides its trees, at least."""


def bytes_of_states(chains: int, labels: int) -> int:
    """Return the least bytes that states of chains take, with trees of this many nodes."""
    return chains * (_BYTES + 2 * 4 * (labels + 1))


def no_tallies(kinds: int) -> NDArray[np.int64]:
    """Return zero tallies for `kinds` kinds of moves: int64, shape (2 * kinds,)."""
    return np.zeros(2 * kinds, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ChainState:
    """One chain between two steps. Together with the seed and the plan, it determines all later steps.

    Attributes:
        chain: number of the chain; with the seed it determines the random numbers.
        step: number of steps done, which is the number of the next step.
        parents: int32, shape (n + 1,): the tree.
        score: integer score of the tree, in units of 2^-f nat.
        best_parents: int32, shape (n + 1,): the first tree that had the best score.
        best_score: best score so far.
        rates: the weights used for scoring.
        gamma: exponent of the likelihood in the accept test; may be changed between launches.
        settings: further settings of the slot for scores and recorders, by argument name.
        rate_at: grid indices of the learned rates; they determine `rates`, and some of the settings.
        best_rate_at: the grid indices at which the best tree was found.
        tables: arrays of the slot for its moves, by argument name. Checkpoints do not have them.
    """

    chain: int
    step: int
    parents: NDArray[np.int32]
    score: int
    best_parents: NDArray[np.int32]
    best_score: int
    rates: SlotRates
    gamma: float = 1.0
    settings: Mapping[str, int] = field(default_factory=dict)
    rate_at: Places = NOWHERE
    best_rate_at: Places = NOWHERE
    tables: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ChainInfo:
    """Statistics of a chain, which do not affect its steps.

    Attributes:
        tallies: int64, shape (2 * kinds,): steps proposed by kind of move, then steps accepted.
    """

    tallies: NDArray[np.int64]
