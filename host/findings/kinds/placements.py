"""The file of placements of the mutations on a cell tree: tab-separated, one line per mutation."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.assignment import Assignment
from syclade.host.data.trees.leaf_formats import leaf_labels

__all__ = ["COLUMNS", "format_placements"]

COLUMNS = ("mutation", "row", "edge", "cells", "ties", "log_likelihood")
"""Columns of placements.tsv: name of the mutation, and its row in the matrix, from 1; the label of the node
below its edge, and the number of cells below; the number of equally good edges, including this one; the
log-likelihood of the row (natural log)."""


def format_placements(
    placements: Assignment, below: NDArray[np.bool_], mutations: Sequence[str], cells: Sequence[str]
) -> str:
    """Return the text of ``placements.tsv``: a line with ``COLUMNS``, then one line per mutation.

    The mutations are in the order of the matrix.

    Args:
        placements: placements of all mutations.
        below: bool, shape (2m - 1, m): the cells below each node.
        mutations, cells: names.
    """
    labels = leaf_labels(cells)
    text = io.StringIO()
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(
        zip(
            mutations,
            range(1, len(mutations) + 1),
            (labels[node] for node in placements.node.tolist()),
            below[placements.node].sum(axis=1).tolist(),
            placements.ties.tolist(),
            placements.log_likelihood.tolist(),
            strict=True,
        )
    )
    return text.getvalue()
