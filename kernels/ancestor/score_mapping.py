"""Score mapping: every cell's best attachment, by popcount of masked words.

The score of a cell at a node is the sum, over the values that may be observed, of the weight of the value
times the number of mutations above the node that were observed as it: the bits common to the node's row and
to the cell's column of the value's plane.
"""

from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of
from syclade.kernels.chain.parts import Score
from syclade.kernels.target import address, control, device_function, maximum
from syclade.kernels.words import popcount

_COUNT = np.uint64(0x7FFFFFFF)


def make_worth_at(capacity_of: Any) -> Any:
    """Device function: the score of a column at a node, for matrices of a capacity."""

    @device_function
    def worth_at(given, number, tree, base, cell, node):
        """The score of the cell at a node (int64)."""
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
            # A count and a weight of 32 bits make the product one cheap instruction.
            weight = np.int64(np.int32(given.weights[weights + address(value)]))
            worth = worth + np.int64(count & _COUNT) * weight
        return worth

    return worth_at


def make_score_mapping(score: Score, capacity_of: Any, lanes: int) -> Any:
    """Device function: a lane's share of the score of a tree; each lane does every `lanes`-th column.

    Args:
        score: what a cell is worth.
        capacity_of: device function () -> Capacity.
        lanes: work-items a slot.
    """
    lane_bits = bits_of(lanes)
    worth_at = make_worth_at(capacity_of)

    @device_function
    def is_node(tree, base, node):
        """1 for a node of the tree, which has itself above it; 0 for padding (int32)."""
        capacity = capacity_of()
        above = np.uint64(0)
        for index in range(capacity.words):
            above = above | tree[base + address(index) * address(capacity.nodes) + address(node)]
        return np.int32(above != np.uint64(0))

    of_attachments = _make_of_attachments(score, capacity_of, worth_at, is_node)

    @device_function
    def score_mapping(
        given,  # IN planes, multiplicity, weights, and the score's arguments
        number,  # IN address: the slot
        tree,  # IN (slots, words, nodes) uint64, flat; rows of padding are 0 and score as the root
        base,  # IN address: where the slot's matrix starts
        lane,  # IN address
    ):
        """Sum over the lane's columns of multiplicity * what the cell is worth (int64)."""
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


def _make_of_attachments(score: Score, capacity_of: Any, worth_at: Any, is_node: Any) -> Any:
    """Device function (given, number, tree, base, cell, best) -> what the cell is worth (int64)."""
    of_cell, terms = score.of_cell, score.terms

    @device_function
    def of_best(given, number, tree, base, cell, best):
        """The best attachment says all."""
        return np.int64(of_cell(given, number, best))

    if terms is None:
        return of_best
    form_of, term, of_sum = terms.form, terms.term, terms.of_sum

    @device_function
    def of_all(given, number, tree, base, cell, best):
        """All attachments once more, for what each adds; rows of padding count for nothing."""
        made = form_of(given, number)
        total = np.int32(0)
        for node in range(capacity_of().nodes):
            worth = np.int32(worth_at(given, number, tree, base, cell, node))
            counts = is_node(tree, base, node)
            total = np.int32(total + np.int32(counts * term(made, worth, best)))
        return of_sum(made, best, total)

    return of_all
