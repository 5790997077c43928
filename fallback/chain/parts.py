"""The parts of a chain in numpy. What is told of slots is an array over them, int64 unless said otherwise."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

State: TypeAlias = Mapping[str, NDArray[Any]]
"""Arrays over all slots, by the names of the arguments of kernels."""

REATTACH, EXCHANGE_LABELS, EXCHANGE_SUBTREES, TURN_OVER, NOTHING, JUMP_RATE = range(6)
"""What moves do to a tree: see kernels/chain/edits.py."""


class Trees(NamedTuple):
    """The trees of some slots.

    Attributes:
        parent: (slots, nodes).
        below: (slots, nodes, nodes) bool: [s, a, b] is true if a is b or above it.
    """

    parent: NDArray[Any]
    below: NDArray[Any]

    def of(self, slots: NDArray[Any]) -> "Trees":
        """The trees of some of them."""
        return Trees(self.parent[slots], self.below[slots])


class Draws(NamedTuple):
    """What the moves of some slots get of their steps' random words.

    Attributes:
        v: a node, uniform among the mutations.
        word: the third word, uint64 < 2^32.
        extra: a further random word, uint64 < 2^32.
        log_sizes: (slots, n + 2): ln(k) / gamma.
    """

    v: NDArray[Any]
    word: NDArray[Any]
    extra: NDArray[Any]
    log_sizes: NDArray[Any]

    def of(self, slots: NDArray[Any]) -> "Draws":
        """What some of them get."""
        return Draws(*(field[slots] for field in self))


class Proposals(NamedTuple):
    """What the moves of some slots propose.

    Attributes:
        kind: as what the step is counted: 0, 1, ... of the move's own kinds, or -1 for the null move.
        edit: what is done to the tree.
        v, w, t: its nodes; those that it has not are v.
        correction: ln of the quotient of the proposal's probabilities there and back, divided by gamma.
    """

    kind: NDArray[Any]
    edit: NDArray[Any]
    v: NDArray[Any]
    w: NDArray[Any]
    t: NDArray[Any]
    correction: NDArray[Any]


class Move(NamedTuple):
    """A way to propose.

    Attributes:
        kinds: in how many ways its steps are counted.
        propose: (trees, draws, mutations) -> Proposals.
    """

    kinds: int
    propose: Callable[[Trees, Draws, int], Proposals]


def best_attachment(_state: State, _slots: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """The score at the best node."""
    best: NDArray[Any] = scores.max(axis=1)
    return best


class Score(NamedTuple):
    """What a cell is worth.

    Attributes:
        of_cells: (state, slots, found) -> what cells add to the score, (slots, columns); `found` is what
            `of_attachments` made of each.
        of_attachments: (state, slots, scores) -> what is kept of the scores at all nodes, (slots, nodes,
            columns): an array of shape (slots, columns).
    """

    of_cells: Callable[[State, NDArray[Any], NDArray[Any]], NDArray[Any]]
    of_attachments: Callable[[State, NDArray[Any], NDArray[Any]], NDArray[Any]] = best_attachment


class Recorder(NamedTuple):
    """Which states leave a chain.

    Attributes:
        wants: (state, slots, step, score, best, accepted) -> bool, after the slots' steps of these numbers,
            given the trees' scores, the best before them, and whether the steps were accepted (bool).
    """

    wants: Callable[..., NDArray[Any]]
