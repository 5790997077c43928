"""Arguments of `infer`, checked and complete: a value that `host/answer/run.py` runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from syclade.host.answer.request.arguments import complete, fields_of, together
from syclade.host.answer.request.inputs import Inputs, read_inputs
from syclade.host.answer.request.learning import Learning
from syclade.host.answer.request.support import support_plan
from syclade.host.chains.annealing import annealing_for
from syclade.host.chains.convergence import Rule, StoppingRule
from syclade.host.chains.runs.task import Stop
from syclade.host.chains.scores.named import ScoreOptions
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import Several, where_of
from syclade.host.findings.consensus.unplaced import Unplaced
from syclade.host.findings.estimated_rates import AskedRates, Estimated, Report
from syclade.host.findings.kinds.kind import PlanOptions
from syclade.host.ground.options import OPTIONS, checked
from syclade.host.ground.options.defaults import DEFAULT_CHAINS

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.chains.backends.stages.options import Separate
    from syclade.host.chains.plan import Plan
    from syclade.host.data.model.rate_model import RateModel
    from syclade.host.findings.kinds.kind import TreeKind
    from syclade.host.findings.samples.sampling import Sampling
    from syclade.host.findings.support.stage import SupportPlan

__all__ = ["Request", "make_request"]

_OF_FILES = ("checkpoint", "checkpoint_every", "resume", "force")
"""Options of how the process keeps its files, and not of the run."""


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
        unplaced: mutations and cells of which the matrix says nothing.
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
    unplaced: Unplaced


def make_request(matrix: Any, given: Mapping[str, Any], stop: Stop, report: Report) -> Request:
    """Check the arguments of `infer` and return them as a request; estimate rates that are not given.

    Args:
        matrix: as for `infer`.
        given: the other arguments of `infer`, by name; more are ignored.
        stop, report: of the searches that estimate rates, as for `AskedRates.estimate`.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or TreeError, with what to do.
    """
    asked = together(given)
    where = _where(asked["device"], asked["executor"])
    rates = AskedRates(**fields_of(AskedRates, asked))
    rates.first()  # refuses wrong rates before the matrix is read
    rates.check(device=asked["device"])
    separate = _separate(asked["trace"], asked["force"]) if asked["stages"] == "separate" else None
    asked = complete(asked)
    inputs = read_inputs(matrix, asked)
    share, chained = asked["doublets"], asked["method"] == "chain"
    share = None if chained and isinstance(share, str) and not rates.missing else share
    estimated = rates.estimate(inputs.as_read, where, asked["seed"], stop, report, doublets=share)
    if chained:  # chains learn the rate of doublets themselves
        estimated = estimated._replace(names=rates.missing)
    else:
        asked = {**asked, "doublets": estimated.doublets}
    learning = Learning(**fields_of(Learning, asked))
    doublets, learned = learning.with_rate(asked["doublets"])
    sampling = _sampling(asked)
    plan = _plan(inputs, learned.of(estimated.rates, doublets), doublets, sampling, asked)
    support = support_plan(asked, inputs.observed, estimated.rates, doublets)
    if separate is not None:
        from syclade.host.chains.backends.stages.options import check_plan

        check_plan(plan)
    names = ("chains", "seed", "slots", "encoding", "image", "start", "max_trees")
    return Request(
        kind=inputs.kind,
        observed=inputs.observed,
        rates=estimated.rates,
        plan=plan,
        by_search=asked["method"] == "search",
        until=_until(asked, inputs.observed),
        device=where,
        sampling=sampling,
        true_tree=inputs.true_tree,
        separate=separate,
        support=support,
        options=_told(asked, inputs, estimated.rates, learning),
        estimated=estimated,
        unplaced=inputs.unplaced,
        **{name: asked[name] for name in names},
    )


def _plan(
    inputs: Inputs,
    model: RateModel,
    doublets: float | None,
    sampling: Sampling | None,
    asked: Mapping[str, Any],
) -> Plan:
    """Return the plan of the chains."""
    options = PlanOptions(
        score=ScoreOptions(asked["score"], doublets, inputs.recurrent),
        gamma=asked["gamma"],
        move_probabilities=asked["move_probabilities"],
        recorders=() if sampling is None else (sampling.recorder,),
        events=1 if sampling is None else sampling.events,
    )
    return inputs.kind.make_plan(inputs.observed, model, options)


def _until(asked: Mapping[str, Any], observed: Matrix) -> int | Rule:
    """Return the steps of each chain, or the rule by which they stop."""
    if asked["method"] == "anneal":
        return annealing_for(asked["chains"], observed.n_cells, observed.n_mutations)
    return StoppingRule() if asked["steps"] is None else int(asked["steps"])


def _told(asked: Mapping[str, Any], inputs: Inputs, rates: Rates, learning: Learning) -> dict[str, Any]:
    """Return the options of the run as plain values, in the order of the table of options."""
    true_tree, recurrent = asked["true_tree"], inputs.recurrent
    plain = {
        "tree": inputs.kind.name,
        **{name: getattr(rates, name) for name in ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate")},
        "merge_homozygous": rates.merge_homozygous,
        **inputs.names,
        "attach": bool(asked["attach"]),
        "recurrent": asked["recurrent"] if recurrent is None else inputs.as_read.mutations[recurrent],
        "chains": None if asked["method"] == "search" else asked["chains"],
        "gamma": float(asked["gamma"]),
        "move_probabilities": [float(weight) for weight in asked["move_probabilities"]],
        "image": None if asked["image"] is None else str(asked["image"]),
        "burn_in": float(asked["burn_in"]),
        **learning.to_dict(),
        "true_tree": os.fspath(true_tree) if isinstance(true_tree, (str, os.PathLike)) else None,
        "trace": None if asked["trace"] is None else os.fspath(asked["trace"]),
    }
    names = (name for name, option in OPTIONS.items() if option.of == "infer" and name not in _OF_FILES)
    return {name: plain[name] if name in plain else asked[name] for name in names}


def _where(device: str, executor: Executor | None) -> str | Several:
    """Return where the work is done; the code of workers is only loaded if needed."""
    if executor is None:
        return where_of(device)
    from syclade.host.device.cluster.workers import Workers

    return Workers(executor, device)


def _separate(trace: str | os.PathLike[str] | None, force: bool) -> Separate:
    """Return the options of separate stages; their code is only loaded if needed."""
    from syclade.host.chains.backends.stages.options import separate_stages

    return separate_stages(trace, force)


def _sampling(asked: dict[str, Any]) -> Sampling | None:
    """Return which states are samples; None for none. The code for samples is only loaded if needed."""
    part = checked("burn_in", asked["burn_in"])
    if asked["samples"] is None:
        return None
    from syclade.host.findings.samples.sampling import make_sampling

    return make_sampling(asked["samples"], part, asked["steps"], asked["chains"] or DEFAULT_CHAINS)
