"""Model of more cores than this machine has: Amdahl's law, contention fitted on two cores, and bandwidth."""

from __future__ import annotations

from dataclasses import dataclass

from syclade.quality.studies.arithmetic.visits import Visits

__all__ = ["BANDWIDTH", "CACHE", "Model", "bytes_per_step", "serial_share", "slot_bytes"]

BANDWIDTH = 204.8e9
"""Assumed memory bandwidth in bytes per second: eight channels of DDR4-3200, as an Epyc 7502P has."""

CACHE = 128 * 2**20
"""Assumed last-level cache in bytes, likewise."""

_NUMBER = 16
"""Bytes of a node's numbers for a cell: two mantissas and two exponents of 32 bits."""


def bytes_per_step(visits: Visits, cells: int) -> float:
    """Return the bytes that a step reads and writes: children's numbers, and those of the nodes above."""
    return cells * (_NUMBER * visits.children + (_NUMBER + 1) * visits.path)


def slot_bytes(mutations: int, cells: int) -> int:
    """Return the bytes of a slot's numbers: every node has two places."""
    return 2 * _NUMBER * (mutations + 1) * cells


def serial_share(whole: float, half: float) -> float:
    """Return the part of a step that does not depend on the number of cells, 0 to 1.

    Args:
        whole, half: time of a step with all cells, and with half of them.
    """
    return min(1.0, max(0.0, (2 * half - whole) / whole))


@dataclass(frozen=True)
class Model:
    """Speedup over one core. It is a model beyond the cores that were measured.

    Attributes:
        contention: relative growth of the processor time of a step for each further core, fitted on two.
        serial: part of a step that cannot be divided over cells.
        demand: bytes per second that one core reads and writes.
        slot: bytes of a slot's numbers.
    """

    contention: float
    serial: float
    demand: float
    slot: int

    def slots(self, cores: int) -> float:
        """Return the speedup of independent slots, one per core."""
        return self._limited(cores / (1 + self.contention * (cores - 1)), cores * self.slot)

    def divided(self, cores: int) -> float:
        """Return the speedup of one slot whose cells are divided over the cores, if they never wait."""
        time = self.serial + (1 - self.serial) * (1 + self.contention * (cores - 1)) / cores
        return self._limited(1 / time, self.slot)

    def _limited(self, speedup: float, size: int) -> float:
        """Limit a speedup by the memory's bandwidth, if the numbers do not fit into the cache."""
        return min(speedup, BANDWIDTH / self.demand) if size > CACHE else speedup
