"""Exact proposal kernel over all cell trees of a few cells, from the definition of the moves.

A tree is named by its parent vector from `leaf.parents_of`; the numbers of internal nodes are arbitrary.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

from syclade.quality.oracle.enumeration import Kernel, Proposal
from syclade.quality.oracle.leaf import Clade, Clades, all_leaf_trees, parents_of, reattached, swapped
from syclade.quality.oracle.trees import ParentVector


def leaf_kernel(cells: int, cut: int) -> Kernel:
    """Return all proposals of all (2m - 3)!! trees of m cells; a tree's probabilities sum to 1.

    Args:
        cells: number of cells m, at least 2.
        cut: 2^16 times the probability of prune and reattach; otherwise two leaves are swapped.
    """
    prune = Fraction(cut, 65536)
    return {
        tree_name(tree): [
            Proposal(tree_name(other), share, Fraction(1)) for other, share in _proposals(tree, cells, prune)
        ]
        for tree in all_leaf_trees(cells)
    }


def tree_name(tree: Clades) -> ParentVector:
    """Return the parent vector that names a tree."""
    return tuple(parents_of(tree))


def _proposals(tree: Clades, cells: int, prune: Fraction) -> Iterator[tuple[Clades, Fraction]]:
    nodes = [clade for clade in tree if len(clade) < cells]
    for moved in nodes:
        yield from _prunes(tree, moved, prune / len(nodes))
    pairs = list(permutations(range(cells), 2))
    for one, other in pairs:
        yield swapped(tree, one, other), (1 - prune) / len(pairs)


def _prunes(tree: Clades, moved: Clade, share: Fraction) -> Iterator[tuple[Clades, Fraction]]:
    """Yield the proposals that move one subtree.

    The subtree is attached to the first valid one of two candidates, each uniform among all nodes. If neither
    is valid, the tree stays the same.
    """
    joint = min((clade for clade in tree if clade > moved), key=len)
    places = [clade for clade in tree if clade != joint and not clade <= moved]
    none = 1 - Fraction(len(places), len(tree))
    for place in places:
        yield reattached(tree, moved, place), share * (1 + none) / len(tree)
    yield tree, share * none**2
