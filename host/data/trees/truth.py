"""Comparison of a tree with the true one by all measures, from files or parent vectors.

MLTD is computed by scphylo-tools, if it is installed; its code is not part of this project. Source:
Karpov, Malikic, Rahman, Sahinalp, "A multi-labeled tree dissimilarity measure for comparing clonal trees
of tumor progression", Algorithms for Molecular Biology 14:17, 2019.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import subprocess
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.names import default_names
from syclade.host.data.trees.distances import tree_distances
from syclade.host.data.trees.labelled import listed
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.data.trees.treefile import read_labels, read_tree
from syclade.host.ground.errors import TreeError

__all__ = ["compare", "compare_files", "multi_labelled_similarity"]


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


logger = logging.getLogger("syclade.trees")

_SECONDS = 120
"""Time limit: the computation is at best quadratic in the number of nodes."""

_PROGRAM = """
import json, sys
import pandas as pd
import scphylo as scp
frames = [pd.DataFrame(rows, columns=[f"m{at}" for at in range(len(rows))]) for rows in json.load(sys.stdin)]
for frame in frames:
    frame.index = [f"c{at}" for at in range(len(frame))]
print()
print(json.dumps(float(scp.tl.mltd(*frames)["normalized_similarity"])))
"""


def multi_labelled_similarity(parents: NDArray[np.int32], true: NDArray[np.int32]) -> float | None:
    """Return MLTD's normalised similarity of two trees, 0 to 1, where 1 is equal; None if not available.

    scphylo-tools runs in a subprocess, since version 0.1.1 may crash.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: parent vector of the true tree, int32, shape (n + 1,).
    """
    if importlib.util.find_spec("scphylo") is None:
        return None
    # As conflict-free matrices with one cell per mutation node.
    matrices = [ancestor_matrix(tree)[:-1, :-1].T.astype(int).tolist() for tree in (true, parents)]
    try:
        ended = subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM],
            input=json.dumps(matrices),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
        return float(json.loads(ended.stdout.splitlines()[-1]))
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        logger.warning("scphylo-tools gives no MLTD: %s", str(error).splitlines()[0])
        return None
