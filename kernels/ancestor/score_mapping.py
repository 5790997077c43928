"""Score mapping: every cell's best attachment, by popcount of masked words.

The score of a cell at a node is a sum over the values that may be observed. Each value adds its weight times
the number of mutations above the node that were observed as this value. That number is the count of the
bits that the node's row has in common with the cell's column in the value's plane.
"""

from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of
from syclade.kernels.chain.parts import Score
from syclade.kernels.target import address, control, device_function, maximum
from syclade.kernels.words import popcount

_COUNT = np.uint64(0x7FFFFFFF)


def make_worth_at(capacity_of: Any) -> Any:
    """Return a device function that scores a column at a node, for matrices of a capacity."""

    @device_function
    def worth_at(
        given,  # IN planes (values, words, cells) uint64, weights (slots, values + 1) int64, flat
        number,  # IN address: the slot
        tree,  # IN (slots, words, nodes) uint64, flat
        base,  # IN address: where the slot's matrix starts
        cell,  # IN address
        node,  # IN integer
    ):
        """Return the score of the cell at a node (int64)."""
        capacity = capacity_of()
        row_stride, cell_stride = address(capacity.nodes), address(capacity.cells)
        plane_stride = address(capacity.words) * cell_stride
        weights = number * address(capacity.values + control(1))
        worth = np.int64(0)
        for value in range(capacity.values):
            count = np.uint64(0)
            for index in range(capacity.words):
                row = tree[base + address(index) * row_stride + address(node)]
                at = address(value) * plane_stride + address(index) * cell_stride + cell
                count = count + popcount(row & given.planes[at])
            # With 32 bits for count and weight, the product is one cheap instruction.
            weight = np.int64(np.int32(given.weights[weights + address(value)]))
            worth = worth + np.int64(count & _COUNT) * weight
        return worth

    return worth_at


def make_score_mapping(score: Score, capacity_of: Any, lanes: int) -> Any:
    """Return a device function that gives the lane's share of a tree's score.

    Each lane scores every `lanes`-th column.

    Args:
        score: contribution of a cell.
        capacity_of: device function () -> Capacity.
        lanes: work-items per slot.
    """
    lane_bits = bits_of(lanes)
    worth_at = make_worth_at(capacity_of)

    of_attachments = make_of_attachments(score, capacity_of, worth_at)

    @device_function
    def score_mapping(
        given,  # IN planes, multiplicity, weights, and the score's arguments
        number,  # IN address: the slot
        tree,  # IN (slots, words, nodes) uint64, flat; rows of padding are 0 and score like the root
        base,  # IN address: where the slot's matrix starts
        lane,  # IN address
    ):
        """Return the sum over the lane's columns of multiplicity * contribution of the cell (int64)."""
        capacity = capacity_of()
        share = np.int64(0)
        for part in range(capacity.cells >> lane_bits):
            cell = address(part * lanes) + lane
            best = np.int64(0)
            for node in range(capacity.nodes):
                best = maximum(best, worth_at(given, number, tree, base, cell, node))
            worth = of_attachments(given, number, tree, base, cell, np.int32(best))
            share = share + worth * given.multiplicity[cell]
        return share

    return score_mapping


def make_is_node(capacity_of: Any) -> Any:
    """Return a device function that tells rows of nodes from those of padding, for a capacity."""

    @device_function
    def is_node(tree, base, node):
        """Return 1 for a node of the tree, whose row has its own bit set; 0 for padding (int32)."""
        capacity = capacity_of()
        above = np.uint64(0)
        for index in range(capacity.words):
            above = above | tree[base + address(index) * address(capacity.nodes) + address(node)]
        return np.int32(above != np.uint64(0))

    return is_node


def make_of_attachments(score: Score, capacity_of: Any, worth_at: Any) -> Any:
    """Return a device function (given, number, tree, base, cell, best) -> the cell's contribution (int64).

    Args:
        score: contribution of a cell.
        capacity_of: device function () -> Capacity.
        worth_at: device function (given, number, tree, base, cell, node) -> score of a column at a node.
    """
    of_cell, terms = score.of_cell, score.terms

    @device_function
    def of_best(
        given,  # IN the score's arguments
        number,  # IN address: the slot
        tree,  # IN (slots, words, nodes) uint64, flat: not used
        base,  # IN address: not used
        cell,  # IN address: not used
        best,  # IN int32: score of the best attachment
    ):
        """Return the contribution, which depends on the best attachment only (int64)."""
        return np.int64(of_cell(given, number, best))

    if terms is None:
        return of_best
    form_of, term, of_sum = terms.form, terms.term, terms.of_sum
    is_node = make_is_node(capacity_of)

    @device_function
    def of_all(
        given,  # IN planes, weights, and the score's arguments
        number,  # IN address: the slot
        tree,  # IN (slots, words, nodes) uint64, flat
        base,  # IN address: where the slot's matrix starts
        cell,  # IN address
        best,  # IN int32: score of the best attachment
    ):
        """Score all attachments again, and return the contribution that their terms sum to (int64).

        Rows of padding do not count.
        """
        made = form_of(given, number)
        total = np.int32(0)
        for node in range(capacity_of().nodes):
            worth = np.int32(worth_at(given, number, tree, base, cell, node))
            counts = is_node(tree, base, node)
            total = np.int32(total + np.int32(counts * term(made, worth, best)))
        return of_sum(made, best, total)

    return of_all
