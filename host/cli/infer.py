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
from syclade.host.cli.progress import progress_bar, show_log
from syclade.host.cli.stopping import stopped_by_signals
from syclade.host.common.errors import OptionError, OutputError
from syclade.host.options import OPTIONS
from syclade.host.supported import check_together

if TYPE_CHECKING:
    from syclade.host.kinds.kind import TreeKind
    from syclade.host.output.result import Result

__all__ = ["command"]


@click.command("infer")
@click.argument("matrix", type=options.MATRIX)
@options.take(*OPTIONS)
def command(
    matrix: Any,
    names: Path | None,
    move_probabilities: tuple[float, ...] | None,
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

    check_together(click.get_current_context().params)
    also = {"report": report, "netcdf": netcdf, "multiqc": multiqc}
    kind = kind_named(tree)
    _require_libraries(also)
    if out is not None:
        check_output(out, _file_names(kind, also, settings), force)
    log = show_log(quiet, verbose)
    matrix, coding = options.coding_of(settings, matrix, names, settings["cell_names"])
    with progress_bar(quiet, log) as progress, stopped_by_signals() as stop:
        result = infer(
            matrix,
            names=names,
            tree=tree,
            move_probabilities=_weights(kind, move_probabilities),
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


def _require_libraries(also: Mapping[str, bool]) -> None:
    """Check that the libraries for additional files are installed; raise an OptionError if one is not."""
    if also["report"]:
        from syclade.host.report.page import require_report

        require_report()
    if also["netcdf"]:
        from syclade.host.samples.netcdf import require_netcdf

        require_netcdf()


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
