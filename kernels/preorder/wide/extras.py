"""Extras of wide tables: maxima over every node's subtree, and sketches of scores, maxima and weights."""

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.tables.extras import Extras
from syclade.kernels.preorder.tree.places import row_at
from syclade.kernels.preorder.wide.sketches import make_sketches
from syclade.kernels.preorder.wide.subtree_maxima import make_subtree_maxima
from syclade.kernels.target import (
    address,
    any_lane,
    choose,
    control,
    device_function,
    greater,
    less,
    lesser,
    maximum,
    minimum,
)

_ZERO = control(0)
_ONE = control(1)


def make_extras(form: Form) -> Extras:
    """Return subtree maxima and sketches that follow the tree."""
    add_to_sketched = make_sketches(form).add_to_row
    sketch_row = make_sketches(form).sketch_row
    fill_subtrees, climb, reaches = make_subtree_maxima(form)
    rounds, lanes = form.rounds, form.lanes
    panel_size = address(rounds * lanes)

    @device_function
    def fill(
        slot,  # IN the tree; IN OUT tables; OUT sketch
        panel,  # IN integer: the panel
    ):
        """Fill all sketches and the subtree maxima."""
        given, here = slot.given, slot.here
        column = here.table + address(panel) * panel_size + here.lane
        sketch_column = here.sketch + address(panel) * panel_size + here.lane
        sketch_row(given.tables, given.sketch, column, sketch_column, here.layout.zero)
        for gene in range(here.sizes.nodes):
            weights = here.layout.weights + control(gene) * here.sizes.cells
            sketch_row(given.tables, given.sketch, column, sketch_column, weights)
        fill_subtrees(slot, column, sketch_column)

    @device_function
    def shift_row(
        shift,  # IN (cells of a panel / lanes,) int32, private
        slot,  # IN OUT tables; OUT sketch
        panel,  # IN integer: the panel
        row,  # IN control: where the score row starts
    ):
        """Add a shift to a score row and to the maxima of its node's subtree."""
        given, here = slot.given, slot.here
        column = here.table + address(panel) * panel_size + here.lane
        sketch_column = here.sketch + address(panel) * panel_size + here.lane
        add_to_sketched(shift, given.tables, given.sketch, column, sketch_column, row)
        add_to_sketched(shift, given.tables, given.sketch, column, sketch_column, here.layout.subtree + row)

    @device_function
    def upper_rows(
        slot,  # IN position, places
        climbs,  # IN Climbs
    ):
        """Return the rows of the subtree maxima of the nodes to climb from (two control integers)."""
        given, base = slot.given, slot.base
        place_1 = address(given.position[base + address(climbs.node_1)])
        place_2 = address(given.position[base + address(greater(climbs.node_2, _ZERO))])
        subtree = slot.here.layout.subtree
        upper_1 = subtree + row_at(given.places, base + place_1)
        return upper_1, subtree + row_at(given.places, base + place_2)

    @device_function
    def before_shift(
        slot,  # IN position, places, tables
        panel,  # IN integer: the panel
        climbs,  # IN Climbs
    ):
        """Return two masks: whether a subtree that leaves had a maximum of the node above it."""
        given, here = slot.given, slot.here
        column = here.table + address(panel) * panel_size + here.lane
        upper_1, upper_2 = upper_rows(slot, climbs)
        subtree = here.layout.subtree
        everywhere = less(climbs.shifted_from, here.tree_nodes)
        due_1 = everywhere | reaches(given.tables, column, subtree + climbs.loses_1, upper_1, np.int32(1))
        due_2 = reaches(given.tables, column, subtree + climbs.loses_2, upper_2, np.int32(1))
        return due_1, due_2

    @device_function
    def after_shift(
        slot,  # IN the tree; IN OUT tables; OUT sketch
        panel,  # IN integer: the panel
        climbs,  # IN Climbs
        known,  # IN masks that `before_shift` returned
    ):
        """Climb where maxima were lost, or where a subtree that has come brings higher ones."""
        given, here = slot.given, slot.here
        column = here.table + address(panel) * panel_size + here.lane
        sketch_column = here.sketch + address(panel) * panel_size + here.lane
        upper_1, upper_2 = upper_rows(slot, climbs)
        subtree = here.layout.subtree
        due_1, due_2 = known
        due_1 = due_1 | reaches(given.tables, column, subtree + climbs.gains_1, upper_1, np.int32(0))
        due_2 = due_2 | reaches(given.tables, column, subtree + climbs.gains_2, upper_2, np.int32(0))
        due_2 = due_2 & less(-_ONE, climbs.node_2)
        for count in range(choose(due_1, _ZERO, _ONE), choose(due_2, control(2), _ONE)):
            node = choose(less(_ZERO, control(count)), climbs.node_2, climbs.node_1)
            climb(slot, column, sketch_column, node, climbs.shifted_from)

    @device_function
    def may_have_lost(
        slot,  # IN places, block_start, tables
        column,  # IN address: the lane's first cell of the panel in the first row of the slot's tables
        number,  # IN control: the block
        gap,  # IN control: position that followed the run
        climbs,  # IN Climbs
        shift,  # IN (cells of a panel / lanes,) int32, private
    ):
        """Return a mask: whether the run that has left had any of the block's maxima.

        The run's own maxima are shifted now.
        """
        given, here, base = slot
        block = base + address(number)
        first = control(given.block_start[block])
        last = control(given.block_start[block + address(1)]) - _ONE
        place = base + address(lesser(gap, last))
        earlier = here.layout.prefix + row_at(given.places, base + address(greater(gap - _ONE, first)))
        later = here.layout.suffix + row_at(given.places, place)
        subtree_at = column + address(here.layout.subtree + climbs.loses_1)
        earlier_at, later_at = column + address(earlier), column + address(later)
        most = np.int32(-1)
        for part in range(rounds):
            cell = address(part * lanes)
            others = minimum(given.tables[earlier_at + cell], given.tables[later_at + cell])
            most = maximum(most, np.int32(given.tables[subtree_at + cell] - shift[part] - others))
        return any_lane(most > np.int32(0)) | ~less(first, gap) | less(last, gap)

    return Extras(fill, shift_row, before_shift, after_shift, may_have_lost)
