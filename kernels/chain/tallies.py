"""How often each kind of move was proposed and accepted: counted in a few bits a kind, one number for all.

To add to a number in memory would count as often as lanes do so in turn. So all lanes count alike, and behind
every batch each lane takes over the tallies that it keeps.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.chain.arguments import PARAMETERS
from syclade.kernels.target import address, device_function

_ONE = np.int64(1)
_KINDS = address(PARAMETERS.index("kinds"))

FEWEST_BITS = 6
"""Bits a kind, unless a batch has more steps than they count."""


class Tallies(NamedTuple):
    """Device functions, and what they work on.

    Attributes:
        rounds: length of the lane's private counts.
        load: (counts, chain, lane, number): those of the slot.
        counted: (count, kind) -> count, with one more of a kind.
        take_over: (counts, chain, lane, proposed, accepted): add the counts of a batch.
        store: (counts, chain, lane, number): they become the slot's.
    """

    rounds: int
    load: Any
    counted: Any
    take_over: Any
    store: Any


def make_tallies(kinds: int, lanes: int) -> Tallies:
    """Device functions for so many kinds: tallies are those proposed of each, then those accepted."""
    bits = max(FEWEST_BITS, lanes.bit_length())  # a batch has as many steps as there are lanes
    assert kinds * bits <= 63, "more kinds of move than a number counts"
    width, mask = np.int64(bits), np.int64((1 << bits) - 1)
    rounds = -(-2 * kinds // lanes)
    tallies = address(2 * kinds)

    @device_function
    def own_tally(part, lane, count):
        """Which of so many the lane keeps in a round; lanes beyond the last one keep that as well."""
        tally, last = address(part * lanes) + lane, count - address(1)
        return tally - address(tally > last) * (tally - last)

    @device_function
    def load(
        counts,  # OUT (rounds,) int64, private
        chain,  # IN the chain's arguments
        lane,  # IN address
        number,  # IN address: the slot
    ):
        """The slot's tallies that the lane keeps."""
        for part in range(rounds):
            counts[part] = chain.tallies[number * tallies + own_tally(part, lane, tallies)]

    @device_function
    def counted(
        count,  # IN int64
        kind,  # IN control
    ):
        """One more of a kind (int64)."""
        return count + (_ONE << (kind * width))

    @device_function
    def take_over(
        counts,  # IN OUT (rounds,) int64, private
        chain,  # IN the chain's arguments
        lane,  # IN address
        proposed,  # IN int64
        accepted,  # IN int64
    ):
        """Add a batch's counts to those of the lane's own tallies."""
        # The number of kinds is read from memory: what follows from a constant and the lane would be kept in
        # vector registers all the time, where score mapping wants them.
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
        chain,  # OUT
        lane,  # IN address
        number,  # IN address: the slot
    ):
        """They become the slot's tallies. Lanes that keep the same one write the same."""
        for part in range(rounds):
            chain.tallies[number * tallies + own_tally(part, lane, tallies)] = counts[part]

    return Tallies(rounds, load, counted, take_over, store)
