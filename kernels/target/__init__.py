"""What device code is written in: the one module that kernels import, the contract that every target keeps.

A device function is a plain Python function. To a compiler it is known by its type: asked what the object
`DeviceFunction` is, a target answers with its own compiled form (`sycl.py`). So importing kernels imports no
compiler, nothing is copied or rebound, and one process may have several targets.

A kernel is run by slots and lanes. The lanes of a slot do the same control; what differs between lanes stems
from the lane's number, is stored to places that depend on it, and decides no branch. A number that lanes
share is never made of one that differs between them but by the operations in `operations.py`.

Integers that decide are `control`, those that address are `address` (`integers.py`), apart from scores.
"""

from syclade.kernels.target.constants import fixed, specialised
from syclade.kernels.target.device_function import DeviceFunction, Operation, device_function
from syclade.kernels.target.integers import address, control
from syclade.kernels.target.operations import (
    any_lane,
    apart_from,
    choose,
    equal,
    greater,
    in_step,
    lane_count,
    lane_rank,
    lane_sum,
    less,
    lesser,
    maximum,
    minimum,
    private_array,
)

__all__ = [
    "DeviceFunction",
    "Operation",
    "address",
    "any_lane",
    "apart_from",
    "choose",
    "control",
    "device_function",
    "equal",
    "fixed",
    "greater",
    "in_step",
    "lane_count",
    "lane_rank",
    "lane_sum",
    "less",
    "lesser",
    "maximum",
    "minimum",
    "private_array",
    "specialised",
]
