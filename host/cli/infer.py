"""``syclade infer``: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.cli import options
from syclade.host.cli.progress import progress_bar, show_log
from syclade.host.model.defaults import DEFAULT_CHAINS, DEFAULT_MOVE_PROBABILITIES

__all__ = ["command"]


@click.command("infer")
@click.argument("matrix", type=options.MATRIX)
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
@click.option("-v", "--verbose", is_flag=True, help="Tell details of kernels and devices, too.")
def command(
    matrix: Any,
    names: Path | None,
    move_probs: tuple[float, float, float],
    out: Path | None,
    force: bool,
    quiet: bool,
    verbose: bool,
    **settings: Any,
) -> None:
    """Infer the maximum-likelihood mutation tree of MATRIX.

    MATRIX is in SCITE's format: one line a mutation, one column a cell, 0 (not observed), 1 (mutation) or
    3 (missing); - reads it from standard input. DIR gets tree.newick, tree.gv, attachments.tsv (the best node
    of each cell) and summary.json.
    """
    from syclade.host.inference import infer
    from syclade.host.output.files import check_output
    from syclade.host.output.result import FILES

    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    if out is not None:
        check_output(out, FILES, force)
    with progress_bar(quiet, show_log(quiet, verbose)) as progress:
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
