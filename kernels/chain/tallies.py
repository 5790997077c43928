"""How often each kind of move was proposed and accepted: counted in a few bits a kind, one number for all.

To add to a number in memory would count as often as lanes do so in turn. So all lanes count alike, and behind
every batch each lane takes over the tallies that it keeps.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.target import device_function

_BITS = 6
_MASK = np.int64((1 << _BITS) - 1)
_ONE = np.int64(1)

MOST_KINDS = 63 // _BITS
"""Kinds of move that fit in one number."""

LONGEST_BATCH = (1 << _BITS) - 1
"""Steps whose count fits in a kind's bits."""


class Tallies(NamedTuple):
    """Device functions, and what they work on.

    Attributes:
        rounds: length of the lane's private counts.
        clear: (counts): nothing counted yet.
        counted: (count, kind) -> count, with one more of a kind.
        take_over: (counts, lane, proposed, accepted): add the counts of a batch.
        store: (counts, tallies, lane, number): add them to the slot's tallies.
    """

    rounds: int
    clear: Any
    counted: Any
    take_over: Any
    store: Any


def make_tallies(kinds: int, lanes: int) -> Tallies:
    """Device functions for so many kinds: tallies are those proposed of each, then those accepted."""
    assert kinds <= MOST_KINDS, "more kinds of move than a number counts"
    assert lanes <= LONGEST_BATCH, "more steps in a batch than a number counts"
    rounds = -(-2 * kinds // lanes)
    last = np.uint64(2 * kinds - 1)
    half = np.uint64(kinds)

    @device_function
    def clear(
        counts,  # OUT (rounds,) int64, private
    ):
        """No counts yet."""
        for part in range(rounds):
            counts[part] = np.int64(0)

    @device_function
    def counted(
        count,  # IN int64
        kind,  # IN int64
    ):
        """One more of a kind (int64)."""
        return count + (_ONE << (kind * np.int64(_BITS)))

    @device_function
    def own_tally(part, lane):
        """The tally that the lane keeps in a round; lanes beyond the last one keep that as well."""
        tally = np.uint64(part * lanes) + lane
        return tally - np.uint64(tally > last) * (tally - last)

    @device_function
    def take_over(
        counts,  # IN OUT (rounds,) int64, private
        lane,  # IN uint64
        proposed,  # IN int64
        accepted,  # IN int64
    ):
        """Add a batch's counts to those of the lane's own tallies."""
        for part in range(rounds):
            tally = own_tally(part, lane)
            is_accepted = -np.int64(tally >= half)
            shift = np.int64(tally) - (is_accepted & np.int64(kinds))
            both = proposed ^ (is_accepted & (accepted ^ proposed))
            counts[part] = counts[part] + ((both >> (shift * np.int64(_BITS))) & _MASK)

    @device_function
    def store(
        counts,  # IN (rounds,) int64, private
        tallies,  # IN OUT (slots, tallies) int64, flat
        lane,  # IN uint64
        number,  # IN uint64: the slot
    ):
        """Add what was counted to the slot's tallies."""
        for part in range(rounds):
            at = number * (last + np.uint64(1)) + own_tally(part, lane)
            tallies[at] = tallies[at] + counts[part]

    return Tallies(rounds, clear, counted, take_over, store)
