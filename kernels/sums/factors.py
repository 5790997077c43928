"""Factors: 2^weight of every class, and the shares of the nodes, as numbers (numbers.py)."""

import numpy as np

from syclade.kernels.scores.powers import FRACTION_BITS
from syclade.kernels.sums.arguments import FEW_CLASSES, ROOTS
from syclade.kernels.sums.numbers import MANTISSA_BITS
from syclade.kernels.target import address, control, device_function

_BITS = np.int64(MANTISSA_BITS)
_ONE = np.int64(1 << MANTISSA_BITS)
_TWO = control(2)
_FRACTION = np.int64(FRACTION_BITS)
_FEW = control(FEW_CLASSES)
_ZERO = np.int64(0)


@device_function
def mantissa_of(
    given,  # IN roots
    part,  # IN int64: the fraction of an exponent, in units of 2^-16
):
    """Return 2^part as the product of 2^(2^-k) for the bits k of the part (int64, 2^30 ... 2^31 - 1)."""
    mantissa = _ONE
    for k in range(1, ROOTS):
        if (part >> (_FRACTION - np.int64(k))) & np.int64(1) != np.int64(0):
            mantissa = (mantissa * given.roots[address(k)]) >> _BITS
    return mantissa


@device_function
def put_power(
    given,  # IN roots
    powers,  # OUT int64, flat: mantissas and exponents in turns
    at,  # IN address: number of the power
    logarithm,  # IN int64: in units of 2^-16
):
    """Compute 2^logarithm."""
    part = logarithm & ((np.int64(1) << _FRACTION) - np.int64(1))
    start = address(_TWO) * at
    powers[start] = mantissa_of(given, part)
    powers[start + address(1)] = logarithm >> _FRACTION


@device_function
def put_factors(
    slot,  # IN weights, roots; OUT factors
):
    """Compute the factors of all classes."""
    given, here = slot.given, slot.here
    own = here.number * address(here.sizes.classes)
    for code in range(here.sizes.classes):
        at = own + address(code)
        put_power(given, given.factors, at, given.weights[at])


@device_function
def factor_of(
    factors,  # IN (slots, classes, 2) int64, flat
    start,  # IN address: where the slot's factors start
    classes,  # IN control: of observed values
    code,  # IN int64: the class, of each lane
):
    """Return the factor of a class (mantissa, exponent; int64).

    Few are compared one by one, which takes less time than a read at a place of each lane.
    """
    factor, exponent = _ZERO, _ZERO
    if classes > _FEW:
        at = start + address(_TWO) * np.uint64(code)
        factor, exponent = factors[at], factors[at + address(1)]
    else:
        for one in range(classes):
            own = start + address(_TWO * control(one))
            fits = np.int64(code == np.int64(one))
            factor = factor + fits * factors[own]
            exponent = exponent + fits * factors[own + address(1)]
    return factor, exponent


@device_function
def put_node_shares(
    slot,  # IN log_shares, roots; OUT node_shares
):
    """Compute the shares of all nodes."""
    given = slot.given
    for node in range(slot.here.sizes.nodes):
        at = slot.base + address(node)
        put_power(given, given.node_shares, at, np.int64(given.log_shares[at]))


@device_function
def exchange_shares(
    slot,  # IN OUT log_shares, node_shares
    v,  # IN control
    w,  # IN control
):
    """Exchange the shares of two nodes, so that labels that are exchanged leave them at their places."""
    given = slot.given
    at_v, at_w = slot.base + address(v), slot.base + address(w)
    share = given.log_shares[at_v]
    given.log_shares[at_v] = given.log_shares[at_w]
    given.log_shares[at_w] = share
    for part in range(2):
        of_v, of_w = address(_TWO) * at_v + address(part), address(_TWO) * at_w + address(part)
        number = given.node_shares[of_v]
        given.node_shares[of_v] = given.node_shares[of_w]
        given.node_shares[of_w] = number
