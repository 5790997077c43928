"""Log-likelihood of a given tree."""

from __future__ import annotations

from typing import Any

from syclade.host.input.door import read_matrix
from syclade.host.input.matrix import Names
from syclade.host.model.leaf_problem import make_leaf_problem
from syclade.host.model.placement import place
from syclade.host.model.rates import Rates
from syclade.host.model.summed import log_likelihood_by
from syclade.host.options import checked
from syclade.host.supported import check_together
from syclade.host.trees.leaf_treefile import read_leaf_tree
from syclade.host.trees.treefile import tree_of

__all__ = ["score"]


def score(
    matrix: Any,
    tree: Any,
    *,
    fp_rate: float,
    fn_rate: float,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    names: Names = None,
    cell_names: Names = None,
    score: str = "max",
    kind: str = "mutation",
) -> float:
    """Return the log-likelihood of a tree: natural log, float64, by the maximum or the sum score.

    Args:
        matrix: as for `infer`.
        tree: a path to a Newick or GraphViz file (ours or SCITE's; cells in it are ignored), or a parent
            vector of shape (n + 1,). For cell trees, a path to a binary Newick tree whose leaves are cells.
        fp_rate: probability of observing a mutation that is absent.
        fn_rate: probability of not observing a mutation.
        fn_rate_hom, hom_rate, merge_homozygous: as for `infer`.
        names, cell_names: as for `infer`.
        score: max or sum, as for `infer`.
        kind: kind of the tree: mutation, or leaf for a cell tree, with every mutation on its best edge.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or TreeError, with what to do.
    """
    for name, value in (("tree", kind), ("score", score)):
        checked(name, value)
    check_together({"tree": kind, "score": score})
    observed = read_matrix(matrix, names, cell_names=cell_names)
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous)
    if kind == "leaf":
        parents = read_leaf_tree(tree, observed.cells, observed.n_cells)
        return place(observed, rates, make_leaf_problem(observed, rates), parents)[1]
    return log_likelihood_by(score, observed, rates, tree_of(tree, observed.mutations, observed.cells or ()))
