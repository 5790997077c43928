"""ScisTree2's format: probabilities of the wild type."""

from __future__ import annotations

import re

from syclade.host.data.input.formats.grid import Asked, Grid, named_grid, refuse_two
from syclade.host.data.input.textfile import excerpt, lines_of
from syclade.host.ground.errors import MatrixError

__all__ = ["read_scistree"]

_PROBABILITY = re.compile(r"[0-9]*\.?[0-9]+(?:[eE]-?[0-9]{1,3})?|[0-9]+\.")


def read_scistree(data: bytes, path: str, asked: Asked) -> Grid:
    """Read ScisTree2's HAPLOID format (Zhang et al. 2025).

    Rows are mutations; an entry is the probability that a cell does not have the mutation. Below 0.5 the
    value is 1, above it 0; exactly 0.5 carries no information and is missing.

    Raises:
        MatrixError: an error in the file, with the line.
    """
    refuse_two(asked, "mutations", path)
    lines = lines_of(data, path)
    head = lines[0].split()
    sizes = [int(size) for size in head[1:3] if re.fullmatch("[0-9]{1,9}", size)]
    if head[:1] != ["HAPLOID"] or len(sizes) != 2:
        raise MatrixError(
            "the line is not 'HAPLOID mutations cells'", path=path, line=1, hint="HAPLOID is all that is read"
        )
    rows = [line.split() for line in lines[1:]]
    cells = head[3:]
    named = bool(rows) and len(rows[0]) == sizes[1] + 1
    if len(rows) != sizes[0] or (cells and len(cells) != sizes[1]):
        raise MatrixError(
            f"{len(rows)} rows and {len(cells)} names of cells, "
            f"but the first line gives {sizes[0]} and {sizes[1]}",
            path=path,
        )
    values = [_values(row[named:], sizes[1], path, number) for number, row in enumerate(rows, 2)]
    if not rows or not sizes[1]:
        raise MatrixError("the file has no values", path=path)
    names = [row[0] for row in rows] if named else []
    return named_grid(values, names, cells)


def _values(row: list[str], size: int, path: str, line: int) -> list[int]:
    if len(row) != size:
        raise MatrixError(f"the row has {len(row)} values, not {size}", path=path, line=line)
    values = []
    for symbol in row:
        if not _PROBABILITY.fullmatch(symbol) or float(symbol) > 1:
            raise MatrixError(f"{excerpt(symbol)} is not a probability", path=path, line=line)
        wild = float(symbol)
        values.append(3 if wild == 0.5 else int(wild < 0.5))
    return values
