"""SCITE's tree moves on parent vectors, each as a new tree (Jahn, Kuipers, Beerenwinkel 2016, Methods).

The root n is never moved. Which move is drawn with which nodes is the business of `proposal`.
"""

from syclade.quality.oracle.trees import ParentsLike, ParentVector, descendants, is_ancestor, parent_vector


def prune_and_reattach(parents: ParentsLike, v: int, t: int) -> ParentVector:
    """Hang the subtree of v below t. ValueError if v is the root or t lies in the subtree of v."""
    tree = _movable(parents, v)
    if is_ancestor(tree, v, t):
        raise ValueError(f"{t} lies in the subtree of {v}")
    return _with_parents(tree, {v: t})


def swap_labels(parents: ParentsLike, v: int, w: int) -> ParentVector:
    """Let v and w exchange their places. ValueError if they are equal or one is the root."""
    tree = _movable(parents, v, w)
    renamed = {v: w, w: v}
    swapped = list(tree)
    for child, parent in enumerate(tree):
        swapped[renamed.get(child, child)] = renamed.get(parent, parent)
    return tuple(swapped)


def swap_subtrees_unrelated(parents: ParentsLike, v: int, w: int) -> ParentVector:
    """Let v and w exchange parents. ValueError if one is an ancestor of the other, or the root."""
    tree = _movable(parents, v, w)
    if is_ancestor(tree, v, w) or is_ancestor(tree, w, v):
        raise ValueError(f"{v} and {w} are on one lineage")
    return _with_parents(tree, {v: tree[w], w: tree[v]})


def swap_subtrees_related(parents: ParentsLike, v: int, w: int, t: int) -> ParentVector:
    """Hang v, which is below w, on the parent of w, and w below t, a descendant of v.

    ValueError if w is no ancestor of v, t no descendant of v, or a node the root.
    """
    tree = _movable(parents, v, w)
    if not is_ancestor(tree, w, v):
        raise ValueError(f"{w} is no ancestor of {v}")
    if not is_ancestor(tree, v, t):
        raise ValueError(f"{t} is no descendant of {v}")
    return _with_parents(tree, {v: tree[w], w: t})


def neighbourhood_sizes(parents: ParentsLike, v: int, w: int) -> tuple[int, int]:
    """|C| and |B| of a swap of related subtrees, v below w, in the old tree.

    C = desc(v) are the nodes that w can go to, one of |C|; B = desc(w) without C are those that v can go to
    when the move is undone, one of |B|. So the ratio of the proposal probabilities, back over forth, is
    |C| / |B|.
    """
    lower = len(descendants(parents, v))
    return lower, len(descendants(parents, w)) - lower


def _movable(parents: ParentsLike, *nodes: int) -> ParentVector:
    """The tree as a tuple, when the nodes are distinct mutations of it."""
    tree = parent_vector(parents)
    if len(set(nodes)) != len(nodes) or not all(0 <= node < len(tree) - 1 for node in nodes):
        raise ValueError(f"{nodes} are not distinct mutations of a tree of {len(tree) - 1}")
    return tree


def _with_parents(tree: ParentVector, changed: dict[int, int]) -> ParentVector:
    return tuple(changed.get(child, parent) for child, parent in enumerate(tree))
