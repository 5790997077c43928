"""Match the cells of a matrix to the rows of a table of labels."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence

from syclade.host.data.input.label_table import SHAPE, LabelTable
from syclade.host.data.input.textfile import excerpt
from syclade.host.ground.errors import TableError
from syclade.host.ground.values import counted, listed

__all__ = ["match_cells", "names_shown", "refuse_missing_header"]

logger = logging.getLogger("syclade.input")

_NUMBERED, _PREFIXED = re.compile(r"-[0-9]+$"), re.compile(r"^.*[:#]")


def _without_number(name: str) -> str:
    """Return a barcode without the number of its library: AAAC-1 as AAAC."""
    return _NUMBERED.sub("", name)


def _without_prefix(name: str) -> str:
    """Return a barcode without the name before it: P1:AAAC as AAAC."""
    return _PREFIXED.sub("", name)


def _without_both(name: str) -> str:
    """Return a barcode without both."""
    return _without_number(_without_prefix(name))


RULES: tuple[tuple[Callable[[str], str], str], ...] = (
    (_without_number, "without -1 and the like at the end"),
    (_without_prefix, "without what is before : or #"),
    (_without_both, "without both -1 at the end and what is before :"),
)
"""Rules by which names are compared that are not equal. Cell Ranger ends barcodes with the number of the
library, which other tools leave out; merged files have the name of the sample and a colon before them, as
syclade has for Tapestri. A rule is used only if names stay distinct with it on both sides: otherwise the
number or the sample is what tells two cells apart."""


def refuse_missing_header(table: LabelTable, cells: Sequence[str]) -> None:
    """Refuse a table whose first line is that of a cell.

    Raises:
        TableError: it is.
    """
    head = _without_both(table.head)
    if head in set(map(_without_both, cells)) and head not in set(map(_without_both, table.names)):
        raise TableError(
            f"the table has no header: its first line is that of the cell {excerpt(table.head)}",
            path=table.path,
            line=table.head_line,
            hint=SHAPE,
        )


def match_cells(table: LabelTable, cells: Sequence[str]) -> list[int]:
    """Return the row of each cell in a table, or -1; report cells and rows without the other.

    Raises:
        TableError: no cell is in the table.
    """
    row_of = {name: row for row, name in enumerate(table.names)}
    rows = [row_of.get(name, -1) for name in cells]
    for shorten, words in RULES:
        found = _by_rule(shorten, table.names, cells, rows)
        if found:
            logger.info("%s of the metadata matched %s", counted(len(found), "cell", "cells"), words)
            for cell, row in found.items():
                rows[cell] = row
    missing = [cells[at] for at, row in enumerate(rows) if row < 0]
    if len(missing) == len(cells):
        raise TableError(
            f"no cell of the metadata is in the matrix: it has {names_shown(table.names, 3)}, and the "
            f"matrix {names_shown(cells, 3)}",
            path=table.path,
            hint="names of cells must be the same in both",
        )
    used = set(rows)
    over = [name for row, name in enumerate(table.names) if row not in used]
    if missing:
        words = counted(len(missing), "cell of the matrix is", "cells of the matrix are")
        logger.warning("%s not in the metadata: %s", words, names_shown(missing))
    if over:
        words = counted(len(over), "cell of the metadata is", "cells of the metadata are")
        logger.warning("%s not in the matrix: %s", words, names_shown(over))
    return rows


def _by_rule(
    shorten: Callable[[str], str], names: Sequence[str], cells: Sequence[str], rows: Sequence[int]
) -> dict[int, int]:
    """Return rows by cell that a rule matches, of those without a partner; none if it makes names equal."""
    if any(len({*map(shorten, some)}) < len(some) for some in (names, cells)):
        return {}
    used = set(rows)
    over = {shorten(name): row for row, name in enumerate(names) if row not in used}
    left = [at for at, row in enumerate(rows) if row < 0]
    return {at: over[name] for at in left if (name := shorten(cells[at])) in over}


def names_shown(names: Sequence[str], most: int = 5) -> str:
    """Return the first names for a message, shortened if they are long."""
    return listed([name if len(name) <= 60 else excerpt(name) for name in names], most)
