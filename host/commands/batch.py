"""``syclade batch``: infer the trees of many matrices, side by side in one process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import OPTIONS, Options, flag_of, options_of
from syclade.host.ground.values import counted

if TYPE_CHECKING:
    from syclade.host.answer.batch.folder import Batch
    from syclade.host.answer.batch.task import Task

__all__ = ["JOBS", "PREPARE", "absolute", "command", "run_here"]

_SINGLE = ("checkpoint", "checkpoint_every", "resume", "trace")
"""Options of single runs."""

JOBS = click.option(
    "--jobs",
    type=click.IntRange(1, 2**15),
    default=None,
    metavar="N",
    help="Matrices at a time, which share the cores evenly; by default one on each core.",
)

PREPARE = click.option(
    "--prepare", is_flag=True, help="Only check, and write DIR/batch.json, for `syclade run DIR --part K/N`."
)


@click.command("batch")
@click.argument("inputs", nargs=-1, required=True, metavar="TABLE|MATRIX...", type=click.STRING)
@options.take(*(name for name in OPTIONS if name not in (*_SINGLE, "out")))
@options.take("out", required=True, help="Directory for the batch; created if necessary.")
@JOBS
@PREPARE
def command(
    inputs: tuple[str, ...],
    out: Path,
    multiqc: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    jobs: int | None,
    prepare: bool,
    scheduler: str | None,
    **given: Any,
) -> int:
    """Infer the trees of many matrices, each as 'syclade infer' does, side by side.

    TABLE has a line for each matrix (TSV or CSV), with a column `matrix` (relative to the table), a column
    `name`, and a column for any option that differs, such as fn_rate. Instead, give matrices: files,
    folders of files, or a pattern in quotes. Options of the command hold for all matrices that have none of
    their own.

    DIR/NAME gets the files of each matrix, DIR results.tsv with a line for each; with --report and --multiqc
    also a page that links to the reports, and one table. A matrix that fails stops no other. Given again,
    the command infers only what is missing. The exit status is 0 if all matrices have a result, 1 if some
    have none, 2 if nothing was run.
    """
    from syclade.host.answer.batch.folder import Batch
    from syclade.host.commands.infer import require_libraries

    common = absolute(options.taken(given))
    require_libraries({"report": common.report, "netcdf": common.netcdf})
    batch = Batch(out, tuple(_tasks(inputs, common)), common.report, multiqc)
    return run_here(
        batch,
        scheduler=scheduler,
        jobs=jobs,
        prepare=prepare,
        force=force,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


def run_here(
    batch: Batch,
    *,
    scheduler: str | None = None,
    jobs: int | None,
    prepare: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run a batch in this process or by workers, or only prepare it; return the exit status.

    Args:
        batch: the batch.
        scheduler: as for `open_scheduler`; None for this process.
        jobs: matrices at a time; None for one on each core.
        prepare: whether to write its tasks only.
        force, as_json, quiet, verbose: options of the command.

    Raises:
        OutputError: the folder cannot be written, has another batch, or another process runs this one.
    """
    from syclade.host.answer.batch.folder import check_earlier, run_batch, write_batch
    from syclade.host.answer.batch.names import MATRICES
    from syclade.host.answer.batch.run_task import Place
    from syclade.host.commands.batch_run import ending, running

    if scheduler and jobs:
        raise OptionError(
            f"--jobs does not go with {flag_of('scheduler')}",
            hint="the scheduler has its own number of workers",
        )
    if prepare:
        write_batch(batch, force)
        if not quiet:
            written = counted(len(batch.tasks), *MATRICES)
            click.echo(f"wrote {written} to {batch.folder}: run parts, then gather")
        return 0
    check_earlier(batch, force)  # before workers are started
    with running(len(batch.tasks), jobs, scheduler=scheduler, quiet=quiet, verbose=verbose) as run:
        place = Place(batch.folder.absolute(), force, run.stop)
        lines = run_batch(batch, run.pool, place, run.told, run.ahead)
    return run.stop.status or ending(lines, batch.folder, quiet=quiet, as_json=as_json)


def _tasks(inputs: tuple[str, ...], common: Options) -> list[Task]:
    """Return the tasks of a table, or of matrices.

    Raises:
        TableError, OptionError: the table, an option or a name is invalid, or there are no such files.
    """
    from syclade.host.answer.batch.names import matrices_of, named
    from syclade.host.answer.batch.table import check_matrices, is_table, read_table
    from syclade.host.answer.batch.task import Task, check_options

    if len(inputs) == 1 and is_table(Path(inputs[0])):
        tasks = read_table(Path(inputs[0]), common)
        check_matrices(Path(inputs[0]), tasks)
        return tasks
    check_options(common)
    return [Task(name, str(path), common) for name, path in named(matrices_of(inputs)).items()]


def absolute(given: Options) -> Options:
    """Return options whose paths are absolute, since tasks may run in another folder."""
    values = given._asdict().items()
    return options_of(
        {name: value.absolute() if isinstance(value, Path) else value for name, value in values}
    )
