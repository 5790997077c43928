"""Options shared by several checks, and the common end of a check: files, text and exit status."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from syclade.host.commands.options import INPUT_FILE
from syclade.quality.posterior.api import DEFAULT_MUTATIONS, DEFAULT_SAMPLES

__all__ = [
    "Checked",
    "Tabled",
    "inputs_option",
    "limit_option",
    "mutations_option",
    "reference_option",
    "report",
    "report_tables",
    "samples_option",
]

reference_option = click.option(
    "--reference",
    type=INPUT_FILE,
    metavar="DIR",
    help="Reference folder; without it, SCITE's results on 64 inputs that come with syclade.",
)

limit_option = click.option(
    "--limit", type=click.IntRange(min=2), metavar="K", help="Take the first K inputs only."
)

mutations_option = click.option(
    "--mutations",
    type=click.IntRange(2, 5),
    multiple=True,
    default=DEFAULT_MUTATIONS,
    show_default=True,
    metavar="N",
    help="Size of the trees that are enumerated, 2 to 5 (cells of cell trees, 3 to 5); may be given "
    "more than once.",
)

samples_option = click.option(
    "--samples",
    type=click.IntRange(min=1000),
    default=DEFAULT_SAMPLES,
    show_default=True,
    help="Independent reads for each size, each with the step that follows it.",
)


def inputs_option(
    help_text: str, default: int | None = None, least: int = 1
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option `--inputs`: how many inputs a check or a study makes.

    Args:
        help_text: what is counted.
        default: the default; None if the command chooses it.
        least: least number.
    """
    return click.option(
        "--inputs",
        type=click.IntRange(min=least),
        default=default,
        show_default=default is not None,
        metavar="K",
        help=help_text,
    )


class Outcome(Protocol):
    """Result of a check."""

    @property
    def holds(self) -> bool:
        """Return whether the check holds."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""


class Checked(Outcome, Protocol):
    """Result of a check, with lines of text and a figure."""

    def lines(self) -> list[str]:
        """Return the outcome as lines of text."""

    def plot(self, path: str | os.PathLike[str] | None = None, *, force: bool = False) -> object:
        """Draw a figure, and write it to a PNG file if a path is given."""


class Tabled(Outcome, Protocol):
    """Result of a check, with a table in place of a figure."""

    def markdown(self) -> str:
        """Return the outcome as a table in Markdown."""


def report(result: Checked, out: Path, files: tuple[str, str], force: bool, as_json: bool) -> int:
    """Write a check's report and figure, print its outcome, and return the exit status.

    Args:
        result: result of the check.
        out: output folder.
        files: file names of the report and the figure.
        force: replace existing files.
        as_json: print the report instead of lines of text.

    Raises:
        OutputError: the files cannot be written.
    """
    from syclade.host.ground.files import write_files

    result.plot(out / files[1], force=True)  # the command has already checked for existing files
    text = json.dumps(result.to_dict(), indent=2)
    write_files(out, {files[0]: text + "\n"}, force)
    return _told(result.holds, out, files, text if as_json else None, "\n".join(result.lines()))


def report_tables(
    result: Tabled, out: Path, files: Sequence[str], force: bool, as_json: bool, tsv: str = ""
) -> int:
    """Write a check's report and tables, print the table, and return the exit status.

    Args:
        result: result of the check.
        out: output folder.
        files: file names; their endings tell what they are: .json, .md or .tsv.
        force: replace existing files.
        as_json: print the report instead of the table.
        tsv: content of the .tsv file.

    Raises:
        OutputError: the files cannot be written.
    """
    from syclade.host.ground.files import write_files

    text, table = json.dumps(result.to_dict(), indent=2), result.markdown()
    texts = {".json": text + "\n", ".md": table + "\n", ".tsv": tsv}
    write_files(out, {name: texts[Path(name).suffix] for name in files}, force)
    return _told(result.holds, out, files, text if as_json else None, table)


def _told(holds: bool, out: Path, files: Sequence[str], text: str | None, outcome: str) -> int:
    """Print the report if there is a text of it, otherwise the outcome; return the exit status."""
    if text is not None:
        click.echo(text)
    else:
        click.echo(outcome)
        click.echo(f"wrote {', '.join(str(out / name) for name in files)}")
    return 0 if holds else 1
