"""How many steps of a slot to try at once.

Most proposals are rejected, and what comes after a rejected one starts from the same tree. So several steps
of a slot are tried on its tree at once, and those behind the first that changes the tree are tried again.
That makes no other chain, only fewer and longer numpy calls.
"""

MOST = 64
"""Never try more steps than this."""

_CALLS = 200.0
"""What the calls of a round cost, in steps tried without cells …"""

_CELLS = 100.0
"""… and with so many cells, to try a step costs twice that."""


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
