"""Which move a step makes, and its proposal: the chain's moves in one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Kinds, Move, Relations
from syclade.kernels.target import control, device_function
from syclade.kernels.words import spread


def count_kinds(moves: Sequence[Move]) -> int:
    """Kinds of all moves, and the null move."""
    return sum(move.kinds for move in moves) + 1


def make_second(moves: Sequence[Move]) -> Any:
    """Device function (number of the move, word, first, mutations) -> what the move draws besides v (uint64).

    All moves draw, and the one that it is counts: a step a lane, and lanes do not branch.
    """
    ways = list(dict.fromkeys(move.second for move in moves))
    *others, last = ways

    @device_function
    def second(number, word, first, mutations):
        """What the last way draws."""
        return last(word, first, mutations)

    for way in reversed(others):
        second = _or_else([index for index, move in enumerate(moves) if move.second is way], way, second)
    return second


def _or_else(numbers: Sequence[int], own: Any, others: Any) -> Any:
    """What the moves of these numbers draw, or what the others do."""
    is_own = _make_is_one_of(numbers)

    @device_function
    def second(number, word, first, mutations):
        """Both are drawn, and a mask chooses."""
        mask = spread(is_own(number))
        other = others(number, word, first, mutations)
        return other ^ ((own(word, first, mutations) ^ other) & mask)

    return second


def _make_is_one_of(numbers: Sequence[int]) -> Any:
    """Device function: 1 if a uint64 is one of the numbers, else 0 (uint64)."""
    first = np.uint64(numbers[0])

    @device_function
    def is_first(number):
        """1 if it is the first of them."""
        return np.uint64(number == first)

    if len(numbers) == 1:
        return is_first
    is_other = _make_is_one_of(numbers[1:])

    @device_function
    def is_one_of(number):
        """1 if it is the first of them, or one of the others."""
        return is_first(number) | is_other(number)

    return is_one_of


def make_propose(moves: Sequence[Move], relations: Relations) -> Any:
    """Device function (given, here, base, number of the move, draw, mutations) -> Proposal."""
    null = count_kinds(moves) - 1
    own, first = [], 0
    for move in moves:
        own.append(move.make_propose(relations, Kinds(first, null)))
        first += move.kinds
    last = own.pop()

    @device_function
    def propose(given, here, base, number, draw, mutations):
        """The last move's."""
        return last(given, here, base, draw, mutations)

    for index in reversed(range(len(own))):
        propose = _or_propose(control(index), own[index], propose)
    return propose


def _or_propose(index: control, own: Any, others: Any) -> Any:
    """The proposal of the move of this number, or that of the others."""

    @device_function
    def propose(given, here, base, number, draw, mutations):
        """By number, one after another."""
        if number == index:
            return own(given, here, base, draw, mutations)
        return others(given, here, base, number, draw, mutations)

    return propose
