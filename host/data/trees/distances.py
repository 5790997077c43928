"""Distances between two trees of the same mutations, such as an inferred tree and the simulated one.

Relations are between pairs of mutations. The root is not a mutation, so it counts only as a parent. All
distances but MLTD are computed from ancestor matrices, in O(n^3) by matrix products. MLTD is computed by
scphylo-tools, if it is installed; its code is not part of this project.

Sources: ancestor-descendant and different-lineage measures as in B-SCITE (Malikic, Jahn, Kuipers, Sahinalp,
Beerenwinkel, Nature Communications 10:2750, 2019); CASet and DISC: DiNardo, Tomlinson, Ritz, Oesper,
"Distance measures for tumor evolutionary trees", Bioinformatics 36(7), 2020 (scphylo-tools 0.1.1 gives
1 - CASet and 1 - DISC); MLTD: Karpov, Malikic, Rahman, Sahinalp, "A multi-labeled tree dissimilarity measure
for comparing clonal trees of tumor progression", Algorithms for Molecular Biology 14:17, 2019.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.names import default_names
from syclade.host.data.trees.labelled import listed
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.data.trees.treefile import read_labels, read_tree
from syclade.host.ground.errors import TreeError
from syclade.host.ground.values import JsonObject

__all__ = [
    "Agreement", "Distances", "caset", "compare", "compare_files", "disc", "multi_labelled_similarity",
    "tree_distances",
]  # fmt: skip


@dataclass(frozen=True)
class Agreement:
    """Number of pairs of mutations with some relation that two trees share.

    Attributes:
        shared: pairs that have the relation in both trees.
        found: pairs that have it in the tree that is compared.
        true: pairs that have it in the true tree.
    """

    shared: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        """Shared pairs divided by those found; 1 if none was found."""
        return self.shared / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Shared pairs divided by the true ones; 1 if there is none."""
        return self.shared / self.true if self.true else 1.0

    @property
    def distance(self) -> int:
        """Number of pairs that have the relation in only one of the trees."""
        return self.found + self.true - 2 * self.shared


@dataclass(frozen=True)
class Distances:
    """Comparison of a tree with the true one.

    Attributes:
        parents: pairs (parent, child), the root among the parents.
        ancestors: ordered pairs (ancestor, descendant) of mutations.
        lineages: unordered pairs of mutations in which neither is an ancestor of the other.
        caset: mean Jaccard distance of the common ancestors of a pair of mutations, 0 to 1.
        disc: mean Jaccard distance of the ancestors that only the first mutation of a pair has, 0 to 1.
    """

    parents: Agreement
    ancestors: Agreement
    lineages: Agreement
    caset: float
    disc: float

    def to_dict(self) -> JsonObject:
        """Return plain values for JSON."""
        kinds = {"parents": self.parents, "ancestors": self.ancestors, "lineages": self.lineages}
        found: JsonObject = {
            name: {
                **asdict(kind),
                "precision": kind.precision,
                "recall": kind.recall,
                "distance": kind.distance,
            }
            for name, kind in kinds.items()
        }
        return found | {"caset": self.caset, "disc": self.disc}


def tree_distances(parents: NDArray[np.int32], true: NDArray[np.int32]) -> Distances:
    """Compare a tree with the true one.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: parent vector of the true tree, with the same mutations in the same order.
    """
    own, other = _above(parents), _above(true)
    return Distances(
        parents=_agreement(_edges(parents), _edges(true)),
        ancestors=_agreement(own, other),
        lineages=_agreement(np.triu(_different_lineages(own)), np.triu(_different_lineages(other))),
        caset=caset(parents, true),
        disc=disc(parents, true),
    )


def caset(parents: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return the mean, over pairs of mutations, of the Jaccard distance of their common ancestors.

    A mutation is its own ancestor, and the root is an ancestor of all, as in trees whose root has a label.
    """
    one, two = _with_self(parents), _with_self(other)
    both = one * two
    shared, first, second = both @ both.T + 1.0, one @ one.T + 1.0, two @ two.T + 1.0  # the root
    return _mean(_jaccard(shared, first + second - shared), np.triu_indices(len(one), 1))


def disc(parents: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Return the mean, over ordered pairs of mutations, of the Jaccard distance of their distinct ancestors.

    Distinct ancestors are those of the first mutation that are not ancestors of the second. A mutation is its
    own ancestor.
    """
    one, two = _with_self(parents), _with_self(other)
    shared = (one * two) @ (1.0 - np.maximum(one, two)).T
    first, second = one @ (1.0 - one).T, two @ (1.0 - two).T
    return _mean(_jaccard(shared, first + second - shared), np.nonzero(~np.eye(len(one), dtype=bool)))


def _jaccard(shared: NDArray[np.float64], union: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances of sets from the sizes of their intersections and unions; 0 for two empty sets."""
    return np.where(union == 0, 0.0, 1.0 - shared / np.maximum(union, 1.0))


def _mean(values: NDArray[np.float64], places: tuple[NDArray[np.intp], ...]) -> float:
    chosen = values[places]
    return float(chosen.mean()) if chosen.size else 0.0


def _with_self(parents: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return float64, shape (n, n): 1 where the column's mutation is the row's or its ancestor, else 0."""
    above = _above(parents)
    return (above.T | np.eye(len(above), dtype=np.bool_)).astype(np.float64)


def _above(parents: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return bool, shape (n, n): true where the row's mutation is a proper ancestor of the column's."""
    n = len(parents) - 1
    return ancestor_matrix(parents)[:n, :n] & ~np.eye(n, dtype=np.bool_)


def _different_lineages(above: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return ~(above | above.T | np.eye(len(above), dtype=np.bool_))


def _edges(parents: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return bool, shape (n + 1, n): true where the row's node is the parent of the column's mutation."""
    n = len(parents) - 1
    edges: NDArray[np.bool_] = np.arange(n + 1)[:, np.newaxis] == parents[np.newaxis, :n]
    return edges


def _agreement(found: NDArray[np.bool_], true: NDArray[np.bool_]) -> Agreement:
    return Agreement(int((found & true).sum()), int(found.sum()), int(true.sum()))


def compare(parents: NDArray[np.int32], true: NDArray[np.int32]) -> JsonObject:
    """Return all measures of a tree against the true one, as plain values.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: parent vector of the true tree, int32, shape (n + 1,).

    Returns:
        The values of `Distances.to_dict`, and `mltd_similarity`, which is None if scphylo-tools is not
        installed or fails.
    """
    return tree_distances(parents, true).to_dict() | {
        "mltd_similarity": multi_labelled_similarity(parents, true)
    }


def compare_files(tree: str | os.PathLike[str], true: str | os.PathLike[str]) -> JsonObject:
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
