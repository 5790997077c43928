"""Arms of the study: the scores under which a tree is inferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syclade.host.answer.inference import infer
from syclade.host.answer.output.result import Result
from syclade.host.data.model.simulate import Simulation
from syclade.quality.studies.doublets.inputs import DoubletInput

__all__ = ["MAX", "SUM", "Arm", "Method", "arms_of"]


@dataclass(frozen=True)
class Method:
    """How the arms find their trees.

    Attributes:
        device: filter string of the device.
        seed: as for `infer`.
    """

    device: str
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
        """Infer the best tree: by searches for the maximum score, by annealing for the other scores."""
        return infer(
            simulation.matrix,
            fp_rate=given.fp_rate,
            fn_rate=given.fn_rate,
            score=self.score,
            doublets=self.doublets,
            seed=method.seed,
            device=method.device,
            method="search" if self == MAX else "anneal",
            support="none",
        )


MAX = Arm("max")
SUM = Arm("sum")


def arms_of(rates: Sequence[float]) -> tuple[Arm, ...]:
    """Return the arms without the model, and with it at some rates."""
    return (MAX, SUM, *(Arm("max", rate) for rate in rates))
