"""Log-likelihood of a given tree."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from syclade.host.answer.comparison import CELLS, MUTATIONS, likely_tree_in
from syclade.host.answer.request.arguments import with_evidence_of, with_homozygous_merged
from syclade.host.data.input.matrix import Matrix, Names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.assignment import place
from syclade.host.data.model.copy_scores import (
    call_doublets_with_copy,
    log_likelihood_with_copy,
    mixture_log_likelihood,
    mixture_with_copy,
    summed_log_likelihood_with_copy,
)
from syclade.host.data.model.doublets import Doublets, best_rate, doublet_log_likelihood, fitted_rate
from syclade.host.data.model.likelihood import (
    log_likelihood,
    log_likelihood_at_fitted_shares,
    summed_log_likelihood,
)
from syclade.host.data.model.problem import make_leaf_problem
from syclade.host.data.model.rates import ObservationModel, Rates, check_zygosity
from syclade.host.data.model.recurrence import (
    Recurrence,
    check_copies,
    kind_of,
    recurrent_mutation,
    with_copy,
)
from syclade.host.data.trees.treefile import read_leaf_tree, tree_of
from syclade.host.findings.weighed_matrix import levels_in, weighed_as_given
from syclade.host.ground.files import is_folder
from syclade.host.ground.options import CODING, Options, Reading, checked, options_with
from syclade.host.ground.supported import check_together

__all__ = ["LIKELIHOODS", "check_scored", "score", "score_with_copy", "scored_by", "tree_file_of"]


LIKELIHOODS = {
    "max": log_likelihood,
    "sum": summed_log_likelihood,
    "shares": log_likelihood_at_fitted_shares,
}
"""Log-likelihoods of mutation trees, by score: (matrix, rates, parents) -> natural log, float64."""


def score(
    matrix: object,
    tree: Any,
    *,
    fp_rate: float | None = None,
    fn_rate: float | None = None,
    floor: float = 1e-4,
    seq_error: float | None = None,
    allelic_dropout: float | None = None,
    overdispersion: float | None = None,
    error_overdispersion: float | None = None,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    names: Names = None,
    cell_names: Names = None,
    score: str = "max",
    doublets: float | str | None = None,
    recurrent: str | int | None = None,
    kind: str = "mutation",
    **reading: Unpack[Reading],
) -> float:
    """Return the log-likelihood of a tree: natural log, float64, by the score that is named.

    Args:
        matrix: as for `infer`.
        tree: a path to a Newick or GraphViz file (ours or SCITE's; cells in it are ignored), or a parent
            vector of shape (n + 1,): numpy, dpctl.tensor or dpnp. For cell trees, a path to a binary Newick
            tree whose leaves are cells. The folder of a result stands for its most likely tree.
        fp_rate: probability of observing a mutation that is absent; for a matrix of calls.
        fn_rate: probability of not observing a mutation; likewise.
        floor: as for `infer`; for a matrix with evidence, which has no rates.
        seq_error, allelic_dropout, overdispersion, error_overdispersion: as for `infer`, and required for a
            matrix with reads.
        fn_rate_hom, hom_rate, merge_homozygous: as for `infer`.
        names, cell_names: as for `infer`.
        score: max, sum or shares, as for `infer`; with shares, those under which the tree is most likely.
        doublets: rate of doublets, as for `infer`; "learn" takes the rate that makes the tree most likely.
        recurrent: the mutation that occurs twice in the tree, as for `infer`, but not "all". The tree also
            has the node of its copy, with `_copy` appended to the mutation's name, or with the number n + 1.
        kind: kind of the tree: mutation, or leaf for a cell tree, with every mutation on its best edge.
        reading: options of `read_matrix`, as for `infer`.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or TreeError, with what to do.
    """
    options = options_with({**locals(), "tree": kind}, reading, "score")
    check_scored(options)
    read = read_matrix(
        matrix, names, cell_names=cell_names, **{name: getattr(options, name) for name in CODING}
    )
    observed, rates = scored_by(read, options)
    tree = tree_file_of(tree, kind)
    if kind == "leaf":
        parents = read_leaf_tree(tree, observed.cells, observed.n_cells)
        return place(observed, rates, make_leaf_problem(observed, rates), parents)[1]
    if recurrent is not None:
        return score_with_copy(observed, rates, tree, recurrent, score, doublets).log_likelihood
    parents = tree_of(tree, observed.mutations, observed.cells or ())
    if doublets is not None:
        rate = best_rate(observed, rates, parents) if isinstance(doublets, str) else doublets
        return doublet_log_likelihood(observed, rates, parents, rate)
    return LIKELIHOODS[score](observed, rates, parents)


def tree_file_of(tree: Any, kind: str) -> Any:
    """Return a tree as it was given; of a folder of a result, the file of its most likely tree.

    Args:
        tree: as for `score`.
        kind: mutation or leaf.

    Raises:
        TreeError: the folder is none of a result with such a tree.
    """
    if not isinstance(tree, (str, os.PathLike)) or not is_folder(Path(tree)):
        return tree
    return likely_tree_in(Path(tree), CELLS if kind == "leaf" else MUTATIONS)


def scored_by(matrix: Matrix, options: Options) -> tuple[Matrix, ObservationModel]:
    """Return the matrix with its observation model: error rates, or levels of its evidence.

    Raises:
        MatrixError: there is a 2, and no rates for it.
        RatesError: a rate of calls is missing or invalid.
        OptionError: an option does not go with the evidence.
    """
    check_together(with_evidence_of(matrix, options).replace(steps=1))
    if matrix.evidence is not None:
        observed = weighed_as_given(matrix, options)
        return observed, levels_in(observed, options.floor)
    options = with_homozygous_merged(matrix, options)
    rates = Rates(**{field.name: getattr(options, field.name) for field in fields(Rates)})
    check_zygosity(matrix, rates)
    return matrix, rates


def check_scored(options: Options) -> None:
    """Check options of `score`, and that they go together; raise an OptionError if they do not."""
    for name in ("tree", "score", "doublets", "recurrent"):
        checked(name, getattr(options, name))
    chosen = {name: getattr(options, name) for name in ("tree", "score", "doublets", "recurrent")}
    check_together(Options(**chosen, steps=1))  # a learned rate needs no chains here


class ScoredWithCopy(NamedTuple):
    """Score of a tree with a recurrent mutation.

    Attributes:
        log_likelihood: natural log, float64.
        recurrence: kind of the recurrence.
        doublets: calls of doublets; None without doublets.
    """

    log_likelihood: float
    recurrence: Recurrence
    doublets: Doublets | None


def score_with_copy(
    observed: Matrix,
    rates: ObservationModel,
    tree: object,
    recurrent: str | int,
    name: str,
    doublets: float | str | None,
) -> ScoredWithCopy:
    """Return the score of a tree with a recurrent mutation.

    The arguments are those of `score`; `name` is its `score`.
    """
    mutation = recurrent_mutation(recurrent, observed.mutations)
    matrix = with_copy(observed, mutation)
    parents = tree_of(tree, matrix.mutations, matrix.cells or ())
    check_copies(parents, mutation, matrix.mutations)
    kind = kind_of(parents, mutation, matrix.mutations)
    if doublets is None:
        of = log_likelihood_with_copy if name == "max" else summed_log_likelihood_with_copy
        return ScoredWithCopy(of(matrix, rates, parents, mutation), kind, None)
    if isinstance(doublets, str):
        doublets = fitted_rate(mixture_with_copy(matrix, rates, parents, mutation))
    calls = call_doublets_with_copy(matrix, rates, parents, mutation, doublets)
    found = mixture_log_likelihood(matrix, rates, parents, mutation, doublets)
    return ScoredWithCopy(found, kind, calls)
