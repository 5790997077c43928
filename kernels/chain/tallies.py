"""Counts of proposed and accepted steps per kind of move, packed into one number with a few bits per kind.

If all lanes added to a number in memory, a step could count several times. So all lanes count alike, and
after each batch each lane adds the counts of the tallies that it keeps.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.chain.arguments import PARAMETERS
from syclade.kernels.target import address, device_function

_ONE = np.int64(1)
_KINDS = address(PARAMETERS.index("kinds"))

FEWEST_BITS = 6
"""Bits per kind, unless a batch has more steps than these can count."""


class Tallies(NamedTuple):
    """Device functions, and the length of the lane's counts.

    Attributes:
        rounds: length of the lane's private counts.
        load: (counts, chain, lane, number): read the slot's tallies into the counts.
        counted: (count, kind) -> count, with one more of a kind.
        take_over: (counts, chain, lane, proposed, accepted): add the counts of a batch.
        store: (counts, chain, lane, number): write the counts to the slot's tallies.
    """

    rounds: int
    load: Any
    counted: Any
    take_over: Any
    store: Any


def make_tallies(kinds: int, lanes: int) -> Tallies:
    """Return the device functions for this number of kinds.

    The tallies are the proposed steps of each kind, then the accepted steps of each kind.
    """
    bits = max(FEWEST_BITS, lanes.bit_length())  # a batch has as many steps as there are lanes
    assert kinds * bits <= 63, "more kinds of move than a number counts"
    width, mask = np.int64(bits), np.int64((1 << bits) - 1)
    rounds = -(-2 * kinds // lanes)
    tallies = address(2 * kinds)

    @device_function
    def own_tally(part, lane, count):
        """Return which of `count` tallies the lane keeps in a round; lanes beyond the last keep the last."""
        tally, last = address(part * lanes) + lane, count - address(1)
        return tally - address(tally > last) * (tally - last)

    @device_function
    def load(
        counts,  # OUT (rounds,) int64, private
        chain,  # IN the chain's arguments
        lane,  # IN address
        number,  # IN address: the slot
    ):
        """Read the slot's tallies that the lane keeps."""
        for part in range(rounds):
            counts[part] = chain.tallies[number * tallies + own_tally(part, lane, tallies)]

    @device_function
    def counted(
        count,  # IN int64
        kind,  # IN control
    ):
        """Return the packed counts with one more of a kind (int64)."""
        return count + (_ONE << (kind * width))

    @device_function
    def take_over(
        counts,  # IN OUT (rounds,) int64, private
        chain,  # IN the chain's arguments
        lane,  # IN address
        proposed,  # IN int64: packed counts of the batch
        accepted,  # IN int64: packed counts of the batch
    ):
        """Add a batch's counts to those of the lane's own tallies."""
        # Read the number of kinds from memory: values that follow from a constant and the lane would occupy
        # vector registers all the time, and score mapping needs these.
        half = address(chain.parameters[_KINDS])
        for part in range(rounds):
            tally = own_tally(part, lane, half + half)
            is_accepted = -np.int64(tally >= half)
            shift = np.int64(tally) - (is_accepted & np.int64(half))
            both = proposed ^ (is_accepted & (accepted ^ proposed))
            counts[part] = counts[part] + ((both >> (shift * width)) & mask)

    @device_function
    def store(
        counts,  # IN (rounds,) int64, private
        chain,  # OUT the chain's arguments
        lane,  # IN address
        number,  # IN address: the slot
    ):
        """Write the counts to the slot's tallies. Lanes that keep the same tally write the same value."""
        for part in range(rounds):
            chain.tallies[number * tallies + own_tally(part, lane, tallies)] = counts[part]

    return Tallies(rounds, load, counted, take_over, store)
