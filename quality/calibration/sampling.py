"""Samples of an input's posterior: by chains from random trees, or by those that `infer` runs for support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from syclade.host.answer.inference import infer
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.scores.score import ScoreOptions
from syclade.host.data.model.reads import PARAMETERS
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.host.findings.support.plan import make_support_plan, plan_of_chains, silent_in
from syclade.host.findings.support.stage import Run, sample
from syclade.host.findings.unplaced import Unplaced, unplaced_in
from syclade.quality.calibration.inputs import LEARN, Drawn, model_of_reads
from syclade.quality.calibration.settings import Setting
from syclade.quality.work import work_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.rates import Rates

__all__ = ["CHAINS", "Sampled", "for_support", "from_random", "read_options", "with_equal_nodes"]

CHAINS = 4
SAMPLES = 500
"""Samples of each chain from a random tree, before those of the burn-in are left out."""


class Sampled(NamedTuple):
    """Samples of the posterior of an input.

    Attributes:
        trees: the samples with their diagnostics.
        mixed: whether `infer` has no warning about them.
        work: share of the work by executor.
        silent: mutations that the chains left out.
    """

    trees: SampledMutationTrees
    mixed: bool
    work: Mapping[str, float]
    silent: Unplaced = Unplaced()


def from_random(setting: Setting, drawn: Drawn, seed: int, device: str) -> Sampled:
    """Sample by chains from random trees, which learn the rates if the setting says so.

    Args:
        setting: gives the rates and the number of steps.
        drawn: the input.
        seed, device: as for `infer`.
    """
    given = setting.inferred_with
    learn = LEARN if setting.learn else None
    result = infer(
        drawn.matrix, fp_rate=given.fp_rate, fn_rate=given.fn_rate, score="sum", chains=CHAINS,
        steps=setting.steps, samples=setting.steps // SAMPLES, seed=seed, device=device,
        learn_fn=learn, learn_fp=learn,
    )  # fmt: skip
    assert isinstance(result.samples, SampledMutationTrees)
    return Sampled(result.samples, not result.samples.warnings, work_of(result))


def for_support(level: str, setting: Setting, drawn: Drawn, seed: int, device: str) -> Sampled:
    """Search, and sample as `infer` does for the support of the best tree: with guided moves.

    Args:
        level: level of support, quick or full.
        setting, drawn, seed, device: as for `from_random`; the setting must not learn the rates.
    """
    given = setting.inferred_with
    known: dict[str, Any] = {"fp_rate": given.fp_rate, "fn_rate": given.fn_rate, "dropout": setting.dropout}
    if setting.depth is not None:
        known = read_options(setting)

    def searched(support: str) -> Result:
        return infer(
            drawn.matrix,
            doublets=setting.inferred_with_doublets,
            support=support,
            seed=seed,
            device=device,
            **known,
        )

    if setting.equal_nodes:
        return with_equal_nodes(level, drawn.matrix, given, searched("none"), device)
    result = searched(level)
    assert result.support is not None
    silent = silent_in(unplaced_in(drawn.matrix), drawn.matrix.n_mutations).mutations
    return Sampled(result.support.sampled, result.support.enough, work_of(result), silent)


def read_options(setting: Setting) -> dict[str, Any]:
    """Return the parameters of reads that the inference is given, as options of `infer`."""
    drawn = asdict(model_of_reads(setting))
    known = {name: drawn[name] for name in PARAMETERS}
    return known if setting.given_dropout is None else {**known, "allelic_dropout": setting.given_dropout}


def with_equal_nodes(level: str, matrix: Matrix, rates: Rates, result: Result, device: str) -> Sampled:
    """Sample as `for_support`, but with equally probable nodes; all chains start at the best tree.

    Args:
        level: level of support, quick or full.
        matrix, rates: the observed values, and the error rates.
        result: result of a search in this matrix.
        device: as for `infer`.
    """
    made = make_support_plan(level, matrix, rates, None)
    of_sums = plan_of_chains(made.plan.problem, ScoreOptions("sum"), made.budget, guided=made.guided)
    planned = made._replace(plan=of_sums)
    run = Run(device, "auto", None, result.seed, RunContext())
    judged = sample(planned, result.parents, (), result.mutations, run, result.unplaced)[0].judged
    assert judged is not None
    return Sampled(judged.sampled, judged.enough, work_of(result))
