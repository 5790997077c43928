"""The spaces: which trees a chain may be at, and where it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.chains.initial import initial_parents
from syclade.host.trees.key import tree_key
from syclade.host.trees.tree import validate_parents

__all__ = ["MUTATION_TREES", "Space"]


@dataclass(frozen=True)
class Space:
    """A kind of trees.

    Attributes:
        name: for users.
        initial: (mutations, seed, chain) -> the tree that a chain starts from.
        check: a tree as an array, or a TreeError.
        key: 64 bits that depend on the tree alone, the same as kernels make.
    """

    name: str
    initial: Callable[[int, int, int], NDArray[np.int32]]
    check: Callable[[ArrayLike], NDArray[np.int32]]
    key: Callable[[NDArray[np.int32]], int]


MUTATION_TREES = Space("mutation trees", initial_parents, validate_parents, tree_key)
"""Rooted trees of mutations: parent vectors of shape (n + 1,), the root is node n."""
