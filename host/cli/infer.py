"""``syclade infer``: the main job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli import options
from syclade.host.model.defaults import DEFAULT_CHAINS, DEFAULT_MOVE_PROBABILITIES

if TYPE_CHECKING:
    from syclade.host.inference import InferenceProgress

__all__ = ["command"]


@click.command("infer")
@click.argument("matrix", type=options.INPUT_FILE)
@options.fp_rate_option()
@options.fn_rate_option()
@options.names_option()
@click.option(
    "--chains",
    type=click.IntRange(min=1),
    default=DEFAULT_CHAINS,
    show_default=True,
    help="Independent chains.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help="Steps a chain. Without, the chains go on until half of them agree on the best score.",
)
@options.seed_option()
@click.option("--gamma", type=float, default=1.0, show_default=True, help="Exponent of the likelihood.")
@click.option(
    "--move-probs",
    type=float,
    nargs=3,
    default=DEFAULT_MOVE_PROBABILITIES,
    show_default=True,
    metavar="P L S",
    help="Weights of prune and reattach, swap labels, swap subtrees.",
)
@options.device_option()
@options.encoding_option()
@click.option(
    "--image",
    type=options.INPUT_FILE,
    metavar="FILE",
    help="Precompiled kernel for the device, as 'syclade export --with-image' makes it.",
)
@click.option(
    "--slots", type=click.IntRange(min=1), help="Chain states on the device at once; chosen from the device."
)
@options.out_option()
@options.force_option()
@click.option("--quiet", is_flag=True, help="Print only the log-likelihood.")
def command(
    matrix: Path,
    names: Path | None,
    move_probs: tuple[float, float, float],
    out: Path | None,
    force: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Infer the maximum-likelihood mutation tree of MATRIX.

    MATRIX is in SCITE's format: one line a mutation, one column a cell, 0 (not observed), 1 (mutation) or
    3 (missing). DIR gets tree.newick, tree.gv, attachments.tsv (the best node of each cell) and summary.json.
    """
    from syclade.host.inference import infer
    from syclade.host.output.files import check_output
    from syclade.host.output.result import FILES

    if out is not None:
        check_output(out, FILES, force)
    _show_choices(quiet)
    with _progress_bar(quiet) as progress:
        result = infer(matrix, names=names, move_probabilities=move_probs, progress=progress, **settings)
    if out is not None:
        result.write(out, force=force)
    if quiet:
        click.echo(repr(result.log_likelihood))
        return
    click.echo(f"log-likelihood {result.log_likelihood:.6f}")
    click.echo(
        f"{result.chains} chains of {result.steps} steps on {result.device} ({result.device_name}): "
        f"{result.seconds:.2f} s, {result.steps_per_second / 1e3:.0f} ksteps/s"
    )
    tied = int((result.attachment_ties > 1).sum())
    click.echo(
        f"{result.n_cells} cells at {len(set(result.attachment.tolist()))} of {len(result.parents)} nodes, "
        f"{tied} of them with more than one equally good node"
    )
    if result.converged is False:
        click.echo("the chains do not agree on the best tree: more --chains may find a better one")
    if out is None:
        click.echo(result.to_newick().rstrip("\n"))
    else:
        click.echo(f"wrote {', '.join(str(out / name) for name in FILES)}")


def _show_choices(quiet: bool) -> None:
    """Let the log say which device is taken and why; warnings are shown even when quiet."""
    import logging

    class ToStderr(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            click.echo(f"syclade: {record.getMessage()}", err=True)

    logger = logging.getLogger("syclade")
    logger.handlers = [ToStderr()]
    logger.setLevel(logging.WARNING if quiet else logging.INFO)


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[Callable[[InferenceProgress], None] | None]:
    """A progress bar on standard error, where that is a terminal."""
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        BarColumn(),
        TextColumn("{task.fields[steps]}"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[best]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("chains", total=None, steps="", rate="", best="")

        def show(state: InferenceProgress) -> None:
            bar.update(
                task,
                completed=state.steps_done,
                total=state.steps_total,
                steps=f"{state.steps_done / 1e6:.1f} Msteps",
                rate=f"{state.steps_per_second / 1e3:.0f} ksteps/s",
                best=f"best {state.log_likelihood:.4f}",
            )

        yield show
