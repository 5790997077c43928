"""``syclade score``, ``compare`` and ``consensus``: log-likelihood of a given tree, distances between trees,
and the tree that sums them up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import syclade
from syclade.host.commands import options
from syclade.host.commands.progress import show_log
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import JsonObject, counted, excerpt, listed

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.rates import ObservationModel
    from syclade.host.data.trees.comparison import CellComparison, Comparison

__all__ = [
    "compare",
    "consensus",
    "score",
]


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
    (homozygous mutation) or 3 (missing). TREE is a Newick or GraphViz file, syclade's or SCITE's, or the
    folder of a result, whose most likely tree is taken; attached cells are ignored. With --tree leaf, TREE is
    a binary Newick tree whose leaves are the cells, and each mutation is at its best edge.
    """
    from syclade.host.answer.scoring import (
        LIKELIHOODS,
        check_scored,
        score_with_copy,
        scored_by,
        tree_file_of,
    )
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
    tree = tree_file_of(tree, kind)
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


_KIND = click.option(
    "--kind",
    type=click.Choice(("mutations", "cells")),
    default="mutations",
    show_default=True,
    help="Kind of the trees: their nodes have mutations, or their leaves are cells.",
)
_SEPARATOR = click.option(
    "--separator",
    default="|",
    show_default=True,
    metavar="TEXT",
    help="Text between the mutations of a node.",
)
_SEPARATORS = click.option(
    "--separator",
    multiple=True,
    default=("|",),
    show_default=True,
    metavar="TEXT",
    help="Text between the mutations of a node; given twice, that of each TREE, then that of the true one.",
)
_NAMES = options.take(
    "names",
    help="Names of the mutations in the order of the matrix, one per line, for trees with SCITE's numbers.",
)
_CELL_NAMES = options.take(
    "cell_names", help="Names of attached cells, one per line, which are left out; s0, s1, ... always are."
)


def _which(default: str) -> Callable[[options.Command], options.Command]:
    return click.option(
        "--tree",
        "which",
        type=click.Choice(("published", "likely")),
        default=default,
        show_default=True,
        help="Tree of a folder of a result: the consensus if there is one, or the most likely tree.",
    )


@click.command("compare")
@click.argument("trees", type=options.INPUT_FILE, nargs=-1, required=True, metavar="TREE...")
@click.option(
    "--true",
    "true",
    type=options.INPUT_FILE,
    metavar="TREE",
    help="The tree to compare with; by default the second of two TREEs.",
)
@_KIND
@_which("published")
@_NAMES
@_CELL_NAMES
@_SEPARATORS
@click.option(
    "--measures",
    type=click.Choice(("all", "fast")),
    help="fast leaves out MLTD and MP3. By default all for one TREE, fast for several.",
)
@options.take("json")
def compare(
    trees: Sequence[Path],
    true: Path | None,
    separator: tuple[str, ...],
    measures: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare each TREE with the true one: pairs of mutations with the same relation, clades, distances.

    A TREE is a Newick or GraphViz file, of syclade, SCITE or another program; a file with a tree in each
    line; a folder of a result; or a folder of such files. Nodes may have several mutations, and the trees
    different ones: they are compared on those that both have. Attached cells are left out. With --kind cells,
    leaves are cells.

    Precision is the share of TREE's claims that the true tree makes, too; recall is the share of the true
    tree's claims that TREE makes, too. They are not defined where there is no such claim. Several TREEs are
    printed as a tab-separated table.
    """
    from syclade.host.answer.comparison import compare_many
    from syclade.host.commands.progress import show_log

    show_log(quiet=True, verbose=False)
    if true is None:
        if len(trees) != 2:
            raise OptionError(
                f"{counted(len(trees), 'tree', 'trees')}, and none to compare with",
                hint="give two trees, the second being the true one, or any number and --true TREE",
            )
        *trees, true = trees
    if len(separator) > 2:
        raise OptionError(
            f"{len(separator)} separators", hint="give one, or that of TREE and of the true one"
        )
    slow = None if measures is None else measures == "all"
    found = compare_many(trees, true, slow=slow, separator=(separator[0], separator[-1]), **given)
    if as_json:
        shown = [one.to_dict() for one in found]
        click.echo(json.dumps(shown[0] if len(shown) == 1 else shown, indent=2))
    elif len(found) == 1:
        _print_lines(found[0])
    else:
        click.echo(_table(found), nl=False)


def _print_lines(found: Comparison | CellComparison) -> None:
    """Print a comparison as lines of text."""
    from syclade.host.findings.inputs import comparison_lines

    shared = counted(found.shared, found.items.removesuffix("s"), found.items)
    click.echo(f"{shared} of both trees {'is' if found.shared == 1 else 'are'} compared")
    for title, only in ((found.tree, found.only_tree), (found.true, found.only_true)):
        if only:
            click.echo(f"left out, since only {title} has them: {len(only)} ({listed(only)})")
    for name in (*_joined(found.only_tree, found.only_true), *_joined(found.only_true, found.only_tree)):
        click.echo(
            f"{name} is one name in one tree, and several in the other: --separator says what is between"
        )
    for line in comparison_lines(found.to_dict()):
        click.echo(line)


def _joined(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the names that are several of the others with the bar between that nodes have."""
    from syclade.host.data.trees.named import BAR

    return [name for name in names if BAR in name and set(name.split(BAR)) <= set(others)]


def _table(found: Sequence[Comparison | CellComparison]) -> str:
    """Return comparisons as a table: a line of names, then a line for each tree."""
    from syclade.host.data.trees.distances import number_or_none
    from syclade.host.ground.files import tsv_text

    parts = ("precision", "recall", "f1", "distance")
    first = found[0]
    head = ["tree", "shared", "only_tree", "only_true"]
    head += [f"{name}_{part}" for name in first.agreements for part in parts]
    rows = [
        (
            one.tree,
            one.shared,
            len(one.only_tree),
            len(one.only_true),
            *(
                _entry(kind.rates.get(part, kind.distance))
                for kind in one.agreements.values()
                for part in parts
            ),
            *(_entry(number_or_none(number)) for number in one.numbers.values()),
        )
        for one in found
    ]
    return tsv_text((*head, *first.numbers), rows)


def _entry(number: float | None) -> str:
    """Return a number of a table as text; empty if it is not defined."""
    return "" if number is None else f"{number:.6g}"


@click.command("consensus")
@click.argument("trees", type=options.INPUT_FILE, nargs=-1, required=True, metavar="TREES...")
@click.option(
    "--weights",
    type=options.INPUT_FILE,
    metavar="FILE",
    help="Weights of the trees, one number per line, in the order of the trees; equal by default.",
)
@_KIND
@_which("published")
@_NAMES
@_CELL_NAMES
@_SEPARATOR
@options.take("out", required=True)
@options.take("force", "json")
def consensus(
    trees: Sequence[Path], weights: Path | None, out: Path, force: bool, as_json: bool, **given: Any
) -> None:
    """Write the consensus of TREES to DIR: the tree of clones that claims only what most of them share.

    TREES are as for compare, such as the equally good trees of SCITE, or results of several runs. DIR gets
    consensus.newick, clones.tsv and relations.tsv, as infer writes them, with shares of the trees; of trees
    of cells, consensus.newick and clades.tsv.
    """
    from syclade.host.ground.files import write_files

    made = syclade.consensus(trees, weights=None if weights is None else _numbers(weights), **given)
    inputs: dict[str, object] = {f"TREES, number {at}": path for at, path in enumerate(trees, 1)}
    files = made.files()
    write_files(out, files, force, {**inputs, "the weights": weights})
    written = [str(out / name) for name in files]
    for warning in made.warnings:
        click.echo(f"syclade: warning: {warning}", err=True)
    if as_json:
        report: JsonObject = {**made.to_dict(), "files": written}
        click.echo(json.dumps(report, indent=2))
        return
    click.echo(made.words)
    click.echo(f"wrote {', '.join(written)}")


def _numbers(path: Path) -> list[float]:
    """Return the numbers of a file, one per line."""
    from syclade.host.data.input.source import read_text
    from syclade.host.ground.errors import TableError

    numbers = []
    for line, text in enumerate(read_text(path, TableError).rstrip().split("\n"), 1):
        try:
            numbers.append(float(text))
        except ValueError:
            raise TableError(f"{excerpt(text)} is not a number", path=path, line=line) from None
    return numbers
