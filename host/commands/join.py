"""``syclade join``: files of one tumour as one matrix, with the specimen of each cell."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import counted, listed

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix

__all__ = ["command"]

_OF_ONE = (
    "total_reads", "ref_reads", "absent", "obs_mask", "var_mask",
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
def command(
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
    have is missing in its cells.
    """
    from syclade.host.commands.convert import matrix_files
    from syclade.host.commands.progress import show_log
    from syclade.host.data.input.joined import join, measured_by
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
        click.echo(json.dumps({**_described(joined, read, names), "files": written}, indent=2))
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


def _described(joined: Matrix, read: list[Matrix], names: list[str]) -> dict[str, Any]:
    """Return sizes, samples, and the files that have each mutation."""
    from syclade.host.data.input.joined import measured_by

    return {
        "n_mutations": joined.n_mutations,
        "n_cells": joined.n_cells,
        "samples": {name: one.n_cells for name, one in zip(names, read, strict=True)},
        "files_with": measured_by(read),
    }
