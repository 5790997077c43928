"""Score of a cell tree under other weights than those of its rows, which stay as they are: O(nodes * genes).

Only proposals that change the error rates need it, and they are few.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Score
from syclade.kernels.clade.walk import first_leaf, next_node
from syclade.kernels.target import address, control, device_function, maximum, private_array

_ONE = control(1)
_LEAST = np.int32(-(2**31))


def make_anew(score: Score, lanes: int, rounds: int, classes: int) -> Any:
    """Return the device function `share_anew` (see `kernels.rates.evaluation.make_learned`).

    Args:
        score: contribution of a mutation, given its sum at its best edge.
        lanes: lanes per slot.
        rounds: mutations of a panel per lane, in registers.
        classes: number of classes of observed values, the uninformative one included.
    """
    of_mutation = score.of_cell
    telling = classes - 1

    @device_function
    def add_leaf(
        best,  # IN OUT (mutations of a panel / lanes,) int32, private
        slot,  # IN observed; OUT sums_anew
        weights,  # IN (classes,) int32, private
        gene,  # IN address: the lane's first mutation of the panel
        leaf,  # IN control
    ):
        """Write a leaf's sums: the weights of what was observed in its cell."""
        given, here = slot.given, slot.here
        seen, own = gene + address(leaf * here.sizes.genes), gene + _sums_anew(here, leaf)
        for part in range(rounds):
            at = address(part * lanes)
            code, value = np.int32(given.observed[seen + at]), np.int32(0)
            for one in range(telling):
                value = np.int32(value + np.int32(code == np.int32(one)) * weights[one])
            given.sums_anew[own + at] = value
            best[part] = maximum(best[part], value)

    @device_function
    def add_joint(
        best,  # IN OUT (mutations of a panel / lanes,) int32, private
        slot,  # IN left, right; IN OUT sums_anew
        gene,  # IN address: the lane's first mutation of the panel
        joint,  # IN control: the internal node
    ):
        """Write an internal node's sums: those of its children together."""
        given, here, base = slot
        left, right = control(given.left[base + address(joint)]), control(given.right[base + address(joint)])
        own, one = gene + _sums_anew(here, joint), gene + _sums_anew(here, left)
        other = gene + _sums_anew(here, right)
        for part in range(rounds):
            at = address(part * lanes)
            value = np.int32(given.sums_anew[one + at] + given.sums_anew[other + at])
            given.sums_anew[own + at] = value
            best[part] = maximum(best[part], value)

    @device_function
    def share_anew(
        slot,  # IN the tree, observed, the score's arguments; OUT sums_anew
        weights,  # IN (classes,) int32, private
    ):
        """Return the lane's share of the tree's score (int64)."""
        given, here = slot.given, slot.here
        best = private_array(rounds, np.int32)
        share = np.int64(0)
        for panel in range(here.sizes.panels):
            gene = address(panel * rounds * lanes) + here.lane
            for part in range(rounds):
                best[part] = _LEAST
            node = first_leaf(slot, here.root)
            for turn in range(here.root + _ONE):
                if node > here.root >> _ONE:
                    add_joint(best, slot, gene, node)
                else:
                    add_leaf(best, slot, weights, gene, node)
                if node != here.root:
                    node = next_node(slot, node)
            for part in range(rounds):
                share = share + np.int64(of_mutation(given, here.number, best[part]))
        return share

    return share_anew


@device_function
def _sums_anew(here, node):
    """Return where the node's sums under other weights start (address)."""
    return (here.rows >> address(1)) + address(node * here.sizes.genes)
