"""Proposal of a step from its four random words (docs/architecture.md, "One chain step")."""

from enum import IntEnum
from typing import NamedTuple

from syclade.quality.oracle.draws import WORD, Words4
from syclade.quality.oracle.moves import (
    neighbourhood_sizes,
    prune_and_reattach,
    swap_labels,
    swap_subtrees_related,
    swap_subtrees_unrelated,
)
from syclade.quality.oracle.trees import (
    ParentsLike,
    ParentVector,
    descendants,
    is_ancestor,
    non_descendants,
    parent_vector,
)

UNUSED = -1


class Kind(IntEnum):
    """Kinds of moves; NULL is a swap in a tree of one mutation."""

    PRUNE = 0
    SWAP_LABELS = 1
    SWAP_UNRELATED = 2
    SWAP_RELATED = 3
    NULL = 4


class Move(NamedTuple):
    """A move and its nodes; nodes that it does not need are UNUSED. In SWAP_RELATED, v is below w."""

    kind: Kind
    v: int
    w: int
    t: int


class Cuts(NamedTuple):
    """Cumulative move probabilities in 1/65536: prune below `labels`, swap labels below `subtrees`."""

    labels: int
    subtrees: int


def move_cuts(prune: float, labels: float, subtrees: float) -> Cuts:
    """Return the thresholds for the weights of the three moves, which need not sum to 1.

    A weight above 0 has at least one part, which the likeliest move gives.

    ValueError if a weight is negative or all are 0.
    """
    total = prune + labels + subtrees
    if min(prune, labels, subtrees) < 0 or total <= 0:
        raise ValueError(f"move weights {prune}, {labels}, {subtrees} are not probabilities")
    first, second = round(65536 * prune / total), round(65536 * (prune + labels) / total)
    shares = [first, second - first, 65536 - second]
    for at, weight in enumerate((prune, labels, subtrees)):
        if weight > 0 and shares[at] == 0:
            shares[shares.index(max(shares))] -= 1
            shares[at] = 1
    return Cuts(shares[0], shares[0] + shares[1])


def propose(words: Words4, parents: ParentsLike, cuts: Cuts) -> Move:
    """Return the move that the words select for this tree; word 3 is for the acceptance test."""
    tree = parent_vector(parents)
    n = len(tree) - 1
    selector = words[0] >> 16
    extra = (words[0] & 0xFFFF) << 16 | (words[1] * n & WORD) >> 16
    v = words[1] * n >> 32
    if selector < cuts.labels:
        return Move(Kind.PRUNE, v, UNUSED, _new_parent(words[2], extra, tree, v))
    if n == 1:
        return Move(Kind.NULL, UNUSED, UNUSED, UNUSED)
    w = words[2] * (n - 1) >> 32
    if w >= v:
        w += 1
    if selector < cuts.subtrees:
        return Move(Kind.SWAP_LABELS, v, w, UNUSED)
    return _subtree_swap(extra, tree, v, w)


def apply(move: Move, parents: ParentsLike) -> ParentVector:
    """Return the proposed tree."""
    match move.kind:
        case Kind.PRUNE:
            return prune_and_reattach(parents, move.v, move.t)
        case Kind.SWAP_LABELS:
            return swap_labels(parents, move.v, move.w)
        case Kind.SWAP_UNRELATED:
            return swap_subtrees_unrelated(parents, move.v, move.w)
        case Kind.SWAP_RELATED:
            return swap_subtrees_related(parents, move.v, move.w, move.t)
        case Kind.NULL:
            return parent_vector(parents)


def correction_sizes(move: Move, parents: ParentsLike) -> tuple[int, int]:
    """Return (|C|, |B|) of a swap of related subtrees in the old tree, (1, 1) for any other move."""
    if move.kind is Kind.SWAP_RELATED:
        return neighbourhood_sizes(parents, move.v, move.w)
    return 1, 1


def _new_parent(word: int, extra: int, tree: ParentVector, v: int) -> int:
    """Return a uniform non-descendant of v.

    First try a uniform node. If it is a descendant, pick from the list of non-descendants.
    """
    candidate = word * len(tree) >> 32
    if not is_ancestor(tree, v, candidate):
        return candidate
    return _pick(extra, non_descendants(tree, v))


def _subtree_swap(extra: int, tree: ParentVector, v: int, w: int) -> Move:
    if is_ancestor(tree, v, w):
        v, w = w, v
    if is_ancestor(tree, w, v):
        return Move(Kind.SWAP_RELATED, v, w, _pick(extra, descendants(tree, v)))
    return Move(Kind.SWAP_UNRELATED, v, w, UNUSED)


def _pick(word: int, nodes: list[int]) -> int:
    return nodes[word * len(nodes) >> 32]
