"""Lookahead: how many steps of every chain to try at once.

A rejected proposal leaves the tree as it is, so the proposals of the next steps can be scored from the same
tables. The first one that is accepted counts, and those behind it are thrown away. A chain's step stays a
function of its state and its number: only the time depends on the lookahead.
"""

import numpy as np

MOST = 32

ROUND_COST = 250.0
"""Cost of a round of numpy calls, in microseconds; costs of lanes are in the same unit."""


def steps_ahead(slots: int, lane_cost: float, acceptance: float) -> int:
    """The number of steps that makes a step cheapest.

    Args:
        slots: chains that go forward together.
        lane_cost: microseconds to score one proposal.
        acceptance: accepted proposals a proposal, 0 < acceptance <= 1.
    """
    ahead = np.arange(1, MOST + 1)
    done = (1 - (1 - acceptance) ** ahead) / acceptance  # the mean number of steps a round
    return int(ahead[np.argmin((ROUND_COST / slots + ahead * lane_cost) / done)])
