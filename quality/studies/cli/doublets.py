"""The study `doublets`: measure what the model of doublets brings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]

FILES = ("doublets.json", "doublets.png")
SEARCH_FILES = ("doublets-search.json", "doublets-search.png")
ONLY_RECOVERY = ("mutations", "cells")


@click.command("doublets")
@options.take("device", "threads")
@check_options.inputs_option(
    "Inputs with doublets, and as many without; 64 by default. With --search, 32 in all."
)
@click.option("--mutations", type=click.IntRange(min=2), help="Of an input; 40 by default.")
@click.option("--cells", type=click.IntRange(min=2), help="Of an input; 100 by default.")
@click.option(
    "--rate",
    type=options.Probability(inside=True),
    default=0.25,
    show_default=True,
    help="Rate of doublets of the inputs and of the model.",
)
@click.option(
    "--search",
    is_flag=True,
    help="Compare the default inference with chains of ten times its steps instead.",
)
@click.option(
    "--matrix",
    "matrices",
    type=options.INPUT_FILE,
    multiple=True,
    metavar="FILE",
    help="A real matrix (--search): two pieces of it are inputs. May be given more than once.",
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    search: bool, matrices: tuple[Path, ...], out: Path, force: bool, as_json: bool, **settings: Any
) -> int:
    """Infer trees of simulated inputs with and without doublets, by models with and without them.

    Compares them with the true trees, and the doublets' probabilities with the true doublets. Error rates are
    0.001 and 0.2, a fifth of the values is missing. The check holds if half of the precision
    that doublets cost the sum score comes back, and none is lost where there are none. Writes doublets.json
    and doublets.png to DIR.

    With --search, compares the trees of `syclade infer --doublets` with those of chains of ten times its
    steps, half of them from random starts and half from trees of searches. The check holds if these find no
    better tree for any input. Writes doublets-search.json and doublets-search.png to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.doublets.api import optima, recovery

    given = {name: value for name, value in settings.items() if value is not None}
    _check(search, matrices, given)
    require_extras()
    files = SEARCH_FILES if search else FILES
    check_output(out, files, force)
    result: check_options.Checked
    with progress_bar() as show:
        result = optima(matrices, progress=show, **given) if search else recovery(progress=show, **given)
    return check_options.report(result, out, files, force, as_json)


def _check(search: bool, matrices: tuple[Path, ...], given: dict[str, Any]) -> None:
    """Reject options of the other study.

    Raises:
        OptionError: an option does not go with --search, or needs it.
    """
    if matrices and not search:
        raise OptionError("--matrix is for --search", hint="give both, or neither")
    for name in ONLY_RECOVERY:
        if search and name in given:
            raise OptionError(f"--{name} does not go with --search", hint=f"leave out --{name}")
