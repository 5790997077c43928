"""An input of the study, with its truth: the claims and shares of a method are compared with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.simulate import EQUAL, Simulation
from syclade.host.findings.consensus.clone_tree import clone_tree_of
from syclade.quality.calibration.reliability import reliability
from syclade.quality.peers.claims import Claims, agreement, claims_of_cells, claims_of_tree
from syclade.quality.peers.result import Found
from syclade.quality.race.inputs import RaceInput

__all__ = ["StudyInput"]


@dataclass(frozen=True, eq=False)
class StudyInput:
    """An input.

    Attributes:
        given: size, rates and seed.
        simulation: the matrix and the true tree.
        simulator: name of a simulator that is not our model's; empty otherwise.
        reads: int64, shape (n, m, 2): numbers of reads without and with each mutation, which the matrix is
            called from; None if the simulator makes no reads.
    """

    given: RaceInput
    simulation: Simulation
    simulator: str = ""
    reads: NDArray[np.int64] | None = None

    @property
    def name(self) -> str:
        """Name of the input's files."""
        shares = "" if self.given.shares == EQUAL else f"{self.given.shares}-"
        simulator = f"{self.simulator}-" if self.simulator else ""
        return f"{simulator}{shares}{self.given.cells}x{self.given.mutations}-{self.given.seed}"

    @cached_property
    def true(self) -> Claims:
        """Claims of the true tree."""
        return claims_of_tree(clone_tree_of(self.simulation.parents))

    @cached_property
    def seen(self) -> Claims:
        """Claims of the true genotypes."""
        return claims_of_cells(self.simulation.truth.astype(bool))

    def found(
        self,
        method: str,
        claims: Claims,
        seconds: float,
        before: NDArray[np.float64] | None = None,
        enough: bool | None = None,
        inside: Mapping[str, bool] | None = None,
    ) -> Found:
        """Return the comparison of a method's claims, and of its shares, with the truth.

        Args:
            method: name of the method.
            claims: its claims.
            seconds: processor time.
            before: float64, shape (n, n): shares of samples with the row's mutation before the column's.
            enough: whether the samples were enough.
            inside: whether intervals contain the true rates, by name.
        """
        return Found(
            self.given.seed,
            method,
            seconds,
            agreement(claims, self.true, self.seen),
            None if before is None else reliability(before, self.true.before),
            enough,
            inside,
        )
