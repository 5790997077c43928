"""The running best of many places: the highest key, and of equal keys the first that was offered."""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.draws import SCORE_BITS
from syclade.kernels.target import choose, device_function, less

# A branch on what was compared would keep the CPU device's compiler from making vectors of lanes.


class Best(NamedTuple):
    """The best place so far; all int64.

    Attributes:
        key: its score times 2^20, with its noise.
        score: its score.
        node: which one.
        kind: how.
    """

    key: Any
    score: Any
    node: Any
    kind: Any


NOTHING_YET = np.int64(-(1 << 62))


@device_function
def no_place():
    """Nothing was offered yet."""
    return Best(NOTHING_YET, np.int64(0), np.int64(0), np.int64(0))


@device_function
def offered_if(allowed, best, score, luck, node, kind):
    """The same where a mask is all ones; where it is 0, the best so far."""
    key = (score << SCORE_BITS) + luck
    better = less(best.key, key) & allowed
    return Best(
        choose(better, key, best.key),
        choose(better, score, best.score),
        choose(better, node, best.node),
        choose(better, kind, best.kind),
    )


@device_function
def offered(best, score, luck, node, kind):
    """The better of the best so far and another place (Best)."""
    return offered_if(np.int64(-1), best, score, luck, node, kind)
