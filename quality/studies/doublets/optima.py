"""Does the default inference with doublets miss a better tree? Chains of ten times its steps look for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from syclade.host.answer.inference import infer
from syclade.host.answer.output.result import Result
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.simulate import simulate
from syclade.quality.race.answers import processor_seconds

__all__ = ["SIZES", "TIMES", "Compared", "OptimaInput", "compared", "counts", "pieces", "simulated_inputs"]

SIZES = ((8, 40), (10, 60), (12, 50), (14, 40), (16, 60), (16, 100), (24, 80), (40, 100))
"""Mutations and cells of the simulated inputs."""

TIMES = 10
"""Steps of the other chains, in those of the default: half from random starts, half from searches' trees."""

SAME = 1e-6
"""Log-likelihoods that differ by no more than this, in nats, are equal."""

FP_RATE, FN_RATE, MISSING = 1e-3, 0.2, 0.2


@dataclass(frozen=True, eq=False)
class OptimaInput:
    """An input: a matrix and its name."""

    name: str
    matrix: Matrix


@dataclass(frozen=True)
class Compared:
    """One input.

    Attributes:
        name: its name.
        mutations, cells: its size.
        default: log-likelihood of the default's tree, natural log.
        random, searched: best log-likelihoods of the chains from random starts, and from trees of searches.
        agreed: whether the default's chains agreed on their best tree.
        steps: steps of each of the default's chains.
        seconds: processor seconds of the default, and of all other chains.
    """

    name: str
    mutations: int
    cells: int
    default: float
    random: float
    searched: float
    agreed: bool
    steps: int
    seconds: tuple[float, float]

    @property
    def difference(self) -> float:
        """Log-likelihood of the default's tree minus the best of the other chains."""
        return self.default - max(self.random, self.searched)

    @property
    def verdict(self) -> str:
        """Outcome for the default: equal, better or worse."""
        if abs(self.difference) <= SAME:
            return "equal"
        return "better" if self.difference > 0 else "worse"


def simulated_inputs(count: int, rate: float, seed: int) -> list[OptimaInput]:
    """Return simulated inputs with doublets, of the sizes above in turn."""
    found = []
    for number in range(count):
        mutations, cells = SIZES[number % len(SIZES)]
        one = simulate(cells, mutations, FP_RATE, FN_RATE, MISSING, seed + number, doublets=rate)
        found.append(OptimaInput(f"simulated, seed {seed + number}", one.matrix))
    return found


def pieces(name: str, matrix: Matrix, count: int, mutations: int, cells: int) -> list[OptimaInput]:
    """Return pieces of a matrix, one after the other along its mutations, with its first cells.

    Args:
        name: name of the matrix.
        matrix: the matrix; homozygous mutations become 1.
        count: number of pieces, fewer if the matrix has too few mutations.
        mutations, cells: largest size of a piece.
    """
    values = np.where(matrix.values == 2, 1, matrix.values).astype(np.uint8)
    found = []
    for first in range(0, min(count * mutations, matrix.n_mutations), mutations):
        rows = slice(first, first + mutations)
        part = np.ascontiguousarray(values[rows, :cells])
        names = matrix.mutations[rows]
        if len(names) > 1:
            found.append(
                OptimaInput(
                    f"{name}, mutations {first + 1} to {first + len(names)}", Matrix(part, names, name)
                )
            )
    return found


def compared(given: OptimaInput, rate: float, device: str, seed: int) -> Compared:
    """Compare the default with chains of ten times its steps."""
    began = processor_seconds()
    default = _infer(given, rate, device, seed)
    middle = processor_seconds()
    steps = default.steps * TIMES // 2
    random, searched = (
        _infer(given, rate, device, seed + offset, chains=default.chains, steps=steps, start=start)
        for offset, start in ((1, "random"), (2, "search"))
    )
    return Compared(
        given.name,
        given.matrix.n_mutations,
        given.matrix.n_cells,
        default.log_likelihood,
        random.log_likelihood,
        searched.log_likelihood,
        default.converged,
        default.steps,
        (middle - began, processor_seconds() - middle),
    )


def _infer(given: OptimaInput, rate: float, device: str, seed: int, **others: Any) -> Result:
    return infer(
        given.matrix,
        fp_rate=FP_RATE,
        fn_rate=FN_RATE,
        doublets=rate,
        seed=seed,
        device=device,
        support="none",
        **others,
    )


def counts(found: Sequence[Compared]) -> dict[str, int]:
    """Return the number of inputs for which the default is equal, better or worse."""
    return {name: sum(one.verdict == name for one in found) for name in ("equal", "better", "worse")}
