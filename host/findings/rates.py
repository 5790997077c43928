"""Error rates of an answer as a finding: given, estimated or learned, and whether the matrix fits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.host.data.model.dropout import FILE as DROPOUT_FILE
from syclade.host.data.model.rate_fit import PRIORS, advised_rates, fit_rates, misfit
from syclade.host.data.model.rates import Rates, scored_values
from syclade.host.findings.doublets import genotypes_of
from syclade.host.findings.finding import Finding, FindingKind, Section, Table, no_files, sentence
from syclade.host.findings.support.finding import SupportFinding
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.data.model.dropout import Dropout
    from syclade.host.data.model.rate_posterior import RatePosterior
    from syclade.host.findings.finding import BestTree, Draft

__all__ = ["RATES", "RatesFinding"]

_NEAR = 0.99
"""Part of the largest rate that is considered from which an estimate is at this limit."""

_DRIVERS = 3
"""Most mutations that are named with a rate at its limit."""


@dataclass(frozen=True, eq=False, repr=False)
class RatesFinding(Finding):
    """Error rates of the run, beside those that fit.

    Attributes:
        best: the most likely tree, with the rates.
        estimated: names of the rates that were estimated from the matrix.
        fitted: the rates under which the tree is most likely; None where they are not compared.
        advised: the rates that fit the tree and the priors of estimated rates, if the matrix contradicts
            those of the run; else None.
        contradicted: names of the rates that these contradict: five times off, and not by chance.
        posterior: the estimated rates over the sampled trees; None without.
        dropout: rates of false negatives of the mutations, if they differ; None for one rate. The posterior
            is then that of one rate for all, by the trees that were sampled before.
        settled: whether searches found the tree, or chains agree on it: a tree far from the best fits
            other rates.
    """

    name = "rates"
    best: BestTree
    estimated: tuple[str, ...]
    fitted: Rates | None
    advised: Rates | None
    contradicted: tuple[str, ...]
    posterior: RatePosterior | None
    dropout: Dropout | None
    settled: bool

    def summary(self) -> JsonObject:
        """Return names of estimated rates, fitted rates and learned rates, where there are any."""
        entries: JsonObject = {}
        if self.estimated:
            entries["estimated_rates"] = list(self.estimated)
        if self.fitted is not None:
            entries["fitted_rates"] = {"fp_rate": self.fitted.fp_rate, "fn_rate": self.fitted.fn_rate}
        if self.best.learned is not None:
            entries["learned"] = dict(self.best.learned)
        return entries

    @property
    def lines(self) -> list[str]:
        """Estimated rates, and those of the best tree if rates were learned."""
        learned = self.best.learned
        halved = self.best.rates.to_dict().get("fn_rate_hom") is not None
        return [*self._estimated_lines, *([] if learned is None else [_learned_line(learned, halved=halved)])]

    @property
    def _estimated_lines(self) -> list[str]:
        """Estimated rates: over all samples where trees were sampled; else those that fit the tree.

        The latter fit one tree, which was fitted to the same errors, so they can be too low: they are then
        named as those of the search.
        """
        if not self.estimated:
            return []
        doublets = self.best.assignment.doublets
        values = {**self.best.rates.to_dict(), **({} if doublets is None else {"doublets": doublets.rate})}
        rates = [flag_of(name, f"{values[name]:g}") for name in self.estimated]
        found = self.posterior
        if found is None:
            return [f"error rates estimated from the matrix: {', '.join(rates)}"]
        over = ", ".join(f"{flag_of(name)} {self._interval_words(name, found)}" for name in self.estimated)
        one = "" if self.dropout is None else ", with one rate of false negatives for all mutations"
        lines = [f"error rates estimated from the matrix{one}: {over}"]
        if found.sampled_under != self.best.rates or self.dropout is not None:
            under = (self._words_under(name, found) for name in self.estimated)
            lines.append(
                f"the best tree was searched with {' and '.join(rates)}; support and consensus are of "
                f"{' and '.join(under)}"
            )
        return lines

    def _interval_words(self, name: str, found: RatePosterior) -> str:
        """Return the interval of a rate as text; it says if the interval ends at the limit of the prior."""
        interval = found.intervals[name]
        if name not in PRIORS or interval.high < _NEAR * PRIORS[name].most:
            return interval.words
        return f"{interval.words}, at the limit of {PRIORS[name].most:g}"

    def _words_under(self, name: str, found: RatePosterior) -> str:
        """Return the rate of the sampled trees as text."""
        if name == "fn_rate" and self.dropout is not None:
            mean = float(self.dropout.of_seen.mean())
            return f"{flag_of(name)} of each mutation ({mean:.3g} on the mean, see {DROPOUT_FILE})"
        return flag_of(name, f"{getattr(found.sampled_under, name):g}")

    @property
    def warnings(self) -> list[str]:
        """Rates that the matrix contradicts, rates at the upper limit, and what to do."""
        return [*self._contradictions, *self._at_limits]

    @property
    def _contradictions(self) -> list[str]:
        given = [name for name in PRIORS if name not in self.estimated]
        wrong = [name for name in self.contradicted if name in given]
        if self.advised is None or not wrong or not self.settled:
            return []
        wrong_ones = " and ".join(flag_of(name, f"{getattr(self.best.rates, name):g}") for name in wrong)
        better = " and ".join(flag_of(name, f"{getattr(self.advised, name):g}") for name in given)
        return [
            f"the matrix contradicts {wrong_ones}: {better} would fit the tree better; with wrong rates "
            "other trees are likely: infer again with these"
        ]

    @property
    def _at_limits(self) -> list[str]:
        """Messages of estimated rates: the model does not fit, or nothing tells the rate.

        Over sampled trees, the rate that the search began with does not matter.
        """
        warned = []
        for name in (one for one in self.estimated if one in PRIORS):
            most, found = (
                PRIORS[name].most,
                None if self.posterior is None else self.posterior.intervals[name],
            )
            if (getattr(self.best.rates, name) if found is None else found.mean) >= _NEAR * most:
                warned.append(
                    f"the estimate of {flag_of(name)} is the largest that is considered, {most:g}: errors "
                    "may depend on each other, which the model does not know; give it if you know better"
                    f"{self._driven_by(name)}"
                )
            elif found is not None and found.high >= _NEAR * most:
                warned.append(
                    f"the interval of {flag_of(name)} ends at the largest rate that is considered, {most:g}: "
                    "errors may depend on each other, which the model does not know; give it if you know "
                    f"better{self._driven_by(name)}"
                )
        return warned

    def _driven_by(self, name: str) -> str:
        """Return, after a semicolon, the mutations with the most such errors in this tree; empty for none."""
        best = self.best
        has, values = genotypes_of(best.kind, best.tree), scored_values(best.observed, best.rates)
        seen, known = (values == 1) | (values == 2), values != 3
        judged = known & (has if name == "fn_rate" else ~has)
        wrong = (judged & (seen != has)).sum(axis=1)
        most = [row for row in np.argsort(-wrong, kind="stable")[:_DRIVERS].tolist() if wrong[row]]
        if not most:
            return ""
        of = judged.sum(axis=1)
        found = [f"{best.mutations[row]} ({wrong[row]} of {of[row]} cells)" for row in most]
        return f"; most such errors in this tree are of {', '.join(found)}"

    def section(self) -> Section:
        """Return the rates with their origin, and the errors that this tree implies."""
        rows = [
            (name, "yes", "homozygous genotypes (2) count as mutated")
            if value is True
            else (name, f"{value:.6g}", self._origin(name))
            for name, value in self.best.rates.to_dict().items()
            if isinstance(value, (int, float))
        ]
        warnings = tuple(map(sentence, self.warnings))
        return Section("Error rates", self._errors, Table(("rate", "value", ""), rows), warnings)

    @property
    def _errors(self) -> tuple[str, ...]:
        best = self.best
        has = genotypes_of(best.kind, best.tree)
        values = scored_values(best.observed, best.rates)
        seen, known = (values == 1) | (values == 2), values != 3
        wrong, absent = int((seen & ~has).sum()), int((known & ~has).sum())
        lost, present = int((known & ~seen & has).sum()), int((known & has).sum())
        words = (
            f"In this tree, {wrong} of {absent} entries without the mutation have one observed "
            f"({_part(wrong, absent)}), and {lost} of {present} entries with it have none "
            f"({_part(lost, present)}).",
        )
        if best.assignment.doublets is None:
            return words
        return (
            *words,
            "A cell that is more likely a doublet than not has the mutations of both of its nodes.",
        )

    def _origin(self, rate: str) -> str:
        """Return the origin of a rate as text: given, estimated, or learned with its prior."""
        if rate in self.estimated:
            if self.posterior is None:
                return "estimated from the matrix, by the best tree"
            interval = self._interval_words(rate, self.posterior)
            words = f"estimated from the matrix: {interval} over the sampled trees"
            if rate == "fn_rate" and self.dropout is not None:
                return f"{words} with one rate for all mutations; support and consensus are of {DROPOUT_FILE}"
            under = getattr(self.posterior.sampled_under, rate)
            same = under == getattr(self.best.rates, rate)
            return words if same else f"{words}; support and consensus are of {under:g}, the tree of this"
        learned = (self.best.learned or {}).get(rate)
        if learned is None:
            return "given"
        prior = f"learned with the tree; prior {learned['prior_mean']:g} ± {learned['prior_sd']:g}"
        if "unmutated_counts" not in learned:
            return prior
        zeros, ones = learned["unmutated_counts"]
        return f"{prior}, and {zeros} times 0 and {ones} times 1 at positions left out of the matrix"


def _learned_line(learned: Mapping[str, Any], *, halved: bool) -> str:
    """Return the learned rates as text; with zygosity, those of false negatives are halves of one."""
    names = {"fn_rate": "fn_rate and fn_rate_hom together"} if halved else {}
    values = {names.get(name, name): one["value"] for name, one in learned.items() if name != "log_prior"}
    return ", ".join(f"{name} {value:.6g}" for name, value in values.items()) + " (learned)"


def _part(count: int, of: int) -> str:
    return f"{count / of:.2g}" if of else "none"


def _make(draft: Draft) -> RatesFinding | None:
    """Return the rates beside those that fit a mutation tree; None for a run on evidence, which has none.

    None are compared where the path to a cell's node does not say what the cell has, or rates are not two.
    """
    best, found = draft.best, draft.get(SupportFinding)
    posterior, dropout = (None, None) if found is None else (found.support.rates, found.support.dropout)
    given = best.rates
    if not isinstance(given, Rates):
        return None
    plain = best.assignment.doublets is None and best.assignment.recurrence is None
    comparable = best.kind.name == "mutation" and plain and best.learned is None
    if not comparable or given.fn_rate_hom is not None:
        return RatesFinding(best, draft.estimated, None, None, (), posterior, dropout, draft.settled)
    fitted = fit_rates(best.observed, best.parents, given)
    advised = advised_rates(best.observed, best.parents, given, fitted)
    wrong = () if advised is None else misfit(best.observed, best.parents, given, advised)
    return RatesFinding(best, draft.estimated, fitted, advised, wrong, posterior, dropout, draft.settled)


RATES = FindingKind(RatesFinding.name, _make, no_files)
