"""Support of the most likely tree as a finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.dropout import FILE as DROPOUT_FILE
from syclade.host.data.trees.tree import node_labels
from syclade.host.findings.finding import (
    CELLS,
    MUTATIONS,
    RESULT,
    CloneShares,
    Column,
    Finding,
    Question,
    Section,
    cut,
    made_by_stage,
    sentence,
)
from syclade.host.ground.options.types import SHARED_DROPOUT
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.data.trees.cells import Clone
    from syclade.host.findings.support.value import Support
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content

__all__ = ["SUPPORT", "SupportFinding"]


@dataclass(frozen=True, eq=False, repr=False)
class SupportFinding(Finding):
    """Probabilities of the edges, clades and cells of the most likely tree.

    Attributes:
        support: the probabilities.
        parents: int32, shape (n + 1,): the tree.
        mutations: names of the mutations.
    """

    name = "support"
    support: Support
    parents: NDArray[np.int32]
    mutations: tuple[str, ...]

    def files(self) -> dict[str, Content]:
        """Return support.tsv and support.nhx; dropout.tsv if rates of false negatives differ."""
        return self.support.files(self.parents, self.mutations)

    def summary(self) -> JsonObject:
        """Return numbers and diagnostics."""
        return {"support": self.support.to_dict()}

    @property
    def lines(self) -> list[str]:
        """Number of sure edges, clades and cells; the range of dropout."""
        found = self.support
        lines = [f"{found.words} ({found.seconds:.2f} s)"]
        return lines if found.dropout is None else [*lines, found.dropout.words]

    @property
    def warnings(self) -> list[str]:
        """Messages: where the tree claims more than the samples support, and whether these are too few."""
        return self.support.warnings

    def section(self) -> Section:
        """Return the edges, the least sure first."""
        found, labels = self.support, node_labels(self.mutations)
        above, edges, clades = found.unplaced.parents_of(self.parents), found.edges, found.clades
        placed = found.unplaced.placed_mutations(len(edges)).tolist()
        own = () if found.dropout is None else found.dropout.fn_rates.tolist()
        rows: list[tuple[str, ...]] = [
            (
                labels[node],
                labels[above[node]],
                f"{edges[node]:.2f}",
                f"{clades[node]:.2f}",
                f"{found.transfer[node]:.2f}",
                *((f"{own[node]:.3f}",) if own else ()),
            )
            for node in sorted(placed, key=lambda node: (edges[node], clades[node], node))
        ]
        chains, samples = found.sampled.log_likelihoods.shape
        words: tuple[str, ...] = (
            sentence(found.words),
            f"Shares of {chains * samples} trees, sampled by {chains} chains after the search. The least "
            f"sure edges come first; {found.unsure} of {found.placed} are in fewer than half of these trees. "
            "P(clade): a node has the same mutations at and below it, in whatever order.",
        )
        if found.rates is not None:
            words += tuple(
                f"{name} over the sampled trees: {one.words}." for name, one in found.rates.intervals.items()
            )
        head: tuple[str, ...] = (
            "mutation",
            "parent",
            "P(parent)",
            "P(clade)",
            "transfer support of the clade",
        )
        if found.dropout is not None:
            words += (sentence(found.dropout.words),)
            head = (*head, "false negatives")
        return Section("Support", words, cut(head, rows), tuple(found.warnings))

    def clone_shares(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> CloneShares:
        """Return the share of the samples with each clone's clade: that of its first placed mutation."""
        first = [unplaced.first_placed(clone.mutations) for clone in clones]
        clades = self.support.clades
        return CloneShares(
            [None if one is None else float(clades[one]) for one in first], "the sampled trees"
        )

    def columns(self) -> list[Column]:
        """Return each cell's support, that of each mutation's parent and clade, and the mean of the edges."""
        sure = self.support.certainty
        return [
            *([] if sure is None else [Column(RESULT, "certainty", [sure])]),
            Column(CELLS, "support", self.support.cells),
            Column(MUTATIONS, "p_parent", self.support.edges),
            Column(MUTATIONS, "p_clade", self.support.clades),
        ]


def _names(question: Question) -> Iterable[str]:
    if question.support == "none":
        return ()
    from syclade.host.findings.support.value import FILES

    # With auto, dropout.tsv is written if the data show that dropout differs.
    return FILES if question.options.dropout == SHARED_DROPOUT else (*FILES, DROPOUT_FILE)


SUPPORT = made_by_stage(SupportFinding, _names)
