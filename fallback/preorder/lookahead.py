"""How many steps of a slot to try at once.

Most proposals are rejected, and what comes after a rejected one starts from the same tree. So several steps
of a slot are tried on its tree at once, and those behind the first that changes the tree are tried again.
That makes no other chain, only fewer and longer numpy calls.
"""

import numpy as np

from syclade.fallback.preorder.trees import Numbers

MOST = 64
"""Never try more steps than this."""

_CALLS = 200.0
"""What the calls of a round cost, in steps tried without cells …"""

_CELLS = 100.0
"""… and with so many cells, to try a step costs twice that."""


class Lanes:
    """Which steps to try: so many of each of some slots.

    Attributes:
        doing: (slots with steps to do,): their numbers.
        slot: (lanes,): the slot of each lane, `ahead` lanes a slot.
    """

    def __init__(self, doing: Numbers, ahead: int) -> None:
        self.doing = doing
        self.slot = doing.repeat(ahead)
        self._offset = np.arange(ahead)

    def steps(
        self,
        first: Numbers,  # IN (slots,): each slot's first step in a batch
        done: Numbers,  # IN (slots,): how many are done
        length: int,  # steps of a slot in the batch; the last one is a null move if the batch is the last
    ) -> Numbers:
        """The lanes' steps in the batch, (lanes,)."""
        within = done.take(self.doing)[:, None] + self._offset
        np.minimum(within, length - 1, out=within)
        within += first.take(self.doing)[:, None]
        return within.ravel()


def steps_ahead(
    slots: int,
    cells: int,
    rate: float,  # changes of the tree a step, 0 … 1
) -> int:
    """The number of steps that makes each step that counts cheapest, 1 … MOST."""
    trial = 1.0 + cells / _CELLS
    best, best_cost = 1, float("inf")
    counting = 0.0
    for steps in range(1, MOST + 1):
        counting += (1.0 - rate) ** (steps - 1)
        cost = (_CALLS / slots + steps * trial) / counting
        if cost < best_cost:
            best, best_cost = steps, cost
    return best
