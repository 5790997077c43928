"""``syclade infer``: infer the maximum-likelihood tree of a matrix; write its files, and print it.

If either fails, the result is not lost: it goes to another folder.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from syclade.host.commands import options
from syclade.host.commands.process import stopped_by_signals
from syclade.host.commands.progress import progress_bar, show_log
from syclade.host.ground.errors import OutputError
from syclade.host.ground.options import OPTIONS, Options, flag_of
from syclade.host.ground.options.types import AnyPath
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syclade.host.answer.output.result import Result
    from syclade.host.chains.backends.stages.launcher import PipelineReport
    from syclade.host.findings.kinds import TreeKind
    from syclade.host.ground.output_folder import OutputFolder

__all__ = ["command", "require_libraries"]

logger = logging.getLogger("syclade.times")

_MOST_NEAR = 6
"""Most names that a wrong one may mean."""


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
    from syclade.host.answer.output.result_files import BESIDES
    from syclade.host.answer.request.arguments import settled
    from syclade.host.chains.checkpoints.checkpoint_writer import locked_checkpoint
    from syclade.host.data.input.names import listed_names
    from syclade.host.findings.kinds import kind_named, weights_of

    begun = time.perf_counter()
    chosen = settled(options.options_from(given))
    kind = kind_named(chosen.tree)
    chosen = chosen.replace(move_probabilities=weights_of(kind, chosen.move_probabilities))
    also = {name: getattr(chosen, name) for name in BESIDES}
    page = Page(chosen.title or "", listed_names(chosen.highlight or ""))
    require_libraries(also)
    log = show_log(chosen.quiet, chosen.verbose)
    earlier = _version_of(chosen.checkpoint)
    with (
        stopped_by_signals() as stop,
        _resume_reported(chosen, earlier),
        _opened(chosen, matrix, _file_names(kind, also, chosen)) as folder,
        locked_checkpoint(chosen.checkpoint, chosen.resume),
        _workers(chosen.scheduler) as executor,
    ):
        with progress_bar(chosen.quiet, log) as progress:
            result = infer_by(chosen, matrix, executor=executor, progress=progress, stop=stop)
        for words in [*result.new_warnings, *page.warnings(result.mutations)]:
            click.echo(f"syclade: warning: {words}", err=True)
        _deliver(result, folder, also, page, quiet=chosen.quiet, as_json=chosen.json)
        if result.interrupted:
            _report_resume(chosen, earlier, written=folder is not None)
        logger.info("%s", _times(result, time.perf_counter() - begun))
    return stop.status


@contextmanager
def _opened(chosen: Options, matrix: object, names: list[str]) -> Iterator[OutputFolder | None]:
    """Open the folder of the result, if there is one; report if an interrupted run wrote nothing there.

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


_Version = tuple[int, int] | None
"""A value that changes when a file is written; None for no file."""


def _version_of(file: AnyPath | None) -> _Version:
    """Return the version of a file."""
    if file is None:
        return None
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns


@contextmanager
def _resume_reported(chosen: Options, earlier: _Version) -> Iterator[None]:
    """Report how to continue a run that ends without a result; arguments as for `_report_resume`."""
    try:
        yield
    except KeyboardInterrupt:
        _report_resume(chosen, earlier)
        raise


def _report_resume(chosen: Options, earlier: _Version, *, written: bool = False) -> None:
    """Report how to continue an interrupted run that writes checkpoints.

    Args:
        chosen: the options of the run.
        earlier: version of its checkpoint before the run.
        written: whether it has written files that the next run must replace.
    """
    if chosen.checkpoint is None:
        return
    stored = _version_of(chosen.checkpoint) not in (None, earlier)
    source = chosen.checkpoint if stored else chosen.resume
    what = "a checkpoint was written" if stored else "no checkpoint was written yet"
    how = (
        "start again with the same command"
        if source is None
        else f"continue with {flag_of('resume')} {source}"
    )
    force = f" and {flag_of('force')}" if written and not chosen.force else ""
    click.echo(f"syclade: {what}: {how}{force}", err=True)


def _workers(scheduler: str | None) -> AbstractContextManager[Executor | None]:
    """Return the context of the workers, if the run has any."""
    if scheduler is None:
        return nullcontext()
    from syclade.host.device.cluster.scheduler import open_scheduler

    return open_scheduler(scheduler)


def require_libraries(also: Mapping[str, bool]) -> None:
    """Check that the libraries for additional files are installed; raise an OptionError if one is not."""
    if also["report"]:
        from syclade.host.answer.report.page import require_report

        require_report()
    if also["netcdf"]:
        from syclade.host.findings.samples.finding import require_netcdf

        require_netcdf()
    if also.get("anndata"):
        from syclade.host.answer.output.anndata import require_anndata

        require_anndata()


def _file_names(kind: TreeKind, also: Mapping[str, bool], chosen: Options) -> list[str]:
    """Return the names of the files that the run will write."""
    from syclade.host.answer.output.result_files import BESIDES
    from syclade.host.answer.request.arguments import support_level
    from syclade.host.answer.stages import promised
    from syclade.host.findings.finding import Question

    names = [*kind.file_names, *(name for option, name in BESIDES.items() if also[option])]
    return names + promised(Question(kind, chosen, support_level(chosen)))


class Page(NamedTuple):
    """Title of the report, and names of mutations that it names first."""

    title: str
    highlight: tuple[str, ...]

    def warnings(self, mutations: Sequence[str]) -> list[str]:
        """Return a warning with the names that are not among the mutations."""
        from syclade.host.data.input.names import chosen_mutations, near_names

        _, unknown = chosen_mutations(self.highlight, mutations)
        if not unknown:
            return []
        near = [one for name in unknown for one in near_names(name, mutations)][:_MOST_NEAR]
        hint = f" (it has {', '.join(near)})" if near else ""
        return [f"{flag_of('highlight')}: the matrix has no {', '.join(unknown)}{hint}"]


def _deliver(
    result: Result,
    folder: OutputFolder | None,
    also: Mapping[str, bool],
    page: Page,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the files and print the result, with the tree if it is in no file.

    Args:
        result: the result.
        folder: folder for the files; None for no files.
        also: files wanted besides (`BESIDES`).
        page: what the report shows besides.
        quiet: whether to print the log-likelihood only, unless the tree would be lost.
        as_json: whether to print JSON.

    Raises:
        OutputError: files or standard output cannot be written. The result is then in another folder, if one
            can be written to, and the hint names the folder; or only files besides cannot be made.
    """

    from syclade.host.answer.output.result_files import Incomplete, Rescued, rescued, write_result

    wanted: dict[str, Any] = {**also, **page._asdict()}

    def write(place: Path) -> None:
        with suppress(Incomplete):
            result.write(place, **wanted)

    failure: OutputError | None = None
    if folder is not None:
        try:
            write_result(result, folder, wanted)
        except Incomplete as error:
            failure = error
        except OutputError as error:
            failure = rescued(error, write)
        except Exception as error:
            reason = OutputError(f"a file of the result cannot be made: {type(error).__name__}: {error}")
            failure = rescued(reason, result.write)
    try:
        if as_json:
            _print_json(result)
        else:
            quiet = quiet and (failure is None or isinstance(failure, Incomplete | Rescued))
            _print(result, folder, quiet=quiet)
    except OutputError as error:
        if folder is not None and folder.written:
            raise OutputError(
                error.message, hint=f"the result is not lost: it is in {folder.path}"
            ) from error
        raise (failure or rescued(error, write)) from error
    if failure is not None:
        raise failure


def _print_json(result: Result) -> None:
    """Print one JSON object: the contents of summary.json and run.json, and the tree in Newick format."""
    values = {"summary": result.summary(), "run": result.run(), "newick": result.to_newick()}
    click.echo(json.dumps(values, indent=2))


def _print(result: Result, folder: OutputFolder | None, *, quiet: bool) -> None:
    """Print the result, and the names of its files, or else the tree.

    Args:
        result: the result.
        folder: the folder of its files; None for no files.
        quiet: whether to print the log-likelihood only.
    """
    from syclade.host.commands.process import shows

    if quiet:
        click.echo(repr(result.log_likelihood))
        return
    click.echo(f"log-likelihood {result.log_likelihood:.6f}")
    click.echo(f"{result.ran}: {result.seconds:.2f} s, {_pace(result)}")
    if result.pipeline is not None:
        click.echo(_pipeline(result.pipeline, str(result.options["stages"])))
    item, place = result.kind.item, result.kind.place
    tied = int((result.assignment.ties > 1).sum())
    click.echo(
        f"{counted(len(result.assignment.node), item, f'{item}s')} at "
        f"{len(set(result.assignment.node.tolist()))} of "
        f"{counted(len(result.parents), place, f'{place}s')}, {tied} of them with more than one equally "
        f"good {place}"
    )
    for finding in result.findings:
        for line in finding.lines:
            click.echo(line)
    if folder is None or not folder.written:
        newick = result.to_newick().rstrip("\n")
        click.echo(newick)
        if not shows(newick):
            click.echo("syclade: warning: names have signs that standard output lacks: use --out", err=True)
    else:
        click.echo(f"wrote {', '.join(folder.written)} to {folder.path}")


def _times(result: Result, total: float) -> str:
    """Return the wall time of the command, and of all of its parts, as text."""
    parts = dict(result.stages)
    parts["files"] = total - result.total_seconds
    parts["other"] = total - sum(parts.values())
    return f"{total:.2f} s: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in parts.items())


def _pipeline(report: PipelineReport, kind: str) -> str:
    """Return the utilisation of the pipeline of separate or overlapping stages as text."""
    line = (
        f"{len(report['stages'])} {kind} stages, {report['slots']} chain states: stages had a state in "
        f"{report['fill_by_tick']:.1%} of {report['ticks']} ticks of the schedule"
    )
    if report["fill_by_time"] is None:
        if report["stages_at_once"] is None:
            return line
        return f"{line}, {report['stages_at_once']:.2f} at once and {report['most_stages_at_once']} at most"
    clock, steps, most = report["clock"], report["timed_steps"], report["most_stages_at_once"]
    return (
        f"{line}, and worked {report['fill_by_time']:.1%} of the time, "
        f"{report['stages_at_once']:.2f} at once and {most} at most ({clock} clock, first {steps} steps)"
    )


def _pace(result: Result) -> str:
    if result.searches:
        return f"the best tree by {result.agreeing} of them"
    if not result.chains:
        return "the tree is that of the searches that estimated parameters"
    return f"{result.steps_per_second / 1e3:.0f} ksteps/s"
