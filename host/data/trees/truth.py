"""Comparison of a tree with the true one by all measures, from files or parent vectors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.names import default_names
from syclade.host.data.trees.distances import tree_distances
from syclade.host.data.trees.labelled import listed
from syclade.host.data.trees.peers import multi_labelled_similarity
from syclade.host.data.trees.treefile import read_labels, read_tree
from syclade.host.ground.errors import TreeError

__all__ = ["compare", "compare_files"]


def compare(parents: NDArray[np.int32], true: NDArray[np.int32]) -> dict[str, Any]:
    """Return all measures of a tree against the true one, as plain values.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: parent vector of the true tree, int32, shape (n + 1,).

    Returns:
        The values of `Distances.told`, and `mltd_similarity`, which is None if scphylo-tools is not
        installed or fails.
    """
    told: dict[str, Any] = tree_distances(parents, true).to_dict()
    return told | {"mltd_similarity": multi_labelled_similarity(parents, true)}


def compare_files(tree: str | os.PathLike[str], true: str | os.PathLike[str]) -> dict[str, Any]:
    """Compare the trees of two files in Newick or GraphViz format; see `compare`.

    Raises:
        TreeError: a file is not a tree, or the files have different mutations.
    """
    mutations, labels = read_labels(true), read_labels(tree)
    if set(labels) != set(default_names(len(labels))):  # SCITE's numbers stand for any names
        _check_same(tree, set(labels), true, set(mutations))
    return compare(read_tree(tree, mutations), read_tree(true, mutations))


def _check_same(
    tree: str | os.PathLike[str], labels: set[str], true: str | os.PathLike[str], mutations: set[str]
) -> None:
    """Check that two trees have the same mutations."""
    found = {f"{os.fspath(true)} lacks": labels - mutations, f"{os.fspath(tree)} lacks": mutations - labels}
    words = "; ".join(f"{lacks} {listed(sorted(names))}" for lacks, names in found.items() if names)
    if words:
        raise TreeError(
            f"the trees have different mutations: {words}",
            path=tree,
            hint="compare trees of the same mutations, with one mutation in each node",
        )
