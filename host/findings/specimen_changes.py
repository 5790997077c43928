"""Changes of the shares of clones between specimens, or time points: of single clones, and of groups of
clones that a specimen does not tell from each other, whose sum is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.joint_shares import INTERVAL, JointShare, joined_groups

if TYPE_CHECKING:
    from syclade.host.data.input.metadata import CellLabels

__all__ = ["CHANGES", "SURE", "Change", "Difference", "changes_between"]

CHANGES = ("from", "to", "clone", "change", "low", "high", "grew", "identifiable")
"""Columns of clone_changes.tsv: names of two specimens, or of two time points, the earlier one first; number
of the clone; mean, and ends of the central 90 %, of the difference of its shares; probability that its share
is larger in the second; `no` if one of the two does not tell the clone from another one, else `yes`. Lines of
such clones together follow, with numbers such as 3+5: the sum of their shares is known."""

MOST_PAIRED = 6
"""Specimens without time points that are compared in pairs; of more, each is compared with the first."""

SURE = 0.95
"""Probability from which the terminal names a change."""


class Difference(NamedTuple):
    """Difference of shares between two specimens, or time points: float64, shape (clones,) or (groups,).

    Attributes:
        mean, low, high: mean, and ends of the central 90 %.
        grew: probability that the share is larger in the second.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    grew: NDArray[np.float64]

    @property
    def sure(self) -> NDArray[np.bool_]:
        """bool: changes with a probability of at least `SURE`."""
        return np.maximum(self.grew, 1.0 - self.grew) >= SURE


class Change(NamedTuple):
    """Change of the shares of clones from one specimen, or time point, to another.

    Attributes:
        first, second: their names, the earlier one first.
        own: differences of the shares of single clones.
        groups: groups of clones that one of the specimens does not tell from each other.
        together: differences of the sums of the shares of these.
    """

    first: str
    second: str
    own: Difference
    groups: tuple[tuple[int, ...], ...]
    together: Difference

    @property
    def identifiable(self) -> NDArray[np.bool_]:
        """bool, shape (clones,): whether all specimens of both tell the clone from all others."""
        found = np.ones(len(self.own.mean), dtype=np.bool_)
        found[[clone for group in self.groups for clone in group]] = False
        return found

    @property
    def sure(self) -> NDArray[np.int64]:
        """Numbers of the clones that both tell, and that change with a probability of at least `SURE`."""
        return np.flatnonzero(self.identifiable & self.own.sure)

    @property
    def moved(self) -> float:
        """Sum of the sure changes."""
        groups = np.abs(self.together.mean[self.together.sure]).sum()
        return float(np.abs(self.own.mean[self.sure]).sum() + groups)


def changes_between(
    shares: NDArray[np.float64], labels: CellLabels, joint: Sequence[Sequence[JointShare]]
) -> Iterable[Change]:
    """Yield the changes between specimens, or between time points: from each to the next, and from the first.

    Of several specimens of a time point, the mean counts.

    Args:
        shares: float64, shape (draws, specimens, clones).
        labels: the specimens.
        joint: for each specimen, the groups of clones that it does not tell from each other.
    """
    specimens: dict[str, list[int]] = {}
    for at, name in enumerate(labels.times or labels.specimens):
        specimens.setdefault(name, []).append(at)
    names = list(specimens)
    if labels.times:
        pairs = [*pairwise(names), *([(names[0], names[-1])] if len(names) > 2 else [])]
    elif len(names) <= MOST_PAIRED:
        pairs = list(combinations(names, 2))
    else:
        pairs = [(names[0], name) for name in names[1:]]
    for first, second in pairs:
        change = shares[:, specimens[second]].mean(axis=1) - shares[:, specimens[first]].mean(axis=1)
        of_both = (joint[at] for at in specimens[first] + specimens[second])
        groups = tuple(joined_groups(one.clones for of in of_both for one in of))
        sums = (
            np.array([change[:, group].sum(axis=1) for group in groups]).reshape(len(groups), len(shares)).T
        )
        sums = sums.round(12)  # a sum without change is one up to rounding errors
        yield Change(first, second, _difference(change), groups, _difference(sums))


def _difference(change: NDArray[np.float64]) -> Difference:
    """Return differences of draws of them: (draws, clones or groups)."""
    if not change.size:
        none = np.zeros(0)
        return Difference(none, none, none, none)
    low, high = np.quantile(change, INTERVAL, axis=0)
    grew = (change > 0.0).mean(axis=0) + 0.5 * (change == 0.0).mean(axis=0)  # no node is nearest: 0 to 0
    return Difference(change.mean(axis=0), low, high, grew)
