"""``syclade infer``: infer the maximum-likelihood tree of a matrix."""

from __future__ import annotations

from collections.abc import Mapping
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
from syclade.host.common.errors import OptionError, OutputError
from syclade.host.model.defaults import DEFAULT_CHAINS

if TYPE_CHECKING:
    from syclade.host.kinds.kind import TreeKind
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
    default=None,
    metavar="P L S",
    help="Weights of prune and reattach, swap labels, swap subtrees (0.55 0.4 0.05 without); with --tree "
    "leaf, of prune and reattach, swap leaves, and 0 (0.4 0.6 0 without).",
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
    move_probs: tuple[float, ...] | None,
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
    SIGTERM ends the run with the best tree so far. --tree leaf infers a cell tree instead and writes
    placements.tsv (the best edge of each mutation) in place of attachments.tsv.
    """
    from syclade.host.common.files import check_output
    from syclade.host.inference import infer
    from syclade.host.kinds.named import kind_named

    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    also = {"report": report, "netcdf": netcdf, "multiqc": multiqc}
    kind = kind_named(tree)
    _check_files(also, out, sampled=settings["samples"] is not None)
    if out is not None:
        check_output(out, _file_names(kind, also, settings), force)
    log = show_log(quiet, verbose)
    matrix, coding = coding_of(settings, matrix, names, settings["cell_names"])
    with progress_bar(quiet, log) as progress, stopped_by_signals() as stop:
        result = infer(
            matrix,
            names=names,
            tree=tree,
            move_probabilities=_weights(kind, move_probs),
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
        _deliver(result, out, also, force=force, quiet=quiet, as_json=as_json)
    except OutputError as error:
        from syclade.host.output.rescue import keep

        kept = keep(result.write)
        if kept is None:
            raise
        raise OutputError(error.message, hint=f"the result is not lost: it is in {kept}") from error
    return stop.status if result.interrupted else 0


def _check_files(also: Mapping[str, bool], out: Path | None, *, sampled: bool) -> None:
    """Check that the additional files have a folder, and that their libraries are installed.

    Raises:
        UsageError: there is no folder, or no samples for --netcdf.
        OptionError: a library is not installed.
    """
    if also["report"]:
        if out is None:
            raise click.UsageError("--report without --out: say where the page shall be.")
        from syclade.host.report.page import require_report

        require_report()
    if also["netcdf"]:
        if out is None or not sampled:
            raise click.UsageError("--netcdf is for --samples with --out.")
        from syclade.host.samples.netcdf import require_netcdf

        require_netcdf()
    if also["multiqc"] and out is None:
        raise click.UsageError("--multiqc without --out: say where the file shall be.")


def _file_names(kind: TreeKind, also: Mapping[str, bool], settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the files that the run will write."""
    besides = {"report": "report.html", "netcdf": "samples.nc", "multiqc": "syclade_mqc.json"}
    names = [*kind.file_names, *(name for option, name in besides.items() if also[option])]
    if settings["samples"] is not None:
        names += kind.sample_names
    if settings["max_trees"] is not None:
        names += ("tree_0.newick", "tree_0.gv", "consensus.tsv", "consensus.gv")
    return names


def _weights(kind: TreeKind, given: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """Return the weights of the moves that these trees have.

    Raises:
        OptionError: a move has a weight that these trees do not have.
    """
    if given is None:
        return None
    moves = len(kind.move_probabilities)
    if any(given[moves:]):
        raise OptionError(
            f"{kind.title} have no swaps of subtrees",
            hint="give --move-probs P L 0: weights of prune and reattach, and of swaps of leaves",
        )
    return given[:moves]


def _deliver(
    result: Result, out: Path | None, also: dict[str, bool], *, force: bool, quiet: bool, as_json: bool
) -> None:
    """Write the files and print the result; also print the tree if it is in no file.

    Raises:
        OutputError: the files or standard output cannot be written; the result is printed even if writing
            the files failed.
    """
    failure, wrote = None, list[str]()
    if out is not None:
        try:
            wrote = result.write(out, force=force, **also)
        except OutputError as error:
            failure = error
    if as_json:
        tell_json(result)
    else:
        tell(result, out if failure is None else None, wrote, quiet=quiet and failure is None)
    if failure is not None:
        raise failure
