"""Distances that scphylo-tools computes, where it is installed: ours to call, not ours to keep.

MLTD: Karpov, Malikic, Rahman, Sahinalp, "A multi-labeled tree dissimilarity measure for comparing clonal trees
of tumor progression", Algorithms for Molecular Biology 14:17, 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.trees.tree import ancestor_matrix

__all__ = ["multi_labelled_similarity"]


def multi_labelled_similarity(
    parents: NDArray[np.int32], true: NDArray[np.int32], mutations: Sequence[str]
) -> float | None:
    """MLTD's normalised similarity of two trees, 0 to 1, where 1 is equal; None without scphylo-tools.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: likewise.
        mutations: the n names.
    """
    try:
        import pandas as pd
        import scphylo as scp
    except Exception:  # it may be absent, or beside other versions than it is made for
        return None
    frames = [
        pd.DataFrame(
            ancestor_matrix(tree)[:-1, :-1].T.astype(int),
            index=[f"cell{at}" for at in range(len(mutations))],
            columns=list(mutations),
        )
        for tree in (true, parents)
    ]
    return float(scp.tl.mltd(*frames)["normalized_similarity"])
