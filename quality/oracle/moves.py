"""SCITE's tree moves on parent vectors; each returns a new tree (Jahn, Kuipers, Beerenwinkel 2016, Methods).

The root n is never moved. `proposal` decides which move is drawn with which nodes.
"""

from syclade.quality.oracle.trees import ParentsLike, ParentVector, descendants, is_ancestor, parent_vector


def prune_and_reattach(parents: ParentsLike, v: int, t: int) -> ParentVector:
    """Attach the subtree of v below t. ValueError if v is the root or t is in the subtree of v."""
    tree = _movable(parents, v)
    if is_ancestor(tree, v, t):
        raise ValueError(f"{t} is in the subtree of {v}")
    return _with_parents(tree, {v: t})


def swap_labels(parents: ParentsLike, v: int, w: int) -> ParentVector:
    """Swap the labels v and w. ValueError if they are equal or one is the root."""
    tree = _movable(parents, v, w)
    renamed = {v: w, w: v}
    swapped = list(tree)
    for child, parent in enumerate(tree):
        swapped[renamed.get(child, child)] = renamed.get(parent, parent)
    return tuple(swapped)


def swap_subtrees_unrelated(parents: ParentsLike, v: int, w: int) -> ParentVector:
    """Swap the parents of v and w. ValueError if one is an ancestor of the other, or the root."""
    tree = _movable(parents, v, w)
    if is_ancestor(tree, v, w) or is_ancestor(tree, w, v):
        raise ValueError(f"{v} and {w} are on one lineage")
    return _with_parents(tree, {v: tree[w], w: tree[v]})


def swap_subtrees_related(parents: ParentsLike, v: int, w: int, t: int) -> ParentVector:
    """Attach v, which is below w, to the parent of w, and attach w below t, a descendant of v.

    ValueError if w is not an ancestor of v, t is not a descendant of v, or a node is the root.
    """
    tree = _movable(parents, v, w)
    if not is_ancestor(tree, w, v):
        raise ValueError(f"{w} is not an ancestor of {v}")
    if not is_ancestor(tree, v, t):
        raise ValueError(f"{t} is not a descendant of {v}")
    return _with_parents(tree, {v: tree[w], w: t})


def neighbourhood_sizes(parents: ParentsLike, v: int, w: int) -> tuple[int, int]:
    """Return |C| and |B| of a swap of related subtrees, v below w, in the old tree.

    C = desc(v) are the nodes that w can be attached to, each with probability 1/|C|. B = desc(w) without C
    are the nodes that v can be attached to in the reverse move, each with probability 1/|B|. So the ratio of
    the proposal probabilities, reverse over forward, is |C| / |B|.
    """
    lower = len(descendants(parents, v))
    return lower, len(descendants(parents, w)) - lower


def _movable(parents: ParentsLike, *nodes: int) -> ParentVector:
    """Return the tree as a tuple. ValueError unless the nodes are distinct mutations of it."""
    tree = parent_vector(parents)
    if len(set(nodes)) != len(nodes) or not all(0 <= node < len(tree) - 1 for node in nodes):
        raise ValueError(f"{nodes} are not distinct mutations of a tree of {len(tree) - 1}")
    return tree


def _with_parents(tree: ParentVector, changed: dict[int, int]) -> ParentVector:
    return tuple(changed.get(child, parent) for child, parent in enumerate(tree))
