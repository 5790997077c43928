"""Beginning of the report: three sentences, the order of named mutations, quality of mutations and cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.figures.posterior import relations_of
from syclade.host.data.model.reads import observed_states
from syclade.host.findings.consensus.evidence import CLAIMED
from syclade.host.findings.finding import SURE, Section, cut
from syclade.host.ground.values import counted, listed

if TYPE_CHECKING:
    from syclade.host.answer.figures.source import ResultFiles
    from syclade.host.answer.figures.style import DrawnClone, DrawnTree
    from syclade.host.answer.output.result import Result
    from syclade.host.findings.consensus.consensus import CloneConsensus

__all__ = ["highlighted", "quality_of", "sentences_of"]

_LESS = 0.01
"""Difference from which an order is called less sure than the clone."""

_FEW_CELLS = 10
"""Number of cells below which it is said that a probable order rests on them."""


def sentences_of(result: Result, files: ResultFiles) -> tuple[str, str, str]:
    """Return how many clones there are, how sure they are, and what not to conclude.

    Args:
        result: the result of an inference.
        files: its files.
    """
    tree = files.published
    clones = [clone for clone in tree.clones if clone.mutations]
    measured = set(files.measured)
    placed = sum(name in measured for clone in clones for name in clone.mutations)
    kind = "tree to publish" if tree.published else "most likely tree"
    number = counted(len(clones), "clone", "clones")
    everything = counted(len(measured), "mutation", "mutations")
    first = f"The {kind} has {number} with {placed} of the {everything}"
    if tree.unplaced:
        first += f"; the data do not place {listed(tree.unplaced, 3)}"
    return f"{first}.", _sureness(result, clones), _limits(result, tree, clones)


def _sureness(result: Result, clones: Sequence[DrawnClone]) -> str:
    """Return how sure the clones are."""
    consensus = result.consensus
    if consensus is None:
        what = "searches" if result.searches else "chains"
        return (
            f"How sure its clones are was not computed; {result.agreeing} of {result.run_count} {what} found "
            "a tree of this likelihood."
        )
    shares = consensus.support[1:]  # of all digits, which the files have not
    least = int(np.argmin(shares))
    sure = int((shares >= SURE).sum())
    if shares[least] > 0.995:
        each = "Its clone is" if len(shares) == 1 else f"Each of its {len(shares)} clones is"
        where = "all" if shares[least] == 1.0 else "more than 99% of the"
        words = f"{each} in {where} sampled trees"
    elif len(shares) == 1:
        words = f"Its clone is in {_percent(shares[least])} of the sampled trees"
    else:
        names = listed(clones[least].mutations, 3)
        words = f"{sure} of {len(shares)} clones are in at least {SURE:.0%} of the sampled trees"
        words += f", and the least sure one, clone {least + 1} ({names}), in {_percent(shares[least])}"
    words += " (some clone has exactly its mutations at it and below it)"
    words += _order_words(consensus)
    if result.support is not None and not result.support.enough:
        words += "; too few trees were sampled, so these shares are rough"
    return f"{words}."


def _order_words(consensus: CloneConsensus) -> str:
    """Return the order of a clone and its parent that is less sure than the clone itself, if any is."""
    doubt = consensus.support - consensus.descent
    if not (doubt > _LESS).any():
        return ""
    clone = int(np.nanargmax(doubt))
    return (
        f"; clone {consensus.tree.parents[clone]} came before clone {clone} in "
        f"{_percent(consensus.descent[clone])} of the sampled trees, though "
        f"{_percent(consensus.support[clone])} have clone {clone}"
    )


def _percent(share: float) -> str:
    """Return a share in per cent; shares that would round to 0 or 100 are not called so."""
    value = 100.0 * share
    if 0.0 < value < 0.5:
        return "less than 1%"
    return "more than 99%" if 99.5 <= value < 100.0 else f"{value:.0f}%"


def _limits(result: Result, tree: DrawnTree, clones: Sequence[DrawnClone]) -> str:
    """Return what not to conclude."""
    if not tree.published:
        return (
            "Do not take the order of the mutations as established: this is one tree of the highest "
            "likelihood that was found, and others may be nearly as likely."
        )
    several = [clone for clone in clones if len(clone.mutations) > 1]
    words = "Do not conclude "
    found = result.consensus
    if found is not None and found.contradictions:
        claims = [one.words(found.mutations, found.pair_counts) for one in found.contradictions]
        words += f"what the cells contradict: {listed(claims, 3)}; nor "
    if several:
        of = (
            f"clone {several[0].number}"
            if len(several) == 1
            else f"the {len(several)} clones that have several"
        )
        words += f"an order of the mutations within {of}, nor "
    placed = int((tree.cells >= 0).sum())
    kind = "" if placed == result.n_cells else "placed "
    cells = "the 1 cell" if placed == 1 else f"the {placed} {kind}cells"
    return f"{words}that a clone which no cell shows is absent: all shares are of {cells} here."


def highlighted(files: ResultFiles, names: Sequence[str], unknown: Sequence[str]) -> list[Section]:
    """Return sections on named mutations: their clones, and how probable each order of two of them is.

    Args:
        files: the files of the result.
        names: names of mutations.
        unknown: names that no mutation has, for a warning.
    """
    if not names and not unknown:
        return []
    tree = files.published
    clone_of = {name: at for at, clone in enumerate(tree.clones) for name in clone.mutations}
    warnings = (f"The matrix has no {listed(unknown, 12)}.",) if unknown else ()
    rows = []
    for name in names:
        at = clone_of.get(name)
        if at is None:
            rows.append((name, "not placed", "", ""))
            continue
        clone, carriers = tree.clones[at], _carriers(tree, at)
        support = "" if clone.support is None else f"{clone.support:.0%}"
        rows.append((name, "" if clone.number is None else str(clone.number), support, f"{carriers:.0%}"))
    head = (
        "mutation",
        "clone",
        "share of the sampled trees with the clone",
        "share of the cells that have it",
    )
    found = [Section("Named mutations", (), cut(head, rows) if rows else None, warnings)]
    placed = [name for name in names if name in clone_of]
    if len(placed) > 1 and files.table("relations.tsv") is not None:
        found.append(_orders(files, placed))
    return found


def _carriers(tree: DrawnTree, at: int) -> float:
    """Return the part of the cells that are in a clone or below it."""
    below = sum(clone.cells for clone, within in zip(tree.clones, tree.within[at], strict=True) if within)
    return below / max(sum(clone.cells for clone in tree.clones), 1e-9)


def _orders(files: ResultFiles, names: Sequence[str]) -> Section:
    """Return how probable each order of two mutations is."""
    known, before, apart = relations_of(files)
    place = {name: at for at, name in enumerate(known)}
    cells = _cells_of_pairs(files)
    rows: list[tuple[str, ...]] = []
    for first, second in combinations(names, 2):
        one, other = place[first], place[second]
        chances = {
            f"{first} before {second}": before[one, other],
            f"{second} before {first}": before[other, one],
            "on different branches": apart[one, other],
        }
        if np.isnan(before[one, other]):
            rows.append((first, second, "not in relations.tsv", "", "", "", ""))
            continue
        likeliest = max(chances, key=chances.__getitem__)
        alone, other_alone, both = cells[first, second]
        deciding = (alone, other_alone, min(alone, other_alone))[list(chances).index(likeliest)]
        words = f"{likeliest}: {chances[likeliest]:.0%}"
        if chances[likeliest] > CLAIMED and deciding < _FEW_CELLS:
            words += f", rests on {counted(deciding, 'cell', 'cells')}"
        shown = f"{alone} / {other_alone} / {both}"
        rows.append((first, second, words, *(f"{chance:.1%}" for chance in chances.values()), shown))
    words = "Shares of the sampled trees; relations.tsv has all pairs."
    head = (
        "first",
        "second",
        "most probable",
        "first before second",
        "second before first",
        "different branches",
        "cells with the first alone / the second alone / both",
    )
    return Section("Order of named mutations", (words,), cut(head, rows))


def _cells_of_pairs(files: ResultFiles) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return the cells of pairs in relations.tsv: with the first alone, with the second alone, with both."""
    names = ("first", "second", "first_only", "second_only", "both")
    columns = [files.column("relations.tsv", name) for name in names]
    found = {}
    for first, second, one, two, both in zip(*columns, strict=True):
        if second:
            found[first, second] = int(one), int(two), int(both)
            found[second, first] = int(two), int(one), int(both)
    return found


def quality_of(files: ResultFiles) -> list[Section]:
    """Return how complete the data of each mutation and cell are, and how often they contradict the tree.

    The worst come first. With evidence, an entry counts by what is more likely, as in evidence.tsv.

    Args:
        files: the files of the result, with its matrix.
    """
    tree, measured = files.published, files.measured
    values, has = (
        table[: len(measured)] for table in (observed_states(files.matrix), tree.genotypes(measured))
    )
    rows, columns = np.array([name not in tree.unplaced for name in measured]), tree.cells >= 0
    placed, seen = rows[:, None] & columns, (values == 1) | (values == 2)
    tables = (values == 3, seen, seen & ~has & placed, (values == 0) & has & placed)
    clone_of = {name: clone.number for clone in tree.clones for name in clone.mutations}
    numbers = [clone.number for clone in tree.clones]
    of_cells = [numbers[at] if at >= 0 else None for at in tree.cells.tolist()]
    mutations = _Quality("mutation", "cells", "cells with it", values.shape[1])
    cells = _Quality("cell", "mutations", "mutations seen", values.shape[0])
    of_rows, of_columns = ([table.sum(axis=axis) for table in tables] for axis in (1, 0))
    return [
        mutations.section(measured, [clone_of.get(name) for name in measured], rows, of_rows),
        cells.section(files.cells, of_cells, columns, of_columns),
    ]


class _Quality(NamedTuple):
    """Table of the quality of mutations, or of cells.

    Attributes:
        item, others: what a row is of, and what its entries are of, in the plural.
        seen: heading of the column of entries in which a mutation is seen.
        size: number of entries of a row.
    """

    item: str
    others: str
    seen: str
    size: int

    def section(
        self,
        names: Sequence[str],
        clones: Sequence[int | None],
        placed: NDArray[np.bool_],
        counts: Sequence[NDArray[np.int64]],
    ) -> Section:
        """Return the section of the report.

        Args:
            names, clones: of each row its name, and the number of its clone; None without a clone.
            placed: bool, shape (rows,): whether it is in the tree; the others come last.
            counts: int64, shape (rows,) each: entries that are missing, in which a mutation is seen, that
                are against the tree, and in the tree but not seen.
        """
        missing, _, wrong, missed = counts
        order = np.lexsort((np.arange(len(names)), -missing, -(wrong + missed), ~placed))
        rows = [
            self._row(names[at], clones[at], bool(placed[at]), [int(count[at]) for count in counts])
            for at in order.tolist()
        ]
        words = [
            f"{missing.sum() / max(1, self.size * len(names)):.1%} of all entries are missing.",
            "The rows that contradict the tree most come first.",
        ]
        if left_out := int((~placed).sum()):
            which = counted(left_out, f"{self.item} is", f"{self.item}s are")
            words.append(
                f"{which} not in this tree (see Unplaced) and last: there is nothing to compare with."
            )
        head = (self.item, "clone", f"missing {self.others}", self.seen, "against the tree",
                "in the tree, not seen")  # fmt: skip
        return Section(f"Quality of each {self.item}", tuple(words), cut(head, rows))

    def _row(self, name: str, clone: int | None, placed: bool, counts: Sequence[int]) -> tuple[str, ...]:
        missing, seen, *against = counts
        place, compared = "" if clone is None else str(clone), map(str, against) if placed else ("", "")
        return (name, place, f"{missing} ({missing / self.size:.0%})", str(seen), *compared)
