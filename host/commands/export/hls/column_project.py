"""Export of the column unit as a project for high-level synthesis, with golden columns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import syclade
from syclade.fallback.tails.blocked import tail_of_trials
from syclade.fallback.tails.grouped import reduce_groups
from syclade.host.calls.tails.columns import Columns
from syclade.host.commands.export.hls.column_flavours import ColumnFlavour
from syclade.host.commands.export.hls.column_unit import column_functions
from syclade.host.commands.export.hls.project import filled
from syclade.host.commands.export.hls.vectors import VECTORS, block
from syclade.host.ground.errors import OptionError
from syclade.host.ground.files import write_files

__all__ = ["COLUMN_FILES", "ColumnUnit", "export_column_unit"]

COLUMN_FILES = ("parameters.h", "functions.h", VECTORS)
"""Files of the projects of all flavours."""

MOST_ENTRIES = 1 << 24
"""Limit of the entries on the chip."""


@dataclass(frozen=True)
class ColumnUnit:
    """Sizes of a column unit.

    Attributes:
        entries: entries of a block, which are on the chip (W of the article).
        elements: processing elements: entries that are updated at once (P).

    Raises:
        OptionError: a block has too many entries, or fewer than two.
    """

    entries: int
    elements: int

    def __post_init__(self) -> None:
        if not 2 <= self.entries <= MOST_ENTRIES:
            raise OptionError(f"a block has {self.entries} entries, and 2 to {MOST_ENTRIES} are possible")


def export_column_unit(
    directory: str | os.PathLike[str],
    flavour: ColumnFlavour,
    unit: ColumnUnit,
    columns: Columns,
    force: bool = False,
) -> list[str]:
    """Write the project of a column unit.

    Args:
        directory: created if needed.
        flavour: the compiler that it is for.
        unit: its sizes.
        columns: golden columns; those whose tail is certain or impossible are left out.
        force: whether existing files may be replaced.

    Returns:
        The names of the files.

    Raises:
        OutputError: the files cannot be written.
    """
    rows = (
        ("BLOCK", unit.entries, "entries of a block, on the chip"),
        ("ELEMENTS", unit.elements, "processing elements: entries that are updated at once"),
    )
    defines = "".join(f"#define {name} {value} /* {meaning} */\n" for name, value, meaning in rows)
    program = column_functions(flavour.before_loop, flavour.in_loop)
    loops = "".join(f" \\\n    ENTRY({label})" for label in program.loops)
    files: dict[str, str | bytes] = {
        "parameters.h": filled("columns_parameters.h", {"DEFINES": defines, "VERSION": syclade.__version__}),
        "functions.h": filled("columns_functions.h", {"FUNCTIONS": program.text(), "ENTRIES": loops}),
        VECTORS: _vectors(columns),
        **flavour.make(),
    }
    write_files(directory, files, force)
    return list(files)


def _vectors(columns: Columns) -> bytes:
    """Return the golden columns, with their tails by numpy, which has no code in common with the unit in C.

    Blocks as those of `vectors_file`: `run` (columns), `sizes` (trials), `at_least`, `error` (of all
    trials), room for boundary values, and the expected `log_tail`. Real numbers are stored as their bits.
    """
    errors, at_least = [], []
    for (first, end), wanted in zip(pairwise(columns.starts), columns.at_least, strict=True):
        p, counts, k = reduce_groups(columns.probabilities[first:end], columns.counts[first:end], int(wanted))
        if 0 < k <= counts.sum():
            errors.append(np.repeat(p, counts))
            at_least.append(k)
    room = np.zeros(max(map(len, errors), default=1))
    tails = np.array([tail_of_trials(p, k) for p, k in zip(errors, at_least, strict=True)])
    parts = {
        "run": np.array([len(errors)]),
        "sizes": np.array([len(p) for p in errors], dtype=np.int64),
        "at_least": np.array(at_least, dtype=np.int64),
        "error": np.concatenate([*errors, np.zeros(0)]),
        "edge": room,
        "edge_low": room,
        "log_tail": np.zeros(len(errors)),
        "expected_log_tail": tails,
    }
    return b"".join(block(name, array.view(np.int64)) for name, array in parts.items())
