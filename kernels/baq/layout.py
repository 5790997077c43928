"""Where a block's rows are in its scratch arrays.

The cell of row i (base i of the read, from 1) and place k (base k of the window, from 1) is number k − i +
band + 1 of its row, so the same place of the next row is one cell to the left. A row has an empty cell at
either end. The numbers of a block's reads stand side by side.
"""

from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """Sizes and places, in numbers of float64.

    Attributes:
        members: reads of a block.
        row: numbers of a row.
        forward: two rolling rows of deletions, forward.
        backward: two rolling rows each of matches and insertions, backward; deletions are not kept.
        spare: lines of one number a read.
    """

    members: np.int64
    row: np.int64
    forward: np.int64
    backward: np.int64
    spare: np.int64


def layout_of(band: int, members: int) -> Layout:
    """Return the layout for bands of up to this half width."""
    row = (2 * band + 3) * members
    return Layout(*(np.int64(one) for one in (members, row, 0, 2 * row, 6 * row)))


SPARE_LINES = 8
"""Lines of `Layout.spare`."""


def scratch_sizes(band: int, members: int, query: int, reference: int) -> dict[str, int]:
    """Return the sizes of the scratch arrays of a slot, by the symbols of their shapes.

    Args:
        band: largest half width of the bands.
        members: reads of a block.
        query: length of the longest read.
        reference: length of the longest window.
    """
    row = (2 * band + 3) * members
    return {
        "cells": (query + 2) * row,
        "row_cells": 6 * row + SPARE_LINES * members,
        "scale_cells": (query + 2) * members,
        "window_cells": (reference + 2) * members,
    }
