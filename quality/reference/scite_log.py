"""Score at the end of SCITE's standard output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from syclade.quality.reference.folder import ReferenceFolderError

__all__ = ["LoggedScore", "logged_score"]

# Output format of findBestTrees.cpp: "best log score for tree:", a tab, the number.
_LINE = re.compile(r"^best log score for tree:\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class LoggedScore:
    """A log-likelihood as printed.

    Attributes:
        value: the printed log-likelihood in nats.
        half_unit: half a unit of the last printed digit: the largest rounding error.
    """

    value: float
    half_unit: float


def logged_score(log: Path) -> LoggedScore:
    """Return the score of SCITE's best tree.

    Raises:
        ReferenceFolderError: the file cannot be read, or has no such line: SCITE did not finish.
    """
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise ReferenceFolderError(f"{log} cannot be read: {problem.strerror or problem}") from problem
    found = _LINE.findall(text)
    if not found:
        raise ReferenceFolderError(
            f"{log} has no line 'best log score for tree:' with a number",
            hint="SCITE did not finish, or this is not its standard output",
        )
    printed = Decimal(found[-1])
    exponent = printed.as_tuple().exponent
    assert isinstance(exponent, int)  # the pattern excludes NaN
    return LoggedScore(float(printed), 0.5 * 10.0**exponent)
