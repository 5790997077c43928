"""Distances that scphylo-tools computes, where it is installed: ours to call, not ours to keep.

MLTD: Karpov, Malikic, Rahman, Sahinalp, "A multi-labeled tree dissimilarity measure for comparing clonal
trees of tumor progression", Algorithms for Molecular Biology 14:17, 2019.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import subprocess
import sys

import numpy as np
from numpy.typing import NDArray

from syclade.host.trees.tree import ancestor_matrix

__all__ = ["multi_labelled_similarity"]

logger = logging.getLogger("syclade.trees")

_SECONDS = 120
"""What it may take: it is quadratic in the nodes at best."""

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
    """MLTD's normalised similarity of two trees, 0 to 1, where 1 is equal; None without scphylo-tools.

    It is asked in a process of its own, since scphylo-tools 0.1.1 may crash.

    Args:
        parents: parent vector, int32, shape (n + 1,).
        true: likewise.
    """
    if importlib.util.find_spec("scphylo") is None:
        return None
    # As matrices without conflicts: a cell at every node.
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
