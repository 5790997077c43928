"""The file of attachments of the cells: tab-separated, one line per cell."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.assignment import Assignment
from syclade.host.data.trees.tree import node_labels

__all__ = ["COLUMNS", "format_attachments"]

COLUMNS = ("cell", "column", "node", "node_number", "ties", "log_likelihood")
"""Columns: name of the cell, and its column in the matrix, from 1; name of its node, and the node's number,
from 0; number of equally good nodes, including this one; log-likelihood of the cell there (natural log)."""

POSTERIOR = "posterior"
"""Last column with the score sum: the probability of the node, given the tree."""

DOUBLETS = ("doublet", "first", "second")
"""Last columns with doublets: the probability that the cell is one, given the tree; names of the nodes of the
most likely pair."""


SUPPORT = "support"
"""Last column with support: the probability that the cell belongs to the clone of its node, over sampled
trees (`support.cells`); empty for unplaced cells."""


def format_attachments(
    attachments: Assignment,
    mutations: Sequence[str],
    cells: Sequence[str],
    support: NDArray[np.float64] | None = None,
) -> str:
    """Return the text of ``attachments.tsv``: a header, then one line per cell, in the order of the matrix.

    The header is ``COLUMNS``, followed by ``POSTERIOR`` if there are posteriors, by ``DOUBLETS`` if there are
    calls of doublets, and by ``SUPPORT`` if there is support. Names with a quote are
    quoted as in CSV, with the quote doubled. Log-likelihoods are written in full precision, posteriors
    with twelve digits, which all versions of numpy share.

    Args:
        attachments: the attachment of every cell.
        mutations: the n names of the mutations.
        cells: the names of the cells.
        support: float64, shape (cells,): the cells' support; None for none.
    """
    labels = node_labels(mutations)
    nodes = attachments.node.tolist()
    text = io.StringIO()
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    columns: list[Iterable[object]] = [
        cells,
        range(1, len(nodes) + 1),
        (labels[node] for node in nodes),
        nodes,
        attachments.ties.tolist(),
        attachments.log_likelihood.tolist(),
    ]
    more: list[str] = []
    if attachments.posterior is not None:
        more.append(POSTERIOR)
        columns.append(_shares(attachments.posterior))
    if (calls := attachments.doublets) is not None:
        more.extend(DOUBLETS)
        pairs = ((labels[node] for node in nodes) for nodes in (calls.first.tolist(), calls.second.tolist()))
        columns.extend((_shares(calls.probability), *pairs))
    if support is not None:
        more.append(SUPPORT)
        columns.append("" if math.isnan(share) else f"{share:.6g}" for share in support.tolist())
    table.writerow((*COLUMNS, *more))
    table.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _shares(probabilities: NDArray[np.float64]) -> Iterable[str]:
    """Return probabilities as text, with digits that all versions of numpy share."""
    return (f"{share:.12g}" for share in probabilities.tolist())
