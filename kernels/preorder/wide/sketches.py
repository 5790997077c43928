"""Sketches: the scores of wide tables in 16 bits, to see at little cost where a move may change anything.

A sketch is a score without its last 15 bits; no score reaches 2^30. Sketches err on the safe side: a cell
that they skip has exactly the best score that it had. They have half the bytes to read, and three of eight
rows, so they may stay in the cache of the core where the tables do not.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.preorder.form import Form
from syclade.kernels.target import address, control, device_function, maximum

SKETCH_BITS = 15
"""Bits of a score that its sketch leaves out: no score reaches 2^30, and a sketch has 16 bits."""

_SHIFT = np.int32(SKETCH_BITS)
_BITS = np.int64(SKETCH_BITS)
_ONE = np.int32(1)
_FEW = control(16)
_SLACK = np.int32(2)  # four numbers rounded down, two of them subtracted


class Sketches(NamedTuple):
    """Device functions for rows that have sketches."""

    may_change: Any
    add_to_row: Any
    sketch_row: Any


@device_function
def slack_of_equals(
    weights,  # IN (slots, classes) int64, flat
    start,  # IN address: where the slot's weights start
    classes,  # IN control: of observed values
):
    """Return what `may_change` may subtract where weights have equal sketches (control).

    It is the whole slack if weights with equal sketches are equal. It is 0 if weights differ but are so close
    that their sketches are equal, or so many, as the levels of evidence, that some will be.
    """
    few = control(classes <= _FEW)
    alike = control(1) - few
    for one in range(classes * few):
        weight = weights[start + address(one)]
        for other in range(control(one)):
            other_weight = weights[start + address(other)]
            same_sketch = control((weight >> _BITS) == (other_weight >> _BITS))
            alike = alike | (same_sketch * control(weight != other_weight))
    return control(_SLACK) * (control(1) - alike)


@cache
def make_sketches(form: Form) -> Sketches:
    """Return the device functions for tables of this form.

    All take

    - values: (cells of a panel / lanes,) int32, private to the lane;
    - sketch: (slots, sketched, cells) int16, flat;
    - sketch_column: address, the lane's first cell of the panel in the first row of the slot's sketches;
    - at: control, the row: where it starts, as in layout.py.
    """
    rounds, lanes = form.rounds, form.lanes

    @device_function
    def may_change(
        sketch,  # IN
        sketch_column,  # IN: of the first panel
        count,  # IN control: number of panels, at most `panels_a_word`
        best,  # IN control: row of the best scores
        at,  # IN: row of the maxima of a subtree that moves
        plus,  # IN control: row that the subtree's shift adds
        minus,  # IN control: row that the subtree's shift subtracts
        spare,  # IN int32: what to subtract where these two have equal sketches
    ):
        """Return one bit for each of the lane's cells, set if its best score may change (uint32).

        It may change if the subtree's maximum is the best score and decreases, or if it rises above the best
        score.
        """
        best_at = sketch_column + address(best)
        maxima_at = sketch_column + address(at)
        plus_at = sketch_column + address(plus)
        minus_at = sketch_column + address(minus)
        flags = np.uint32(0)
        for counted in range(count):
            # The last panel first, so that all shifts are by constants: others would be done in 64 bits.
            first_cell = address(count - control(1) - control(counted)) * address(rounds * lanes)
            flags = np.uint32(flags << np.uint32(rounds))
            for part in range(rounds):
                cell = first_cell + address(part * lanes)
                shift = np.int32(np.int32(sketch[plus_at + cell]) - np.int32(sketch[minus_at + cell]))
                gap = np.int32(np.int32(sketch[maxima_at + cell]) - np.int32(sketch[best_at + cell]))
                same = np.int32(shift == np.int32(0))
                up = np.int32(maximum(np.int32(shift + _SLACK), _ONE) - np.int32(same * spare))
                exceeds = np.uint32(np.int32(gap + up) > np.int32(0))
                flags = np.uint32(flags | (exceeds << np.uint32(part)))
        return flags

    @device_function
    def add_to_row(
        values,  # IN
        tables,  # IN OUT (slots, rows, cells) int32, flat
        sketch,  # OUT
        column,  # IN address: like sketch_column, in the tables
        sketch_column,  # IN
        at,  # IN
    ):
        """Compute row = row + values, in the tables and in the sketches."""
        start = address(at)
        for part in range(rounds):
            place = start + address(part * lanes)
            value = np.int32(tables[column + place] + values[part])
            tables[column + place] = value
            sketch[sketch_column + place] = np.int16(value >> _SHIFT)

    @device_function
    def sketch_row(
        tables,  # IN (slots, rows, cells) int32, flat
        sketch,  # OUT
        column,  # IN address: like sketch_column, in the tables
        sketch_column,  # IN
        at,  # IN
    ):
        """Sketch a row of the tables."""
        start = address(at)
        for part in range(rounds):
            place = start + address(part * lanes)
            sketch[sketch_column + place] = np.int16(tables[column + place] >> _SHIFT)

    return Sketches(may_change, add_to_row, sketch_row)
