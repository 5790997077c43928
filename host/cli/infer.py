"""``syclade infer``: infer the maximum-likelihood tree of a matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli import options
from syclade.host.cli.infer_words import doubt_of, tell
from syclade.host.cli.json_output import tell_json
from syclade.host.cli.learning import learning_options
from syclade.host.cli.matrices import coding_of, coding_options
from syclade.host.cli.progress import progress_bar, show_log
from syclade.host.cli.stopping import stopped_by_signals
from syclade.host.common.errors import OutputError
from syclade.host.model.defaults import DEFAULT_CHAINS, DEFAULT_MOVE_PROBABILITIES

if TYPE_CHECKING:
    from syclade.host.output.result import Result

__all__ = ["command"]


@click.command("infer")
@click.argument("matrix", type=options.MATRIX)
@coding_options
@options.fp_rate_option()
@options.fn_rate_option()
@options.zygosity_options()
@options.names_option()
@options.cell_names_option()
@options.score_option()
@click.option(
    "--method",
    type=click.Choice(("auto", "search", "chain")),
    default="auto",
    show_default=True,
    help="Search for the most likely tree, or run SCITE's chains; auto: chains where they are asked for by "
    "--chains, --steps, --samples, --image, --learn-fn or --score sum, else search.",
)
@options.tree_option()
@click.option("--chains", type=click.IntRange(min=1), help=f"Independent chains; {DEFAULT_CHAINS} without.")
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
    help="Weights of prune and reattach, swap labels, swap subtrees; of --tree leaf, whose usual ones are "
    "0.4 0.6 0, of prune and reattach, swap leaves, and 0.",
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
@options.stages_options()
@click.option(
    "--start",
    type=click.Choice(("random", "search")),
    default="random",
    show_default=True,
    help="Trees that chains start from: random ones, or those that searches find.",
)
@click.option(
    "--checkpoint",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep the run in FILE, so that --resume FILE can go on with it.",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How often chains are kept; searches are after every leg.",
)
@click.option(
    "--resume",
    type=options.INPUT_FILE,
    metavar="FILE",
    help="Go on with the run in FILE, to the result that it would have had; give its options again.",
)
@click.option("--attach", is_flag=True, help="Hang the cells in the trees, each at its best node.")
@click.option(
    "--max-trees",
    type=click.IntRange(min=1),
    metavar="K",
    help="Look for all trees that are as likely as the best, up to K; DIR gets tree_0.newick, tree_0.gv, …, "
    "consensus.tsv and consensus.gv.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    metavar="K",
    help="Sample each chain's tree every K steps (with --steps); DIR gets tree.samples (SCITE's format), "
    "posterior.tsv and posterior.gv.",
)
@click.option(
    "--netcdf", is_flag=True, help="Write the samples to DIR as samples.nc, too, for ArviZ and xarray."
)
@click.option(
    "--burn-in",
    type=click.FloatRange(min=0, max=1, max_open=True),
    default=0.25,
    show_default=True,
    help="Part of a chain's steps before its first sample.",
)
@learning_options
@click.option(
    "--true-tree",
    type=options.INPUT_FILE,
    metavar="FILE",
    help="Tell how far the tree is from this one (Newick or GraphViz).",
)
@click.option("--report", is_flag=True, help="Write report.html to DIR: a page to read, print and send.")
@click.option("--multiqc", is_flag=True, help="Write syclade_mqc.json to DIR, a table for MultiQC.")
@options.out_option()
@options.force_option()
@options.json_option()
@click.option("--quiet", is_flag=True, help="Print only the log-likelihood, and warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Tell details of kernels and devices, too.")
def command(
    matrix: Any,
    names: Path | None,
    move_probs: tuple[float, float, float],
    report: bool,
    netcdf: bool,
    multiqc: bool,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    tree: str,
    **settings: Any,
) -> int:
    """Infer the maximum-likelihood mutation tree of MATRIX, by search or by chains.

    MATRIX is a path, or - for standard input. Its format is detected if --format is not given. SCITE's
    format has one line per mutation and one column per cell, with values 0 (not observed), 1 (mutation), 2
    (homozygous mutation) or 3 (missing). DIR gets tree.newick, tree.gv, attachments.tsv (the best node of
    each cell), summary.json (identical for equal runs) and run.json (device, times, options). Ctrl-C or
    SIGTERM ends the run with the best tree so far. --tree leaf infers a cell tree instead, by chains, and
    writes placements.tsv (the best edge of each mutation).
    """
    from syclade.host.common.files import FILES, check_output
    from syclade.host.inference import infer

    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    if tree == "leaf":
        from syclade.host.cli.leaf import infer_leaf_tree

        told = click.get_current_context().get_parameter_source("move_probs")
        given = None if told is click.core.ParameterSource.DEFAULT else move_probs
        asked = {"names": names, "report": report, "netcdf": netcdf, "multiqc": multiqc, **settings}
        return infer_leaf_tree(matrix, out, force, quiet, as_json, verbose, given, asked)
    if report:
        if out is None:
            raise click.UsageError("--report without --out: say where the page shall be.")
        from syclade.host.report.page import require_report

        require_report()
    if netcdf:
        if out is None or settings["samples"] is None:
            raise click.UsageError("--netcdf is for --samples with --out.")
        from syclade.host.samples.netcdf import require_netcdf

        require_netcdf()
    if multiqc and out is None:
        raise click.UsageError("--multiqc without --out: say where the file shall be.")
    sampled = settings["samples"] is not None
    besides = {"report.html": report, "samples.nc": netcdf, "syclade_mqc.json": multiqc}
    besides |= dict.fromkeys(("tree.samples", "posterior.tsv", "posterior.gv"), sampled)
    walked = settings["max_trees"] is not None
    besides |= dict.fromkeys(("tree_0.newick", "tree_0.gv", "consensus.tsv", "consensus.gv"), walked)
    if out is not None:
        check_output(out, (*FILES, *(name for name, wanted in besides.items() if wanted)), force)
    log = show_log(quiet, verbose)
    matrix, coding = coding_of(settings, matrix, names, settings["cell_names"])
    with progress_bar(quiet, log) as progress, stopped_by_signals() as stop:
        result = infer(
            matrix,
            names=names,
            move_probabilities=move_probs,
            progress=progress,
            stop=stop,
            force=force,
            **settings,
        )
    if coding:  # needed to repeat the run
        result = replace(result, options={**coding, **result.options})
    if result.interrupted:
        click.echo("syclade: warning: stopped before the end: this is the best tree until then", err=True)
    if result.samples is not None:
        for words in result.samples.warnings:
            click.echo(f"syclade: warning: {words}", err=True)
    elif not result.converged and not result.interrupted:
        click.echo(f"syclade: {doubt_of(result)}", err=True)
    try:
        also = {"report": report, "netcdf": netcdf, "multiqc": multiqc}
        _deliver(result, out, also, force=force, quiet=quiet, as_json=as_json)
    except OutputError as error:
        from syclade.host.output.rescue import keep

        kept = keep(result.write)
        if kept is None:
            raise
        raise OutputError(error.message, hint=f"the result is not lost: it is in {kept}") from error
    return stop.status if result.interrupted else 0


def _deliver(
    result: Result, out: Path | None, also: dict[str, bool], *, force: bool, quiet: bool, as_json: bool
) -> None:
    """Write the files and print the result; also print the tree if it is in no file.

    Raises:
        OutputError: the files or standard output cannot be written; the result is printed even if writing
            the files failed.
    """
    failure = None
    if out is not None:
        try:
            result.write(out, force=force, **also)
        except OutputError as error:
            failure = error
    if as_json:
        tell_json(result)
    else:
        tell(result, out if failure is None else None, quiet=quiet and failure is None)
    if failure is not None:
        raise failure
