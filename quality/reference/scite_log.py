"""The score that SCITE's standard output ends with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from syclade.quality.reference.folder import ReferenceFolderError

__all__ = ["LoggedScore", "logged_score"]

# As findBestTrees.cpp's output looks: "best log score for tree:", a tab, the number.
_LINE = re.compile(r"^best log score for tree:\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class LoggedScore:
    """A log-likelihood as it was printed.

    Attributes:
        value: nats.
        half_unit: half a unit of the last digit that was printed: how far the number itself may be away.
    """

    value: float
    half_unit: float


def logged_score(log: Path) -> LoggedScore:
    """The score of SCITE's best tree.

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
    assert isinstance(exponent, int)  # the pattern lets no NaN through
    return LoggedScore(float(printed), 0.5 * 10.0**exponent)
