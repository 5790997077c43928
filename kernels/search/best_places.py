"""Running best of many places: the highest key, and among equal keys the first that was offered."""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.draws import SCORE_BITS
from syclade.kernels.target import choose, control, device_function, less

# A branch on the comparison would keep the CPU device's compiler from vectorising over lanes.


class Best(NamedTuple):
    """Best place so far; all int64.

    Attributes:
        key: its score times 2^20, plus its noise.
        score: its score.
        node: its node.
        kind: its kind.
    """

    key: Any
    score: Any
    node: Any
    kind: Any


NOTHING_YET = np.int64(-(1 << 62))


@device_function
def no_place():
    """Return the best place before any was offered (Best)."""
    return Best(NOTHING_YET, np.int64(0), control(0), control(0))


@device_function
def offered_if(
    allowed,  # IN int64: mask
    best,  # IN Best: the best so far
    score,  # IN int64: score of the place
    luck,  # IN int64: its Gumbel noise
    node,  # IN int64
    kind,  # IN int64: kind of place
):
    """Return `offered` if the mask is all ones, and the best so far if it is 0 (Best)."""
    key = (score << SCORE_BITS) + luck
    better = less(best.key, key) & allowed
    return Best(
        choose(better, key, best.key),
        choose(better, score, best.score),
        choose(better, node, best.node),
        choose(better, kind, best.kind),
    )


@device_function
def offered(
    best,  # IN Best: the best so far
    score,  # IN int64: score of the place
    luck,  # IN int64: its Gumbel noise
    node,  # IN int64
    kind,  # IN int64: kind of place
):
    """Return the better one of the best so far and another place (Best)."""
    return offered_if(control(-1), best, score, luck, node, kind)
