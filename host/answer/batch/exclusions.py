"""Mutations that all matrices of a batch leave out: each those that it has, and some matrix has each.

`syclade batch` checks the names before anything runs, and `infer_many`, whose matrices may be endless, warns
at its end.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from syclade.host.answer.batch.task import Task
from syclade.host.data.input.matrix import Matrix, Names
from syclade.host.data.input.names import IF_PRESENT, chosen_mutations, names_of_list, near_names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import OptionError, SycladeError
from syclade.host.ground.options import CODING, LEAVES_OUT, Options, flag_of, is_given, quoted_names
from syclade.host.ground.values import listed

__all__ = ["ExcludedNames", "check_exclusions", "with_exclusions_if_present"]

logger = logging.getLogger("syclade.input")

_MOST_SEEN = 10_000

_FLAG = flag_of("exclude_mutations")


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


class ExcludedNames:
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
    excluded = ExcludedNames(common.exclude_mutations)
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
    before, logger.disabled = logger.disabled, True
    try:
        return read_matrix(task.matrix, options.names, cell_names=options.cell_names, **coding)
    except (SycladeError, OSError):
        return None
    finally:
        logger.disabled = before
