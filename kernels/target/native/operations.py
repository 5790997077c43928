"""Operations on one vector of lanes, by name.

Lanes are always in step, and a compiler for one thread needs no hints about numbers that are the same in all
lanes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.native.groups import any_of_them, lane_count, lane_rank, lane_sum
from syclade.kernels.target.native.memory import private_array


@DeviceFunction
def _maximum(a: Any, b: Any) -> Any:
    """See `operations.maximum`."""
    return max(a, b)


@DeviceFunction
def _minimum(a: Any, b: Any) -> Any:
    """See `operations.minimum`."""
    return min(a, b)


@DeviceFunction
def _same(value: Any) -> Any:
    """Return the value: nothing has to be done."""
    return value


@DeviceFunction
def _any_lane(flag: Any) -> Any:
    """See `operations.any_lane`."""
    return -np.int64(any_of_them(flag))


@DeviceFunction
def _less(a: Any, b: Any) -> Any:
    """See `operations.less`."""
    return -np.int64(a < b)


@DeviceFunction
def _equal(a: Any, b: Any) -> Any:
    """See `operations.equal`."""
    return -np.int64(a == b)


@DeviceFunction
def _choose(mask: Any, a: Any, b: Any) -> Any:
    """See `operations.choose`."""
    return a if mask != np.int64(0) else b


OPERATIONS: dict[str, Any] = {
    "private_array": private_array,
    "maximum": _maximum,
    "minimum": _minimum,
    "lane_sum": lane_sum,
    "lane_count": lane_count,
    "lane_rank": lane_rank,
    "in_step": _same,
    "apart_from": _same,
    "any_lane": _any_lane,
    "less": _less,
    "equal": _equal,
    "choose": _choose,
}
