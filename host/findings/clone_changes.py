"""Changes of the shares of clones between specimens, or between time points."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from syclade.host.data.input.metadata import CellLabels

__all__ = ["CHANGES", "INTERVAL", "SURE", "Change", "changes_between"]

CHANGES = ("from", "to", "clone", "change", "low", "high", "grew", "identifiable")
"""Columns of clone_changes.tsv: names of two specimens, or of two time points, the earlier one first; number
of the clone; mean, and ends of the central 90 %, of the difference of its shares; probability that its share
is larger in the second; `no` if one of the two does not tell the clone from another one, else `yes`."""

INTERVAL = (0.05, 0.95)
"""Quantiles at the ends of an interval."""

MOST_PAIRED = 6
"""Specimens without time points that are compared in pairs; of more, each is compared with the first."""

SURE = 0.95
"""Probability from which the terminal names a change."""


class Change(NamedTuple):
    """Change of the shares of clones from one specimen, or time point, to another.

    Attributes:
        first, second: their names, the earlier one first.
        mean, low, high: float64, shape (clones,): mean, and ends of the central 90 %, of the differences.
        grew: float64, shape (clones,): probability that the share is larger in the second.
        identifiable: bool, shape (clones,): whether all specimens of both tell the clone from all others.
    """

    first: str
    second: str
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    grew: NDArray[np.float64]
    identifiable: NDArray[np.bool_]

    @property
    def sure(self) -> NDArray[np.int64]:
        """Numbers of the clones that both tell, and that change with a probability of at least `SURE`."""
        return np.flatnonzero(self.identifiable & (np.maximum(self.grew, 1.0 - self.grew) >= SURE))


def changes_between(
    shares: NDArray[np.float64], labels: CellLabels, identifiable: NDArray[np.bool_]
) -> Iterable[Change]:
    """Yield the changes between specimens, or between time points: from each to the next, and from the first.

    Of several specimens of a time point, the mean counts.

    Args:
        shares: float64, shape (draws, specimens, clones).
        labels: the specimens.
        identifiable: bool, shape (specimens, clones): whether each tells the clone from all others.
    """
    groups: dict[str, list[int]] = {}
    for at, name in enumerate(labels.times or labels.specimens):
        groups.setdefault(name, []).append(at)
    names = list(groups)
    if labels.times:
        pairs = [*pairwise(names), *([(names[0], names[-1])] if len(names) > 2 else [])]
    elif len(names) <= MOST_PAIRED:
        pairs = list(combinations(names, 2))
    else:
        pairs = [(names[0], name) for name in names[1:]]
    for first, second in pairs:
        change = shares[:, groups[second]].mean(axis=1) - shares[:, groups[first]].mean(axis=1)
        low, high = np.quantile(change, INTERVAL, axis=0)
        grew = (change > 0.0).mean(axis=0) + 0.5 * (change == 0.0).mean(axis=0)  # no node is nearest: 0 to 0
        both = identifiable[groups[first] + groups[second]].all(axis=0)
        yield Change(first, second, change.mean(axis=0), low, high, grew, both)
