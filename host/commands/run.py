"""``syclade run``: run a part of a prepared batch."""

from __future__ import annotations

import re
from pathlib import Path

import click

from syclade.host.commands import options
from syclade.host.commands.batch import JOBS

__all__ = ["command"]

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
def command(
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
    from syclade.host.commands.batch import ending, running

    tasks = part_of(read_batch(folder), *part)
    with running(len(tasks), jobs, quiet=quiet, verbose=verbose) as run:
        lines = run_tasks(tasks, run.pool, Place(folder, force, run.stop), run.report, run.ahead)
    return run.stop.status or ending(lines, folder, quiet=quiet, as_json=as_json)
