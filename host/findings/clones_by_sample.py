"""Clones by sample: the share of each clone in each specimen, and its changes between them; as a finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.finding import (
    CELLS,
    Column,
    Finding,
    Question,
    Section,
    cut,
    made_by_stage,
    sentence,
)
from syclade.host.findings.joint_shares import (
    DIGITS,
    JointShare,
    group_name,
    interval_of,
    joined_groups,
    joint_entries,
    joint_share,
    joint_shares,
    joint_warnings,
    number_text,
    per_cent_text,
    rounded,
    unmeasured_cells,
)
from syclade.host.findings.specimen_changes import Change, changes_between, changes_table, strongest
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import is_given
from syclade.host.ground.values import JsonObject, counted, freeze_arrays, listed, short_repr

if TYPE_CHECKING:
    from syclade.host.data.input.metadata import CellLabels
    from syclade.host.findings.consensus.finding import PublishedTree
    from syclade.host.findings.specimen_shares import ShareDraws
    from syclade.host.ground.atomic import Content

__all__ = ["CLONES_BY_SAMPLE", "FILES", "ClonesBySample", "ClonesBySampleFinding", "summarised"]

FILES = ("clones_by_sample.tsv", "clone_changes.tsv")
"""Names of the files."""

SHARES = ("sample", "time", "clone", "cells", "share", "low", "high", "identifiable", "mutations")
"""Columns of clones_by_sample.tsv: names of the specimen, and of its time point if there are any; number of
the clone, 0 for the root; expected number of its own cells in the specimen (a doublet is two); mean, and ends
of the central 90 %, of its share of the tissue that the specimen is from; `no` if the specimen did not
measure what tells the clone from another one, else `yes`; names of its mutations. A clone between whose
mutations a claim is kept back has no interval, as in clones.tsv: its cells need not have all of them."""

JOINT = ("joint", "joint_share", "joint_low", "joint_high")
"""Last columns if a specimen does not tell some clones from each other: all clones of such a group, such as
3+5; mean, and ends of the central 90 %, of their share together."""

NOT_IDENTIFIABLE = "not identifiable"
"""Text of the report in place of numbers that follow from the prior."""


@dataclass(frozen=True, eq=False)
class ClonesBySample:
    """Shares of the clones of a tree in specimens.

    Attributes:
        samples: names of the specimens.
        times: time point of each; empty without them.
        order: order of the specimens as text.
        mutations: names of the mutations of each clone; clone 0 is the root, which has none.
        parents: int32, shape (clones,): parent of each clone; the root is its own.
        cells_of: int64, shape (specimens,): number of cells.
        cells: float64, shape (specimens, clones): expected number of cells; a doublet is two.
        share, low, high: float64, of the same shape: mean, and ends of the central 90 %, of the share of the
            tissue that the specimen is from.
        changes: changes from specimen to specimen, or from time point to time point.
        without: number of placed cells without a specimen.
        unmeasured: for each specimen, the mutations that none of its cells, or hardly any, has a value of,
            with the number of cells that do.
        joint: for each specimen, the groups of clones that it does not tell from each other.
        unions: clones between whose mutations a claim is kept back: they have no intervals.
        groups: shares in each specimen of the groups of clones of `changes`, and of all specimens, by their
            numbers.
    """

    samples: tuple[str, ...]
    times: tuple[str, ...]
    order: str
    mutations: tuple[tuple[str, ...], ...]
    parents: NDArray[np.int32]
    cells_of: NDArray[np.int64]
    cells: NDArray[np.float64]
    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    changes: tuple[Change, ...]
    without: int
    unmeasured: tuple[dict[str, int], ...]
    joint: tuple[tuple[JointShare, ...], ...]
    unions: frozenset[int] = frozenset()
    groups: Mapping[tuple[int, ...], tuple[JointShare, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        freeze_arrays(self, ("parents", "cells_of", "cells", "share", "low", "high"))

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def identifiable(self) -> NDArray[np.bool_]:
        """bool, shape (specimens, clones): whether the specimen tells the clone from all others."""
        found = np.ones(self.share.shape, dtype=np.bool_)
        for at, groups in enumerate(self.joint):
            found[at, [clone for one in groups for clone in one.clones]] = False
        return found

    def to_table(self) -> str:
        """Return the table of specimens and clones: `SHARES` first, without `time` if there is none.

        With clones that a specimen does not tell from each other, `JOINT` follow.
        """
        from syclade.host.findings.consensus.tables import separator_of

        bar, identifiable = (
            separator_of([name for names in self.mutations for name in names]),
            self.identifiable,
        )
        heads = [(name, *self.times[at : at + 1]) for at, name in enumerate(self.samples)]
        rows = (
            (
                *head,
                clone,
                *(number_text(of[at, clone]) for of in (self.cells, self.share)),
                *(self._end(of[at], clone) for of in (self.low, self.high)),
                "yes" if identifiable[at, clone] else "no",
                bar.join(names),
                *(joint_entries(self.joint[at], clone) if any(self.joint) else ()),
            )
            for at, head in enumerate(heads)
            for clone, names in enumerate(self.mutations)
        )
        names = [name for name in SHARES if self.times or name != "time"]
        return tsv_text([*names, *(JOINT if any(self.joint) else ())], rows)

    def _end(self, ends: NDArray[np.float64], clone: int) -> str:
        """Return an end of a clone's interval as text; empty for a union of mutations."""
        return "" if clone in self.unions else number_text(ends[clone])

    def _ends(self, ends: NDArray[np.float64]) -> list[list[float | None]]:
        """Return ends of intervals as plain values, by specimen and clone; None for a union of mutations."""
        return [
            [None if clone in self.unions else value for clone, value in enumerate(row)]
            for row in ends.round(DIGITS).tolist()
        ]

    def to_dict(self) -> JsonObject:
        """Return the main numbers as plain values for JSON."""
        joint = zip(self.samples, self.joint, strict=True)
        return {
            "samples": list(self.samples),
            "times": list(self.times),
            "cells_of": self.cells_of.tolist(),
            "without_sample": self.without,
            "cells": rounded(self.cells),
            "share": rounded(self.share),
            "low": self._ends(self.low + 0.0),
            "high": self._ends(self.high + 0.0),
            "changes": [one.to_dict() for one in self.changes],
            **(
                {"unmeasured": dict(zip(self.samples, self.unmeasured, strict=True))}
                if any(self.unmeasured)
                else {}
            ),
            **(
                {"joint": {name: [one.to_dict() for one in of] for name, of in joint if of}}
                if any(self.joint)
                else {}
            ),
        }

    @property
    def warnings(self) -> list[str]:
        """For each specimen: mutations that it did not measure, and the clones that it does not tell.

        Then that rates are of all cells: a missing value tells the specimen, and so something of the clone.
        """
        found = []
        for at, unmeasured in enumerate(self.unmeasured):
            if not unmeasured:
                continue
            cells = [f"{name} in {cells}" for name, cells in unmeasured.items()]
            message = (
                f"sample {self.samples[at]} did not measure {counted(len(cells), 'mutation', 'mutations')} "
                f"(of its {self.cells_of[at]} cells, these have a value: {listed(cells)})"
            )
            found.append("; ".join([message, *joint_warnings("it does", self.joint[at])]))
        if found:
            found.append(
                "samples did not measure the same mutations: estimates of error rates, and advice on given "
                "ones, take all cells as of one mixture of clones, and can be far off; give rates that a "
                "sample with values of all mutations tells"
            )
        return found

    @property
    def words(self) -> list[str]:
        """Lines of text: the specimens, and the clones that change between them."""
        sizes = [f"{name} {size}" for name, size in zip(self.samples, self.cells_of.tolist(), strict=True)]
        without = f"; {counted(self.without, 'cell', 'cells')} without a sample" if self.without else ""
        lines = [
            f"clones by sample: {counted(len(sizes), 'sample', 'samples')}, {self.order} "
            f"({listed(sizes)} {'cell' if self.cells_of.tolist() == [1] else 'cells'}{without})"
        ]
        shown = strongest(self.changes)
        lines += [one.words(*map(self._mean_share, (one.first, one.second))) for one in shown]
        if others := len(self.changes) - len(shown):
            changed = sum(one.moved > 0.0 for one in self.changes) - sum(one.moved > 0.0 for one in shown)
            lines.append(
                f"{FILES[1]} has {counted(others, 'other pair', 'other pairs')} of "
                f"{'time points' if self.times else 'samples'}, {changed or 'none'} of them with "
                "such a change"
            )
        return lines

    def _mean_share(self, name: str) -> NDArray[np.float64]:
        """Return the mean shares of the clones in the specimens of a name, or of a time point."""
        return np.asarray(self.share[[one == name for one in self.times or self.samples]].mean(axis=0))


def summarised(
    draws: ShareDraws, published: PublishedTree, labels: CellLabels, specimen_of: NDArray[np.int64]
) -> ClonesBySample:
    """Return the shares of clones, of draws of them.

    Args:
        draws: draws from the posterior.
        published: the clone tree, with the names of its mutations.
        labels: the specimens.
        specimen_of: int64: specimen of each placed cell, -1 for none.
    """
    tree, mutations = published.tree, published.mutations
    share = draws.shares.mean(axis=0)
    low, high = interval_of(draws.shares, share)
    silent = unmeasured_cells(published.gains, specimen_of, len(labels.specimens))
    joint = [
        joint_shares(tree, own >= 0, draws.shares[:, at], published.unions) for at, own in enumerate(silent)
    ]
    changes = tuple(changes_between(draws.shares, labels, joint))
    of_all = joined_groups(one.clones for of in joint for one in of)
    together = sorted({*of_all, *(group for one in changes for group in one.groups)})
    return ClonesBySample(
        samples=labels.specimens,
        times=labels.times,
        order=labels.order,
        mutations=tuple(tuple(mutations[one] for one in members) for members in tree.members),
        parents=tree.parents,
        cells_of=np.bincount(specimen_of[specimen_of >= 0], minlength=len(labels.specimens)),
        cells=draws.cells,
        share=share,
        low=low,
        high=high,
        changes=changes,
        groups={group: _share_of(group, draws) for group in together},
        without=int((specimen_of < 0).sum()),
        unmeasured=tuple(
            {mutations[row]: int(own[row]) for row in np.flatnonzero(own >= 0).tolist()} for own in silent
        ),
        joint=tuple(joint),
        unions=published.unions,
    )


def _share_of(group: tuple[int, ...], draws: ShareDraws) -> tuple[JointShare, ...]:
    """Return the share of the clones of a group together in each specimen."""
    return tuple(joint_share(group, draws.shares[:, at]) for at in range(draws.shares.shape[1]))


@dataclass(frozen=True, eq=False, repr=False)
class ClonesBySampleFinding(Finding):
    """Shares of clones in specimens."""

    name = "clones_by_sample"
    found: ClonesBySample
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels of all cells."""
    given: bool = True
    """Origin of the labels: a table, or else the matrix."""

    def files(self) -> dict[str, Content]:
        """Return the tables of shares, and of changes if there are any."""
        found = self.found
        texts = (found.to_table(), changes_table(found.changes, found.unions))
        return dict(zip(FILES, texts if found.changes else texts[:1], strict=False))

    def summary(self) -> JsonObject:
        """Return specimens, shares and changes."""
        return {"clones_by_sample": self.found.to_dict()}

    @property
    def lines(self) -> list[str]:
        """Numbers of cells, and the clones that change."""
        return self.found.words

    @property
    def warnings(self) -> list[str]:
        """Mutations that a specimen did not measure."""
        return self.found.warnings

    def section(self) -> Section:
        """Return the share of each clone in each specimen, and how probable it is that it grew."""
        found, changes = self.found, strongest(self.found.changes)
        rows = [
            (
                str(clone),
                ", ".join(names),
                *(self._shown(at, clone) for at in range(len(found.samples))),
                *(
                    number_text(float(one.own.grew[clone])) if one.identifiable[clone] else NOT_IDENTIFIABLE
                    for one in changes
                ),
            )
            for clone, names in enumerate(found.mutations)
        ]
        for group, shares in found.groups.items():
            grew_of = [dict(zip(one.groups, one.together.grew.tolist(), strict=True)) for one in changes]
            rows.append(
                (
                    group_name(group),
                    "together",
                    *(_per_cent(*one[1:]) for one in shares),
                    *(number_text(of[group]) if group in of else "" for of in grew_of),
                )
            )
        grew = (f"probability that it grew, {one.first} to {one.second}" for one in changes)
        head = ("clone", "mutations", *found.samples, *grew)
        words = (
            *map(sentence, found.words),
            "Numbers are shares of the tissue in per cent, with the central 90 % of what the cells and the "
            "sampled trees leave open.",
        )
        warnings = tuple(map(sentence, found.warnings))
        return Section("Clones by sample", words, cut(head, rows), warnings)

    def columns(self) -> list[Column]:
        """Return the labels of the cells."""
        origin: Literal["table", "matrix"] = "table" if self.given else "matrix"
        return [
            Column(CELLS, name, [text or None for text in texts], sorted({*texts} - {""}), origin)
            for name, texts in self.labels.items()
        ]

    def _shown(self, sample: int, clone: int) -> str:
        """Return a share with its interval, in per cent."""
        found = self.found
        share, low, high = (of[sample, clone] for of in (found.share, found.low, found.high))
        if not found.identifiable[sample, clone]:
            return f"{NOT_IDENTIFIABLE} ({per_cent_text(low)} to {per_cent_text(high)})"
        return per_cent_text(share) if clone in found.unions else _per_cent(share, low, high)


def _per_cent(share: float, low: float, high: float) -> str:
    """Return a share with its interval as text, in per cent."""
    return f"{per_cent_text(share)} ({per_cent_text(low)} to {per_cent_text(high)})"


def _names(question: Question) -> Iterable[str]:
    options = ("metadata", "sample_column", "time_column")
    return FILES if any(is_given(question.options, name) for name in options) else ()


CLONES_BY_SAMPLE = made_by_stage(ClonesBySampleFinding, _names)
