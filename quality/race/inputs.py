"""Inputs of the race: simulated, so that their true trees are known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import EQUAL, Simulation, simulate
from syclade.host.ground.errors import OptionError

__all__ = ["SUITE", "RaceInput", "input_of"]


@dataclass(frozen=True)
class RaceInput:
    """A simulated input.

    Attributes:
        cells, mutations: size of the input.
        fp_rate, fn_rate: error rates of the simulation and of the inference.
        missing: probability that a value is missing in the simulation.
        seed: seed of the simulation.
        shares: expected shares of the cells at the nodes, as for `simulate`.
    """

    cells: int
    mutations: int
    fp_rate: float = 1e-3
    fn_rate: float = 0.2
    missing: float = 0.1
    seed: int = 5
    shares: str | float = EQUAL

    @property
    def name(self) -> str:
        """Name for display."""
        return f"{self.cells} × {self.mutations}"

    @property
    def rates(self) -> Rates:
        """Error rates."""
        return Rates(self.fp_rate, self.fn_rate)

    def simulated(self) -> Simulation:
        """Simulate the matrix and the true tree."""
        return simulate(
            self.cells,
            self.mutations,
            self.fp_rate,
            self.fn_rate,
            self.missing,
            self.seed,
            shares=self.shares,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain values."""
        return asdict(self)


SUITE = (
    RaceInput(64, 63),
    RaceInput(200, 200),
    RaceInput(500, 100, 0.01, 0.4, 0.4, 1),
    RaceInput(200, 300, 0.01, 0.4, 0.3, 2),
    RaceInput(100, 1000),
    RaceInput(500, 500),
    RaceInput(200, 1000),
    RaceInput(1000, 500),
)
"""Eight sizes, small ones first."""


def input_of(size: str, rates: tuple[float, float, float], seed: int) -> RaceInput:
    """Return an input of the given size.

    Args:
        size: CELLSxMUTATIONS.
        rates: rates of false positives, false negatives and missing values.
        seed: seed of the simulation.

    Raises:
        OptionError: `size` is not a size.
    """
    cells, _, mutations = size.partition("x")
    if not (cells.isdecimal() and mutations.isdecimal() and int(cells) and int(mutations)):
        raise OptionError(f"{size!r} is not a size", hint="give CELLSxMUTATIONS, such as 200x300")
    return RaceInput(int(cells), int(mutations), *rates, seed)
