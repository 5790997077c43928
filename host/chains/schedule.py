"""Assignment of chains to slots: the schedule of the thesis's IO kernel (section 3.4, algorithm 3.10).

A pipeline holds c chain states at once, one per slot. The first c chains fill the slots. A chain circulates
until its steps are done; then the next initial state takes its slot. The schedule does not depend on what a
state is or what runs it, so the host's pipeline and the simulation of a circuit use the same schedule.

Algorithm 3.10 as printed reads c initial states per round, so it needs a number of chains that is a multiple
of c. Here, slots are left empty when no chain is waiting; for multiples of c the order is the printed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from syclade.host.ground.errors import OptionError

__all__ = ["SlotSchedule", "Turnover"]


@dataclass(frozen=True)
class Turnover:
    """A change of a slot's occupant.

    Attributes:
        slot: the slot, from 0.
        finished: the chain that has done all its steps.
        next: the chain that took the slot; None when no chain is waiting.
    """

    slot: int
    finished: int
    next: int | None


class SlotSchedule:
    """Occupants of c slots. Chains 0, 1, … enter in order and leave when their steps are done.

    Args:
        chains: number of chains, at least 0.
        steps: steps of every chain, or one number per chain; each at least 1.
        slots: number of slots c, at least 1.

    Raises:
        OptionError: a number is out of range, or the number of step counts differs from that of chains.
    """

    def __init__(self, chains: int, steps: int | Sequence[int], slots: int) -> None:
        if chains < 0:
            _refuse(f"number of chains {chains} is negative", "give 0 or more chains")
        if slots < 1:
            _refuse(f"number of slots {slots} is less than 1", "give at least 1 slot")
        counts = [steps] * chains if isinstance(steps, int) else list(steps)
        if len(counts) != chains:
            _refuse(f"{len(counts)} step counts for {chains} chains", "give one number of steps a chain")
        if isinstance(steps, int) and steps < 1:
            _refuse(f"number of steps {steps} is less than 1", "give at least 1 step")
        if any(count < 1 for count in counts):
            _refuse("a chain has less than 1 step to do", "leave out chains that are done")
        self._steps = counts
        self._next = min(chains, slots)
        self._occupants: list[int | None] = [slot if slot < chains else None for slot in range(slots)]
        self._done = [0] * slots

    @property
    def slots(self) -> int:
        """Number of slots c."""
        return len(self._occupants)

    @property
    def occupants(self) -> tuple[int | None, ...]:
        """The chain in each slot; None for an empty slot. Length ``slots``."""
        return tuple(self._occupants)

    @property
    def done(self) -> bool:
        """Return whether every chain has done all its steps."""
        return all(chain is None for chain in self._occupants)

    @property
    def until_turnover(self) -> int:
        """Steps until the first occupant finishes: the longest launch in which no slot idles; 0 when done."""
        waits = [self.remaining(slot) for slot, chain in enumerate(self._occupants) if chain is not None]
        return min(waits, default=0)

    def step_of(self, slot: int) -> int:
        """Return the steps that the slot's occupant has done; 0 when the slot is empty."""
        return self._done[slot]

    def remaining(self, slot: int) -> int:
        """Return the steps that the slot's occupant still has to do; 0 when the slot is empty."""
        chain = self._occupants[slot]
        return 0 if chain is None else self._steps[chain] - self._done[slot]

    def advance(self, steps: int) -> list[Turnover]:
        """Count a launch of ``steps`` steps: every occupant has done ``min(steps, remaining)`` steps.

        Args:
            steps: length of the launch, at least 0.

        Returns:
            The changes, in ascending order of the slots: the lowest free slot gets the first waiting chain.

        Raises:
            OptionError: ``steps`` is negative.
        """
        changes = (self.advance_slot(slot, steps) for slot in range(self.slots))
        return [change for change in changes if change is not None]

    def advance_slot(self, slot: int, steps: int = 1) -> Turnover | None:
        """Count ``min(steps, remaining)`` steps for the occupant of one slot.

        Args:
            slot: the slot, from 0.
            steps: at least 0.

        Returns:
            The change when the occupant has finished, else None. An empty slot stays empty.

        Raises:
            OptionError: ``steps`` is negative.
        """
        if steps < 0:
            _refuse(f"cannot advance by {steps} steps", "give 0 or more steps")
        chain = self._occupants[slot]
        if chain is None:
            return None
        self._done[slot] += min(steps, self.remaining(slot))
        if self.remaining(slot) > 0:
            return None
        successor = self._next if self._next < len(self._steps) else None
        self._next += successor is not None
        self._occupants[slot] = successor
        self._done[slot] = 0
        return Turnover(slot, chain, successor)


def _refuse(message: str, hint: str) -> NoReturn:
    raise OptionError(message, hint=hint)
