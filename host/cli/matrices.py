"""A command's MATRIX in any format: the options that say what only the user can say of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["coding_of", "coding_options", "format_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


def format_option(*, required: bool = False) -> Callable[[Command], Command]:
    """``--format``."""
    return click.option(
        "--format",
        required=required,
        metavar="FORMAT",
        help="Of MATRIX: scite, sc, tsv, csv, condor, sphyr, sasc, vcf, compass or scistree2.",
    )


def coding_options(command: Command) -> Command:
    """``--two``, ``--rows`` and ``--min-depth``."""
    for option in (
        click.option(
            "--min-depth", type=int, metavar="N", help="Calls of fewer reads are missing (vcf, compass)."
        ),
        click.option("--rows", type=click.Choice(("cells", "mutations")), help="What rows are (--format)."),
        click.option("--two", type=click.Choice(("homozygous", "missing")), help="What 2 means (--format)."),
    ):
        command = option(command)
    return command


def coding_of(given: dict[str, Any], matrix: Any) -> Any:
    """MATRIX, read where a format was given; takes the options of this file out of what was given.

    Raises:
        UsageError: an option that goes with ``--format`` without it.
        MatrixError: what is wrong in the file.
    """
    form = given.pop("format")
    coding = {name: given.pop(name) for name in ("two", "rows", "min_depth")}
    if form is None:
        for name, value in coding.items():
            if value is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} goes with --format.")
        return matrix
    from syclade.host.input.door import read_format

    return read_format(matrix, form, **coding)
