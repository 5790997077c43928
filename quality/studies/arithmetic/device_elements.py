"""Device code that applies one function of the kernels to every element of arrays, to measure it alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from syclade.kernels.arguments import PROBLEM, SCRATCH, Argument
from syclade.kernels.scores.powers import FRACTION_BITS, logarithm_of_two, power_of_two
from syclade.kernels.sums.arguments import ROOTS
from syclade.kernels.sums.factors import mantissa_of
from syclade.kernels.sums.numbers import product, total
from syclade.kernels.target import address, device_function

__all__ = ["ARGUMENTS", "COPY", "FACTOR", "LOGARITHM", "POWER", "PRODUCT", "TOTAL", "make_body"]

_SHAPE = ("elements",)

ARGUMENTS = (
    Argument("one", PROBLEM, "int32", _SHAPE, "exponents, or mantissas"),
    Argument("one_exponent", PROBLEM, "int32", _SHAPE, "exponents of mantissas, or whole parts"),
    Argument("other", PROBLEM, "int32", _SHAPE, "mantissas"),
    Argument("other_exponent", PROBLEM, "int32", _SHAPE, "their exponents"),
    Argument("roots", PROBLEM, "int64", (ROOTS,), "2^(2^-k) in units of 2^-30"),
    Argument("out", SCRATCH, "int32", _SHAPE, "results"),
    Argument("out_exponent", SCRATCH, "int32", _SHAPE, "their exponents"),
)

_FRACTION = np.int32(FRACTION_BITS)
_WIDE_FRACTION = np.int64(FRACTION_BITS)
_SPARE = np.int32(0)
_PART = np.int64(2**FRACTION_BITS - 1)


@device_function
def COPY(
    given,  # IN OUT the arguments above
    at,  # IN address of the lane's element
):
    """Copy: what loads and stores cost alone."""
    given.out[at] = given.one[at]
    given.out_exponent[at] = given.one_exponent[at]


@device_function
def POWER(
    given,  # IN OUT the arguments above
    at,  # IN address of the lane's element
):
    """Power of two of the sum score."""
    given.out[at] = power_of_two(given.one[at], given.one_exponent[at], _FRACTION, _SPARE)


@device_function
def LOGARITHM(
    given,  # IN OUT the arguments above
    at,  # IN address of the lane's element
):
    """Logarithm of a cell's sum."""
    given.out[at] = np.int32(logarithm_of_two(given.other[at], _WIDE_FRACTION))


@device_function
def PRODUCT(
    given,  # IN OUT the arguments above
    at,  # IN address of the lane's element
):
    """Product of two numbers of the sums over pairs."""
    mantissa, exponent = product(
        np.int64(given.one[at]), np.int64(given.one_exponent[at]),
        np.int64(given.other[at]), np.int64(given.other_exponent[at]),
    )  # fmt: skip
    given.out[at] = np.int32(mantissa)
    given.out_exponent[at] = np.int32(exponent)


@device_function
def TOTAL(
    given,  # IN OUT the arguments above
    at,  # IN address of the lane's element
):
    """Sum of two numbers of the sums over pairs."""
    mantissa, exponent = total(
        np.int64(given.one[at]), np.int64(given.one_exponent[at]),
        np.int64(given.other[at]), np.int64(given.other_exponent[at]),
    )  # fmt: skip
    given.out[at] = np.int32(mantissa)
    given.out_exponent[at] = np.int32(exponent)


@device_function
def FACTOR(
    given,  # IN OUT the arguments above
    at,  # IN address of the element: one for all lanes
):
    """Factor of a class: one number at a time, as kernels compute it."""
    given.out[at] = np.int32(mantissa_of(given, np.int64(given.one[at]) & _PART))


def make_body(operation: Any, elements: int, lanes: int, alike: int) -> Any:
    """Return the body of a kernel.

    Args:
        operation: one of the functions above.
        elements: number of elements, a multiple of the lanes.
        lanes: lanes per slot.
        alike: 1 if the function takes one number for all lanes, else 0.
    """
    count = elements if alike else elements // lanes

    if alike:

        @device_function
        def one_by_one(_slot, _lane, given):
            for each in range(count):
                operation(given, address(each))

        return one_by_one

    @device_function
    def all_lanes(_slot, lane, given):
        for each in range(count):
            operation(given, address(each * lanes) + lane)

    return all_lanes
