"""``syclade score``: the log-likelihood of a given tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import syclade
from syclade.host.commands import options
from syclade.host.commands.progress import show_log
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.rates import ObservationModel

__all__ = ["score"]


_DOUBLETS = (
    "Rate of doublets: with this probability, a cell is two of the tree's clones together (∞SCITE's -d). "
    "learn: the rate that makes TREE most likely, by EM as in ∞SCITE."
)


@click.command("score")
@click.argument("matrix", type=options.MATRIX)
@options.take(*options.CODING)
@click.argument("tree", type=options.INPUT_FILE)
@options.take_rates(*options.RATES, required=False)
@options.take("floor", "seq_error", "allelic_dropout", "overdispersion", "error_overdispersion")
@options.take("names", "cell_names")
@options.take("tree", parameter="kind")
@options.take("score")
@options.take("doublets", help=_DOUBLETS)
@options.take("recurrent", "json")
def score(
    matrix: options.GivenMatrix,
    tree: Path,
    names: Path | None,
    cell_names: Path | None,
    kind: str,
    score: str,
    doublets: float | str | None,
    recurrent: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Print the log-likelihood (in nats) of TREE for MATRIX, with each cell at its best node or at all nodes.

    With --score shares, nodes have the shares of the cells under which TREE is most likely.

    MATRIX is a path, or - for standard input. Its format is detected if --format is not given. SCITE's
    format has one line per mutation and one column per cell, with values 0 (not observed), 1 (mutation), 2
    (homozygous mutation) or 3 (missing). TREE is a Newick or GraphViz file, syclade's or SCITE's; attached
    cells are ignored. With --tree leaf, TREE is a binary Newick tree whose leaves are the cells, and each
    mutation is at its best edge.
    """
    from syclade.host.answer.scoring import LIKELIHOODS, check_scored, score_with_copy, scored_by
    from syclade.host.data.input.read_matrix import read_matrix
    from syclade.host.data.model.doublets import best_rate, call_doublets, doublet_log_likelihood
    from syclade.host.data.model.likelihood import event_counts, log_likelihood_of_counts
    from syclade.host.data.model.rates import HOMOZYGOUS, Rates
    from syclade.host.data.trees.treefile import read_tree

    show_log(quiet=False, verbose=False)
    source, _ = options.coding_of(given, matrix, names, cell_names)
    chosen = options.options_from(
        {**given, "tree": kind, "score": score, "doublets": doublets, "recurrent": recurrent}
    )
    as_read = read_matrix(source, names, cell_names=cell_names)
    observed, rates = scored_by(as_read, chosen)  # reported before any error in the tree
    check_scored(chosen)
    if kind == "leaf":
        _print(syclade.score(as_read, tree, kind=kind, **given), {}, observed, rates, as_json)
        return
    if recurrent is not None:
        found, recurrence, called = score_with_copy(observed, rates, tree, recurrent, score, doublets)
        of_kind = {name: value for name, value in recurrence.to_dict().items() if value is not None}
        also: JsonObject = (
            {"score": score} if called is None else {"score": "doublets", "doublets": called.to_dict()}
        )
        _print(found, {**also, "recurrence": of_kind}, observed, rates, as_json)
        return
    parents = read_tree(tree, observed.mutations, observed.cells or ())
    if doublets is not None:
        rate = best_rate(observed, rates, parents) if isinstance(doublets, str) else doublets
        calls = call_doublets(observed, rates, parents, rate)
        found = doublet_log_likelihood(observed, rates, parents, rate)
        _print(found, {"score": "doublets", "doublets": calls.to_dict()}, observed, rates, as_json)
        return
    if score != "max" or not isinstance(rates, Rates):
        _print(LIKELIHOODS[score](observed, rates, parents), {"score": score}, observed, rates, as_json)
        return
    counts = event_counts(observed, rates, parents)
    events = {
        str(d): {"absent": int(counts[d, 0]), "present": int(counts[d, 1])}
        for d in range(4)
        if d != HOMOZYGOUS or counts[d].any()
    }
    of_counts = log_likelihood_of_counts(counts, rates)
    _print(of_counts, {"score": score, "event_counts": events}, observed, rates, as_json)


def _print(found: float, also: JsonObject, observed: Matrix, rates: ObservationModel, as_json: bool) -> None:
    """Print the log-likelihood; as JSON together with `also`, the sizes and the rates."""
    if not as_json:
        click.echo(repr(found))
        return
    report = {
        "log_likelihood": found,
        **also,
        "n_mutations": observed.n_mutations,
        "n_cells": observed.n_cells,
        **rates.to_dict(),
    }
    click.echo(json.dumps(report, indent=2))
