"""``syclade infer``: infer the maximum-likelihood tree of a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.commands.progress import progress_bar, show_log
from syclade.host.commands.stopping import stopped_by_signals
from syclade.host.commands.write_result import deliver, doubt_of
from syclade.host.ground.options import OPTIONS, Options

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syclade.host.answer.output.result import Result
    from syclade.host.findings.kinds.kind import TreeKind
    from syclade.host.ground.output_folder import OutputFolder

__all__ = ["command", "require_libraries"]


@click.command("infer")
@click.argument("matrix", type=options.MATRIX)
@options.take(*OPTIONS)
def command(matrix: object, **given: Any) -> int:
    """Infer the maximum-likelihood mutation tree of MATRIX, by search or by chains.

    MATRIX is a path, or - for standard input. Its format is detected if --format is not given. SCITE's
    format has one line per mutation and one column per cell, with values 0 (not observed), 1 (mutation), 2
    (homozygous mutation) or 3 (missing). DIR gets tree.newick, tree.gv, attachments.tsv (the best node of
    each cell), support.tsv (how sure each edge is), summary.json (identical for equal runs) and run.json
    (device, times, options). Ctrl-C or
    SIGTERM ends the run with the best tree so far. --tree leaf infers a cell tree instead and writes
    placements.tsv (the best edge of each mutation) in place of attachments.tsv.
    """
    from syclade.host.answer.inference import infer_by
    from syclade.host.answer.request.arguments import settled
    from syclade.host.chains.checkpoints.checkpoint_writer import locked_checkpoint
    from syclade.host.findings.kinds import kind_named, weights_of

    chosen = settled(options.options_from(given))
    kind = kind_named(chosen.tree)
    chosen = chosen.replace(move_probabilities=weights_of(kind, chosen.move_probabilities))
    also = {"report": chosen.report, "netcdf": chosen.netcdf, "multiqc": chosen.multiqc}
    require_libraries(also)
    log = show_log(chosen.quiet, chosen.verbose)
    with (
        stopped_by_signals() as stop,
        _opened(chosen, matrix, _file_names(kind, also, chosen)) as folder,
        locked_checkpoint(chosen.checkpoint, chosen.resume),
        _workers(chosen.scheduler) as executor,
    ):
        with progress_bar(chosen.quiet, log) as progress:
            result = infer_by(chosen, matrix, executor=executor, progress=progress, stop=stop)
        for words in _warnings(result):
            click.echo(f"syclade: {words}", err=True)
        deliver(result, folder, also, quiet=chosen.quiet, as_json=chosen.json)
    return stop.status


@contextmanager
def _opened(chosen: Options, matrix: object, names: list[str]) -> Iterator[OutputFolder | None]:
    """Open the folder of the result, if there is one; say if an interrupted run has written nothing there.

    Raises:
        OutputError: the files cannot be written, or would overwrite a file of another option.
    """
    out = chosen.out
    if out is None:
        yield None
        return
    from syclade.host.answer.output.result_files import folder_of_result

    with folder_of_result(
        out, names, force=chosen.force, protected=options.files_of(chosen, matrix)
    ) as folder:
        try:
            yield folder
        except KeyboardInterrupt:
            if not folder.written:
                click.echo(f"syclade: nothing was written to {out}", err=True)
            raise


def _workers(scheduler: str | None) -> AbstractContextManager[Executor | None]:
    """Return the context of the workers, if the run has any."""
    if scheduler is None:
        return nullcontext()
    from syclade.host.device.cluster.scheduler import open_scheduler

    return open_scheduler(scheduler)


def _warnings(result: Result) -> list[str]:
    """Return the reasons to doubt a result."""
    from syclade.host.chains.runs.outcome import TREE

    found = [f"warning: {words}" for words in result.warnings]
    if result.samples is None and not result.converged and result.stopped_in != TREE:
        found.append(doubt_of(result))
    return found


def require_libraries(also: Mapping[str, bool]) -> None:
    """Check that the libraries for additional files are installed; raise an OptionError if one is not."""
    if also["report"]:
        from syclade.host.answer.report.page import require_report

        require_report()
    if also["netcdf"]:
        from syclade.host.findings.samples.finding import require_netcdf

        require_netcdf()


def _file_names(kind: TreeKind, also: Mapping[str, bool], chosen: Options) -> list[str]:
    """Return the names of the files that the run will write."""
    from syclade.host.answer.request.arguments import support_level
    from syclade.host.findings.finding import Question
    from syclade.host.findings.registry import promised

    besides = {"report": "report.html", "netcdf": "samples.nc", "multiqc": "syclade_mqc.json"}
    names = [*kind.file_names, *(name for option, name in besides.items() if also[option])]
    return names + promised(Question(kind, chosen, support_level(chosen)))
