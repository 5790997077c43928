"""Data that follow from the links: a node's clade, and two rows over the mutations.

Each lane has its own columns. Row `node` has the *sums*: of each mutation's weights over the cells below the
node. Row `nodes + node` has the *tops*: the best of the sums at or below the node, which is a mutation's
score on its best edge there.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.clade.links import parent_of
from syclade.kernels.clade.walk import first_leaf, next_node
from syclade.kernels.target import address, control, device_function, maximum
from syclade.kernels.words import ONE, WORD_MASK, WORD_SHIFT

_ONE = control(1)


class Rows(NamedTuple):
    """Device functions.

    Attributes:
        start: (slot): compute the data of all nodes.
        reweigh: (slot): compute the rows of all nodes, but not their clades.
        renew_up: (slot, joint): update the data of an internal node and of those above it, from
            their children's.
    """

    start: Any
    reweigh: Any
    renew_up: Any


@device_function
def sums_row(here, node):
    """Return where the node's sums start (address)."""
    return here.rows + address(node * here.sizes.genes)


@device_function
def tops_row(here, node):
    """Return where the node's tops start (address)."""
    return here.rows + address((here.sizes.nodes + node) * here.sizes.genes)


@device_function
def start_leaf(
    slot,  # OUT size, some_leaf, clade
    leaf,  # IN control
):
    """Fill a leaf's clade: its cell."""
    given, here, base = slot
    clade = here.clade + address(leaf * here.sizes.words)
    for word in range(here.sizes.words):
        given.clade[clade + address(word)] = np.uint64(0)
    own = np.uint64(leaf)
    given.clade[clade + (own >> WORD_SHIFT)] = ONE << (own & WORD_MASK)
    given.size[base + address(leaf)] = np.int32(1)
    given.some_leaf[base + address(leaf)] = np.int32(leaf)


@device_function
def join(
    slot,  # IN left, right; IN OUT size, some_leaf, clade
    joint,  # IN control: the internal node
):
    """Fill an internal node's clade from its children's."""
    given, here, base = slot
    at = base + address(joint)
    left, right = control(given.left[at]), control(given.right[at])
    given.size[at] = np.int32(given.size[base + address(left)] + given.size[base + address(right)])
    given.some_leaf[at] = given.some_leaf[base + address(left)]
    clade, words = here.clade + address(joint * here.sizes.words), here.sizes.words
    clade_l, clade_r = here.clade + address(left * words), here.clade + address(right * words)
    for word in range(words):
        offset = address(word)
        given.clade[clade + offset] = given.clade[clade_l + offset] | given.clade[clade_r + offset]


def make_rows(lanes: int) -> Rows:
    """Return the device functions for this number of lanes."""
    lane_bits = control(lanes.bit_length() - 1)

    @device_function
    def weigh_leaf(
        slot,  # IN observed, weights; OUT rows
        leaf,  # IN control
    ):
        """Fill a leaf's rows: the weights of what was observed in its cell."""
        given, here = slot.given, slot.here
        seen, sums, tops = address(leaf * here.sizes.genes), sums_row(here, leaf), tops_row(here, leaf)
        weights = here.number * address(here.sizes.classes)
        for part in range(here.sizes.genes >> lane_bits):
            gene = address(part * lanes) + here.lane
            weight = np.int32(given.weights[weights + address(given.observed[seen + gene])])
            given.rows[sums + gene] = weight
            given.rows[tops + gene] = weight

    @device_function
    def weigh_joint(
        slot,  # IN left, right; IN OUT rows
        joint,  # IN control: the internal node
    ):
        """Fill an internal node's rows from its children's."""
        given, here, base = slot
        at = base + address(joint)
        left, right = control(given.left[at]), control(given.right[at])
        sums, sums_l, sums_r = sums_row(here, joint), sums_row(here, left), sums_row(here, right)
        tops, tops_l, tops_r = tops_row(here, joint), tops_row(here, left), tops_row(here, right)
        for part in range(here.sizes.genes >> lane_bits):
            gene = address(part * lanes) + here.lane
            both = np.int32(given.rows[sums_l + gene] + given.rows[sums_r + gene])
            given.rows[sums + gene] = both
            given.rows[tops + gene] = maximum(
                both, maximum(given.rows[tops_l + gene], given.rows[tops_r + gene])
            )

    @device_function
    def renew(
        slot,  # IN left, right; IN OUT size, some_leaf, clade, rows
        joint,  # IN control: the internal node
    ):
        """Update the data of an internal node from its children's."""
        join(slot, joint)
        weigh_joint(slot, joint)

    @device_function
    def start(slot):
        """Compute the data of all nodes, children first."""
        root = slot.here.root
        node = first_leaf(slot, root)
        for turn in range(root + _ONE):
            if node > root >> _ONE:
                renew(slot, node)
            else:
                start_leaf(slot, node)
                weigh_leaf(slot, node)
            if node != root:
                node = next_node(slot, node)

    @device_function
    def reweigh(slot):
        """Compute the rows of all nodes, children first."""
        root = slot.here.root
        node = first_leaf(slot, root)
        for turn in range(root + _ONE):
            if node > root >> _ONE:
                weigh_joint(slot, node)
            else:
                weigh_leaf(slot, node)
            if node != root:
                node = next_node(slot, node)

    @device_function
    def renew_up(
        slot,  # IN parent, left, right; IN OUT size, some_leaf, clade, rows
        joint,  # IN control: the internal node
    ):
        """Update an internal node and all nodes above it."""
        renew(slot, joint)
        while joint != slot.here.root:
            joint = parent_of(slot, joint)
            renew(slot, joint)

    return Rows(start, reweigh, renew_up)
