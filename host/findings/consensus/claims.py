"""Warnings of a consensus: claims that its cells, or the most likely tree, contradict, and unequal cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from syclade.host.findings.consensus.cell_quality import Spread
from syclade.host.findings.consensus.evidence import CLAIMED, Conflict, Contradiction
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import counted, listed

if TYPE_CHECKING:
    from syclade.host.findings.consensus.consensus import CloneConsensus

__all__ = ["claim_warnings", "quality_warnings"]

_AGAINST = (
    "more cells are on the other side, and only errors at these rates explain them: publish neither relation "
    "before the rates, and mutations that all cells have, were checked"
)
"""Advice on a claim that the samples make against most of the cells that decide."""

_FOR = "publish the consensus"
"""Advice on other claims."""


def claim_warnings(found: CloneConsensus) -> list[str]:
    """Return messages: claims that are kept back or that the cells or the most likely tree contradict."""
    return [*_kept_back(found), *_unobserved(found), *_contradicted(found), *_of_likely_tree(found)]


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


def _kept_back(found: CloneConsensus) -> list[str]:
    """Return messages: claims that are kept back, and the clones that are unions because of them."""
    claims = _claims(found, found.kept_back)
    if not claims:
        return []
    unions = [
        f"the cells of clone {clone} ({found.prevalence[clone]:.1%} of all) need not have all of its "
        "mutations, since a claim on them is kept back; part of the cells with a value that have "
        f"each: {listed(found.seen_words(found.tree.members[clone]))}"
        for clone, mutations in enumerate(found.open_mutations)
        if mutations
    ]
    return [
        f"the consensus keeps back {counted(len(claims), 'claim', 'claims')} that most of the cells that "
        f"tell contradict: {listed(claims)}; mutations that recur or are lost "
        f"({flag_of('recurrent', 'all')}), doublets ({flag_of('doublets', 'learn')}), and values that are "
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


def _contradicted(found: CloneConsensus) -> list[str]:
    """Return a message: claims that more cells contradict than errors explain."""
    claims = _claims(found, found.contradictions)
    if not claims:
        return []
    return [
        f"{counted(len(claims), 'claim is', 'claims are')} contradicted by the cells: "
        f"{listed(claims)}; the model does not fit them: look for recurrent or lost "
        f"mutations ({flag_of('recurrent', 'all')}), for doublets ({flag_of('doublets', 'learn')}), "
        "or leave the mutation out (see relations.tsv)"
    ]


def _of_likely_tree(found: CloneConsensus) -> list[str]:
    """Return messages: claims that the most likely tree contradicts, by the side on which more cells are."""
    messages = []
    for doubt in (False, True):
        some = [one for one in found.conflicts if one.doubtful == doubt]
        if some:
            advice = _AGAINST + _dropout_words(found, some) if doubt else _FOR
            messages.append(
                f"the most likely tree contradicts {counted(len(some), 'claim', 'claims')} of the "
                f"consensus with a probability above {CLAIMED}: {listed(_claims(found, some), 3)}; {advice}"
            )
    return messages


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
