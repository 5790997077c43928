"""Mutations that a batch leaves out of all matrices: each matrix leaves out those that it has."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from syclade.host.answer.batch.task import Task
from syclade.host.data.input.names import chosen_mutations, names_of_list, near_names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import OptionError, SycladeError
from syclade.host.ground.options import CODING, LEAVES_OUT, Options, flag_of, is_given, quoted_names
from syclade.host.ground.values import listed

__all__ = ["with_own_exclusions"]

logger = logging.getLogger("syclade.input")


def with_own_exclusions(tasks: Sequence[Task], common: Options) -> list[Task]:
    """Return tasks of which each leaves out those of the common names that its matrix has.

    A task with names of its own has to have them all. A matrix that cannot be read keeps the common names:
    its run says why.

    Args:
        tasks: the tasks; their matrices are paths.
        common: options of all matrices.

    Raises:
        OptionError: no matrix has a mutation of one of the common names.
    """
    given = common.exclude_mutations
    if given is None:
        return list(tasks)
    names = names_of_list(given, flag_of("exclude_mutations"))
    missing, seen, found = set(names), dict[str, None](), []
    for task in tasks:
        mutations = _mutations_of(task) if task.options.exclude_mutations == given else None
        if mutations is not None:
            unknown = chosen_mutations(names, mutations)[1]
            missing &= set(unknown)
            seen |= dict.fromkeys(mutations)
            if unknown:
                own = quoted_names([name for name in names if name not in unknown]) or None
                task = task._replace(options=task.options.replace(exclude_mutations=own))
        found.append(task)
    if missing and seen:
        wrong = [name for name in names if name in missing]
        near = near_names(wrong[0], list(seen))
        raise OptionError(
            f"{flag_of('exclude_mutations')}: no mutation of any matrix is named {listed(wrong)}",
            hint=f"near names: {listed(near)}" if near else f"names are such as {listed(list(seen))}",
        )
    return found


def _mutations_of(task: Task) -> tuple[str, ...] | None:
    """Return the names of the mutations of a matrix; None if it cannot be read."""
    options = task.options
    reading = [name for name in CODING if name not in LEAVES_OUT and is_given(options, name)]
    coding = {name: getattr(options, name) for name in reading}
    try:
        with _quietly():
            return read_matrix(task.matrix, options.names, cell_names=options.cell_names, **coding).mutations
    except (SycladeError, OSError):
        return None


@contextmanager
def _quietly() -> Iterator[None]:
    """Log nothing about an input that is read again later."""
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
