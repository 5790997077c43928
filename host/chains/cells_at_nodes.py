"""Cells at the nodes of a tree: their likelihoods, draws of nodes and of places of mutations, and scores.

Here by numpy (`fallback/shares/`); with the same bits by kernels of this processor (`native_cells.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.shares.gibbs import likelihoods_of, nodes_of, powers_of
from syclade.fallback.shares.label_swaps import swapped_labels
from syclade.fallback.shares.relocation import SLIDES, relocated
from syclade.fallback.shares.tally import missed_and_seen
from syclade.host.chains.scores.score import BLOCK, node_scores, totals_of
from syclade.host.data.model.problem import Problem, SlotRates

__all__ = [
    "NUMBERS_OF_PLACES",
    "NUMBERS_OF_SWAPS",
    "CellsAtNodes",
    "Drawn",
    "NumpyCells",
    "at_places",
    "cells_by_column",
    "factors_of_product",
    "labels_at",
    "of_labels",
    "parts_of_numbers",
    "relabelled",
    "shares_from_logs",
    "weight_factors",
]

Whole = TypeVar("Whole", np.int32, np.int64)

_CELLS = 2**10
"""Cells that numpy works on at once, at least."""

NUMBERS_OF_SWAPS = 3
"""Uniform numbers per node of swaps of labels: of its turn, its child, and the acceptance."""

_MOST_OCTAVES = 240
"""Largest weight, in octaves, of which two are normal numbers when they are multiplied."""

NUMBERS_OF_PLACES = SLIDES + 1
"""Uniform numbers per mutation with which its place, and that of its subtree, are drawn."""


class Drawn(NamedTuple):
    """Nodes of cells that were drawn.

    Attributes:
        nodes: int64, shape (chains, cells), in the order of `cells_by_column`.
        counts: int64, shape (chains, nodes): number of cells at each node.
    """

    nodes: NDArray[np.int64]
    counts: NDArray[np.int64]


class CellsAtNodes(Protocol):
    """Likelihoods of the cells at all nodes of several chains' trees, and functions that use them."""

    @property
    def most(self) -> int:
        """The most chains."""
        ...

    def place(self, trees: NDArray[np.int32], weights: NDArray[np.int64]) -> None:
        """Take trees, int32, (chains, n + 1), with weights of observed values, (chains, classes)."""
        ...

    def draw(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> Drawn:
        """Draw the node of each cell, by uniform numbers, float64, (chains, cells)."""
        ...

    def missed_and_seen(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many cells with each mutation miss it, and show it: int64, (chains, n, 2).

        Args:
            nodes: int64, (chains, cells).
        """
        ...

    def swap(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """Swap labels of neighbours, summed over the nodes of the cells, and take the trees and their shares.

        Args:
            log_shares: int32, (chains, nodes); those after it are of the labels that are now at these places.
            numbers: uniform numbers, (chains, `NUMBERS_OF_SWAPS` * nodes).

        Returns:
            int32, (chains, nodes): the mutation at the place of each node.
        """
        ...

    def relocate(self, nodes: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """Draw the places of all mutations given the nodes of the cells, (chains, cells), and take the trees.

        Args:
            nodes: int64, (chains, cells).
            numbers: uniform numbers, (chains, `NUMBERS_OF_PLACES` * n).

        Returns:
            int32, (chains, nodes): the trees.
        """
        ...

    def totals(self, log_shares: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the scores, (chains,), of the trees with these shares, int32, (chains, nodes)."""
        ...


class NumpyCells:
    """See `CellsAtNodes`: in numpy.

    Args:
        problem: the problem.
        spare: spare bits of the sum score, which only totals need.
    """

    def __init__(self, problem: Problem, spare: int = 0) -> None:
        self._problem, self._spare = problem, spare
        self._blocks = _blocks_of_cells(problem)
        self._scores = np.zeros((0, 0, 0), dtype=np.int32)
        self._likelihoods: Sequence[NDArray[np.float64]] = ()
        self._trees, self._weights = np.zeros((0, 0), dtype=np.int32), np.zeros((0, 0), dtype=np.int64)
        self._swapped: NDArray[np.int32] | None = None

    @property
    def most(self) -> int:
        """See `CellsAtNodes.most`."""
        return max(1, BLOCK // (self._problem.nodes * len(self._problem.column_of)))

    def place(self, trees: NDArray[np.int32], weights: NDArray[np.int64]) -> None:
        """See `CellsAtNodes.place`."""
        problem, self._trees, self._weights, self._swapped = self._problem, trees, weights, None
        scores = [node_scores(problem, *one) for one in zip(trees, _rates_of(weights), strict=True)]
        self._scores = np.stack(scores, axis=1)
        self._likelihoods = likelihoods_of(self._scores, problem.scale_bits, self._blocks)

    def draw(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> Drawn:
        """See `CellsAtNodes.draw`."""
        shares = shares_from_logs(self._problem, at_places(log_shares, self._swapped))
        nodes = labels_at(nodes_of(self._likelihoods, shares, numbers), self._swapped)
        counts = [np.bincount(own, minlength=self._problem.nodes) for own in nodes]
        return Drawn(nodes, np.array(counts, dtype=np.int64))

    def missed_and_seen(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `CellsAtNodes.missed_and_seen`."""
        problem = self._problem
        observed = problem.observed[:, cells_by_column(problem)]
        pairs = zip(self._trees, nodes, strict=True)
        return np.array([missed_and_seen(*one, observed, problem.classes - 1) for one in pairs])

    def swap(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """See `CellsAtNodes.swap`."""
        problem, shares = self._problem, shares_from_logs(self._problem, log_shares)
        observed, blocks = problem.observed[:, cells_by_column(problem)], self._likelihoods
        ends = np.cumsum([block.shape[2] for block in blocks])[:-1]
        length, swapped = factors_of_product(problem, self._weights), []
        turns, uniform = parts_of_numbers(numbers)
        for chain, (tree, weights) in enumerate(zip(self._trees, self._weights, strict=True)):
            whole = np.concatenate([block[:, chain] for block in blocks], axis=1)
            factors = weight_factors(problem, weights)
            swapped.append(
                swapped_labels(
                    tree, whole, shares[chain], observed, factors, turns[chain], uniform[chain], length
                )
            )
            for block, changed in zip(blocks, np.split(whole, ends, axis=1), strict=True):
                block[:, chain] = changed
        self._swapped = np.stack(swapped)
        self._trees = relabelled(self._trees, self._swapped)
        return self._swapped

    def relocate(self, nodes: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """See `CellsAtNodes.relocate`."""
        problem, column_of = self._problem, cells_by_column(self._problem)
        trees = [
            relocated(tree, own, problem.weight_rows(rates)[:, column_of], problem.scale_bits, uniform)
            for tree, rates, own, uniform in zip(
                self._trees, _rates_of(self._weights), nodes, numbers, strict=True
            )
        ]
        self.place(np.stack(trees), self._weights)
        return self._trees

    def totals(self, log_shares: NDArray[np.int32]) -> NDArray[np.int64]:
        """See `CellsAtNodes.totals`."""
        if self._swapped is not None:
            self.place(self._trees, self._weights)
        return np.array(totals_of(self._problem, self._scores, log_shares, self._spare), dtype=np.int64)


def _rates_of(weights: NDArray[np.int64]) -> list[SlotRates]:
    """Return rates with weights of observed values, (chains, classes); scores at nodes have no base."""
    return [SlotRates(tuple(own), 0) for own in weights.tolist()]


def _blocks_of_cells(problem: Problem) -> list[NDArray[np.int32]]:
    """Return the distinct column of every cell, in blocks that stay in a fast cache."""
    column_of, step = cells_by_column(problem), max(_CELLS, BLOCK // problem.nodes)
    return [column_of[at : at + step] for at in range(0, len(column_of), step)]


def cells_by_column(problem: Problem) -> NDArray[np.int32]:
    """Return the distinct column of every cell, sorted: cells with equal columns may change places."""
    return np.repeat(np.arange(problem.columns, dtype=np.int32), problem.multiplicity)


def shares_from_logs(problem: Problem, log_shares: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the shares of logs in units of the score."""
    return np.asarray(np.exp2(log_shares * 2.0**-problem.scale_bits))


def weight_factors(problem: Problem, weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 2^weight of the classes of observed values, and its inverse: float64, shape (2, 256)."""
    gaps = np.zeros(256, dtype=np.int64)
    gaps[: len(weights)] = weights
    most = _MOST_OCTAVES << problem.scale_bits
    powers = powers_of(np.minimum(abs(gaps), most), problem.scale_bits)
    return np.where([gaps < 0, gaps > 0], powers, 1.0 / powers)


def factors_of_product(problem: Problem, weights: NDArray[np.int64]) -> int:
    """Return how many ratios of two factors (`weight_factors`) may be multiplied: within 2^-960 and 2^960."""
    largest = int(abs(weights).max())
    octaves = min((largest >> problem.scale_bits) + 1, _MOST_OCTAVES)
    return min(480 // octaves, 16)


def parts_of_numbers(numbers: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return a random order of the nodes but the root in each chain, int32, and the other numbers of swaps.

    Args:
        numbers: float64, (chains, `NUMBERS_OF_SWAPS` * nodes).

    Returns:
        int32, (chains, n), and float64, (chains, `NUMBERS_OF_SWAPS` - 1, nodes).
    """
    parts = numbers.reshape(len(numbers), NUMBERS_OF_SWAPS, -1)
    return np.argsort(parts[:, 0, :-1], axis=1, kind="stable").astype(np.int32), parts[:, 1:]


def relabelled(parents: NDArray[np.int32], label: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return trees after labels are swapped: int32, shape (trees, nodes), and the label at each node."""
    found, number = np.empty_like(parents), np.arange(len(parents))[:, None]
    found[number, label] = np.take_along_axis(label, parents, axis=1)
    return found


def at_places(values: NDArray[np.int32], label: NDArray[np.int32] | None) -> NDArray[np.int32]:
    """Return values of labels, (trees, nodes), as those of the places where these are; None if none moved."""
    return values if label is None else np.take_along_axis(values, label.astype(np.int64), axis=1)


def of_labels(values: NDArray[Whole], label: NDArray[np.int32] | None) -> NDArray[Whole]:
    """Return values of places, (trees, nodes), as those of the labels that are there; None if none moved."""
    if label is None:
        return values
    found = np.empty_like(values)
    np.put_along_axis(found, label.astype(np.int64), values, axis=1)
    return found


def labels_at(places: NDArray[np.int64], label: NDArray[np.int32] | None) -> NDArray[np.int64]:
    """Return the labels at places, (trees, cells); None if none moved."""
    return places if label is None else np.take_along_axis(label, places, axis=1).astype(np.int64)
