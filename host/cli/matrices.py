"""MATRIX in any format: options for what cannot be detected from the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["CODING", "coding_of", "coding_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

CODING = (
    "format", "two", "rows", "min_depth", "min_gq", "vaf_ref", "vaf_het", "vaf_hom", "layer", "coding",
)  # fmt: skip
"""The options, by the names of the parameters of `syclade.read_matrix`."""

_FORMATS = (
    "scite, sc, tsv, csv, condor, sphyr, sasc, vcf, bcf, compass, scistree2, h5ad, tapestri, loom or cellsnp"
)


def coding_options(command: Command) -> Command:
    """Add ``--format`` and the options of particular formats to a command."""
    for option in (
        click.option(
            "--coding",
            type=click.Choice(("scite", "cyvcf2")),
            help="Of a layer: 2 homozygous and 3 missing, or 2 unknown and 3 homozygous (h5ad).",
        ),
        click.option("--layer", metavar="NAME", help="The calls, where they are not in X (h5ad)."),
        click.option(
            "--vaf-hom",
            type=click.FloatRange(0, 100),
            metavar="PERCENT",
            help="Alternate reads that a homozygous call needs (tapestri; cellsnp: 90 without).",
        ),
        click.option(
            "--vaf-het",
            type=click.FloatRange(0, 100),
            metavar="PERCENT",
            help="The same of a heterozygous call (tapestri).",
        ),
        click.option(
            "--vaf-ref",
            type=click.FloatRange(0, 100),
            metavar="PERCENT",
            help="Alternate reads that a wild type may have (tapestri).",
        ),
        click.option(
            "--min-gq",
            type=click.IntRange(min=0),
            metavar="Q",
            help="Calls of less quality are missing (tapestri, loom).",
        ),
        click.option(
            "--min-depth",
            type=click.IntRange(min=0),
            metavar="N",
            help="Calls of fewer reads are missing (vcf, bcf, compass, cellsnp, tapestri, loom).",
        ),
        click.option("--rows", type=click.Choice(("cells", "mutations")), help="What rows are (tsv, csv)."),
        click.option("--two", type=click.Choice(("homozygous", "missing")), help="What 2 means."),
        click.option(
            "--format",
            default="auto",
            show_default=True,
            metavar="FORMAT",
            help=f"Of MATRIX: {_FORMATS}; auto looks into it.",
        ),
    ):
        command = option(command)
    return command


def coding_of(
    given: dict[str, Any], matrix: Any, names: Path | None, cell_names: Path | None
) -> tuple[Any, dict[str, Any]]:
    """Read MATRIX if options of its format were given.

    Args:
        given: the options of the command; those of this module are removed.
        matrix: a path or a stream.
        names, cell_names: files of names, or None.

    Returns:
        The matrix and the given options of this module. Without any, the path or stream is returned unread.

    Raises:
        OptionError: an option does not apply to the format.
        MatrixError: the file has an error.
    """
    said = {name: given.pop(name) for name in CODING}
    said = {name: value for name, value in said.items() if value not in (None, "auto")}
    if not said:
        return matrix, said
    from syclade.host.input.door import read_matrix

    return read_matrix(matrix, names, cell_names=cell_names, **said), said
