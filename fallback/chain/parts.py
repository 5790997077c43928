"""Parts of a chain in numpy. A step in progress is a lane; arrays over lanes are int64 unless noted."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

from numpy.typing import NDArray

State: TypeAlias = Mapping[str, NDArray[Any]]
"""Arrays over all slots, by the names of the kernels' arguments."""

REATTACH, EXCHANGE_LABELS, EXCHANGE_SUBTREES, TURN_OVER, NOTHING, JUMP_RATE = range(6)
"""Edits: see kernels/chain/edits.py."""


class Relations(Protocol):
    """Queries that moves may make about the trees of some lanes, as `kernels.chain.parts.Relations`.

    Nodes, sizes and ranks are arrays over the lanes.
    """

    def of(self, at: Any) -> "Relations":
        """Return the same for some of the lanes."""

    def is_descendant(self, node: NDArray[Any], ancestor: NDArray[Any]) -> NDArray[Any]:
        """Return whether `ancestor` is the node itself or above it; bool."""

    def subtree_size(self, node: NDArray[Any]) -> NDArray[Any]:
        """Return the number of nodes in the subtree of the node, itself included."""

    def select(self, node: NDArray[Any], inside: bool, rank: NDArray[Any]) -> NDArray[Any]:
        """Return the rank-th node, from 0 in ascending order, inside or outside of the node's subtree."""

    def parent_of(self, node: NDArray[Any]) -> NDArray[Any]:
        """Return the parent of the node; the root is its own."""


class Draws(NamedTuple):
    """The random draws of some lanes' steps, and the logarithms for corrections.

    Attributes:
        v: a node, uniform among the mutations.
        second: drawn by the move from the third word (`Move.second`).
        extra: another random word, uint64 < 2^32.
        slots: the lanes' rows of `log_sizes`.
        log_sizes: (slots, n + 2): ln(k) / gamma, in units of 2^-f.
        given: arrays over all slots, among them the moves' own arguments.
    """

    v: NDArray[Any]
    second: NDArray[Any]
    extra: NDArray[Any]
    slots: NDArray[Any]
    log_sizes: NDArray[Any]
    given: State = MappingProxyType({})

    def of(self, at: Any) -> "Draws":
        """Return the same for some of the lanes."""
        return Draws(self.v[at], self.second[at], self.extra[at], self.slots[at], self.log_sizes, self.given)

    def log_of(self, size: NDArray[Any]) -> NDArray[Any]:
        """Return ln(size) / gamma in units of 2^-f."""
        logarithm: NDArray[Any] = self.log_sizes[self.slots, size]
        return logarithm


class Proposals(NamedTuple):
    """The proposals of some lanes.

    Attributes:
        kind: index among the move's own kinds, by which the step is counted; -1 for the null move.
        edit: the change of the tree, one of the edits above.
        v, w, t: its nodes; v if an edit does not use w or t.
        correction: ln of the ratio of the backward to the forward probability of the proposal, divided by
            gamma.
    """

    kind: NDArray[Any]
    edit: NDArray[Any]
    v: NDArray[Any]
    w: NDArray[Any]
    t: NDArray[Any]
    correction: NDArray[Any]

    def of(self, at: Any) -> "Proposals":
        """Return the same for some of the lanes."""
        return Proposals(*(field[at] for field in self))


class Move(NamedTuple):
    """A move, which proposes edits.

    Attributes:
        kinds: number of kinds by which its steps are counted.
        second: (word, first, mutations) -> int64: the draw after the first node. It does not depend on the
            tree, so it is made for many steps at once: arrays of any shape.
        propose: (relations, draws, mutations) -> Proposals.
    """

    kinds: int
    second: Callable[[NDArray[Any], NDArray[Any], int], NDArray[Any]]
    propose: Callable[[Relations, Draws, int], Proposals]


class Score(NamedTuple):
    """The score of a cell.

    Attributes:
        of_cells: (state, slots, found) -> what cells add to the tree's score, (lanes, columns). `found` is
            the score of each cell at its best node, or the result of `of_attachments`.
        of_attachments: (state, slots, scores) -> what is kept, (lanes, columns), of the scores at all nodes,
            (lanes, nodes, columns). None if the best node is enough.
    """

    of_cells: Callable[[State, NDArray[Any], NDArray[Any]], NDArray[Any]]
    of_attachments: Callable[[State, NDArray[Any], NDArray[Any]], NDArray[Any]] | None = None


class Space(NamedTuple):
    """The trees of a space, and the tables that their scores are computed from.

    `observed` has the classes of the observed values, (rows, columns) uint8: a column for each of what a tree
    places, and a row for each of what it is made of.

    Attributes:
        labels: (observed) -> number of nodes besides the root.
        slot_bytes: (observed) -> memory of a slot's tables.
        tables: (parents, weights, observed) -> tables of trees, (slots, nodes) int32, with weights of the
            classes, (slots, classes) int64: `Tables` or `LeafTables`.
        shared_tables: the same, with shares of the cells at each node, (slots, nodes) int32; None if cells
            cannot have any.
    """

    labels: Callable[[NDArray[Any]], int]
    slot_bytes: Callable[[NDArray[Any]], int]
    tables: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], Any]
    shared_tables: Callable[[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]], Any] | None = None


class Recorder(NamedTuple):
    """Selects the states that a chain emits.

    Attributes:
        wants: (state, slots, step, score, best, accepted) -> bool, after the slots' steps with these numbers,
            given the trees' scores, the best scores before, and whether the steps were accepted (bool).
    """

    wants: Callable[..., NDArray[Any]]
