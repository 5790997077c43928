"""``syclade convert`` and ``join``: a matrix in another format, the joint matrix of some files, the tree of a
result in the form of another program."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import JsonObject, counted, listed

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix

__all__ = [
    "command",
    "join",
]


TREE_FORMS = ("nhx", "figtree", "phylo")
"""Forms of trees, as in `answer/figures/exports.py`."""


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
    leave out. matrix.mutations.tsv has columns about mutations, such as FREQ, which commands read again.

    With --to nhx, figtree or phylo, MATRIX is the folder of a result, of infer or consensus: DIR gets its
    tree of clones as tree.nhx, tree.nexus or tree.nwk, with support where other programs read it.
    """
    if to in TREE_FORMS:
        _convert_tree(matrix, to, tree, out, force, as_json)
        return
    from syclade.host.commands.progress import show_log
    from syclade.host.data.input.convert import matrix_files
    from syclade.host.data.input.read_matrix import read_matrix
    from syclade.host.ground.files import write_files

    show_log(quiet=False, verbose=False)
    read = read_matrix(matrix, **given, strict=True)
    files = matrix_files(read, to)
    if read.evidence is not None and to == "sc":
        click.echo("syclade: matrix.SC has the calls alone: this format cannot hold their evidence", err=True)
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
    from syclade.host.answer.figures.exports import LABELS, tree_files
    from syclade.host.answer.figures.kinds import files_of_folder
    from syclade.host.ground.files import write_files

    if not isinstance(folder, Path):
        raise OptionError("a tree comes from the folder of a result, not from standard input")
    files = tree_files(files_of_folder(folder), to, tree)
    if not force and files.get(LABELS) == _text_at(out / LABELS):  # of another form of the same tree
        files.pop(LABELS, None)
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


_OF_ONE = (
    "total_reads", "ref_reads", "absent", "obs_mask", "var_mask", "exclude_mutations",
    "max_missing_mutation", "max_missing_cell", "min_cells",
)  # fmt: skip
"""Options of reading that are of one file, or for the joined matrix."""

METADATA = "metadata.tsv"


@click.command("join")
@click.argument("matrices", nargs=-1, required=True, metavar="MATRIX MATRIX...", type=options.INPUT_FILE)
@options.take(*(name for name in options.CODING if name not in _OF_ONE))
@click.option(
    "--samples", metavar="A,B,...", help="Names of the specimens; by default the names of the files."
)
@options.take("out", required=True)
@options.take("force", "json")
def join(
    matrices: tuple[Path, ...],
    samples: str | None,
    out: Path,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Join the matrices of one tumour's specimens, such as biopsies or time points, in DIR.

    DIR gets matrix.SC and metadata.tsv, with the specimen of each cell, for `infer DIR/matrix.SC --metadata
    DIR/metadata.tsv` (with --two homozygous if there are such genotypes). With --evidence reads or
    likelihoods, it gets what `convert --evidence` writes, for `infer DIR --evidence ...`. Mutations are the
    same if their positions and alleles are, or, where a file has none, their names. One that a file does not
    have is missing in its cells. Columns about mutations, such as FREQ, are in matrix.mutations.tsv, which
    commands read with the matrix; where files differ, it has all values.
    """
    from syclade.host.commands.progress import show_log
    from syclade.host.data.input.convert import join, matrix_files, measured_by
    from syclade.host.data.input.label_table import SAMPLE
    from syclade.host.data.input.read_matrix import read_matrix
    from syclade.host.ground.files import tsv_text, write_files

    names = _samples(matrices, samples)
    show_log(quiet=False, verbose=False)
    read = [read_matrix(path, **given, strict=True) for path in matrices]
    joined = join(read, names)
    rows = zip(joined.cells or (), joined.labels[SAMPLE], strict=True)
    form = "sc" if joined.evidence is None else "scite"
    files = {**matrix_files(joined, form), METADATA: tsv_text(("cell", SAMPLE), rows)}
    write_files(out, files, force, {f"MATRIX {at}": path for at, path in enumerate(matrices, 1)})
    written = [str(out / name) for name in files]
    if as_json:
        click.echo(json.dumps({**_described_join(joined, read, names), "files": written}, indent=2))
        return
    cells = ", ".join(f"{name} {one.n_cells}" for name, one in zip(names, read, strict=True))
    click.echo(f"{counted(joined.n_mutations, 'mutation', 'mutations')}; cells: {cells}")
    partly = [name for name, count in measured_by(read).items() if count < len(read)]
    if partly:
        click.echo(f"not in all files, and missing in the cells of the others: {listed(partly)}")
    click.echo(f"wrote {', '.join(written)}")
    if form == "sc" and (joined.values == 2).any():
        click.echo("2 is a homozygous genotype: read matrix.SC with --two homozygous")


def _samples(matrices: tuple[Path, ...], samples: str | None) -> list[str]:
    """Return the names of the specimens: those given, or those of the files without an end that all share."""
    if len(matrices) < 2:
        raise OptionError("one matrix alone is not joined", hint="give at least two, one for each specimen")
    if samples is not None:
        names = [name.strip() for name in samples.split(",")]
        if len(names) != len(matrices) or not all(names):
            raise OptionError(
                f"--samples has {counted(len(names), 'name', 'names')} for {len(matrices)} matrices",
                hint="give one for each, between commas",
            )
        return names
    stems = [path.name.partition(".")[0] for path in matrices]
    if len(set(stems)) < len(stems):  # such as matrix.csv of several folders
        return [path.absolute().parent.name for path in matrices]
    signs = zip(*(reversed(stem) for stem in stems), strict=False)
    end = "".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, signs))[::-1]
    shared = end[first.start() :] if (first := re.search(r"[_-]", end)) else ""
    return [stem.removesuffix(shared) for stem in stems]


def _described_join(joined: Matrix, read: list[Matrix], names: list[str]) -> JsonObject:
    """Return sizes, samples, and the files that have each mutation."""
    from syclade.host.data.input.convert import measured_by

    return {
        "n_mutations": joined.n_mutations,
        "n_cells": joined.n_cells,
        "samples": {name: one.n_cells for name, one in zip(names, read, strict=True)},
        "files_with": measured_by(read),
    }
