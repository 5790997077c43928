"""`infer_many`: inferences of many matrices from Python, on any executor.

The number of calls at a time is bounded (`bounded_map`). Of the mutations that all matrices leave out, each
leaves out those that it has, and some matrix should have each: `syclade batch` checks the names before
anything runs, and `infer_many`, whose matrices may be endless, warns at its end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from syclade.host.answer.batch.task import COLUMNS, FILES, Task
from syclade.host.answer.inference import infer_by, log_warnings
from syclade.host.data.input.matrix import Matrix, Names
from syclade.host.data.input.names import IF_PRESENT, chosen_mutations, names_of_list, near_names
from syclade.host.data.input.read_matrix import read_matrix, without_messages
from syclade.host.device.cluster.workers import RetryingExecutor
from syclade.host.device.device import cores_of_process, take_share
from syclade.host.findings.kinds import kind_named, weights_of
from syclade.host.ground.errors import OptionError, SycladeError
from syclade.host.ground.options import (
    CODING,
    LEAVES_OUT,
    Options,
    flag_of,
    is_given,
    options_of,
    quoted_names,
)
from syclade.host.ground.signals import Stop
from syclade.host.ground.values import listed, whole

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = [
    "AT_A_TIME",
    "bounded_map",
    "check_exclusions",
    "infer_many",
    "infer_task",
    "jobs_for",
    "own_threads",
    "with_exclusions_if_present",
]


logger = logging.getLogger("syclade.input")

Item = TypeVar("Item")
Value = TypeVar("Value")

AT_A_TIME = 1000
"""Most calls that wait in an executor, so that memory does not grow with the number of items."""

WAIT_SECONDS = 0.5
"""Longest wait for a call before stop requests are checked: there may be no worker yet."""

_MOST_SEEN = 10_000

_FLAG = flag_of("exclude_mutations")


def bounded_map(
    function: Callable[[Item], Value],
    items: Iterable[Item],
    executor: Executor,
    *,
    ordered: bool = False,
    at_a_time: int = AT_A_TIME,
    stop: Stop | None = None,
) -> Iterator[tuple[int, Future[Value]]]:
    """Yield the number of each item and the finished call of the function for it.

    When the iteration is left early, calls that have not begun are cancelled.

    Args:
        function, items: where the executor has processes, both must be picklable, and the values, too.
        executor: any executor.
        ordered: whether to yield the calls in the order of the items, not as they finish.
        at_a_time: most calls at a time, in progress or waiting for the executor.
        stop: a stop request: only the calls in progress are then awaited.
    """
    numbered: Iterator[tuple[int, Item]] = enumerate(items)
    waiting: dict[Future[Value], int] = {}
    try:
        while True:
            if stop is not None and stop.wanted:
                numbered = iter(())
                waiting = {future: number for future, number in waiting.items() if not future.cancel()}
            while len(waiting) < at_a_time and (item := next(numbered, None)) is not None:
                waiting[executor.submit(function, item[1])] = item[0]
            if not waiting:
                return
            watched = [next(iter(waiting))] if ordered else waiting
            done, _ = wait(watched, WAIT_SECONDS, FIRST_COMPLETED)
            for future in sorted(done, key=waiting.__getitem__):
                yield waiting.pop(future), future
    finally:
        for future in waiting:
            future.cancel()


def own_threads(jobs: int) -> ThreadPoolExecutor:
    """Return threads of this process, which share its cores evenly.

    Kernels run without Python's lock, so one matrix on each core is faster than one after another on all
    cores: a small matrix waits for its slowest slot at every launch.

    Args:
        jobs: number of threads.
    """
    share = max(1, cores_of_process() // jobs)
    return ThreadPoolExecutor(jobs, initializer=take_share, initargs=(share,))


def jobs_for(tasks: int | None, jobs: int | None = None) -> int:
    """Return the number of tasks at a time: as many as requested, or one on each core.

    Args:
        tasks: number of tasks; None if unknown.
        jobs: tasks at a time; None for one on each core.

    Raises:
        OptionError: `jobs` is no number of tasks.
    """
    at_once = cores_of_process() if jobs is None else whole("jobs", jobs, 1, 2**15)
    return max(1, at_once if tasks is None else min(at_once, tasks))


def infer_many(
    inputs: Iterable[object],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    errors: str = "raise",
    **options: Any,
) -> Iterator[Result | SycladeError]:
    """Yield what `infer` returns for each matrix, in the order of the matrices.

    At most a thousand matrices are ahead of the one whose result is awaited, so `inputs` may be endless.

    Args:
        inputs: matrices as for `infer`; or pairs of a matrix and a mapping of options of its own.
        executor: where the inferences run: any `concurrent.futures.Executor`, such as a pool of processes
            ("spawn", not "fork", if this process has used a SYCL device), or one of dask. It stays open; an
            inference whose worker is lost is repeated.
            Default: threads of this process, one on each core, so that kernels are loaded once.
        jobs: number of these threads; not with `executor`.
        errors: "raise" ends at the first matrix that cannot be inferred; "return" yields the error in place
            of its result.
        options: options of `infer` for all matrices, and those of `read_matrix`. Those of single runs
            (checkpoint, resume, trace, stop, progress) are not among them. Of the names in
            `exclude_mutations`, each matrix leaves out those it has; a warning names those that none has.

    Raises:
        SycladeError: a matrix cannot be inferred; or an option is none of those.
    """
    if errors not in ("raise", "return"):
        raise OptionError(f"errors is {errors!r}", hint="use raise or return")
    if executor is not None and jobs is not None:
        raise OptionError("jobs does not go with an executor", hint="the executor has its own number")
    jobs_for(None, jobs)
    _check_names(options)
    count = len(inputs) if isinstance(inputs, Sized) else None
    common = with_exclusions_if_present(options)
    tasks = (_task_of(one, common) for one in inputs)
    excluded = _ExcludedNames(common.get("exclude_mutations"))
    return _results(tasks, count, executor, jobs, errors, excluded)


def _results(
    tasks: Iterator[Task],
    count: int | None,
    executor: Executor | None,
    jobs: int | None,
    errors: str,
    excluded: _ExcludedNames,
) -> Iterator[Result | SycladeError]:
    stop = Stop()
    at_once = jobs_for(count, jobs)
    pool = own_threads(at_once) if executor is None else RetryingExecutor(executor)
    at_a_time = 2 * at_once if executor is None else AT_A_TIME
    try:
        futures = bounded_map(partial(infer_task, stop=stop), tasks, pool, ordered=True, at_a_time=at_a_time)
        for number, future in futures:
            try:
                result = future.result()
                log_warnings(result, f"matrix {number + 1}" if result.matrix is None else result.matrix)
                excluded.seek(result.observed)
                yield result
            except SycladeError as error:
                if errors == "raise":
                    raise
                yield error
        excluded.warn()
    finally:
        stop.wanted = True  # threads that are still at work end at their next launch
        pool.shutdown(cancel_futures=True)


def infer_task(task: Task, stop: Stop | None = None) -> Result:
    """Return the result of one task.

    Args:
        task: the task.
        stop: a stop request.

    Raises:
        SycladeError: as for `infer` and `read_matrix`.
    """
    weights = weights_of(kind_named(task.options.tree), task.options.move_probabilities)
    options = task.options.replace(move_probabilities=weights, report=False, netcdf=False)
    return infer_by(options, task.matrix, stop=stop)


def _task_of(given: object, options: dict[str, object]) -> Task:
    """Return the task of an element of `inputs`."""
    if isinstance(given, Task):
        return given
    if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)):
        return Task("", given, options_of(options))
    matrix, own = given
    _check_names(own)
    return Task("", matrix, options_of({**options, **own}))


def _check_names(options: Mapping[str, object]) -> None:
    """Check that options may be those of a batch; raise an OptionError otherwise."""
    for name in options:
        if name not in COLUMNS or name in FILES:
            raise OptionError(
                f"infer_many has no option {name}",
                hint="it has those of infer and read_matrix: docs/options.md",
            )


def with_exclusions_if_present(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of all matrices by which each leaves out those of the named mutations that it has.

    Raises:
        OptionError: the names are no list of names.
        MatrixError: the file of the names cannot be read, or has no names.
    """
    names = options.get("exclude_mutations")
    if names is None:
        return dict(options)
    listed_once = quoted_names(names_of_list(names, _FLAG))
    return {**options, "exclude_mutations": IF_PRESENT + listed_once}


class _ExcludedNames:
    """Names of mutations to leave out, each of which some matrix should have.

    Attributes:
        missing: names that no matrix has had so far.
        seen: the first `_MOST_SEEN` names of mutations of these matrices.
    """

    def __init__(self, common: Names) -> None:
        """Take the option of all matrices."""
        self.missing = list(names_of_list(common, _FLAG)) if common is not None else []
        self.seen: dict[str, None] = {}

    def seek(self, matrix: Matrix) -> None:
        """Look for the missing names among the mutations of a matrix, with those that it leaves out."""
        if self.missing:
            left_out = (one.name for one in matrix.left_out if one.kind == "mutation")
            mutations = (*matrix.mutations, *left_out)
            self.missing = chosen_mutations(self.missing, mutations)[1]
            self.seen |= dict.fromkeys(mutations[: max(0, _MOST_SEEN - len(self.seen))])

    def check(self) -> None:
        """Raise an OptionError if no matrix had one of the names."""
        if self.missing and self.seen:
            names, hint = self._words()
            raise OptionError(f"{_FLAG}: no mutation of any matrix is named {names}", hint=hint)

    def warn(self) -> None:
        """Log a warning if no matrix had one of the names."""
        if self.missing and self.seen:
            logger.warning("%s: no mutation of any matrix is named %s; %s", _FLAG, *self._words())

    def _words(self) -> tuple[str, str]:
        """Return the missing names, and what may be meant."""
        near = near_names(self.missing[0], list(self.seen))
        hint = f"near names: {listed(near)}" if near else f"names are such as {listed(list(self.seen))}"
        return listed(self.missing), hint


def check_exclusions(tasks: Iterable[Task], common: Options) -> None:
    """Check that each name that a batch leaves out is in a matrix; read matrices until all are found.

    A matrix that cannot be read is passed over: its run says why.

    Args:
        tasks: the tasks; their matrices are paths.
        common: options of all matrices.

    Raises:
        OptionError: no matrix has a mutation of one of the names.
    """
    excluded = _ExcludedNames(common.exclude_mutations)
    for task in tasks:
        if excluded.missing and task.options.exclude_mutations == common.exclude_mutations:
            matrix = _whole_matrix(task)
            if matrix is not None:
                excluded.seek(matrix)
    excluded.check()


def _whole_matrix(task: Task) -> Matrix | None:
    """Return a matrix with all mutations, without messages; None if it cannot be read."""
    options = task.options
    reading = [name for name in CODING if name not in LEAVES_OUT and is_given(options, name)]
    coding = {name: getattr(options, name) for name in reading}
    try:
        with without_messages():
            return read_matrix(task.matrix, options.names, cell_names=options.cell_names, **coding)
    except (SycladeError, OSError):
        return None
