"""``syclade infer``: infer the maximum-likelihood tree of a matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli import options
from syclade.host.cli.infer_words import doubt_of, tell
from syclade.host.cli.json_output import tell_json
from syclade.host.cli.progress import progress_bar, show_log
from syclade.host.cli.stopping import stopped_by_signals
from syclade.host.common.errors import OutputError
from syclade.host.options import OPTIONS
from syclade.host.supported import check_together

if TYPE_CHECKING:
    from syclade.host.output.result import Result

__all__ = ["command"]


@click.command("infer")
@click.argument("matrix", type=options.MATRIX)
@options.take(*OPTIONS)
def command(
    matrix: Any,
    names: Path | None,
    move_probabilities: tuple[float, float, float],
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

    context = click.get_current_context()
    check_together(context.params)
    if tree == "leaf":
        from syclade.host.cli.leaf import infer_leaf_tree

        told = context.get_parameter_source("move_probabilities")
        given = None if told is click.core.ParameterSource.DEFAULT else move_probabilities
        return infer_leaf_tree(
            matrix, out, force, quiet, as_json, verbose, given, {"names": names, **settings}
        )
    if report:
        from syclade.host.report.page import require_report

        require_report()
    if netcdf:
        from syclade.host.samples.netcdf import require_netcdf

        require_netcdf()
    sampled = settings["samples"] is not None
    besides = {"report.html": report, "samples.nc": netcdf, "syclade_mqc.json": multiqc}
    besides |= dict.fromkeys(("tree.samples", "posterior.tsv", "posterior.gv"), sampled)
    walked = settings["max_trees"] is not None
    besides |= dict.fromkeys(("tree_0.newick", "tree_0.gv", "consensus.tsv", "consensus.gv"), walked)
    if out is not None:
        check_output(out, (*FILES, *(name for name, wanted in besides.items() if wanted)), force)
    log = show_log(quiet, verbose)
    matrix, coding = options.coding_of(settings, matrix, names, settings["cell_names"])
    with progress_bar(quiet, log) as progress, stopped_by_signals() as stop:
        result = infer(
            matrix,
            names=names,
            move_probabilities=move_probabilities,
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
