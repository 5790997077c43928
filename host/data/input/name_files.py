"""Name files beside a matrix in SCITE's format: `x.geneNames` and `x.cellNames` for `x.csv`."""

from __future__ import annotations

import logging
from pathlib import Path

from syclade.host.data.input.names import match_names, read_names
from syclade.host.ground.errors import MatrixError

__all__ = ["beside", "names_beside"]

logger = logging.getLogger("syclade.input")

_ENDINGS = {"mutation": ".geneNames", "cell": ".cellNames"}


def names_beside(path: Path, shape: tuple[int, ...], what: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the name file beside a matrix and its names, and log that they are used.

    A file whose names do not fit the matrix is ignored with a warning.

    Args:
        path: path of the matrix; it may end in `.gz`.
        shape: number of rows and columns of the matrix.
        what: "mutation" or "cell".

    Returns:
        The path of the file and the names; None if there is no usable file.
    """
    found = beside(path, what)
    if found is None:
        return None
    try:
        names = read_names(found, what)
        match_names(names, shape[0], shape[1], found, what)
    except MatrixError as error:
        logger.warning("%s: %s; the %ss are numbered", error.location(), error.message, what)
        return None
    logger.info("names of the %ss: %s", what, found)
    return str(found), names


def beside(path: Path, what: str) -> Path | None:
    """Return the name file beside a matrix; None if there is none.

    Args:
        path, what: as for `names_beside`.
    """
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    try:
        place = stem.with_suffix(_ENDINGS[what])
        return None if place == path or not place.is_file() else place
    except (OSError, ValueError):  # such as a name that is too long, or none
        return None
