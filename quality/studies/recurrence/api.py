"""Study of the tests of recurrence, on inputs with clones of unequal sizes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

import syclade
from syclade.host.answer.output.result import Result
from syclade.host.answer.recurrence.sampled_factors import cells_of_states, factors_of
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.runs.pipeline import state_at
from syclade.host.chains.scores.score import ScoreOptions
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.host.findings.support.plan import make_support_plan, plan_of_chains
from syclade.host.findings.support.stage import Run, sample
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole
from syclade.quality.studies.recurrence.result import OfInput, RecurrenceResult
from syclade.quality.work import Progress

__all__ = ["INPUTS", "KINDS", "RATES", "recurrence_study"]

INPUTS: Final = 24

RATES: Final = Rates(0.01, 0.13)

KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "none": {"per_branch": 3},
    "none, dropout 1 to 25 %": {"per_branch": 3, "fn_range": (0.01, 0.25)},
    "2 recur": {"recurrent": 2},
    "2 are lost": {"losses": 2},
}
"""Arguments of `simulate` by the violations of infinite sites; sizes of clones follow Zipf's law."""

STEPS: Final = 2000
"""Steps of each chain with a copy."""

_EVEN: Final = 2.0**20
"""Concentration of shares that are nearly equal."""


def recurrence_study(
    *,
    cells: int = 400,
    mutations: int = 24,
    inputs: int = INPUTS,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> RecurrenceResult:
    """Test all mutations of inputs of each of `KINDS` for a recurrence, and compare with the truth.

    The control has the same tests with equal probabilities of all nodes, on inputs of the first kind.

    Args:
        cells, mutations: size of the inputs.
        inputs: number of inputs of each kind.
        device: as for `infer`.
        seed: seed of the first input of each kind; the others follow.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    inputs = whole("inputs (--inputs)", inputs, 1, 2**20)
    found, began, rows = choose_device(device).filter, time.process_time(), []
    for at, kind in enumerate(KINDS):
        for number in range(inputs):
            if progress is not None:
                progress(f"{kind}, {number + 1} of {inputs}", at * inputs + number, len(KINDS) * inputs)
            rows.append(_of_input(kind, cells, mutations, seed + number, found))
    return RecurrenceResult(tuple(rows), cells, mutations, inputs, found, seed, time.process_time() - began)


def _of_input(kind: str, cells: int, mutations: int, seed: int, device: str) -> OfInput:
    """Return the tests of an input, and those of the control for an input of the first kind."""
    given = KINDS[kind]
    made = simulate(cells, mutations, RATES.fp_rate, RATES.fn_rate, 0.0, seed, shares="zipf", **given)
    result = syclade.infer(
        made.matrix, fp_rate=RATES.fp_rate, fn_rate=RATES.fn_rate, recurrent="all", steps=STEPS, chains=4,
        device=device, seed=seed,
    )  # fmt: skip
    tests = result.recurrences
    assert tests is not None
    return OfInput(
        kind=kind,
        seed=seed,
        recurrent=tuple(sorted(copy.mutation for copy in made.copies)),
        factors=tuple(test.log_bayes_factor for test in tests.tests),
        accepted=tests.accepted,
        control=_with_even_shares(result, device) if kind == next(iter(KINDS)) else (),
    )


def _with_even_shares(result: Result, device: str) -> tuple[float, ...]:
    """Return the log Bayes factors of all mutations with equal probabilities of all nodes."""
    assert result.observed is not None
    with_shares = make_support_plan("quick", result.observed, RATES, None)
    plan = plan_of_chains(
        with_shares.plan.problem, ScoreOptions("sum"), with_shares.budget, guided=with_shares.guided
    )
    run = Run(device, "auto", None, result.seed, RunContext())
    names = result.mutations
    judged = sample(with_shares._replace(plan=plan), result.parents, [], names, run)[0].judged
    assert judged is not None
    states = [
        state_at(with_shares.plan, tree, chain, step)
        for chain, trees in enumerate(judged.sampled.store.trees_by_chain())
        for step, tree in enumerate(trees)
    ]
    sampled = cells_of_states(plan.problem, states, result.seed)
    even = sampled.cells._replace(concentrations=np.full((len(sampled.chains), 2), _EVEN))
    factors = factors_of(sampled._replace(cells=even), result.observed, RATES, None, range(len(names)))
    return tuple(one.value for one in factors)
