"""Options of `infer`, checked and complete: a value that `host/answer.py` runs."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from syclade.host.chains.annealing import annealing_for
from syclade.host.chains.convergence import Rule, StoppingRule
from syclade.host.chains.scores.named import ScoreOptions
from syclade.host.cluster.where import Several, first_of, where_of
from syclade.host.common.errors import MatrixError
from syclade.host.devices.choice import choose_device
from syclade.host.estimated_rates import AskedRates, Estimated, Report
from syclade.host.input.door import read_matrix
from syclade.host.input.matrix import Matrix, Names
from syclade.host.kinds.kind import PlanOptions
from syclade.host.kinds.named import kind_named
from syclade.host.model.rate_model import (
    UNIFORM_DEVIATION,
    UNIFORM_LEARN,
    UNIFORM_MEAN,
    RateModel,
    make_rate_model,
)
from syclade.host.model.rates import Rates
from syclade.host.model.recurrence import recurrent_mutation, with_copy
from syclade.host.options import checked, flag_of
from syclade.host.options.defaults import ALL_MUTATIONS, DEFAULT_CHAINS, DEFAULT_SUPPORT
from syclade.host.runs.task import Stop
from syclade.host.supported import check_together, excluded_by
from syclade.host.trees.cells import check_cell_names, default_cell_names
from syclade.host.trees.treefile import tree_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.backends.stages.options import Separate
    from syclade.host.chains.plan import Plan
    from syclade.host.kinds.kind import TreeKind
    from syclade.host.samples.sampling import Sampling
    from syclade.host.support.stage import SupportPlan

__all__ = ["Learning", "Request", "make_request", "names_told", "sampling_of", "support_level"]


MOST_BY_DEFAULT = 2000
"""Most mutations of a matrix whose tree has support by default."""

logger = logging.getLogger("syclade.support")


class Learning(NamedTuple):
    """Options of learned rates, as for `infer`."""

    learn_fn: float | None = None
    fn_sd: float | None = None
    fn_step: float | None = None
    learn_fp: float | None = None
    fp_sd: float | None = None
    fp_step: float | None = None
    learn_doublets: float | None = None
    doublets_sd: float | None = None
    doublets_step: float | None = None
    unmutated_counts: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the given options as plain values."""
        counts = checked("unmutated_counts", self.unmutated_counts)
        rates = self._replace(unmutated_counts=None)._asdict()
        told = {name: None if value is None else float(value) for name, value in rates.items()}
        return {**told, "unmutated_counts": None if counts is None else list(counts)}

    def with_rate(self, doublets: float | str | None) -> tuple[float | None, Learning]:
        """Return the rate of doublets, and the options that learn it: a uniform prior if it is `learn`."""
        if not isinstance(doublets, str):
            return doublets, self
        probability = UNIFORM_LEARN if self.learn_doublets is None else self.learn_doublets
        width = UNIFORM_DEVIATION if self.doublets_sd is None else self.doublets_sd
        return UNIFORM_MEAN, self._replace(learn_doublets=probability, doublets_sd=width)

    def of(self, rates: Rates, doublets: float | None = None) -> RateModel:
        """Return the rates of the chains, checked.

        Raises:
            OptionError: the numbers are invalid.
        """
        return make_rate_model(
            rates,
            learn_fn=self.learn_fn,
            fn_deviation=self.fn_sd,
            fn_step=self.fn_step,
            learn_fp=self.learn_fp,
            fp_deviation=self.fp_sd,
            fp_step=self.fp_step,
            doublets=doublets,
            learn_doublets=self.learn_doublets,
            doublets_deviation=self.doublets_sd,
            doublets_step=self.doublets_step,
            unmutated=self.unmutated_counts,
        )


@dataclass(frozen=True, eq=False)
class Request:
    """Checked options of an inference.

    Attributes:
        kind: kind of the trees.
        observed, rates, plan: the matrix, its error rates, and the plan of the chains.
        by_search: whether to search.
        chains, seed, slots: as for `infer`.
        until: steps of each chain, or the rule by which they stop.
        device: as for `infer`, or places that share the work.
        encoding, image, start: as for `infer`.
        sampling: which states are samples; None for none.
        max_trees: maximum number of co-optimal trees; None to skip looking for them.
        true_tree: int32, shape (n + 1,): a parent vector to compare with; None for none.
        separate: options of separate stages; None for fused ones.
        support: chains that sample trees for support; None for none.
        options: all of this by the names of `infer`'s arguments, as plain values.
        estimated: which of the rates were not given, but estimated, and how.
    """

    kind: TreeKind
    observed: Matrix
    rates: Rates
    plan: Plan
    by_search: bool
    chains: int
    until: int | Rule
    seed: int
    slots: int | None
    device: str | Several
    encoding: str
    image: str | os.PathLike[str] | None
    start: str
    sampling: Sampling | None
    max_trees: int | None
    true_tree: NDArray[np.int32] | None
    separate: Separate | None
    support: SupportPlan | None
    options: Mapping[str, Any]
    estimated: Estimated


def make_request(
    matrix: Any,
    asked_rates: AskedRates,
    *,
    tree: str,
    names: Names,
    cell_names: Names,
    attach: bool,
    score: str,
    doublets: float | str | None,
    recurrent: str | int | None,
    method: str,
    chains: int | None,
    steps: int | None,
    seed: int,
    gamma: float,
    move_probabilities: Sequence[float] | None,
    device: str,
    executor: Executor | None,
    encoding: str,
    image: str | os.PathLike[str] | None,
    slots: int | None,
    start: str,
    max_trees: int | None,
    samples: int | None,
    support: str | None,
    burn_in: float,
    learning: Learning,
    true_tree: Any,
    stages: str,
    trace: str | os.PathLike[str] | None,
    force: bool,
    stop: Stop,
    report: Report,
) -> Request:
    """Check the arguments of `infer` and return them as a request; estimate rates that are not given.

    Args:
        asked_rates: the error rates.
        stop, report: of the searches that estimate rates, as for `AskedRates.estimate`.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or TreeError, with what to do.
    """
    kind = kind_named(tree)
    given: dict[str, Any] = {
        "tree": tree, "attach": attach, "true_tree": true_tree, "score": score, "doublets": doublets,
        "recurrent": recurrent, "method": method, "start": start, "stages": stages, "trace": trace,
        "device": device, "scheduler": None if executor is None else "executor", "encoding": encoding,
        "image": image, "chains": chains, "steps": steps,
        "samples": samples, "support": support, "max_trees": max_trees, **learning._asdict(),
    }  # fmt: skip
    for name in ("score", "doublets", "method", "start", "stages", "support"):
        checked(name, given[name])
    given["method"] = _method(given)
    check_together(given)
    where = _where(device, executor)
    has_copy = recurrent is not None and recurrent != ALL_MUTATIONS
    asked_rates.first()  # refuses wrong rates before the matrix is read
    asked_rates.check(doublets=doublets, device=device)
    if given["method"] == "search" and (kind.name == "leaf" or doublets is not None or has_copy):
        given["method"] = "anneal"  # searches find mutation trees by the maximum score only
    if given["method"] == "anneal":
        start = "search"
    separate = _separate(trace, force) if stages == "separate" else None
    chains = checked("chains", DEFAULT_CHAINS if chains is None else chains)
    steps, seed, slots = checked("steps", steps), checked("seed", seed), checked("slots", slots)
    max_trees, image = checked("max_trees", max_trees), checked("image", image)
    if move_probabilities is None:
        move_probabilities = kind.move_probabilities
    elif isinstance(move_probabilities, Iterator):  # an iterator can be read only once
        move_probabilities = tuple(move_probabilities)
    observed = read_matrix(matrix, names, cell_names=cell_names)
    told_names = names_told(names, cell_names, observed)
    mutation, without_copy = None, observed
    if recurrent is not None and has_copy:
        from syclade.host.kinds.recurrent_trees import recurrent_kind

        mutation = recurrent_mutation(recurrent, observed.mutations)
        recurrent = observed.mutations[mutation]
        kind, observed = recurrent_kind(mutation), with_copy(observed, mutation)
    if attach:
        check_cell_names(observed.cells or default_cell_names(observed.n_cells), observed.mutations)
    true = None if true_tree is None else tree_of(true_tree, observed.mutations, observed.cells or ())
    estimated = asked_rates.estimate(without_copy, where, seed, stop, report)
    rates = estimated.rates
    rate_of_doublets, learned = learning.with_rate(doublets)
    model = learned.of(rates, rate_of_doublets)
    scored = ScoreOptions(score, rate_of_doublets, mutation)
    sampling = sampling_of(samples, burn_in, steps)
    recorders = () if sampling is None else (sampling.recorder,)
    events = 1 if sampling is None else sampling.events
    plan = kind.make_plan(observed, model, PlanOptions(scored, gamma, move_probabilities, recorders, events))
    until: int | Rule = StoppingRule() if steps is None else steps
    if given["method"] == "anneal":
        until = annealing_for(chains, observed.n_cells, observed.n_mutations)
    supporting = _support(given, observed, rates, rate_of_doublets)
    if separate is not None:
        from syclade.host.backends.stages.options import check_plan

        check_plan(plan)
    options = {
        "tree": kind.name,
        **{name: getattr(rates, name) for name in ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate")},
        "merge_homozygous": rates.merge_homozygous,
        **told_names,
        "attach": bool(attach),
        "score": score,
        "doublets": doublets,
        "recurrent": recurrent,
        "method": given["method"],
        "chains": None if given["method"] == "search" else chains,
        "steps": steps,
        "seed": seed,
        "gamma": float(gamma),
        "move_probabilities": [float(weight) for weight in move_probabilities],
        "device": device,
        "encoding": encoding,
        "image": None if image is None else str(image),
        "slots": slots,
        "start": start,
        "max_trees": max_trees,
        "samples": samples,
        "support": support,
        "burn_in": float(burn_in),
        **learning.to_dict(),
        "true_tree": os.fspath(true_tree) if isinstance(true_tree, (str, os.PathLike)) else None,
        "stages": stages,
        "trace": None if trace is None else os.fspath(trace),
    }
    by_search = given["method"] == "search"
    return Request(
        kind, observed, rates, plan, by_search, chains, until, seed, slots, where, encoding, image, start,
        sampling, max_trees, true, separate, supporting, options, estimated,
    )  # fmt: skip


def _where(device: str, executor: Executor | None) -> str | Several:
    """Return where the work is done; the code of workers is only loaded if needed."""
    if executor is None:
        return where_of(device)
    from syclade.host.cluster.workers import Workers

    return Workers(executor, device)


def _method(given: Mapping[str, Any]) -> str:
    """Return the method that given options select: `auto` is chains if one of them is of chains only."""
    if given["method"] != "auto":
        return str(given["method"])
    return "chain" if any(excluded_by("search", given)) else "search"


def support_level(given: Mapping[str, Any]) -> str:
    """Return the support that given options ask for, quick, full or none; by default none where it cannot be.

    Args:
        given: values by the names of the options; those that are missing are not given.
    """
    asked = given["support"] or DEFAULT_SUPPORT
    return "none" if any(excluded_by("support", {**given, "method": _method(given)})) else str(asked)


def _support(
    given: Mapping[str, Any], observed: Matrix, rates: Rates, doublets: float | None
) -> SupportPlan | None:
    """Return the chains that sample trees for support; None where they are not wanted.

    By default they are not for a matrix of more than `MOST_BY_DEFAULT` mutations, since the samples are
    judged by tables of all pairs; nor on numpy, where they take minutes.

    Raises:
        MatrixError: support was asked for, and the matrix is too large for its score.
        DeviceError: the requested device cannot be used.
    """
    level, by_default = support_level(given), given["support"] is None
    if level == "none" or (by_default and observed.n_mutations > MOST_BY_DEFAULT):
        return None
    if by_default and choose_device(first_of(given["device"])).kind == "numpy":
        logger.info("no support on numpy, where it takes minutes: %s samples", flag_of("support", "quick"))
        return None
    from syclade.host.support.stage import make_support_plan

    try:
        return make_support_plan(level, observed, rates, doublets)
    except MatrixError:
        if by_default:
            return None
        raise


def _separate(trace: str | os.PathLike[str] | None, force: bool) -> Separate:
    """Return the options of separate stages; their code is only loaded if needed."""
    from syclade.host.backends.stages.options import separate_stages

    return separate_stages(trace, force)


def sampling_of(samples: int | None, burn_in: float, steps: int | None) -> Sampling | None:
    """Return which states are samples; None for none. The code for samples is only loaded if needed."""
    part = checked("burn_in", burn_in)
    if samples is None:
        return None
    from syclade.host.samples.sampling import make_sampling

    return make_sampling(samples, part, steps)


def names_told(names: Names, cell_names: Names, observed: Matrix) -> dict[str, str | list[str] | None]:
    """Return the names of mutations and cells as the plain values of two options.

    Args:
        names, cell_names: as given; an iterator has already been consumed.
        observed: the matrix; for names that were not given, it knows the file they come from, if any.
    """
    return {
        "names": _told(names, observed.mutations) or observed.names_from,
        "cell_names": _told(cell_names, observed.cells) or observed.cell_names_from,
    }


def _told(names: Names, found: Sequence[str] | None) -> str | list[str] | None:
    if names is None:
        return None
    return os.fspath(names) if isinstance(names, (str, os.PathLike)) else list(found or ())
