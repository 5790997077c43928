"""Tree key by its definition, in Python integers, one mutation after another."""

from __future__ import annotations

from collections.abc import Sequence

_WORD = 2**64


def split_mix(word: int) -> int:
    """Return the next number of a SplitMix64 generator with the state `word`."""
    word = (word + 0x9E3779B97F4A7C15) % _WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % _WORD
    return word ^ (word >> 31)


def slow_key(parents: Sequence[int]) -> int:
    """Return the key of a tree whose last node is the root."""
    return sum(split_mix((node << 32) + parent) for node, parent in enumerate(parents[:-1])) % _WORD
