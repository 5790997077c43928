"""The file that says where the cells sit: tab-separated, a line a cell, which any table program reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from syclade.host.model.attachment import Attachments
from syclade.host.trees.tree import node_labels

__all__ = ["COLUMNS", "format_attachments"]

COLUMNS = ("cell", "node", "name", "ties", "log_likelihood", "cell_name")
"""The cell's column in the matrix, from 1; its node's number, from 0, and name; how many nodes are equally
good, that one included; the cell's log-likelihood there (natural log); the cell's name."""

POSTERIOR = "posterior"
"""The last column where all nodes count: the probability of the node, given the tree."""


def format_attachments(attachments: Attachments, mutations: Sequence[str], cells: Sequence[str]) -> str:
    """The text of ``attachments.tsv``: ``COLUMNS`` (and ``POSTERIOR``), then the cells in their order.

    Names that have a quote are in quotes, doubled inside, as in CSV; numbers are written in full.

    Args:
        attachments: of every cell.
        mutations: the n names of the mutations.
        cells: the names of the cells.
    """
    labels = node_labels(mutations)
    nodes = attachments.node.tolist()
    text = io.StringIO()
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    columns: list[Iterable[object]] = [
        range(1, len(nodes) + 1),
        nodes,
        (labels[node] for node in nodes),
        attachments.ties.tolist(),
        attachments.log_likelihood.tolist(),
        cells,
    ]
    more = () if attachments.posterior is None else (POSTERIOR,)
    if attachments.posterior is not None:
        columns.append(attachments.posterior.tolist())
    table.writerow((*COLUMNS, *more))
    table.writerows(zip(*columns, strict=True))
    return text.getvalue()
