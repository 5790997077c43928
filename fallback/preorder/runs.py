"""Runs of the preorder, with all their places in one row."""

from typing import NamedTuple

import numpy as np

from syclade.fallback.preorder.trees import Numbers


class Runs(NamedTuple):
    """What accepted moves rearrange."""

    plus: Numbers  # (runs,): the scores of a run are shifted by the difference of these rows
    minus: Numbers  # (runs,)
    number: Numbers  # (places,): the run
    source: Numbers  # (places,): a place
    target: Numbers  # (places,): where its node goes


def spread(
    runs: list[int],  # IN five numbers a run: as in Changes
) -> Runs:
    """The runs with their places one by one."""
    table = np.array(runs, dtype=np.int64).reshape(-1, 5).T
    length = table[1]
    number = np.arange(len(length)).repeat(length)
    offset = table[0:3:2] - (length.cumsum() - length)
    source, target = offset.take(number, axis=1) + np.arange(len(number))
    return Runs(table[3], table[4], number, source, target)
