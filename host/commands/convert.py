"""``syclade convert``: a matrix in another format; the tree of a result in the form of another program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import JsonObject, counted

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.ground.atomic import Content

__all__ = ["command", "matrix_files"]

TREE_FORMS = ("nhx", "figtree", "phylo")
"""Forms of trees, as in `answer/output/tree_forms.py`."""


@click.command("convert")
@click.argument("matrix", type=options.MATRIX)
@options.take(*options.CODING)
@click.option(
    "--to",
    type=click.Choice(("scite", "sc", "scistree2", *TREE_FORMS)),
    default="scite",
    show_default=True,
    help="Format of the matrix; or form of the tree of a result: nhx, figtree or phylo.",
)
@click.option(
    "--tree",
    type=click.Choice(("published", "likely")),
    default="published",
    show_default=True,
    help="Tree of a result: the consensus if there is one, or the most likely tree.",
)
@options.take("out", required=True)
@options.take("force", "json")
def command(
    matrix: options.GivenMatrix,
    to: str,
    tree: str,
    out: Path,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Write MATRIX in another format to DIR.

    MATRIX is a path, or - for standard input. With --to scite, DIR gets matrix.csv, and matrix.geneNames and
    matrix.cellNames for --names and --cell-names; with --evidence, also alternate.tsv and total.tsv, or
    log_odds.tsv, which --evidence reads from DIR again. With --to sc, it gets matrix.SC. With --to scistree2
    and --evidence likelihoods, it gets matrix.haploid, with probabilities. left_out.tsv lists what options
    leave out.

    With --to nhx, figtree or phylo, MATRIX is the folder of a result, of infer or consensus: DIR gets its
    tree of clones as tree.nhx, tree.nexus or tree.nwk, with support where other programs read it.
    """
    if to in TREE_FORMS:
        _convert_tree(matrix, to, tree, out, force, as_json)
        return
    from syclade.host.commands.progress import show_log
    from syclade.host.data.input.left_out import FILE, left_out_table
    from syclade.host.data.input.read_matrix import read_matrix
    from syclade.host.ground.files import write_files

    show_log(quiet=False, verbose=False)
    read = read_matrix(matrix, **given, strict=True)
    files = matrix_files(read, to)
    if read.evidence is not None and to == "sc":
        click.echo("syclade: matrix.SC has the calls alone: this format cannot hold their evidence", err=True)
    if read.left_out:
        files[FILE] = left_out_table(read.left_out)
    inputs = {
        **options.files_of(options.options_from(given), matrix),
        "the names of the mutations": read.names_from,
        "the names of the cells": read.cell_names_from,
    }
    write_files(out, files, force, inputs)
    written = [str(out / name) for name in files]
    counts = {name: int((read.values == value).sum()) for value, name in enumerate(_VALUES)}
    if as_json:
        click.echo(json.dumps({**_described(read), "values": counts, "files": written}, indent=2))
        return
    numbers = ", ".join(f"{count} {name}" for name, count in counts.items())
    size = f"{counted(read.n_mutations, 'mutation', 'mutations')} × {counted(read.n_cells, 'cell', 'cells')}"
    click.echo(f"{size}: {numbers}")
    click.echo(f"wrote {', '.join(written)}")


def _convert_tree(
    folder: options.GivenMatrix, to: str, tree: str, out: Path, force: bool, as_json: bool
) -> None:
    """Write the tree of a result in the form of other programs."""
    from syclade.host.answer.output.tree_forms import NAMES, tree_files_of
    from syclade.host.ground.files import write_files

    if not isinstance(folder, Path):
        raise OptionError("a tree comes from the folder of a result, not from standard input")
    files = tree_files_of(folder, to, tree)
    if not force and files.get(NAMES) == _text_at(out / NAMES):  # of another form of the same tree
        files.pop(NAMES, None)
    write_files(out, files, force, {"the folder of the result": folder})
    written = [str(out / name) for name in files]
    click.echo(json.dumps({"files": written}, indent=2) if as_json else f"wrote {', '.join(written)}")


def _text_at(path: Path) -> str | None:
    """Return the text of a file; None if there is none that can be read."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, ValueError):
        return None


_VALUES = ("not observed", "mutation", "homozygous", "missing")
"""Names of the values of a matrix, from 0."""


def _described(matrix: Matrix) -> JsonObject:
    """Return source and size of a matrix."""
    return {
        "matrix": matrix.source,
        "matrix_file_sha256": matrix.file_sha256,
        "n_mutations": matrix.n_mutations,
        "n_cells": matrix.n_cells,
        "left_out": len(matrix.left_out),
    }


def matrix_files(matrix: Matrix, to: str) -> dict[str, Content]:
    """Return the contents of the files of a matrix in a format, scite, sc or scistree2, by file name."""
    from syclade.host.data.input.matrix import format_matrix
    from syclade.host.data.input.written import evidence_tables, scistree_text
    from syclade.host.data.trees.clones import default_cell_names

    cells = matrix.cells or default_cell_names(matrix.n_cells)
    if to == "scistree2":
        return {"matrix.haploid": scistree_text(matrix)}
    if to == "sc":
        lines = ["\t".join(("cellIDxmutID", *matrix.mutations))]
        lines += ["\t".join((cell, *map(str, row))) for cell, row in zip(cells, matrix.values.T, strict=True)]
        return {"matrix.SC": "\n".join(lines) + "\n"}
    return {
        "matrix.csv": format_matrix(matrix.values),
        "matrix.geneNames": "\n".join(matrix.mutations) + "\n",
        "matrix.cellNames": "\n".join(cells) + "\n",
        **evidence_tables(matrix),
    }
