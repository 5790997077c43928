"""A chain step on cell trees, and all cell trees, from sets of cells: slow and obviously correct.

A tree is the set of its clades; each clade is the frozenset of the cells below a node. Only the random words
refer to nodes by number, so a step starts from a parent vector; its result is a set of clades.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from syclade.quality.oracle.acceptance import Tables, accepts
from syclade.quality.oracle.draws import WORD, Words4

Clade = frozenset[int]
Clades = frozenset[Clade]


class LeafStep(NamedTuple):
    """Outcome of a step.

    Attributes:
        kind: 0 prune and reattach, 1 swap leaves, 2 the null move.
        proposed: the proposed tree.
        score: its score, in units of 2^-f nat.
        accepted: whether it is accepted.
    """

    kind: int
    proposed: Clades
    score: int
    accepted: bool


def clades_below(parents: Sequence[int]) -> list[Clade]:
    """Return the cells below each node of a parent vector, the node itself included."""
    below: list[set[int]] = [set() for _ in parents]
    for cell in range((len(parents) + 1) // 2):
        node = cell
        below[node].add(cell)
        while parents[node] != node:
            node = parents[node]
            below[node].add(cell)
    return [frozenset(cells) for cells in below]


def leaf_score(tree: Clades, rows: Sequence[Sequence[int]]) -> int:
    """Return the sum over mutations of the best sum over a clade; `rows[c][g]` is cell c's weight of g."""
    return sum(max(sum(rows[cell][gene] for cell in clade) for clade in tree) for gene in range(len(rows[0])))


def reattached(tree: Clades, moved: Clade, place: Clade) -> Clades:
    """Return the tree with a subtree attached beside another one; `place` may contain the moved cells.

    With the moved cells removed everywhere, the remaining clades form a tree. The moved cells then join every
    clade that strictly contains `place`, and one clade is new: the union of `place` and the moved cells.
    """
    rest = {clade - moved for clade in tree if not clade <= moved}
    target = place - moved
    joined = {clade | moved if clade > target else clade for clade in rest}
    return frozenset(joined | {target | moved} | {clade for clade in tree if clade <= moved})


def swapped(tree: Clades, one: int, other: int) -> Clades:
    """Return the tree with two cells swapped."""
    name = {one: other, other: one}
    return frozenset(frozenset(name.get(cell, cell) for cell in clade) for clade in tree)


def leaf_proposal(parents: Sequence[int], words: Words4, cut: int) -> tuple[int, Clades]:
    """Return (kind, proposed tree) for the random words of a step.

    Args:
        parents: parent vector of 2m - 1 nodes.
        words: random words of the step.
        cut: 2^16 times the probability of prune and reattach.
    """
    others = len(parents) - 1
    below = clades_below(parents)
    tree = frozenset(below)
    extra = (words[0] & 0xFFFF) << 16 | (words[1] * others & WORD) >> 16
    if words[0] >> 16 >= cut:
        one, other = words[2] * (others // 2 + 1) >> 32, extra * (others // 2) >> 32
        return 1, swapped(tree, one, other + (other >= one))
    node = words[1] * others >> 32
    for candidate in (words[2] * (others + 1) >> 32, extra * (others + 1) >> 32):
        if candidate != parents[node] and not below[candidate] <= below[node]:
            return 0, reattached(tree, below[node], below[candidate])
    return 2, tree


def leaf_step(
    parents: Sequence[int], rows: Sequence[Sequence[int]], words: Words4, cut: int, logs: Tables
) -> LeafStep:
    """Run a whole step; for the arguments see `leaf_proposal` and `leaf_score`."""
    kind, proposed = leaf_proposal(parents, words, cut)
    score = leaf_score(proposed, rows)
    delta = score - leaf_score(frozenset(clades_below(parents)), rows)
    return LeafStep(kind, proposed, score, accepts(delta, (1, 1), words[3], logs))


def all_leaf_trees(cells: int) -> Iterator[Clades]:
    """Yield all (2m - 3)!! trees of m cells: attach each cell beside every clade of every smaller tree."""
    if cells == 1:
        yield frozenset({frozenset({0})})
        return
    new = frozenset({cells - 1})
    for smaller in all_leaf_trees(cells - 1):
        for place in smaller:
            yield reattached(smaller | {new}, new, place)


def parents_of(tree: Clades) -> list[int]:
    """Return a parent vector of the tree; internal nodes are ordered by size, the root last."""
    joints = sorted(
        (clade for clade in tree if len(clade) > 1), key=lambda clade: (len(clade), sorted(clade))
    )
    nodes = [frozenset({cell}) for cell in range(len(joints) + 1)] + joints
    return [
        min(
            (at for at, other in enumerate(nodes) if other > clade),
            key=lambda at: len(nodes[at]),
            default=own,
        )
        for own, clade in enumerate(nodes)
    ]
