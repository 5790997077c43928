"""Files of co-optimal trees: each tree in both formats, numbered from 0, and their consensus."""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.newick import to_newick
from syclade.host.findings.cooptimal.consensus import consensus_of
from syclade.host.findings.cooptimal.plateau import CoOptimal

__all__ = ["files_of"]


def files_of(found: CoOptimal, mutations: Sequence[str]) -> dict[str, str]:
    """Return the texts of the files, by file name.

    Args:
        found: the co-optimal trees.
        mutations: the n names.
    """
    files = {}
    for number, tree in enumerate(found.trees):
        files[f"tree_{number}.newick"] = to_newick(tree, mutations)
        files[f"tree_{number}.gv"] = to_graphviz(tree, mutations)
    shared = consensus_of(found.trees)
    files["co_optimal.tsv"] = shared.to_table(mutations)
    files["co_optimal.gv"] = shared.to_graphviz(mutations)
    return files
