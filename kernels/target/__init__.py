"""Interface of device code: the only module of targets that kernels import, and the contract of every target.

A device function is a plain Python function. A compiler gets its type from the target, which resolves the
`DeviceFunction` object to its own compiled form (`sycl.py`). So an import of kernels imports no compiler,
nothing is copied or rebound, and one process may have several targets.

Slots and lanes run a kernel. All lanes of a slot run the same control flow. A value that differs between
lanes comes from the lane's number, is stored at places that depend on that number, and decides no branch.
Only the operations in `operations.py` make a value that is the same in all lanes from one that differs
between them.

Integers for control flow are `control`, and those for indices are `address` (`integers.py`); scores have
types of their own.
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
