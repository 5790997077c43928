"""Where a block's data are, and the probabilities of its transitions."""

from typing import Any, NamedTuple


class Here(NamedTuple):
    """One block, as one lane sees it.

    Attributes:
        first, end: its reads that the lane computes.
        query, reference: length of its reads and windows.
        band: half width of the band.
        block: first entry of the block's reads in `reads` and `windows`.
        letters, positions, cells, rows, scales, window: where the slot's parts of the arrays begin.
    """

    first: Any
    end: Any
    query: Any
    reference: Any
    band: Any
    block: Any
    letters: Any
    positions: Any
    cells: Any
    rows: Any
    scales: Any
    window: Any


class Block(NamedTuple):
    """The one record of a block that device functions pass on: the arrays of `BAQ`, and where data are."""

    given: Any
    here: Here


class Chances(NamedTuple):
    """Probabilities of transitions between matches (m), insertions (i) and deletions (d).

    Attributes:
        m_to_m, m_to_id, i_to_m, i_to_i, d_to_m, d_to_d: as their names tell; m_to_id is that of either.
        m_to_end: from a match or an insertion to the end.
        begin_to_m, begin_to_i: from the start to a match or an insertion at each place.
    """

    m_to_m: Any
    m_to_id: Any
    i_to_m: Any
    i_to_i: Any
    d_to_m: Any
    d_to_d: Any
    m_to_end: Any
    begin_to_m: Any
    begin_to_i: Any
