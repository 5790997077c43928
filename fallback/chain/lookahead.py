"""Lookahead: how many steps of every chain to try at once.

A rejected proposal leaves the tree as it is, so the proposals of the next steps can be scored from the same
tables. The first accepted proposal counts, and those after it are discarded. A chain's step remains a
function of its state and its number: the lookahead only affects the time.
"""

import numpy as np

MOST = 32

ROUND_COST = 250.0
"""Cost of a round of numpy calls in microseconds, the unit of all costs here."""


def steps_ahead(slots: int, lane_cost: float, acceptance: float) -> int:
    """Return the number of steps that makes a step cheapest.

    Args:
        slots: chains that advance together.
        lane_cost: microseconds to score one proposal.
        acceptance: share of accepted proposals, 0 < acceptance <= 1.
    """
    ahead = np.arange(1, MOST + 1)
    done = (1 - (1 - acceptance) ** ahead) / acceptance  # the mean number of steps per round
    return int(ahead[np.argmin((ROUND_COST / slots + ahead * lane_cost) / done)])
