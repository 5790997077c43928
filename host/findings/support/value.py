"""Support of an inferred tree: probabilities of its edges, clades and attachments, from sampled trees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.diagnostics import ROUGH, Kept, PairSizes
from syclade.host.data.model.doublets import Doublets
from syclade.host.data.model.dropout import EVIDENT, Dropout, log_bayes_factor
from syclade.host.data.model.dropout import FILE as DROPOUT_FILE
from syclade.host.data.model.rate_posterior import RatePosterior
from syclade.host.data.trees.newick import newick_of
from syclade.host.data.trees.tree import children, node_labels
from syclade.host.findings.finding import SURE
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.host.findings.support.rounds import ERROR, error_of
from syclade.host.findings.unplaced import KEPT_BACK, PLACE, UNOBSERVED, UNPLACED_MARK, Unplaced
from syclade.host.ground.atomic import Content
from syclade.host.ground.files import tsv_text
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject, counted, freeze_arrays, listed, part_of, short_repr

__all__ = ["COLUMNS", "FILES", "UNSURE", "Support"]

COLUMNS = ("mutation", "parent", "p_parent", "p_clade", "transfer", "p_place")
"""Columns of support.tsv: names of a mutation and of its parent in the tree, without unplaced mutations;
probability of that edge; probability that a node has the same mutations below it as this one; transfer
support of this clade, which a single mutation elsewhere lowers little. An unplaced mutation has none of
these, and `unplaced` for a parent; the last column is the probability of its best place, if it is known."""

DOUBT = "doubt"
"""Column of support.tsv, if there are doubtful mutations: the reason. Their edges and clades are not counted
as sure; clades of the others are without them."""

_WHY = {KEPT_BACK: "of claims that are kept back", UNOBSERVED: "below one with which no cell tells of it"}
"""Words for the reasons, behind "1 mutation"."""

FILES = ("support.tsv", "support.nhx")
"""Names of the files."""

UNSURE = 0.5
"""Probability below which edges are counted as unsure."""

_MANY_MISSED = 25.0
"""Values of each mutation that were missed, on the mean, from which it says something if rates may differ."""

_ARRAYS = ("edges", "clades", "transfer", "cells", "trees")


@dataclass(frozen=True, eq=False)
class Missed:
    """How often each mutation was missed and seen.

    Attributes:
        draws: numbers of cells, float64, (n,) each, in draws of the cells of some samples.
    """

    draws: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]

    @cached_property
    def evidence(self) -> float:
        """Log Bayes factor for rates of mutations that differ: the mean over the draws."""
        return float(np.mean([log_bayes_factor(*one) for one in self.draws]))

    @property
    def is_evident(self) -> bool:
        """True if rates differ by the evidence."""
        return self.evidence > EVIDENT

    @property
    def leaves_open(self) -> bool:
        """True if many values leave open whether rates differ. Few values leave that open in any case."""
        missed = float(np.mean([missed.mean() for missed, _ in self.draws]))
        return missed >= _MANY_MISSED and 0.0 <= self.evidence <= EVIDENT


@dataclass(frozen=True, eq=False)
class Support:
    """How sure a tree is, by trees sampled from the posterior; the arrays are read-only.

    All node attach all cells, whatever the score of the tree: the samples are of the sum score, or of the
    score with doublets.

    Attributes:
        level: quick or full.
        steps: steps of each chain.
        enough: whether the samples are enough by the rule of `support.rounds.enough`.
        interrupted: whether the sampling was stopped; the samples are those until then.
        seconds: wall time of the chains; of the whole stage, once it has ended.
        sampled: the samples with their diagnostics.
        edges: float64, shape (n,): probability of each mutation's parent in the tree; without unplaced
            mutations, which have NaN, as in `clades`.
        clades: float64, shape (n,): probability of the set of mutations at and below each mutation.
        transfer: float64, shape (n,): transfer support of these sets (`transfer_support`).
        cells: float64, shape (cells,): probability that each cell belongs to its clone (`support.cells`); NaN
            for unplaced cells.
        trees: int32, shape (samples, n + 1): sampled trees, chain by chain; evenly thinned if they are large.
        pairs: effective sample sizes of uncertain pairs of mutations.
        kept: chains that all of these are of; `sampled` has no samples of the others.
        rates: posterior of the error rates that were estimated; None if none was.
        unplaced: mutations and cells without support.
        dropout: rates of false negatives of the mutations, if they differ; None for one rate.
        missed: how often each mutation was missed and seen, in draws of the cells of some samples; None where
            rates are not compared.
        doublets: calls of doublets: probabilities over sampled trees and shares, and the most likely pair of
            nodes of the tree, at the shares that fit it; None without doublets.
        doubtful: mutations whose edges and clades are not sure, whatever the samples say, with the reason, as
            `CloneConsensus.doubtful_mutations` has them.
    """

    level: str
    steps: int
    enough: bool
    interrupted: bool
    seconds: float
    sampled: SampledMutationTrees
    edges: NDArray[np.float64]
    clades: NDArray[np.float64]
    transfer: NDArray[np.float64]
    cells: NDArray[np.float64]
    trees: NDArray[np.int32]
    pairs: PairSizes
    kept: Kept
    rates: RatePosterior | None = None
    unplaced: Unplaced = field(default_factory=Unplaced)
    dropout: Dropout | None = None
    missed: Missed | None = None
    doublets: Doublets | None = None
    doubtful: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __post_init__(self) -> None:
        """Replace the arrays by read-only copies."""
        freeze_arrays(self, _ARRAYS)

    @property
    def before(self) -> NDArray[np.float64]:
        """float64, shape (n, n): probability of the row's mutation above the column's; NaN if unplaced."""
        return self.unplaced.ancestors_of_placed(self.sampled.posterior.ancestors)

    @property
    def certainty(self) -> float | None:
        """Mean probability of the edges; None if all mutations are unplaced."""
        placed = self.edges[~np.isnan(self.edges)]
        return float(placed.mean()) if placed.size else None

    @property
    def placed(self) -> int:
        """Number of mutations whose support is counted: not of unplaced ones, nor of doubtful ones."""
        return len(self.edges) - len({*self.unplaced.mutations, *self.doubtful})

    @property
    def sure(self) -> int:
        """Number of edges with a probability of at least `SURE`."""
        return int((self._believed(self.edges) >= SURE).sum())

    def _believed(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of edges or clades, with NaN for those of doubtful mutations."""
        found = shares.copy()
        found[list(self.doubtful)] = np.nan
        return found

    @property
    def unsure(self) -> int:
        """Number of edges with a probability below `UNSURE`."""
        return int((self._believed(self.edges) < UNSURE).sum())

    @property
    def words(self) -> str:
        """The support as a line of text."""
        clades, cells = int((self._believed(self.clades) >= SURE).sum()), int((self.cells >= SURE).sum())
        placed_cells = len(self.cells) - len(self.unplaced.cells)
        return (
            f"support of at least {SURE} in the most likely tree: "
            f"{part_of(self.sure, self.placed, 'edge', 'edges')}, "
            f"{part_of(clades, self.placed, 'clade', 'clades')}, "
            f"{part_of(cells, placed_cells, 'cell', 'cells')}{self._doubtful_words}"
        )

    @property
    def _doubtful_words(self) -> str:
        """Number of placed mutations that are not counted, after a semicolon; empty for none."""
        reasons = Counter(why for one, why in self.doubtful.items() if one not in self.unplaced.mutations)
        if not reasons:
            return ""
        words = [f"{counted(count, 'mutation', 'mutations')} {_WHY[why]}" for why, count in reasons.items()]
        return f"; {' and '.join(words)} {'is' if reasons.total() == 1 else 'are'} not counted"

    @property
    def warnings(self) -> list[str]:
        """Messages: where the tree says more than the samples, and whether these are enough."""
        found = []
        if left_out := self.kept.left_out:
            found.append(
                f"{left_out} of {left_out + len(self.kept.chains)} chains stayed {self.kept.below:.0f} nats "
                "or more below the best one: support, consensus and cells are of the others"
            )
        if not self.enough:
            found.append(self._shortage)
        elif self.pairs.rough:
            found.append(
                f"{self.pairs.rough} of {len(self.pairs.sizes)} uncertain pairs of mutations have fewer than "
                f"{ROUGH} effective samples (lowest {self.pairs.lowest:.0f}): their probabilities are rough"
            )
        if self.enough and self.interrupted and self.rates is not None and not self.rates.fits:
            found.append("sampling was stopped before it was repeated under corrected error rates")
        if self.rates is not None and not (self.interrupted or self.rates.fits or self.rates.settled):
            found.append(
                "the estimates of the error rates still moved when their corrections ended: support and "
                "consensus are of other rates than the printed ones; give the rates if you know them"
            )
        if self.rates is not None and self.rates.wide:
            names = " and ".join(flag_of(name) for name in self.rates.wide)
            found.append(
                f"the matrix says little of {names}: the interval is wide beside that of the prior, so "
                "results may depend on it"
            )
        if self.interrupted and self.dropout is None and self.missed is not None and self.missed.is_evident:
            found.append(
                "sampling was stopped before it was repeated with a rate of dropout for each mutation, which "
                f"the samples so far ask for (log Bayes factor {self.missed.evidence:.1f})"
            )
        if self.dropout is None and self.missed is not None and self.missed.leaves_open:
            found.append(
                "the data leave open whether mutations differ in dropout (log Bayes factor "
                f"{self.missed.evidence:.1f}), and trees were sampled with one rate for all: "
                f"{flag_of('dropout', 'per-mutation')} samples a rate for each, under which other orders may "
                "be as likely"
            )
        if uncertain := self.unplaced.uncertain:
            near = [
                f"{self.sampled.names[row]} {uncertain.best_place[row]:.3f}"
                for row in uncertain.nearly_placed
            ]
            found.append(
                f"{uncertain.words(self.sampled.names, ())}: support and consensus leave such mutations out "
                "(p_place in support.tsv)"
            )
            if near:
                found.append(
                    f"samples of another seed may place mutations near the limit of {PLACE}: {listed(near)}"
                )
        if self.rates is not None and self.rates.rough:
            found.append(
                f"the intervals of the error rates are rough: {self.rates.trees} sampled trees are worth "
                f"{self.rates.effective:.1f}"
            )
        return found

    @property
    def _shortage(self) -> str:
        sampled = self.sampled
        rough, measured = self.pairs.rough, len(self.pairs.sizes)
        error = error_of(sampled)
        numbers = (
            f"the log-likelihood has an effective sample size of {sampled.ess:.0f} and an R-hat of "
            f"{sampled.rhat:.3f}"
        )
        if math.isnan(error):
            numbers += "; chains cannot be compared by probabilities of ancestors"
        elif error > ERROR:
            numbers += f", and probabilities of ancestors a standard error of {error:.3f}"
        else:
            numbers += "; the chains agree on the probabilities of ancestors"
        if rough:
            numbers += f"; {rough} of {measured} uncertain pairs have fewer than {ROUGH} effective samples"
        if self.interrupted:
            return f"sampling was stopped, so support is rough ({numbers})"
        more = f": {flag_of('support', 'full')} samples longer" if self.level == "quick" else ""
        return f"too few trees were sampled for exact support ({numbers}){more}"

    def to_dict(self) -> JsonObject:
        """Return plain values for summary.json."""
        diagnostics = self.sampled.to_dict()
        del diagnostics["warnings"]
        return {
            "level": self.level,
            "enough": self.enough,
            "interrupted": self.interrupted,
            "steps": self.steps,
            **diagnostics,
            **self._left_out,
            "pairs": self.pairs.to_dict(),
            "edges_sure": self.sure,
            "edges_unsure": self.unsure,
            "clades_sure": int((self._believed(self.clades) >= SURE).sum()),
            "transfer_sure": int((self._believed(self.transfer) >= SURE).sum()),
            **({} if self.rates is None else {"rates": self._rates(self.rates)}),
            **({} if self.dropout is None else {"dropout": self.dropout.to_dict()}),
        }

    def _rates(self, rates: RatePosterior) -> JsonObject:
        """Return the estimated rates as plain values for summary.json.

        With a rate for each mutation, trees were sampled under these: then their mean is named.
        """
        if self.dropout is None or "fn_rate" not in rates.intervals:
            return rates.to_dict()
        mean = float(f"{self.dropout.of_seen.mean():.6g}")
        under: JsonObject = {**rates.rates_under, "fn_rate": mean, "fn_rate_of_each": DROPOUT_FILE}
        return {**rates.to_dict(), "sampled_under": under}

    @property
    def _left_out(self) -> JsonObject:
        """Number of chains that are left out, and their distance, if there are any: for summary.json."""
        chains, below = self.kept.left_out, float(f"{self.kept.below:.6g}")
        return {"left_out": {"chains": chains, "below": below}} if chains else {}

    @property
    def _shares(self) -> Iterator[tuple[float, float, float]]:
        """Probability of the edge, of the clade, and transfer support, by mutation."""
        return zip(self.edges.tolist(), self.clades.tolist(), self.transfer.tolist(), strict=True)

    def table(self, parents: NDArray[np.int32], mutations: Sequence[str]) -> str:
        """Return the text of support.tsv: a line with `COLUMNS`, then one line per mutation.

        Args:
            parents: int32, shape (n + 1,): the tree.
            mutations: the n names.
        """
        labels, above = node_labels(mutations), self.unplaced.parents_of(parents)
        rows: list[tuple[str, ...]] = []
        for node, shares in enumerate(self._shares):
            if node in self.unplaced.mutations:
                place = self.unplaced.best_place.get(node)
                of_place = "" if place is None else f"{place:.3g}"
                rows.append((labels[node], UNPLACED_MARK, "", "", "", of_place))
            else:
                rows.append((labels[node], labels[above[node]], *(f"{one:.6g}" for one in shares), ""))
        if not self.doubtful:
            return tsv_text(COLUMNS, rows)
        return tsv_text((*COLUMNS, DOUBT), [(*row, self.doubtful.get(at, "")) for at, row in enumerate(rows)])

    def to_newick(self, parents: NDArray[np.int32], mutations: Sequence[str]) -> str:
        """Return the tree in Newick format, with the probabilities as NHX comments behind the names.

        A comment is ``[&&NHX:support=0.93:clade=0.41:transfer=0.87]``: the probability of the edge above, and
        of the clade, and its transfer support; that of an unplaced mutation is ``[&&NHX:unplaced=yes]``.

        Args:
            parents, mutations: as for `table`.
        """
        comments = [
            f"[&&NHX:{UNPLACED_MARK}=yes]"
            if math.isnan(edge)
            else f"[&&NHX:support={edge:.6g}:clade={clade:.6g}:transfer={transfer:.6g}]"
            for edge, clade, transfer in self._shares
        ]
        return newick_of(children(parents), node_labels(mutations), [*comments, ""])

    def files(self, parents: NDArray[np.int32], mutations: Sequence[str]) -> dict[str, Content]:
        """Return the contents of `FILES`, by name.

        Args:
            parents, mutations: as for `table`.
        """
        texts = (self.table(parents, mutations), self.to_newick(parents, mutations))
        found: dict[str, Content] = dict(zip(FILES, texts, strict=True))
        return found if self.dropout is None else found | {DROPOUT_FILE: self.dropout.table(mutations)}
