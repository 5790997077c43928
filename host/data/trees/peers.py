"""Distances computed by scphylo-tools, if it is installed. Its code is not part of this project.

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

from syclade.host.data.trees.tree import ancestor_matrix

__all__ = ["multi_labelled_similarity"]

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
