"""How well do the chains for support mix, with a guide and without?"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.scores.score import ScoreOptions
from syclade.host.chains.search.find_tree import find
from syclade.host.data.diagnostics import pair_sizes
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import Simulation, simulate
from syclade.host.device.choice import choose_device
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.host.findings.support.budget import CHAINS, Budget
from syclade.host.findings.support.plan import SupportPlan, plan_of_chains, silent_in
from syclade.host.findings.support.stage import Run, sample
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.studies import ChainsOnInputs
from syclade.quality.studies.mixing.result import Mixed, MixingStudy
from syclade.quality.work import Progress

__all__ = ["mixing"]

RATES = Rates(1e-3, 0.2)
MISSING = 0.1

PAIRS = 500
"""Most pairs of an input whose effective sample size is measured, evenly spaced."""

SAMPLES = 1000
"""Samples of each chain in a round."""

LOADING = Budget(8, 16, 1)
"""Budget of a run that only compiles or loads the kernel, before time is measured."""


def mixing(
    *,
    cells: int = 64,
    mutations: int = 63,
    inputs: int = 4,
    steps: int = 1_000_000,
    device: str = "native",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> MixingStudy:
    """Compare the chains for support, with guided moves and without, on simulated inputs.

    Four chains of the sum score start at trees of searches. The first half of their steps is burn-in, from
    which the guide is learned; the second half is judged. Processor time is that of this process.

    Args:
        cells, mutations: size of the inputs.
        inputs: number of inputs; their seeds are `seed`, `seed` + 1, ….
        steps: steps of each chain.
        device: as for `infer`.
        seed: seed of the first input, and of all chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    where = choose_device(device).filter
    found: list[Mixed] = []
    for number in range(inputs):
        if progress is not None:
            progress(f"input {seed + number}", number, inputs)
        simulation = simulate(cells, mutations, RATES.fp_rate, RATES.fn_rate, MISSING, seed + number)
        found += _of_input(seed + number, simulation, steps, Run(where, "auto", None, seed, RunContext()))
    return MixingStudy(tuple(found), ChainsOnInputs(cells, mutations, CHAINS, steps, where, seed))


def _of_input(number: int, simulation: Simulation, steps: int, run: Run) -> Iterator[Mixed]:
    """Yield how the chains without and with a guide mix on an input."""
    matrix = simulation.matrix
    sought = make_plan(make_problem(matrix, RATES))
    searches = find(sought, run.device, "auto", slots=None, seed=run.seed, context=run.context)
    best = searches.outcome.best.best_parents
    samples = min(SAMPLES, steps // 4)
    budget = Budget(samples, steps // 2 // samples * samples, 1)
    problem = make_problem(matrix, RATES, octaves=True)

    def sampled_with(budget: Budget, guided: bool) -> SampledMutationTrees:
        plan = plan_of_chains(problem, ScoreOptions("shares"), budget, guided=guided)
        every = silent_in(Unplaced(), matrix.n_mutations)
        planned = SupportPlan("full", budget, plan, problem, every, RATES, guided)
        judged = sample(planned, best, searches.trees, matrix.mutations, run)[0].judged
        assert judged is not None
        return judged.sampled

    for guided in (False, True):
        sampled_with(LOADING, guided)
        begun = time.process_time()
        sampled = sampled_with(budget, guided)
        seconds = time.process_time() - begun
        sizes = pair_sizes(sampled.store.trees_by_chain(), sampled.posterior.ancestors, PAIRS).sizes
        quantiles = [float(one) for one in np.quantile(sizes, (0.0, 0.1, 0.5))] if sizes.size else [0.0] * 3
        yield Mixed(
            number,
            guided,
            CHAINS * budget.first,
            seconds / 2,
            sampled.ess,
            sampled.rhat,
            sampled.spread,
            len(sizes),
            *quantiles,
        )
