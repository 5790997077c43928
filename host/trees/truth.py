"""Comparison of a tree with the true one by all measures, from files or parent vectors."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.trees.distances import tree_distances
from syclade.host.trees.peers import multi_labelled_similarity
from syclade.host.trees.treefile import read_labels, read_tree

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
    mutations = read_labels(true)
    return compare(read_tree(tree, mutations), read_tree(true, mutations))
