"""Numbers of reads: how probable they are in a cell with a mutation, and in one without (docs/evidence.md).

A mutated cell has the mutation on one of two alleles. Each allele is lost with the same probability before
it is sequenced. Alternate reads among all reads of an entry are beta-binomial: around 1/2 if both alleles are
there, around the rate of errors if only the wild one is, and around 1 if only the mutated one is.

Sources: Singer, Kuipers, Jahn, Beerenwinkel, "Single-cell mutation identification via phylogenetic
inference", 2018 (SCIPhI: beta-binomial reads, allelic dropout); Kang et al., "SIEVE: joint inference of
single-nucleotide variants and cell phylogeny from single-cell DNA sequencing data", 2022; Sollier, Kuipers,
Takahashi, Beerenwinkel, "COMPASS: joint copy number and mutation phylogeny reconstruction from amplicon
single-cell sequencing data", 2023 (a dropout rate of each locus).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Likelihoods, Reads
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.doublet_fit import climb, logit, rate_at
from syclade.host.data.model.dropout import EVIDENT, beta_at_most_probable, log_bayes_factor
from syclade.host.data.model.likelihood import presence
from syclade.host.ground.values import JsonObject, freeze_arrays, short_repr

__all__ = ["PARAMETERS", "START", "ReadLikelihood", "fit_reads", "observed_states", "states_before_run"]


@dataclass(frozen=True, eq=False)
class ReadLikelihood:
    """Parameters of the model of reads.

    Attributes:
        seq_error: mean part of alternate reads where the sequenced alleles have no mutation.
        allelic_dropout: probability that an allele of an entry is lost.
        overdispersion: correlation of reads of an entry with both alleles: 1 / (a + b + 1) of the Beta(a, b)
            of the part of alternate reads.
        error_overdispersion: the same of an entry with one of the alleles only.
        dropouts: float64, shape (n,): allelic dropout of each mutation; None if all have the same.
    """

    seq_error: float
    allelic_dropout: float
    overdispersion: float
    error_overdispersion: float
    dropouts: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Replace the array by a read-only copy."""
        freeze_arrays(self, ("dropouts",))

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def log_odds(self, reads: Reads) -> NDArray[np.float64]:
        """Return log P(reads | mutated) - log P(reads | not) of all entries, in nats; 0 without reads."""
        pairs = _Pairs.of(reads)
        return self._log_odds(pairs, self._parts(pairs))

    def _parts(self, pairs: _Pairs) -> _Parts:
        """Return the logarithms of the probabilities of all pairs, without the binomial coefficient."""
        return _Parts(
            _log_beta_binomial(pairs, self.seq_error, self.error_overdispersion),
            _log_beta_binomial(pairs, 0.5, self.overdispersion),
            _log_beta_binomial(pairs, 1.0 - self.seq_error, self.error_overdispersion),
        )

    @property
    def _loss(self) -> NDArray[np.float64]:
        """Probability that one allele is lost, of entries with an allele: of shape (n, 1) or (1, 1)."""
        dropout = np.array([self.allelic_dropout]) if self.dropouts is None else self.dropouts
        return (2.0 * dropout / (1.0 + dropout))[:, None]

    def _log_odds(self, pairs: _Pairs, parts: _Parts) -> NDArray[np.float64]:
        both, only = parts.both - parts.wild, np.logaddexp(0.0, parts.mutated - parts.wild)
        loss = self._loss
        odds = np.logaddexp(np.log1p(-loss) + both[pairs.of_entry], np.log(loss / 2.0) + only[pairs.of_entry])
        return np.where(pairs.total[pairs.of_entry] == 0, 0.0, odds)

    def to_dict(self) -> JsonObject:
        """Return plain values for summary.json; of dropouts that differ, lowest, mean and highest."""
        values: JsonObject = {name: getattr(self, name) for name in PARAMETERS}
        if self.dropouts is not None:
            ends = {
                "lowest": self.dropouts.min(),
                "mean": self.dropouts.mean(),
                "highest": self.dropouts.max(),
            }
            values["allelic_dropout"] = {name: float(f"{value:.3g}") for name, value in ends.items()}
        return values


PARAMETERS = tuple(field.name for field in fields(ReadLikelihood) if field.name != "dropouts")
"""Names of the parameters that are one number."""

START = ReadLikelihood(0.01, 0.2, 0.1, 0.01)
"""Parameters from which fits start."""


def observed_states(matrix: Matrix) -> NDArray[np.uint8]:
    """Return what the tree was inferred from, as values: uint8, shape (n_mutations, n_cells).

    With evidence, an entry is 1 if it is more likely mutated than not, 0 if less, and 3 if nothing is known,
    whatever its call; else it is its call. Reads without log odds, as in a matrix that was just read, have
    those of the model of reads with its first parameters (`START`).
    """
    match matrix.evidence:
        case Likelihoods(log_odds=log_odds):
            return _states_of(log_odds)
        case Reads() as reads:
            return _states_of(START.log_odds(reads))
        case None:
            return matrix.values


def states_before_run(matrix: Matrix) -> NDArray[np.uint8]:
    """Return the same before a run: of reads, by the model that fits them without a tree."""
    if not isinstance(matrix.evidence, Reads):
        return observed_states(matrix)
    model = fit_reads(matrix.evidence, None, START, PARAMETERS, by_mutation=False)
    return _states_of(model.log_odds(matrix.evidence))


def _states_of(log_odds: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return the states that log odds say: 0, 1, or 3 where they are 0."""
    return np.where(log_odds == 0, 3, log_odds > 0).astype(np.uint8)


_LIMITS = {
    "seq_error": (1e-5, 0.2),
    "overdispersion": (1e-3, 0.9),
    "error_overdispersion": (1e-4, 0.5),
}
"""Limits of fitted parameters."""

_LEAST_LOSS, _MOST_LOSS = 1e-3, 0.9
"""Limits of the fitted probability that one allele is lost."""

_MOST_LOG_ODDS = 700.0
"""Log odds against something that is impossible in effect; exp() of higher ones overflows above 709."""

_ROUNDS, _SAME = 40, 0.005
"""Most rounds of a fit, and the relative change of all parameters below which it ends."""

_WIDTH, _EVALUATIONS = 1.0, 12
"""Reach of a search for one parameter in a round, as a logit, and its number of evaluations."""

_MOST_PAIRS = 20_000
"""Most pairs of numbers of reads by which parameters are fitted: of more, evenly spaced ones are taken."""


class _Pairs(NamedTuple):
    """Distinct pairs of alternate and total reads, and the pair of each entry, (n, cells)."""

    alternate: NDArray[np.int64]
    total: NDArray[np.int64]
    of_entry: NDArray[np.int64]

    @classmethod
    def of(cls, reads: Reads) -> _Pairs:
        keys, inverse = np.unique(
            (reads.total.astype(np.int64) << 32) | reads.alternate.astype(np.int64), return_inverse=True
        )
        return cls(keys & 0xFFFFFFFF, keys >> 32, inverse.reshape(reads.total.shape))


class _Parts(NamedTuple):
    """Logarithms of the probabilities of pairs: only the wild allele, both, only the mutated one."""

    wild: NDArray[np.float64]
    both: NDArray[np.float64]
    mutated: NDArray[np.float64]


def _log_beta_binomial(pairs: _Pairs, mean: float, correlation: float) -> NDArray[np.float64]:
    from scipy.special import betaln

    total = 1.0 / correlation - 1.0
    a, b = mean * total, (1.0 - mean) * total
    return np.asarray(betaln(pairs.alternate + a, pairs.total - pairs.alternate + b) - betaln(a, b))


class _Weights(NamedTuple):
    """Expected numbers of entries of each pair with these alleles, (pairs,); and of losses, (mutations,)."""

    wild: NDArray[np.float64]
    both: NDArray[np.float64]
    mutated: NDArray[np.float64]
    lost: NDArray[np.float64]
    kept: NDArray[np.float64]


def fit_reads(
    reads: Reads,
    parents: NDArray[np.int32] | None,
    start: ReadLikelihood,
    names: tuple[str, ...],
    *,
    by_mutation: bool | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> ReadLikelihood:
    """Return the parameters under which reads are most likely, by expectation and maximisation.

    The shares of the cells at the nodes of a tree are fitted together with the parameters. Without a tree,
    the part of the mutated cells of each mutation is.

    Args:
        reads: the numbers of reads.
        parents: a mutation tree, int32, shape (n + 1,); None for none.
        start: first parameters.
        names: the parameters to fit; the others stay.
        by_mutation: whether each mutation has its own allelic dropout, under a common Beta; None to decide by
            the Bayes factor of dropouts that differ.
        stopped: whether to end after the current round; the parameters are then those so far.

    Source: Dempster, Laird, Rubin, "Maximum likelihood from incomplete data via the EM algorithm", 1977.
    """
    fit = _Fit(_Pairs.of(reads), parents, names, stopped)
    model, shares = fit.climbed(replace(start, dropouts=None), None)
    if "allelic_dropout" not in names or by_mutation is False:
        return _rounded(model, names)
    weights, shares = fit.expected(model, shares)
    if by_mutation is None and log_bayes_factor(weights.lost, weights.kept) <= EVIDENT:
        return _rounded(model, names)
    own = np.full(len(weights.lost), model.allelic_dropout)
    return _rounded(fit.climbed(replace(model, dropouts=own), shares)[0], names)


def _rounded(model: ReadLikelihood, names: tuple[str, ...]) -> ReadLikelihood:
    """Return the model with three digits of what was fitted: equal on all processors, and no less certain."""
    own = None if model.dropouts is None else np.array([float(f"{one:.3g}") for one in model.dropouts])
    return replace(model, **{name: float(f"{getattr(model, name):.3g}") for name in names}, dropouts=own)


@dataclass(frozen=True)
class _Fit:
    """A fit: pairs of reads, the tree or None, the parameters to fit, and whether to stop after a round."""

    pairs: _Pairs
    parents: NDArray[np.int32] | None
    names: tuple[str, ...]
    stopped: Callable[[], bool]

    @cached_property
    def _some(self) -> NDArray[np.int64]:
        """Pairs by which parameters are fitted."""
        count = len(self.pairs.total)
        return np.arange(0, count, -(-count // _MOST_PAIRS))

    def climbed(
        self, model: ReadLikelihood, shares: NDArray[np.float64] | None
    ) -> tuple[ReadLikelihood, NDArray[np.float64] | None]:
        """Return parameters and shares after rounds of expectation and maximisation."""
        for _ in range(_ROUNDS):
            weights, shares = self.expected(model, shares)
            found = self._maximised(model, weights)
            changes = [abs(np.log(getattr(found, name) / getattr(model, name))) for name in self.names]
            model = found
            if max(changes, default=0.0) < _SAME or self.stopped():
                break
        return model, shares

    def expected(
        self, model: ReadLikelihood, shares: NDArray[np.float64] | None
    ) -> tuple[_Weights, NDArray[np.float64]]:
        """Return the expected numbers of entries, and the shares: of nodes, or of the mutated cells."""
        parts = model._parts(self.pairs)
        log_odds = model._log_odds(self.pairs, parts)
        if self.parents is None:
            given = np.full(len(log_odds), 0.3) if shares is None else shares
            present = _against(-log_odds - np.log(given / (1.0 - given))[:, None])
            shares = (present.sum(axis=1) + 0.5) / (present.shape[1] + 1.0)
        else:
            present, shares = presence(log_odds, self.parents, shares)
        of = self.pairs.of_entry
        known = (self.pairs.total > 0)[of]
        present = present * known
        loss = model._loss
        only = np.logaddexp(parts.wild, parts.mutated)
        lost = _against(parts.both[of] + np.log1p(-loss) - only[of] - np.log(loss / 2.0))
        of_wild = np.exp(parts.wild - only)[of]
        count = len(self.pairs.total)

        def sums(entries: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(of.ravel(), entries.ravel(), count).astype(np.float64)

        gone = present * lost
        return _Weights(
            wild=sums((known - present) + gone * of_wild),
            both=sums(present - gone),
            mutated=sums(gone * (1.0 - of_wild)),
            lost=gone.sum(axis=1),
            kept=(present - gone).sum(axis=1),
        ), shares

    def _maximised(self, model: ReadLikelihood, weights: _Weights) -> ReadLikelihood:
        """Return the parameters under which the expected numbers of entries are most likely."""
        some = self._some
        pairs = _Pairs(self.pairs.alternate[some], self.pairs.total[some], self.pairs.of_entry)

        def of_errors(error: float, correlation: float) -> float:
            wild, mutated = (_log_beta_binomial(pairs, at, correlation) for at in (error, 1.0 - error))
            return float(weights.wild[some] @ wild + weights.mutated[some] @ mutated)

        def of_both(correlation: float) -> float:
            return float(weights.both[some] @ _log_beta_binomial(pairs, 0.5, correlation))

        found = {name: float(getattr(model, name)) for name in PARAMETERS}
        if "seq_error" in self.names:
            own = found["error_overdispersion"]
            found["seq_error"] = _highest(lambda one: of_errors(one, own), model, "seq_error")
        if "error_overdispersion" in self.names:
            error = found["seq_error"]
            found["error_overdispersion"] = _highest(
                lambda one: of_errors(error, one), model, "error_overdispersion"
            )
        if "overdispersion" in self.names:
            found["overdispersion"] = _highest(of_both, model, "overdispersion")
        lost, kept, dropouts = weights.lost, weights.kept, model.dropouts
        if "allelic_dropout" in self.names:
            found["allelic_dropout"] = float(_dropout((lost.sum() + 0.5) / (lost.sum() + kept.sum() + 1.0)))
        if dropouts is not None:
            a, b = beta_at_most_probable(lost, kept)
            dropouts = _dropout((lost + a) / (lost + kept + a + b))
        return ReadLikelihood(**found, dropouts=dropouts)


def _against(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of an event with these log odds against it; at least 1e-304."""
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(log_odds, _MOST_LOG_ODDS))))


def _highest(value: Callable[[float], float], model: ReadLikelihood, name: str) -> float:
    """Return the parameter near that of a model with the greatest value."""
    near = logit(getattr(model, name))
    return rate_at(climb(lambda x: value(rate_at(x)), near, _WIDTH, _LIMITS[name], _EVALUATIONS))


def _dropout(loss: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the allelic dropout for a probability that one allele is lost."""
    within = np.clip(loss, _LEAST_LOSS, _MOST_LOSS)
    return np.asarray(within / (2.0 - within))
