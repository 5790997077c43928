"""Doublets of a tree's cells, as a finding; genotypes of cells that may be doublets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.doublet_fit import best_share
from syclade.host.data.model.doublets import Mixture, apart_share
from syclade.host.findings.consensus.finding import ConsensusFinding
from syclade.host.findings.finding import (
    CELLS,
    Column,
    Finding,
    FindingKind,
    Section,
    cut,
    no_files,
    sentence,
)
from syclade.host.ground.options import flag_of
from syclade.host.ground.options.types import ALL_MUTATIONS, LEARN
from syclade.host.ground.values import JsonObject, counted

if TYPE_CHECKING:
    from syclade.host.data.model.doublets import Doublets as Calls
    from syclade.host.findings.finding import Draft
    from syclade.host.findings.kinds import Tree, TreeKind

__all__ = ["DOUBLETS", "LIKELY", "DoubletsFinding", "genotypes_of"]

LIKELY = 0.5
"""Probability above which a cell is called a doublet."""

_EVIDENT, _FACTOR = 8.0, 1.5
"""Difference of log-likelihoods, and quotient of the rates, from which the cells contradict a given rate."""

_LEAST, _HALF = -700.0, 0.5
"""Lowest log-likelihood, and the number of doublets and of single cells that an estimate adds."""

_QUANTILE = 1.645
"""Standard deviations from the middle of a normal distribution to the ends of its central 90 %."""

_LARGEST = 0.3
"""Rate of doublets that instruments hardly exceed."""

_FEWEST_SEEN = 0.5
"""Expected number of doublets of two branches below which none is seen."""


_GIVEN, _LEARNED_WITH_TREE = "given", "learned with the tree"
"""Where a rate is from."""


@dataclass(frozen=True, eq=False, repr=False)
class DoubletsFinding(Finding):
    """Cells that may be two of the tree's clones together.

    Attributes:
        calls: probability of each cell of being one, and its likeliest pair of nodes.
        cells: names of the cells.
        labels: labels of the nodes.
        origin: where the rate is from, such as given.
        better: the rate that explains the cells better, if they contradict the given one; None if not.
        on_clones: float64, shape (placed cells,): probabilities on the clones of a consensus that leaves out
            mutations (`cells.tsv`); None where it has all of them.
        testable: whether all mutations can be tested for recurrence.
    """

    name = "doublets"
    calls: Calls
    cells: tuple[str, ...]
    labels: list[str]
    origin: str
    better: float | None = None
    on_clones: NDArray[np.float64] | None = None
    testable: bool = True

    def summary(self) -> JsonObject:
        """Return rate, expected number and calls."""
        return {"doublets": self.calls.to_dict()}

    @property
    def likely(self) -> NDArray[np.int64]:
        """int64: cells that are more likely a doublet than not, the likeliest first."""
        found = np.flatnonzero(self.calls.probability > LIKELY)
        return found[np.argsort(-self.calls.probability[found], kind="stable")]

    @property
    def lines(self) -> list[str]:
        """Expected and likely doublets."""
        likely = counted(len(self.likely), "cell", "cells")
        low, high = _interval(self.calls.probability)
        words = (
            f"{self.calls.expected:.1f} doublets expected (90 %: {low:.0f} to {high:.0f}), {likely} more "
            "likely one than not"
        )
        return [words if self.on_clones is None else f"{words}, by all mutations; {self._words_on_clones}"]

    @property
    def _words_on_clones(self) -> str:
        """Numbers of doublets on the clones of the consensus as text."""
        assert self.on_clones is not None
        likely = counted(int((self.on_clones > LIKELY).sum()), "cell", "cells")
        return (
            f"{self.on_clones.sum():.1f} expected and {likely} by those of the consensus, which leaves some "
            "out (cells.tsv)"
        )

    @property
    def warnings(self) -> list[str]:
        """A given rate that the cells contradict; a number of doublets that follows from their rate alone."""
        if self.better is not None:
            return [self._contradiction(self.better)]
        if self.origin != _GIVEN and self.calls.rate > _LARGEST:
            deep = ", and so do cells deep in the tree, since all nodes are equally probable"
            return [
                f"{flag_of('doublets', f'{self.calls.rate:.2g}')}, {self.origin}, is more than instruments "
                f"make: {self._like_doublets}{deep if self.origin == _LEARNED_WITH_TREE else ''}"
            ]
        if self.calls.expected < 1.0 or self.calls.relevant_rate * len(self.cells) >= _FEWEST_SEEN:
            return []
        return [
            f"hardly any of the {self.calls.expected:.1f} expected doublets would be of two branches of the "
            "tree, and others cannot be seen: their number follows from their rate, not from the cells"
        ]

    def _contradiction(self, better: float) -> str:
        """Return what the cells say against a given rate, as text."""
        given = flag_of("doublets", f"{self.calls.rate:g}")
        if better > _LARGEST and better > self.calls.rate:
            return (
                f"the matrix contradicts {given}: more cells are of two branches than doublets of any "
                f"instrument are: {self._like_doublets}"
            )
        return (
            f"the matrix contradicts {given}: {'fewer' if better < self.calls.rate else 'more'} cells are of "
            f"two branches ({better:.2g} fits this tree better, which was found with the given rate): infer "
            f"again with {flag_of('doublets', LEARN)}"
        )

    @property
    def _like_doublets(self) -> str:
        """Other reasons for cells of two branches, as text."""
        test = f" ({flag_of('recurrent', ALL_MUTATIONS)} tests them)" if self.testable else ""
        return f"mutations that occurred twice, or were lost, look like doublets, too{test}"

    def section(self) -> Section:
        """Return rate, expected number, and the likely doublets."""
        calls = self.calls
        rows = [
            (
                self.cells[cell],
                f"{calls.probability[cell]:.3f}",
                self.labels[calls.first[cell]],
                self.labels[calls.second[cell]],
            )
            for cell in self.likely.tolist()
        ]
        words: tuple[str, ...] = (
            f"Rate of doublets: {calls.rate:.4g} ({self.origin}). {self._expected} {len(rows)} "
            f"{'is' if len(rows) == 1 else 'are'} more likely one than not.",
            "A doublet of two cells of one lineage cannot be seen: its mutations are those of the cell with "
            f"more of them. Doublets of two branches are {calls.relevant_rate:.2%} of the cells.",
        )
        if self.on_clones is not None:
            words = (*words, sentence(f"these are by all mutations; {self._words_on_clones}"))
        table = cut(("cell", "P(doublet)", "first node", "second node"), rows)
        return Section("Doublets", words, table, tuple(map(sentence, self.warnings)))

    @property
    def _expected(self) -> str:
        """The expected number with its interval as text."""
        cells = len(self.cells)
        low, high = _interval(self.calls.probability)
        return (
            f"Given this rate and this tree, {self.calls.expected:.1f} of {cells} cells are expected to be "
            f"doublets ({self.calls.expected / cells:.1%}; 90 %: {low:.0f} to {high:.0f} cells);"
        )

    def columns(self) -> list[Column]:
        """Return the probability of being a doublet, and the nodes of the likeliest pair."""
        pairs = (("doublet_first", self.calls.first), ("doublet_second", self.calls.second))
        return [
            Column(CELLS, "doublet", self.calls.probability),
            *(
                Column(CELLS, name, [self.labels[node] for node in nodes], self.labels)
                for name, nodes in pairs
            ),
        ]


def _interval(chances: NDArray[np.float64]) -> tuple[float, float]:
    """Return the central 90 % of the number of doublets, which are independent, given tree and rate."""
    expected, half = float(chances.sum()), _QUANTILE * float(np.sqrt((chances * (1.0 - chances)).sum()))
    return max(0.0, expected - half), min(float(len(chances)), expected + half)


def genotypes_of(kind: TreeKind, tree: Tree) -> NDArray[np.bool_]:
    """Return the mutations of each cell: bool, shape (n, cells); of a likely doublet, those of both nodes."""
    calls = tree.assignment.doublets
    if calls is None:
        return kind.genotypes(tree)
    first, second = (
        kind.genotypes(replace(tree, assignment=replace(tree.assignment, node=node)))
        for node in (calls.first, calls.second)
    )
    return np.where(calls.probability > LIKELY, first | second, kind.genotypes(tree))


def better_rate(calls: Calls, parents: NDArray[np.int32], node: NDArray[np.int32]) -> float | None:
    """Return the rate of doublets that explains the cells, if they contradict the rate of the calls.

    Doublets of two branches alone count: others look like single cells.

    Args:
        calls: the calls.
        parents: the tree.
        node: int32: the best node of each cell, by which shares of the nodes are known.
    """
    if calls.branches is None or not 0.0 < calls.prior < 1.0:
        return None
    apart = apart_share(parents, np.bincount(node, minlength=len(parents)) / len(node))
    if not 0.0 < apart * calls.rate < 1.0:
        return None
    with np.errstate(divide="ignore"):
        single = np.log1p(-np.minimum(calls.branches, 1.0)) - np.log1p(-calls.prior)
        pair = np.log(calls.branches) - np.log(calls.prior)
    mixture = Mixture(np.maximum(single, _LEAST), np.maximum(pair, _LEAST), pair)
    share = best_share(mixture, _HALF, _HALF)
    gain = float((mixture.log_likelihoods(share) - mixture.log_likelihoods(apart * calls.rate)).sum())
    better = min(1.0, share / apart)
    quotient = max(better / calls.rate, calls.rate / better)
    return better if gain > _EVIDENT and quotient > _FACTOR else None


def _make(draft: Draft) -> DoubletsFinding | None:
    best = draft.best
    if best.assignment.doublets is None:
        return None
    origin = _GIVEN
    if "doublets" in (best.learned or {}):
        origin = _LEARNED_WITH_TREE
    elif "doublets" in draft.estimated:
        origin = "estimated from the matrix, by the best tree"
    calls, node = best.assignment.doublets, best.assignment.node
    better = better_rate(calls, best.parents, node) if origin == _GIVEN else None
    on_clones, found = None, draft.get(ConsensusFinding)
    if found is not None and (of_clones := found.consensus.cells.doublets) is not None:
        unplaced = found.consensus.unplaced
        if len(unplaced.mutations) > len(unplaced.silent.mutations):  # others say nothing of doublets
            on_clones = of_clones.probability
    return DoubletsFinding(calls, best.cells, best.labels, origin, better, on_clones, best.testable)


DOUBLETS = FindingKind(DoubletsFinding.name, _make, no_files)
