"""``syclade batch``, ``bootstrap``, ``run``, ``gather``: trees of many matrices, at once or in parts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.commands.progress import running
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import CODING, OPTIONS, Options, flag_of, options_of
from syclade.host.ground.values import at_home, counted

if TYPE_CHECKING:
    from syclade.host.answer.batch.folder import Batch
    from syclade.host.answer.batch.results_table import Line
    from syclade.host.answer.batch.task import Task

__all__ = ["batch", "bootstrap", "gather", "run"]


_SINGLE = ("checkpoint", "checkpoint_every", "resume", "trace", "title", "highlight", "anndata")
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

_LEFT_OUT = (
    "tree", "recurrent", "true_tree", "attach", "metadata", "sample_column", "time_column", "genotypes",
    "anndata", "max_trees", "samples", "burn_in", "netcdf", "checkpoint",
    "checkpoint_every", "resume", "trace", "title", "highlight", "multiqc", "out",
)  # fmt: skip
"""Options of single runs, of labelled cells, and of trees with other nodes than the mutations."""


@click.command("batch")
@click.argument("inputs", nargs=-1, required=True, metavar="TABLE|MATRIX...", type=click.STRING)
@options.take(*(name for name in OPTIONS if name not in (*_SINGLE, "out")))
@options.take("out", required=True, help="Directory for the batch; created if necessary.")
@JOBS
@PREPARE
def batch(
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
    their own. Of names in --exclude-mutations, each matrix leaves out those that it has.

    DIR/NAME gets the files of each matrix, DIR results.tsv with a line for each; with --report and --multiqc
    also a page that links to the reports, and one table. A matrix that fails stops no other. Given again,
    the command infers only what is missing. The exit status is 0 if all matrices have a result, 1 if some
    have none, 2 if nothing was run.
    """
    from syclade.host.answer.batch.folder import Batch
    from syclade.host.answer.batch.many import check_exclusions, with_exclusions_if_present
    from syclade.host.commands.infer import require_libraries

    common = _absolute(options.options_from(with_exclusions_if_present(given)))
    require_libraries({"report": common.report, "netcdf": common.netcdf})
    tasks = _tasks(inputs, common)
    check_exclusions(tasks, common)
    return _run(
        Batch(out, tuple(tasks), common.report, multiqc),
        scheduler=scheduler,
        jobs=jobs,
        prepare=prepare,
        force=force,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )


def _tasks(inputs: tuple[str, ...], common: Options) -> list[Task]:
    """Return the tasks of a table, or of matrices.

    Raises:
        TableError, OptionError: the table, an option or a name is invalid, or there are no such files.
    """
    from syclade.host.answer.batch.table import check_matrices, is_table, read_table
    from syclade.host.answer.batch.task import Task, check_options, matrices_of, named

    inputs = tuple(str(at_home(one)) if one.startswith("~") else one for one in inputs)
    if len(inputs) == 1 and is_table(Path(inputs[0])):
        tasks = read_table(Path(inputs[0]), common)
        check_matrices(Path(inputs[0]), tasks)
        return tasks
    check_options(common)
    return [Task(name, str(path), common) for name, path in named(matrices_of(inputs)).items()]


def _absolute(given: Options) -> Options:
    """Return options whose paths are absolute, since tasks may run in another folder."""
    values = given.to_dict().items()
    return options_of(
        {name: value.absolute() if isinstance(value, Path) else value for name, value in values}
    )


@click.command("bootstrap")
@click.argument("matrix", type=options.MATRIX)
@click.option(
    "--resample",
    type=click.Choice(("cells", "mutations")),
    required=True,
    help="What replicates draw with replacement: the columns or the rows of the matrix.",
)
@click.option(
    "--replicates", type=click.IntRange(1, 10**6), default=100, show_default=True, metavar="N",
    help="Number of replicates.",
)  # fmt: skip
@options.take(*(name for name in OPTIONS if name not in _LEFT_OUT))
@options.take("out", required=True, help="Directory for the batch; created if necessary.")
@JOBS
@PREPARE
def bootstrap(
    matrix: options.GivenMatrix,
    names: Path | None,
    resample: str,
    replicates: int,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    jobs: int | None,
    prepare: bool,
    scheduler: str | None,
    **given: Any,
) -> int:
    """Infer the tree of MATRIX and of N resampled matrices, and write how many of these have its edges.

    It is a batch (syclade batch): DIR/original and DIR/replicate_1, … get the files of each matrix, and
    given again, the command infers only what is missing. DIR gets bootstrap.tsv and bootstrap.gv (support of
    the edges of the original matrix's tree), ancestors.tsv (of its pairs of ancestor and descendant) and,
    if cells are drawn, the consensus of the replicates (consensus.newick, clones.tsv, relations.tsv,
    cells.tsv). --seed is also the seed of the draws.
    """
    from syclade.host.answer.batch.bootstrap import Resampling, tasks_of_bootstrap
    from syclade.host.answer.batch.folder import Batch
    from syclade.host.answer.batch.task import check_options
    from syclade.host.commands.infer import require_libraries
    from syclade.host.data.input.read_matrix import read_matrix

    coding = {name: given.pop(name) for name in (*CODING, "cell_names")}
    common = _absolute(options.options_from(given))
    require_libraries({"report": common.report, "netcdf": False})
    check_options(common)
    observed = read_matrix(matrix, names, **coding)
    resampling = Resampling(resample, replicates, common.seed)
    tasks, made = tasks_of_bootstrap(observed, resampling, out, common)
    return _run(
        Batch(out, tasks, common.report, resampling=resampling, made=made),
        scheduler=scheduler, jobs=jobs, prepare=prepare, force=force, as_json=as_json, quiet=quiet,
        verbose=verbose,
    )  # fmt: skip


def _ending(lines: Sequence[Line], folder: Path, *, quiet: bool, as_json: bool) -> int:
    """Print how many matrices have a result, or all lines as JSON; return the exit status.

    Args:
        lines: the lines of the matrices.
        folder: the folder of the batch.
        quiet: whether to print nothing.
        as_json: whether to print the lines.
    """
    from syclade.host.answer.batch.task import MATRICES

    states = Counter(line["state"] for line in lines)
    if as_json:
        click.echo(json.dumps(lines, indent=2))
    elif not quiet:
        words = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
        number = counted(len(lines), *MATRICES)
        warned = sum(bool(line.get("warnings")) for line in lines)
        more = f" ({warned} with warnings, see results.tsv)" if warned else ""
        click.echo(f"{number}: {words or 'nothing to do'}{more}; results are in {folder}")
    return 0 if states["done"] == len(lines) else 1


def _run(
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
    from syclade.host.answer.batch.run_task import Place
    from syclade.host.answer.batch.task import MATRICES

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
        lines = run_batch(batch, run.pool, place, run.report, run.at_a_time)
    return run.stop.status or _ending(lines, batch.folder, quiet=quiet, as_json=as_json)


_PART = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


class _Part(click.ParamType["tuple[int, int]"]):
    """Number of a part and number of all parts, as `K/N`."""

    name = "part"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Return both numbers; fail with a usage error if it is no part."""
        if isinstance(value, tuple):
            return value
        found = _PART.fullmatch(value)
        part, parts = map(int, found.groups()) if found else (0, 0)
        if not 1 <= part <= parts:
            self.fail(f"{value!r} is no part: give K/N, with K from 1 to N.", param, ctx)
        return part, parts


@click.command("run")
@click.argument("folder", metavar="DIR", type=options.INPUT_FILE)
@click.option(
    "--part", type=_Part(), default=(1, 1), metavar="K/N", help="Part of the matrices; all by default."
)
@JOBS
@options.take("threads", "force", "json", "quiet", "verbose")
def run(
    folder: Path,
    part: tuple[int, int],
    jobs: int | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run a part of the batch that 'syclade batch --prepare' has written to DIR.

    Parts may run in any order, on any machines that share DIR, be killed, and run again: results that are
    there are kept. 'syclade gather DIR' then writes the tables. The exit status is 0 if all matrices of the
    part have a result, 1 if some have none, 2 if nothing was run.
    """
    from syclade.host.answer.batch.folder import part_of, read_batch, run_tasks
    from syclade.host.answer.batch.run_task import Place

    tasks = part_of(read_batch(folder), *part)
    with running(len(tasks), jobs, quiet=quiet, verbose=verbose) as opened:
        lines = run_tasks(
            tasks, opened.pool, Place(folder, force, opened.stop), opened.report, opened.at_a_time
        )
    return opened.stop.status or _ending(lines, folder, quiet=quiet, as_json=as_json)


@click.command("gather")
@click.argument("folder", metavar="DIR", type=options.INPUT_FILE)
@options.take("json", "quiet")
def gather(folder: Path, as_json: bool, quiet: bool) -> int:
    """Write the tables of the batch in DIR from the results that are there: results.tsv and the pages.

    The exit status is 0 if all matrices have a result, 1 if some have none.
    """
    from syclade.host.answer.batch.folder import gather as gather_tables
    from syclade.host.answer.batch.folder import read_batch

    return _ending(gather_tables(read_batch(folder)), folder, quiet=quiet, as_json=as_json)
