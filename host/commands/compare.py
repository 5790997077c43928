"""``syclade compare`` and ``syclade consensus``: distances between given trees, and the tree that sums them
up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import syclade
from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import JsonObject, counted, listed

if TYPE_CHECKING:
    from syclade.host.data.trees.comparison import CellComparison, Comparison

__all__ = ["compare", "consensus"]

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
    tree's claims that TREE makes, too. Several TREEs are printed as a tab-separated table.
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
    from syclade.host.findings.truth import comparison_lines

    shared = counted(found.shared, found.items.removesuffix("s"), found.items)
    click.echo(f"{shared} of both trees {'is' if found.shared == 1 else 'are'} compared")
    for title, only in ((found.tree, found.only_tree), (found.true, found.only_true)):
        if only:
            click.echo(f"left out, since only {title} has them: {len(only)} ({listed(only)})")
    for line in comparison_lines(found.to_dict()):
        click.echo(line)


def _table(found: Sequence[Comparison | CellComparison]) -> str:
    """Return comparisons as a table: a line of names, then a line for each tree."""
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
            *(f"{getattr(kind, part):.6g}" for kind in one.agreements.values() for part in parts),
            *(f"{number:.6g}" for number in one.numbers.values()),
        )
        for one in found
    ]
    return tsv_text((*head, *first.numbers), rows)


@click.command("consensus")
@click.argument("trees", type=options.INPUT_FILE, nargs=-1, required=True, metavar="TREES...")
@click.option(
    "--weights",
    type=options.INPUT_FILE,
    metavar="FILE",
    help="Weights of the trees, one number per line, in the order of the trees; equal by default.",
)
@_KIND
@_which("likely")
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
    from syclade.host.data.input.textfile import excerpt, read_text
    from syclade.host.ground.errors import TableError

    numbers = []
    for line, text in enumerate(read_text(path, TableError).rstrip().split("\n"), 1):
        try:
            numbers.append(float(text))
        except ValueError:
            raise TableError(f"{excerpt(text)} is not a number", path=path, line=line) from None
    return numbers
