"""Inputs of the study of doublets: simulated, so that trees and doublets are known."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import Simulation, simulate

__all__ = ["DoubletInput"]


@dataclass(frozen=True)
class DoubletInput:
    """A simulated input.

    Attributes:
        seed: seed of the simulation; with and without doublets, it gives the same true tree.
        mutations, cells: size of the input.
        doublets: rate of doublets; None for single cells only.
        fp_rate, fn_rate: error rates of the simulation and of the inference.
        missing: probability that a value is missing.
    """

    seed: int
    mutations: int = 40
    cells: int = 100
    doublets: float | None = 0.25
    fp_rate: float = 1e-3
    fn_rate: float = 0.2
    missing: float = 0.2

    @property
    def rates(self) -> Rates:
        """Error rates."""
        return Rates(self.fp_rate, self.fn_rate)

    def simulated(self) -> Simulation:
        """Simulate the matrix, the true tree and the doublets."""
        return simulate(
            self.cells,
            self.mutations,
            self.fp_rate,
            self.fn_rate,
            self.missing,
            self.seed,
            doublets=self.doublets,
        )

    def to_dict(self) -> dict[str, float | None]:
        """Return the attributes as plain values."""
        return asdict(self)
