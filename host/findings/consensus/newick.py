"""Newick files of clone trees: each clone's label has the names of its mutations, its comment the support."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.textfile import excerpt
from syclade.host.data.trees.labelled import parents_from_edges
from syclade.host.data.trees.newick import newick_edges, newick_of
from syclade.host.data.trees.tree import root_label
from syclade.host.findings.consensus.clone_tree import CloneTree, make_clone_tree
from syclade.host.findings.consensus.unplaced import UNPLACED
from syclade.host.ground.errors import TreeError

__all__ = ["clone_labels", "clone_newick", "clone_tree_from_newick", "separator_of"]


def separator_of(mutations: Sequence[str]) -> str:
    """Return the text between the names of a clone's mutations: ``|``, or ``|1|``, … if names have that."""
    bars = itertools.chain(["|"], (f"|{number}|" for number in itertools.count(1)))
    return next(bar for bar in bars if all((name + bar).index(bar) == len(name) for name in mutations))


def clone_labels(tree: CloneTree, mutations: Sequence[str]) -> list[str]:
    """Return the labels of the clones: the names of their mutations; the root has its own label.

    Args:
        tree: the clone tree.
        mutations: the n names.
    """
    bar = separator_of(mutations)
    labels = [bar.join(mutations[one] for one in members) for members in tree.members[1:]]
    return [root_label(mutations), *labels]


def clone_newick(
    tree: CloneTree, mutations: Sequence[str], support: NDArray[np.float64], unplaced: int = 0
) -> str:
    """Return a clone tree in Newick format, with comments such as ``[&support=0.98]`` behind the labels.

    Args:
        tree: the clone tree.
        mutations: the n names.
        support: float64, shape (clones,): support of each clone; that of the root is left out.
        unplaced: number of mutations that are not in the tree; if there are any, the root's comment has it.
    """
    root = tree.clones - 1  # the last node of the file's tree; clone c is node c - 1
    below = [[child - 1 for child in of] for of in tree.children]
    labels = clone_labels(tree, mutations)
    comments = [f"[&support={share:.3g}]" for share in support[1:].tolist()]
    of_root = f"[&{UNPLACED}={unplaced}]" if unplaced else ""
    return newick_of([*below[1:], below[0]], [*labels[1:], labels[0]], [*comments, of_root][: root + 1])


def clone_tree_from_newick(
    text: str, mutations: Sequence[str], path: str | os.PathLike[str] | None = None
) -> CloneTree:
    """Parse a clone tree in Newick format.

    Args:
        text: the tree; the label of each clone has names of mutations with `separator_of` between them.
        mutations: the n names of the mutations, in the order of the matrix, without unplaced ones.
        path: the file, for messages.

    Raises:
        TreeError: the text is not Newick, or a mutation is missing, unknown or in two clones.
    """
    bar, number = separator_of(mutations), {name: at for at, name in enumerate(mutations)}
    edges = newick_edges(text, path)
    labels = [edge.child for edge in edges]
    clone_of = [-1] * len(mutations)
    for clone, label in enumerate(labels, start=1):
        for name in label.split(bar):
            if name not in number:
                raise TreeError(
                    f"not among the matrix's {len(mutations)} mutations: {excerpt(name)}",
                    path=path,
                    hint=f"the names of a clone's mutations have {bar} between them",
                )
            if clone_of[number[name]] >= 0:
                raise TreeError(f"the mutation {excerpt(name)} is in two clones", path=path)
            clone_of[number[name]] = clone
    missing = [name for name, clone in zip(mutations, clone_of, strict=True) if clone < 0]
    if missing:
        raise TreeError(f"the mutation {excerpt(missing[0])} is missing", path=path)
    parents = parents_from_edges(edges, labels, path)
    return make_clone_tree(clone_of, [0, *(0 if at == len(labels) else at + 1 for at in parents[:-1])])
