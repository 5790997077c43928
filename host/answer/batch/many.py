"""`infer_many`: inferences of many matrices from Python, on any executor.

The number of calls at a time is bounded (`bounded_map`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from syclade.host.answer.batch.exclusions import ExcludedNames, with_exclusions_if_present
from syclade.host.answer.batch.task import COLUMNS, FILES, Task
from syclade.host.answer.inference import infer_by, log_warnings
from syclade.host.device.cluster.retrying_executor import RetryingExecutor
from syclade.host.device.device import cores_of_process, take_share
from syclade.host.findings.kinds import kind_named, weights_of
from syclade.host.ground.errors import OptionError, SycladeError
from syclade.host.ground.options import options_of
from syclade.host.ground.signals import Stop
from syclade.host.ground.values import whole

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = [
    "AT_A_TIME",
    "bounded_map",
    "infer_many",
    "infer_task",
    "jobs_for",
    "own_threads",
]


Item = TypeVar("Item")
Value = TypeVar("Value")

AT_A_TIME = 1000
"""Most calls that wait in an executor, so that memory does not grow with the number of items."""

WAIT_SECONDS = 0.5
"""Longest wait for a call before stop requests are checked: there may be no worker yet."""


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
    excluded = ExcludedNames(common.get("exclude_mutations"))
    return _results(tasks, count, executor, jobs, errors, excluded)


def _results(
    tasks: Iterator[Task],
    count: int | None,
    executor: Executor | None,
    jobs: int | None,
    errors: str,
    excluded: ExcludedNames,
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
