"""Changes of the shares of clones between specimens, or time points, with their table and words.

Of single clones, and of groups of clones that a specimen does not tell from each other, whose sum is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.joint_shares import (
    JointShare,
    group_name,
    interval_of,
    joined_groups,
    number_text,
    rounded,
    share_text,
)
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import JsonObject, listed, part_of

if TYPE_CHECKING:
    from syclade.host.data.input.metadata import CellLabels

__all__ = ["CHANGES", "Change", "Difference", "changes_between", "changes_table", "strongest"]

CHANGES = ("from", "to", "clone", "change", "low", "high", "grew", "identifiable")
"""Columns of clone_changes.tsv: names of two specimens, or of two time points, the earlier one first; number
of the clone; mean, and ends of the central 90 %, of the difference of its shares; probability that its share
is larger in the second; `no` if one of the two does not tell the clone from another one, else `yes`. Lines of
such clones together follow, with numbers such as 3+5: the sum of their shares is known."""

MOST_PAIRED = 6
"""Specimens without time points that are compared in pairs; of more, each is compared with the first."""

SURE = 0.95
"""Probability from which the terminal names a change."""

MOST_SHOWN = 3
"""Most changes that the terminal and the report show."""


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

    def to_dict(self) -> JsonObject:
        """Return the main numbers as plain values for JSON."""
        numbers = zip(self.groups, rounded(self.together.grew), rounded(self.together.mean), strict=True)
        groups: list[JsonObject] = [
            {"clones": list(group), "grew": grew, "change": change} for group, grew, change in numbers
        ]
        return {
            "from": self.first,
            "to": self.second,
            "grew": rounded(self.own.grew),
            "change": rounded(self.own.mean),
            **({"groups": groups} if groups else {}),
        }

    def words(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
        """Return the sure changes as a line of text.

        Args:
            first, second: float64, shape (clones,): mean shares before and after the change.
        """
        order = self.sure[np.argsort(-np.abs(self.own.mean[self.sure]), kind="stable")].tolist()
        names = [
            f"clone {clone} {share_text(first[clone])} to {share_text(second[clone])}" for clone in order
        ]
        found = f": {listed(names, 3)}" if names else ""
        both = "" if self.identifiable.all() else " that both tell"
        kinds = f"clone{both} changes", f"clones{both} change"
        changing = part_of(len(names), int(self.identifiable.sum()), *kinds)
        own = f"{changing} with a probability of at least {SURE}{found}"
        if not self.identifiable.any():
            own = "there is no clone that both tell"
        return f"{self.first} to {self.second}: {own}{_group_words(self, first, second)}"

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
    mean = change.mean(axis=0)
    low, high = interval_of(change, mean)
    grew = (change > 0.0).mean(axis=0) + 0.5 * (change == 0.0).mean(axis=0)  # no node is nearest: 0 to 0
    return Difference(mean, low, high, grew)


def strongest(changes: Sequence[Change]) -> list[Change]:
    """Return up to `MOST_SHOWN` changes, in their order: those with the largest sums of sure changes."""
    order = np.argsort(-np.array([one.moved for one in changes]), kind="stable")
    return [changes[at] for at in sorted(order[:MOST_SHOWN].tolist())]


def changes_table(changes: Iterable[Change], unions: Collection[int]) -> str:
    """Return the table of changes: tab-separated, a line with `CHANGES` first.

    Args:
        changes: the changes.
        unions: clones between whose mutations a claim is kept back: they have no intervals.
    """
    rows: list[tuple[object, ...]] = []
    for one in changes:
        own, together, identifiable = one.own, one.together, one.identifiable.tolist()
        rows += (
            (
                one.first,
                one.second,
                clone,
                number_text(own.mean[clone]),
                *("" if clone in unions else number_text(of[clone]) for of in (own.low, own.high)),
                number_text(own.grew[clone]),
                "yes" if identifiable[clone] else "no",
            )
            for clone in range(len(own.mean))
        )
        rows += (
            (one.first, one.second, group_name(group), *(number_text(of[at]) for of in together), "yes")
            for at, group in enumerate(one.groups)
        )
    return tsv_text(CHANGES, rows)


def _group_words(one: Change, first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
    """Return the sure changes of groups of clones as the end of a sentence.

    Args:
        one: the change.
        first, second: float64, shape (clones,): mean shares before and after it.
    """
    if not one.groups:
        return ""
    order = np.argsort(-np.abs(one.together.mean), kind="stable").tolist()
    some = [one.groups[at] for at in order if one.together.sure[at]]
    sums = [(first[list(group)].sum(), second[list(group)].sum()) for group in some]
    names = [
        f"clones {group_name(group)} {share_text(before)} to {share_text(after)}"
        for group, (before, after) in zip(some, sums, strict=True)
    ]
    kinds = (
        "group of clones that is known only together changes",
        "groups of clones that are known only together change",
    )
    changing = part_of(len(names), len(one.groups), *kinds)
    found = f": {listed(names, 3)}" if names else ""
    return f"; {changing}{found}"
