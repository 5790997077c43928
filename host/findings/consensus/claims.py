"""Claims of a consensus that samples, cells, or the most likely tree contradict; and unequal cells.

Cells are unequal if some miss far more mutations than others, beside cells simulated with equal rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates
from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.consensus.evidence import CLAIMED, Conflict, Contradiction
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.joint_shares import share_text
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject, counted, listed

if TYPE_CHECKING:
    from syclade.host.findings.consensus.consensus import CloneConsensus

__all__ = [
    "Improbable",
    "Spread",
    "claim_warnings",
    "improbable_claims",
    "quality_warnings",
    "spread_of_dropout",
]


_MISSING = 3
_TELLING = 1.5
"""Fewest expected mutations with a value of a cell that tells."""

_REPLICATES, _ROUNDS = 40, 15
_FEWEST_CELLS, _MOST_CELLS, _WORK = 50, 2000, 2**20
"""Fewest and most cells that are compared, and most products of mutations, clones and cells."""

_FEWEST_MISSED = 5.0
"""Fewest missed mutations of all cells from which it shows that some cells miss more."""

_TINY = 1e-9


class Improbable(NamedTuple):
    """A claim of a consensus that fewer than half of the samples share; others would not hold without it.

    Attributes:
        first, second: rows of the mutations; of an order, the earlier one first.
        relation: before or apart.
        probability: share of the samples in which it holds.
    """

    first: int
    second: int
    relation: str
    probability: float

    def words(self, mutations: Sequence[str]) -> str:
        """Return the claim with its probability as text."""
        first, second = mutations[self.first], mutations[self.second]
        relation = {"apart": "apart from"}.get(self.relation, self.relation)
        return f"{first} {relation} {second} ({self.probability:.2f})"

    def to_dict(self, mutations: Sequence[str]) -> JsonObject:
        """Return plain values for JSON, with the names of the mutations."""
        return self._asdict() | {"first": mutations[self.first], "second": mutations[self.second]}


def improbable_claims(
    tree: CloneTree, relations: Relations, unobserved: NDArray[np.bool_] | None = None
) -> list[Improbable]:
    """Return the claims of a clone tree that fewer than half of the samples share, the least probable first.

    Args:
        tree: the clone tree.
        relations: counts of the relations in the samples.
        unobserved: bool, shape (n, n): pairs of which the tree claims nothing; None if there are none.
    """
    found = []
    for relation, claimed, share in (
        ("before", tree.before, relations.before),
        ("apart", np.triu(tree.apart), relations.apart),
    ):
        few = claimed & (share < 0.5)
        if unobserved is not None:
            few &= ~unobserved
        found += [
            Improbable(first, second, relation, float(share[first, second]))
            for first, second in np.argwhere(few).tolist()
        ]
    return sorted(found, key=lambda one: one.probability)


class Spread(NamedTuple):
    """Spread of the numbers of mutations that cells miss.

    Attributes:
        ratio: their variance, divided by the mean variance of cells simulated with equal rates.
        deviations: standard deviations of the latter between both.
    """

    ratio: float
    deviations: float

    @property
    def differs(self) -> bool:
        """Return whether no chance explains it."""
        return self.ratio > 1.1 and self.deviations > 4.0


def spread_of_dropout(
    tree: CloneTree,
    matrix: Matrix,
    rates: Rates,
    fn_rates: NDArray[np.float64] | None = None,
    without: NDArray[np.bool_] | None = None,
) -> Spread | None:
    """Return how much the cells differ in dropout; None if too few can be compared, or hardly miss anything.

    A cell that misses the last mutation of its clone seems to be of the clone above, with fewer misses, so
    the variance is below the binomial one. Cells simulated on the same clones, with the same values
    missing, have that as well. Equal arguments give equal results.

    Args:
        tree: the clone tree of the matrix's mutations.
        matrix: the observed values.
        rates: the error rates of calls.
        fn_rates: float64, shape (n,): rates of false negatives of the mutations; by default that of `rates`.
        without: bool, shape (n,): mutations to leave out; none by default.
    """
    most = min(_MOST_CELLS, _WORK // max(1, matrix.n_mutations * tree.clones))
    if min(most, matrix.n_cells) < _FEWEST_CELLS:
        return None
    rows = slice(None) if without is None else ~without
    values = matrix.values[rows, :: -(-matrix.n_cells // most)]
    missed = np.full(matrix.n_mutations, rates.fn_rate) if fn_rates is None else fn_rates
    model = _Model(
        tree.within[tree.clone_of].astype(np.float64)[rows], rates.fp_rate, missed[rows, np.newaxis]
    )
    shares = np.full(tree.clones, 1.0 / tree.clones)
    for _ in range(_ROUNDS):
        shares = model.places(values, shares).mean(axis=1)
    misses = model.misses(values, shares)
    if misses.missed.sum() < _FEWEST_MISSED:
        return None
    found = model.spread(misses)
    generator = np.random.Generator(np.random.Philox(matrix.n_cells))
    equal = np.array(
        [
            model.spread(model.misses(model.drawn(values, shares, generator), shares))
            for _ in range(_REPLICATES)
        ]
    )
    error = float(equal.std(ddof=1))
    if not error:
        return None
    return Spread(found / float(equal.mean()), (found - float(equal.mean())) / error)


class _Misses(NamedTuple):
    """Mutations that cells miss, of those that can tell.

    Attributes:
        known: float64, shape (n, cells): probability that a cell has a mutation, of which it has a value.
        missed, expected: float64, shape (cells,): mutations that it misses, and that are expected.
    """

    known: NDArray[np.float64]
    missed: NDArray[np.float64]
    expected: NDArray[np.float64]


class _Model(NamedTuple):
    """Clones with the errors of equal cells.

    Attributes:
        has: float64, shape (n, clones): 1 where a clone has a mutation.
        false: rate of false positives.
        missed: float64, shape (n, 1): rates of false negatives.
    """

    has: NDArray[np.float64]
    false: float
    missed: NDArray[np.float64]

    def places(self, values: NDArray[np.uint8], shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each clone for each cell: float64, shape (clones, cells)."""
        seen, absent = (values == 1) | (values == 2), values == 0
        gains = np.where(seen, np.log((1.0 - self.missed) / self.false), 0.0)
        gains += np.where(absent, np.log(self.missed / (1.0 - self.false)), 0.0)
        scores = self.has.T @ gains + np.log(shares + _TINY)[:, np.newaxis]
        likely = np.exp(scores - scores.max(axis=0))
        return np.asarray(likely / likely.sum(axis=0))

    def spread(self, misses: _Misses) -> float:
        """Return the variance of the numbers of missed mutations of the cells beside the binomial one."""
        known, missed, expected = misses
        scale = missed.sum() / max(expected.sum(), _TINY)
        rates = np.minimum(self.missed * scale, 0.99)
        binomial = (known * rates * (1.0 - rates)).sum()
        return float(((missed - scale * expected) ** 2).sum() / max(binomial, _TINY))

    def misses(self, values: NDArray[np.uint8], shares: NDArray[np.float64]) -> _Misses:
        """Return what the cells miss that can tell: those with enough mutations."""
        present = self.has @ self.places(values, shares)
        known = present * (values != _MISSING)
        tell = known.sum(axis=0) >= _TELLING
        known, lost = known[:, tell], (present * (values == 0))[:, tell]
        return _Misses(known, lost.sum(axis=0), (known * self.missed).sum(axis=0))

    def drawn(
        self, values: NDArray[np.uint8], shares: NDArray[np.float64], generator: np.random.Generator
    ) -> NDArray[np.uint8]:
        """Return values of as many cells with equal rates, missing where the given ones are."""
        clones = generator.choice(len(shares), size=values.shape[1], p=shares / shares.sum())
        chance = generator.random(values.shape)
        made = np.where(self.has[:, clones] > 0, chance >= self.missed, chance < self.false)
        return np.where(values == _MISSING, np.uint8(_MISSING), made.astype(np.uint8))


_AGAINST = (
    "more cells are on the other side, and only errors at these rates explain them: publish neither relation "
    "before the rates, and mutations that all cells have, were checked"
)
"""Advice on a claim that the samples make against most of the cells that decide."""

_BY_CELLS = "the cells contradict the consensus there, too: publish neither relation"
"""Advice on a claim that the cells contradict themselves."""

_NO_CELL = "no cell decides: these relations follow from claims on other mutations"
"""Advice on a claim of which no cell tells."""

_FOR = "publish these relations as the consensus has them"
"""Advice on a claim that enough samples make, and a clear majority of the cells that decide."""

_OPEN = "the cells that decide are on both sides, or too few: these relations are open, publish neither"
"""Advice on a claim that the cells do not decide clearly."""

_TOO_FEW = "too few trees were sampled to decide: these relations are open, publish neither"
"""Advice on other claims of which the samples are not enough."""


def claim_warnings(found: CloneConsensus) -> list[str]:
    """Return messages: claims that are kept back or that the cells or the most likely tree contradict.

    Options that look for a cause are in the first message that names it.
    """
    kinds = (_set_aside, _kept_back, _unobserved, _rarely_seen, _contradicted, _of_likely_tree)
    return _named_once([message for kind in kinds for message in kind(found)])


def _named_once(messages: list[str]) -> list[str]:
    """Return messages in which an option in brackets is left out where an earlier one has it."""
    options = [f" ({flag_of('recurrent', 'all')})", f" ({flag_of('doublets', 'learn')})"]
    found: list[str] = []
    for message in messages:
        for option in options:
            if any(option in earlier for earlier in messages[: len(found)]):
                message = message.replace(option, "")
        found.append(message)
    return found


def quality_warnings(spread: Spread | None) -> list[str]:
    """Return a message if the cells differ in dropout."""
    if spread is None or not spread.differs:
        return []
    return [
        f"some cells miss far more mutations than others (variance {spread.ratio:.2f} times that of equal "
        f"cells, {spread.deviations:.1f} standard deviations above it): shares of clones, and their "
        "intervals, take all cells as equal and are wrong if they are not"
    ]


def _claims(found: CloneConsensus, claims: Iterable[Contradiction | Conflict]) -> list[str]:
    """Return claims with their numbers of cells."""
    return [one.words(found.mutations, found.pair_counts) for one in claims]


def _doublets(found: CloneConsensus, to: str = "") -> str:
    """Return doublets as a cause to look for, with the option; nothing if the run had doublets already."""
    return "" if found.cells.doublets is not None else f" {to}doublets ({flag_of('doublets', 'learn')}),"


def _set_aside(found: CloneConsensus) -> list[str]:
    """Return a message for each mutation that claims which are kept back leave no place."""
    return [
        f"the consensus leaves out {one.mutation}, since cells contradict each of its places: "
        f"{listed(one.claims)}; mutations that recur or are lost ({flag_of('recurrent', 'all')}),"
        f"{_doublets(found)} and values that are missing where the other mutation is seen, look like this"
        for one in found.set_aside
    ]


def _kept_back(found: CloneConsensus) -> list[str]:
    """Return messages: claims that are kept back, and the clones that are unions because of them."""
    claims = _claims(found, found.kept_back)
    if not claims:
        return []
    unions = [
        f"the cells of clone {clone} ({share_text(found.prevalence[clone])} of all) need not have all of its "
        "mutations, since a claim on them is kept back; part of the cells with a value that have "
        f"each: {listed(found.seen_words(found.tree.members[clone]))}"
        for clone, mutations in enumerate(found.open_mutations)
        if mutations
    ]
    return [
        f"the consensus keeps back {counted(len(claims), 'claim', 'claims')} that most of the cells that "
        f"tell contradict: {listed(claims)}; mutations that recur or are lost "
        f"({flag_of('recurrent', 'all')}),{_doublets(found)} and values that are "
        "missing where the other mutation is seen, look like this; "
        "these pairs are open in relations.tsv, and not each cell of a clone with such a pair has both",
        *unions,
    ]


def _unobserved(found: CloneConsensus) -> list[str]:
    """Return a message: pairs of mutations of which no cell tells anything."""
    pairs = found.unobserved_pairs
    if not pairs:
        return []
    names = [" and ".join(found.mutations[one] for one in pair) for pair in pairs]
    return [
        f"no cell tells how {counted(len(pairs), 'pair of mutations is', 'pairs of mutations are')} "
        f"related, since none has values of both, and one of them: {listed(names, 3)}; these pairs are "
        "unobserved in relations.tsv, and what a tree shows of them is no finding: call both in all cells"
    ]


def _rarely_seen(found: CloneConsensus) -> list[str]:
    """Return a message: mutations that fewer cells show than those of their clone should."""
    rows = found.rarely_seen
    if not rows:
        return []
    seen = zip(found.seen_words(rows), found.tree.clone_of[rows].tolist(), strict=True)
    each = [f"{words} (clone {clone})" for words, clone in seen]
    return [
        f"{counted(len(rows), 'mutation is', 'mutations are')} seen in fewer cells than their clone has, "
        f"beyond what the rate of false negatives explains: {listed(each)} of the cells with a value; not "
        "each cell of the clone has them, and cells and share are those of other mutations at or below it"
    ]


def _contradicted(found: CloneConsensus) -> list[str]:
    """Return a message: claims that more cells contradict than errors explain."""
    claims = _claims(found, found.contradictions)
    if not claims:
        return []
    return [
        f"{counted(len(claims), 'claim is', 'claims are')} contradicted by the cells: "
        f"{listed(claims)}; the model does not fit them: look for recurrent or lost "
        f"mutations ({flag_of('recurrent', 'all')}),{_doublets(found, 'for ')} or leave the mutation out "
        "(see relations.tsv)"
    ]


def _of_likely_tree(found: CloneConsensus) -> list[str]:
    """Return messages: claims that the most likely tree contradicts, by the advice on them."""
    by_cells = {frozenset((one.first, one.second)) for one in found.contradictions}
    order = (_FOR, _TOO_FEW, _OPEN, _BY_CELLS, _AGAINST, _NO_CELL)
    groups: dict[str, list[Conflict]] = {advice: [] for advice in order}
    for one in found.conflicts:
        in_doubt = frozenset((one.first, one.second)) in by_cells
        groups[_BY_CELLS if in_doubt else _advice_on(one, found.enough)].append(one)
    messages = []
    for advice, some in groups.items():
        if some:
            advised = advice + (_dropout_words(found, some) if advice == _AGAINST else "")
            messages.append(
                f"the most likely tree contradicts {counted(len(some), 'claim', 'claims')} of the "
                f"consensus with a probability above {CLAIMED}: {listed(_claims(found, some), 3)}; {advised}"
            )
    return messages


def _advice_on(claim: Conflict, enough: bool) -> str:
    """Return the advice on a claim that the cells do not contradict themselves.

    Args:
        claim: the claim, which the most likely tree contradicts.
        enough: whether enough trees were sampled.
    """
    if not (claim.supporting or claim.contradicting):
        return _NO_CELL
    if claim.doubtful:
        return _AGAINST
    if not claim.clear:
        return _OPEN
    return _FOR if enough else _TOO_FEW


def _dropout_words(found: CloneConsensus, conflicts: Iterable[Conflict]) -> str:
    """Return, after a semicolon, the mutations whose higher dropout explains the cells on the other side."""
    rates = found.fn_rates
    if rates is None:
        return ""
    missed = {
        one.first: f"{found.mutations[one.first]} {rates[one.first]:.2g}"
        for one in conflicts
        if one.relation == "before" and rates[one.first] > rates[one.second]
    }
    if not missed:
        return ""
    return (
        f"; the order rests on dropout that differs between mutations ({listed(list(missed.values()), 3)}): "
        f"see what {flag_of('dropout', 'shared')} says"
    )
