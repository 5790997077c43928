"""Studies behind figures of the documentation; they run from a clone, and are not part of the wheel.

Checks that users run on their own data, or with other programs, are in `syclade quality`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ChainsOnInputs"]


@dataclass(frozen=True)
class ChainsOnInputs:
    """Settings of a study that runs chains on simulated inputs of one size.

    Attributes:
        cells, mutations: size of the inputs.
        chains, steps: number of chains, and steps of each.
        device: device of all chains.
        seed: seed of the first input, and of all chains.
    """

    cells: int
    mutations: int
    chains: int
    steps: int
    device: str
    seed: int
