"""Separate stages of chains with learned rates, the sum score and samples: the bits of fused chains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.backends import Runner
from syclade.host.chains.backends.stages.opening import open_stages
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import score_named
from syclade.host.chains.state import EQUAL_BEST, NEW_BEST, Event, Recorder, every
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.ground.signals import Stop
from tests.support.additions.tempered import TEMPERED
from tests.support.backends import NUMPY, Case, seen

SEED, EVENTS = 5, 16
TARGETS = np.array([70, 45, 61])
FN, BOTH = {"learn_fn": 0.2}, {"learn_fn": 0.2, "learn_fp": 0.1}
SAMPLES = (every(3),)


def plan_of(score: str, learned: Mapping[str, float], recorders: tuple[Recorder, ...], kind: str) -> Plan:
    rates = Rates(0.02, 0.2, 0.25, 0.005) if kind == "zygosity" else Rates(0.02, 0.2)
    model = make_rate_model(rates, **learned)
    matrix = matrix_from_array(Case(21, 30, kind=kind).values)
    problem = make_problem(matrix, rates, octaves=score == "sum", model=model)
    return make_plan(problem, score=score_named(score, problem), recorders=recorders, events=EVENTS)


def events_at(runner: Runner) -> list[tuple[Any, ...]]:
    """Advance all chains to their targets; return what they emitted, in the order of chains and steps."""
    runner.put_all([initial_state(runner.plan, SEED, chain) for chain in range(len(TARGETS))])
    found: list[Event] = []
    reached = np.zeros_like(TARGETS)
    while (reached < TARGETS).any():
        advanced = runner.advance(TARGETS)
        assert (advanced.steps > reached)[reached < TARGETS].all()
        reached, found = advanced.steps, found + advanced.events
    return sorted((*one._replace(parents=one.parents.tolist()),) for one in found)


def assert_same_as_numpy(device: str, plan: Plan) -> None:
    runner, _, _ = open_stages(device, plan, chains=3, slots=3, seed=SEED)
    with NUMPY.runner(plan, 3, SEED) as fallback:
        assert runner.executor.kind == device
        found, expected = events_at(runner), events_at(fallback)
        assert found == expected
        assert bool(found) == bool(plan.recorders)
        for slot in range(3):
            one, other = (seen(each, slot) for each in (runner, fallback))
            for name in ("step", "score", "best_score", "rate_at", "best_rate_at"):
                assert getattr(one.state, name) == getattr(other.state, name), name
            np.testing.assert_array_equal(one.state.parents, other.state.parents)
            np.testing.assert_array_equal(one.state.best_parents, other.state.best_parents)
            np.testing.assert_array_equal(one.tallies, other.tallies)
        if plan.problem.learns:
            assert (runner.info(0).tallies[5:] > 0).any()
        assert runner.report()["steps"] == TARGETS.sum()
    runner.close()


ON_DEVICES = pytest.mark.parametrize(
    "device",
    [
        pytest.param("cpu", marks=pytest.mark.sycl),
        pytest.param("fpga-emu", marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("native", marks=pytest.mark.verification),
        pytest.param("python", marks=pytest.mark.verification),
        "numpy",
    ],
)


@ON_DEVICES
@pytest.mark.parametrize(
    ("score", "learned", "recorders", "kind"),
    [
        ("max", FN, SAMPLES, "zygosity"),
        ("sum", BOTH, (), "random"),
        ("sum", {}, SAMPLES, "missing"),
        pytest.param("sum", FN, SAMPLES, "random", marks=pytest.mark.verification),
        pytest.param("max", BOTH, SAMPLES, "random", marks=pytest.mark.verification),
        pytest.param("max", {}, SAMPLES, "zygosity", marks=pytest.mark.verification),
    ],
)
def test_the_bits_are_those_of_the_fallback(
    device: str, score: str, learned: dict[str, float], recorders: tuple[Recorder, ...], kind: str
) -> None:
    """The ring of events fills up within the steps, which the host does not ask for in vain."""
    assert_same_as_numpy(device, plan_of(score, learned, recorders, kind))


def test_a_full_ring_stops_a_slot() -> None:
    """Events of several recorders come at no fixed distance, so that the ring may fill at any step."""
    assert_same_as_numpy("numpy", plan_of("max", FN, (NEW_BEST, EQUAL_BEST, *SAMPLES), "random"))


@pytest.mark.parametrize("device", ["numpy", "python"])
def test_a_score_with_settings(device: str) -> None:
    """A score that follows from best attachments runs in separate stages without further code."""
    plan = Case(6, 7).plan(score=TEMPERED)
    runner, _, _ = open_stages(device, plan, chains=1, slots=1, seed=SEED)
    with NUMPY.runner(plan, 1, SEED) as fallback:
        for one in (runner, fallback):
            one.put_all([initial_state(plan, SEED, 0)])
            one.advance(np.array([20]))
        assert runner.get(0).score == fallback.get(0).score
        np.testing.assert_array_equal(runner.get(0).parents, fallback.get(0).parents)
    runner.close()


OPTIONS: dict[str, Any] = {
    "fp_rate": 0.01,
    "fn_rate": 0.3,
    "chains": 3,
    "steps": 300,
    "seed": 8,
    "device": "numpy",
    "samples": 10,
    "score": "sum",
    "learn_fn": 0.2,
    "support": "none",
}


def sampled(**options: Any) -> syclade.Result:
    return syclade.infer(Case(9, 24).values, **OPTIONS | options)


@pytest.fixture(scope="module")
def fused() -> syclade.Result:
    return sampled()


@pytest.mark.parametrize("stages", [("fused", "separate"), ("separate", "fused"), ("separate", "separate")])
def test_a_resumed_run_may_have_other_stages(
    fused: syclade.Result, tmp_path: Path, stages: tuple[str, str]
) -> None:
    """Rates and samples of a run that was stopped are those of one that was not."""
    stop = Stop()

    def halt(_: object) -> None:
        stop.wanted = True

    kept = tmp_path / "run"
    first = sampled(stages=stages[0], checkpoint=kept, checkpoint_every=0, stop=stop, progress=halt)
    assert first.interrupted
    whole = sampled(stages=stages[1], resume=kept)
    assert whole.rates == fused.rates
    assert (whole.log_likelihood, whole.moves) == (fused.log_likelihood, fused.moves)
    assert whole.samples is not None
    assert fused.samples is not None
    assert whole.samples.to_dict() == fused.samples.to_dict()


@pytest.mark.parametrize(("score", "learned"), [("sum", {}), ("max", FN), ("sum", BOTH)])
def test_stages_from_python(score: str, learned: dict[str, float]) -> None:
    """All five in turn are a step of all chains, with these scores and rates, too."""
    rates: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, **learned}
    values = Case(9, 14).values
    problem = syclade.stage_problem(values, chains=3, steps=30, seed=5, score=score, **rates)
    for _ in range(31):
        for stage in problem.kernels:
            stage(problem.arrays)
    result = syclade.infer(values, chains=3, steps=30, seed=5, score=score, device="numpy", **rates)
    assert problem.arrays["step"].tolist() == [30] * 3
    best = int(np.argmax(problem.arrays["best_score"]))
    parents = problem.parents(problem.arrays["best_ancestors"][best])
    np.testing.assert_array_equal(parents, result.parents)
    if learned:
        assert problem.rates(problem.arrays["best_rate_at"][best]) == result.rates
    with pytest.raises(syclade.SycladeError, match="no stage has the score 'shares'"):
        syclade.stage_problem(values, score="shares", **rates)
