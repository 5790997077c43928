"""Options of `infer`, checked and complete: a value that `host/answer/run.py` runs."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from syclade.host.answer.request.arguments import (
    Inputs,
    Learning,
    by_mutation_trees,
    complete,
    read_inputs,
    requested_rates,
    settled,
    support_plan,
    with_evidence_of,
    with_homozygous_merged,
)
from syclade.host.chains.convergence import Rule, StoppingRule, annealing_for
from syclade.host.chains.scores.score import ScoreOptions
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import ObservationModel, Rates, all_rates
from syclade.host.device.choice import Several, split_devices
from syclade.host.findings.estimated_rates import Estimated, Report, RequestedRates
from syclade.host.findings.kinds import PlanOptions
from syclade.host.findings.unplaced import Unplaced
from syclade.host.findings.weighed_matrix import Weighed, levels_in, weighed_by_estimate
from syclade.host.ground.options import CODING, OPTIONS, Options, Plain, is_given, plain_of
from syclade.host.ground.options.types import DEFAULT_CHAINS
from syclade.host.ground.signals import Stop

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.chains.backends.stages.opening import Separate
    from syclade.host.chains.plan import Plan
    from syclade.host.data.input.metadata import CellLabels
    from syclade.host.data.model.rate_model import RateModel
    from syclade.host.findings.kinds import TreeKind
    from syclade.host.findings.samples.sampled import Sampling
    from syclade.host.findings.support.plan import SupportPlan

__all__ = ["Request", "make_request"]

_OF_FILES = ("checkpoint", "checkpoint_every", "resume", "force")
"""Options of how the process keeps its files, and not of the run."""


@dataclass(frozen=True, eq=False)
class Request:
    """Checked options of an inference.

    Attributes:
        kind: kind of the trees.
        observed, rates, plan: the matrix, its error rates, and the plan of the chains.
        by_search: whether to search, without chains after it; a search for a cell tree may need some.
        chains, seed, slots: as for `infer`.
        until: steps of each chain, or the rule by which they stop.
        device: as for `infer`, or places that share the work.
        encoding, image, start: as for `infer`.
        sampling: which states are samples; None for none.
        max_trees: maximum number of co-optimal trees; None to skip looking for them.
        true_tree: int32, shape (n + 1,): a parent vector to compare with; None for none.
        separate: options of separate stages; None for fused ones.
        support: chains that sample trees for support; None for none.
        options: the options by which the run is repeated, with those that were found; without the matrix.
        estimated: which of the rates were not given, but estimated, and how.
        unplaced: mutations and cells of which the matrix says nothing.
        labels: labels of the cells; None for none.
    """

    kind: TreeKind
    observed: Matrix
    rates: ObservationModel
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
    options: Options
    estimated: Estimated
    unplaced: Unplaced
    labels: CellLabels | None

    @property
    def plain_options(self) -> dict[str, Plain]:
        """The options as plain values by name, in the order of the table."""
        names = [name for name in CODING if is_given(self.options, name)]
        names += [name for name, option in OPTIONS.items() if option.of == "infer" and name not in _OF_FILES]
        return {name: plain_of(self.options, name) for name in names}


def make_request(
    matrix: object, options: Options, executor: Executor | None, stop: Stop, report: Report
) -> Request:
    """Check options and return them as a request; estimate rates that are not given.

    Args:
        matrix, executor: as for `infer`.
        options: the options, as given.
        stop, report: of the searches that estimate rates, as for `RequestedRates.estimate`.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or TreeError, with what to do.
    """
    options = complete(settled(with_evidence_of(matrix, options)))
    where = _where(options.device, executor)
    separate = None if options.stages == "fused" else _separate(options)

    def weigh(read: Matrix) -> Matrix:
        return weighed_by_estimate(read, options, where, stop, report)

    inputs = read_inputs(matrix, options, weigh)
    options = with_homozygous_merged(inputs.as_read, options)
    estimated = _estimated(inputs, options, where, stop, report)
    if options.method != "chain":  # chains learn the rate of doublets themselves
        options = options.replace(doublets=estimated.doublets)
    doublets, learned = Learning.of_options(options).with_rate(options.doublets)
    sampling = _sampling(options)
    plan = _plan(inputs, learned.of(estimated.rates, doublets), doublets, sampling, options)
    support = support_plan(options, inputs.observed, estimated.rates, doublets, inputs.unplaced)
    if separate is not None:
        from syclade.host.chains.backends.stages.opening import check_plan

        check_plan(plan)
    assert options.chains is not None
    return Request(
        kind=inputs.kind,
        observed=inputs.observed,
        rates=estimated.rates,
        plan=plan,
        by_search=options.method == "search" and not by_mutation_trees(options),
        chains=options.chains,
        until=_until(options, inputs.observed),
        seed=options.seed,
        slots=options.slots,
        device=where,
        encoding=options.encoding,
        image=options.image,
        start="search" if by_mutation_trees(options) else options.start,
        sampling=sampling,
        max_trees=options.max_trees,
        true_tree=inputs.true_tree,
        separate=separate,
        support=support,
        options=_found(options, inputs, estimated.rates),
        estimated=estimated,
        unplaced=inputs.unplaced,
        labels=inputs.labels,
    )


def _estimated(
    inputs: Inputs, options: Options, where: str | Several, stop: Stop, report: Report
) -> Estimated:
    """Return the rates, of which some are estimated; arguments as for `make_request`."""
    rates, share, chained = _rates_of(inputs, options), options.doublets, options.method == "chain"
    share = None if chained and isinstance(share, str) and not rates.missing else share
    estimated = rates.estimate(inputs.as_read, where, options.seed, stop, report, doublets=share)
    if isinstance(inputs.as_read, Weighed):
        estimated = inputs.as_read.added_to(estimated)
    return estimated._replace(names=rates.missing) if chained else estimated


def _plan(
    inputs: Inputs,
    model: RateModel,
    doublets: float | None,
    sampling: Sampling | None,
    options: Options,
) -> Plan:
    """Return the plan of the chains."""
    assert options.move_probabilities is not None
    planned = PlanOptions(
        score=ScoreOptions(options.score, doublets, inputs.recurrent),
        gamma=options.gamma,
        move_probabilities=options.move_probabilities,
        recorders=() if sampling is None else (sampling.recorder,),
        events=1 if sampling is None else sampling.events,
    )
    return inputs.kind.make_plan(inputs.observed, model, planned)


def _until(options: Options, observed: Matrix) -> int | Rule:
    """Return the steps of each chain, or the rule by which they stop."""
    if options.method == "anneal" or by_mutation_trees(options):
        return annealing_for(options.chains or DEFAULT_CHAINS, observed.n_cells, observed.n_mutations)
    return StoppingRule() if options.steps is None else options.steps


def _found(options: Options, inputs: Inputs, rates: ObservationModel) -> Options:
    """Return the options with the rates, names and recurrent mutation that were found."""
    recurrent = inputs.recurrent
    return options.replace(
        tree=inputs.kind.name,
        **(all_rates(rates) if isinstance(rates, Rates) else {}),
        names=inputs.names,
        cell_names=inputs.cell_names,
        recurrent=options.recurrent if recurrent is None else inputs.as_read.mutations[recurrent],
        chains=None if options.method == "search" else options.chains,
    )


def _rates_of(inputs: Inputs, options: Options) -> RequestedRates:
    """Return the requested rates, or the levels of evidence in their place."""
    requested = requested_rates(options)
    if inputs.as_read.evidence is None:
        return requested
    return replace(requested, levels=levels_in(inputs.as_read, options.floor))


def _where(device: str, executor: Executor | None) -> str | Several:
    """Return where the work is done; the code of workers is only loaded if needed."""
    if executor is None:
        return split_devices(device)
    from syclade.host.device.cluster.workers import Workers

    return Workers(executor, device)


def _separate(options: Options) -> Separate:
    """Return the options of separate stages; their code is only loaded if needed."""
    from syclade.host.chains.backends.stages.opening import separate_stages

    return separate_stages(options.trace, options.force, overlapping=options.stages == "overlapping")


def _sampling(options: Options) -> Sampling | None:
    """Return which states are samples; None for none. The code for samples is only loaded if needed."""
    if options.samples is None:
        return None
    from syclade.host.findings.samples.sampled import make_sampling

    return make_sampling(options.samples, options.burn_in, options.steps, options.chains or DEFAULT_CHAINS)
