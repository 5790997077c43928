"""Choice of a step's move, and its proposal: all moves of the chain combined into one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.target import control, device_function
from syclade.kernels.words import spread


def count_kinds(moves: Sequence[Move]) -> int:
    """Return the number of kinds of all moves, plus one for the null move."""
    return sum(move.kinds for move in moves) + 1


def make_second(moves: Sequence[Move]) -> Any:
    """Return a device function (move number, word, first, mutations) -> the move's draw besides v (uint64).

    All moves draw, and the draw of the chosen move counts: there is one step per lane, and lanes do not
    branch.
    """
    ways = list(dict.fromkeys(move.second for move in moves))
    *others, last = ways

    @device_function
    def second(
        number,  # IN uint64, one per lane: number of the move (not used)
        word,  # IN uint64 < 2^32, one per lane
        first,  # IN uint64, one per lane: v
        mutations,  # IN uint64
    ):
        """Return the draw of the last way."""
        return last(word, first, mutations)

    for way in reversed(others):
        second = _or_else([index for index, move in enumerate(moves) if move.second is way], way, second)
    return second


def _or_else(numbers: Sequence[int], own: Any, others: Any) -> Any:
    """Return a device function for the draw of the moves with these numbers, or else of the others."""
    is_own = _make_is_one_of(numbers)

    @device_function
    def second(
        number,  # IN uint64, one per lane: number of the move
        word,  # IN uint64 < 2^32, one per lane
        first,  # IN uint64, one per lane: v
        mutations,  # IN uint64
    ):
        """Draw both, and choose by a mask."""
        mask = spread(is_own(number))
        other = others(number, word, first, mutations)
        return other ^ ((own(word, first, mutations) ^ other) & mask)

    return second


def _make_is_one_of(numbers: Sequence[int]) -> Any:
    """Return a device function that gives 1 if a uint64 is one of the numbers, else 0 (uint64)."""
    first = np.uint64(numbers[0])

    @device_function
    def is_first(number):
        """Return 1 if it is the first number, else 0 (uint64)."""
        return np.uint64(number == first)

    if len(numbers) == 1:
        return is_first
    is_other = _make_is_one_of(numbers[1:])

    @device_function
    def is_one_of(number):
        """Return 1 if it is the first number or one of the others, else 0 (uint64)."""
        return is_first(number) | is_other(number)

    return is_one_of


def make_propose(moves: Sequence[Move], relations: Relations) -> Any:
    """Return the device function (slot, move number, draw, mutations) -> Proposal."""
    null = count_kinds(moves) - 1
    own, first = [], 0
    for move in moves:
        own.append(move.make_propose(relations, Kinds(first, null)))
        first += move.kinds
    last = own.pop()

    @device_function
    def propose(
        slot,  # IN the encoding's arguments
        number,  # IN control: number of the move (not used)
        draw,  # IN Draw
        mutations,  # IN control
    ):
        """Propose by the last move."""
        return last(slot, draw, mutations)

    for index in reversed(range(len(own))):
        propose = _or_propose(control(index), own[index], propose)
    return propose


def _or_propose(index: control, own: Any, others: Any) -> Any:
    """Return a device function for the proposal of the move with this number, or else of the others."""

    @device_function
    def propose(
        slot,  # IN the encoding's arguments
        number,  # IN control: number of the move
        draw,  # IN Draw
        mutations,  # IN control
    ):
        """Compare the numbers one after another; return the Proposal of the one that matches."""
        if number == index:
            return own(slot, draw, mutations)
        return others(slot, number, draw, mutations)

    return propose
