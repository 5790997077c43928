"""Check of stored samples against the run that resumes them."""

from __future__ import annotations

import numpy as np

from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import Records

__all__ = ["ExpectedSamples"]


class ExpectedSamples:
    """Samples that chains of a plan have emitted when they are at a step.

    Args:
        plan: plan of the chains, with a recorder of every k-th state.
        chains: number of chains.
        step: steps that every chain has done.
    """

    def __init__(self, plan: Plan, chains: int, step: int) -> None:
        self._every, self._first = plan.settings["every"], plan.settings["first_sample"]
        self._each = max(0, (step - self._first) // self._every + 1)
        self._points = np.array(plan.problem.rate_tables.model.points)
        self._are_trees = plan.space.are_trees
        self._seen = [0] * chains

    def take(self, chain: int, records: Records) -> None:
        """Check the next samples of a chain.

        Raises:
            ValueError: they are not those of this chain.
        """
        if not 0 <= chain < len(self._seen):
            raise ValueError(f"the run has no chain {chain}")
        numbers = self._seen[chain] + np.arange(len(records))
        self._seen[chain] += len(records)
        if self._seen[chain] > self._each:
            raise ValueError(f"chain {chain} has more than {self._each} samples")
        if not np.array_equal(records["step"], self._first + self._every * numbers):
            raise ValueError(f"samples of chain {chain} are at other steps")
        if ((records["rate_at"] < 0) | (records["rate_at"] >= self._points)).any():
            raise ValueError("the rates of a sample are not on their grids")
        if not self._are_trees(records["parents"]):
            raise ValueError("a stored sample is not a tree")

    def end(self) -> None:
        """Check that there are no more samples to come.

        Raises:
            ValueError: a chain has too few.
        """
        for chain, seen in enumerate(self._seen):
            if seen != self._each:
                raise ValueError(f"chain {chain} has {seen} samples of {self._each}")
