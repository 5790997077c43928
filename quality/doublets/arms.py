"""Arms of the study: the scores under which a tree is inferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from syclade.host.inference import infer
from syclade.host.model.simulate import Simulation
from syclade.host.output.result import Result
from syclade.quality.doublets.inputs import DoubletInput

__all__ = ["MAX", "SUM", "Arm", "Method", "arms_of"]


@dataclass(frozen=True)
class Method:
    """How the arms with chains find their trees.

    Attributes:
        device: filter string of the device.
        chains, steps: number of chains, which start at trees that searches find, and steps of each.
        seed: as for `infer`.
    """

    device: str
    chains: int
    steps: int
    seed: int


@dataclass(frozen=True)
class Arm:
    """One way to infer a tree.

    Attributes:
        score: max or sum.
        doublets: rate of doublets of the model, or None for the model without them.
    """

    score: str
    doublets: float | None = None

    @property
    def name(self) -> str:
        """Name for reports."""
        return self.score if self.doublets is None else f"doublets {self.doublets:g}"

    def infer(self, given: DoubletInput, simulation: Simulation, method: Method) -> Result:
        """Infer the best tree: by searches for the maximum score, by chains for the other scores."""
        by_chains: dict[str, Any] = {"chains": method.chains, "steps": method.steps, "start": "search"}
        return infer(
            simulation.matrix,
            fp_rate=given.fp_rate,
            fn_rate=given.fn_rate,
            score=self.score,
            doublets=self.doublets,
            seed=method.seed,
            device=method.device,
            **(by_chains if self != MAX else {}),
        )


MAX = Arm("max")
SUM = Arm("sum")


def arms_of(rates: Sequence[float]) -> tuple[Arm, ...]:
    """Return the arms without the model, and with it at some rates."""
    return (MAX, SUM, *(Arm("max", rate) for rate in rates))
