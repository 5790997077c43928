"""`syclade quality posterior`: every backend's chain samples its posterior; the parts of the check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.backends import Runner, make_runner
from syclade.host.chains.encodings import ENCODINGS, PlainEncoding, for_device, make_encoding
from syclade.host.chains.runs.pipeline import initial_states
from syclade.host.commands import main as main_module
from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import OptionError
from syclade.kernels.target.sycl_traits import TRAITS
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_plan
from syclade.quality.posterior.transition_fit import fit_transitions
from syclade.quality.posterior.tree_index import TreeIndex

VERIFIED = [pytest.mark.sycl, pytest.mark.verification]
"""Marks of devices left to verification: conformance shows that they have the bits of native and numpy."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    def run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as caught:
            main_module.main(["quality", "posterior", "--out", str(tmp_path / "out"), *map(str, arguments)])
        assert isinstance(caught.value.code, int)
        streams = capsys.readouterr()
        return caught.value.code, streams.out + streams.err

    return run


@pytest.fixture(scope="module")
def target() -> Target:
    return make_target(small_plan(3, 1.5))


# ---- the check


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("device", "encoding", "samples", "finds"),
    [
        pytest.param("numpy", "plain", 6000, 0.13, marks=pytest.mark.verification),
        pytest.param("numpy", "ancestor", 6000, 0.13, marks=pytest.mark.verification),
        ("native", "preorder", 60_000, 0.055),
        pytest.param("native", "preorder", 1_000_000, 0.01, marks=pytest.mark.verification),
        pytest.param("cpu", "ancestor", 100_000, 0.04, marks=VERIFIED),
        pytest.param("cpu", "preorder", 1_000_000, 0.01, marks=VERIFIED),
        pytest.param("fpga-emu", "ancestor", 100_000, 0.04, marks=VERIFIED),
        pytest.param("fpga-emu", "preorder", 100_000, 0.04, marks=VERIFIED),
    ],
)
def test_the_chain_samples_its_posterior(
    run: Any, tmp_path: Path, device: str, encoding: str, samples: int, finds: float
) -> None:
    given = ("--mutations", 4, "--samples", samples)
    status, said = run("--device", device, "--encoding", encoding, *given)
    assert status == 0, said
    report = json.loads((tmp_path / "out" / "posterior.json").read_text())
    assert report["holds"] is True
    assert report["settings"]["encoding"] == encoding
    (case,) = report["cases"]
    assert case["trees"] == 125
    assert case["visits"]["samples"] >= samples
    assert case["visits"]["detectable_deviation"] < finds
    assert case["balance"] == {"holds": True, "imbalance": "0"}
    assert case["steps"]["impossible"] == 0
    assert (tmp_path / "out" / "posterior.png").read_bytes().startswith(b"\x89PNG")


def test_reports_are_not_replaced(run: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "posterior.json").write_text("mine")
    status, said = run("--device", "numpy")
    assert status == 2
    assert "already has posterior.json" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("--encoding", "none"), "'none' is not one of 'auto', 'preorder', 'ancestor'"),
        (("--mutations", 6), "'--mutations': 6 is not in the range"),
        (("--gamma", 0), "'--gamma': 0.0 is not in the range"),
        (("--move-probs", 0, 1, 0), "the chain hardly moves"),
        (("--mutations", 2, "--gamma", 9, "--samples", 1000), "too few"),
    ],
)
def test_what_cannot_be_checked_is_refused(run: Any, change: tuple[object, ...], words: str) -> None:
    status, said = run("--device", "numpy", *change)
    assert status == 2
    assert words in said
    assert "Traceback" not in said


# ---- the target


def test_target_is_the_stationary_distribution(target: Target) -> None:
    np.testing.assert_allclose(target.posterior @ target.transitions, target.posterior, rtol=0, atol=1e-14)
    np.testing.assert_allclose(target.transitions.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert target.imbalance == 0


def test_target_is_that_of_the_integer_scores(target: Target) -> None:
    problem = target.plan.problem
    best = [problem.best_attachments(np.array(tree, dtype=np.int32)) for tree in target.trees]
    scores = np.array([(each * problem.multiplicity).sum() for each in best])
    ratio = np.log(target.posterior) - np.log(target.posterior[0])
    expected = 1.5 * (scores - scores[0]) / 2.0**problem.scale_bits
    np.testing.assert_allclose(ratio, expected, rtol=0, atol=1e-12)


def test_thinned_reads_are_all_but_independent(target: Target) -> None:
    """The mean of Pearson's statistic exceeds that of independent reads by at most 2 % of its deviation."""
    between = np.linalg.matrix_power(target.transitions, target.thinning)
    states = len(target.trees)
    # Asymptotic mean of the statistic: the trace of the fundamental matrix of the thinned chain.
    projector = np.tile(target.posterior, (states, 1))
    fundamental = np.linalg.inv(np.eye(states) - between + projector)
    mean = 2 * (np.trace(fundamental) - 1) - (states - 1)
    assert states - 1 < mean <= states - 1 + 0.02 * np.sqrt(2 * (states - 1)) + 1e-9


def test_of_the_start_nothing_is_left(target: Target) -> None:
    at_first_read = np.linalg.matrix_power(target.transitions, target.burn_in).mean(axis=0)
    error = at_first_read / target.posterior - 1
    assert np.sqrt((target.posterior * error**2).sum()) < 1e-3


def test_sizes_that_cannot_be_enumerated_are_refused() -> None:
    with pytest.raises(OptionError, match="6 mutations cannot be enumerated"):
        small_plan(6, 1.0)


# ---- reading many slots at once


@pytest.mark.parametrize(
    ("device", "encoding"),
    [
        ("numpy", "plain"),
        ("numpy", "ancestor"),
        *(
            pytest.param(device, encoding, marks=pytest.mark.sycl)
            for device in ("cpu", "fpga-emu")
            for encoding in ENCODINGS
        ),
    ],
)
def test_many_slots_are_read_as_one_by_one(target: Target, device: str, encoding: str) -> None:
    slots, plan = 6, target.plan
    made = for_device(choose_device(device), make_encoding(encoding)(plan.problem, TRAITS))
    states = initial_states(plan, 5, range(slots))
    together, singly = (make_runner(choose_device(device), plan, made, slots, 5) for _ in range(2))
    together.put_all(states)
    for slot, state in enumerate(states):
        singly.put(slot, state)
    index = TreeIndex(together.encoding, target.trees)
    for step in (0, 1, 40):
        for runner in (together, singly):
            runner.advance(np.full(slots, step, dtype=np.int64))
        _assert_alike(together, singly)
        trees = [target.trees[number] for number in index.of(together)]
        assert trees == [tuple(singly.get(slot).parents.tolist()) for slot in range(slots)]
    assert together.read_all("step").tolist() == [40] * slots
    with pytest.raises(ValueError, match="5 states for 6 slots"):
        together.put_all(states[:5])
    for runner in (together, singly):
        runner.close()


def _assert_alike(left: Runner, right: Runner) -> None:
    for slot in range(left.slots):
        one, other = left.get(slot), right.get(slot)
        for field in ("chain", "step", "score", "best_score"):
            assert getattr(one, field) == getattr(other, field)
        for field in ("parents", "best_parents"):
            assert getattr(one, field).tolist() == getattr(other, field).tolist()
        assert left.info(slot).tallies.tolist() == right.info(slot).tallies.tolist()


def test_what_is_read_is_a_copy(target: Target) -> None:
    runner = make_runner(choose_device("numpy"), target.plan, PlainEncoding(target.plan.problem), 2, 5)
    runner.put_all(initial_states(target.plan, 5, range(2)))
    runner.read_all("score")[:] = 99
    assert 99 not in runner.read_all("score")


# ---- single steps


def test_counts_are_of_the_reads(target: Target) -> None:
    calls: list[tuple[int, int]] = []
    drawn = sample_chain(
        target, choose_device("numpy"), "auto", 1000, 3, slots=300, progress=lambda *at: calls.append(at)
    )
    assert (drawn.chains, drawn.visits.sum(), drawn.moves.sum()) == (300, 1200, 1200)
    assert drawn.moves.sum(axis=1).tolist() == drawn.visits.tolist()
    assert drawn.steps == 300 * (target.burn_in + 3 * target.thinning + 1)
    assert calls[-1] == (drawn.steps, drawn.steps)


@pytest.mark.statistical
def test_steps_of_the_exact_chain_hold_and_others_fail(target: Target) -> None:
    draw = np.random.default_rng(1)
    rows = draw.multinomial(20_000, target.posterior)
    right = np.array(
        [draw.multinomial(row, chances) for row, chances in zip(rows, target.transitions, strict=True)]
    )
    fit = fit_transitions(right, target.transitions)
    assert fit.holds
    assert fit.p_value > 0.01
    biased = target.transitions * draw.choice([0.9, 1.1], target.transitions.shape)
    biased /= biased.sum(axis=1, keepdims=True)
    wrong = np.array([draw.multinomial(row, chances) for row, chances in zip(rows, biased, strict=True)])
    assert not fit_transitions(wrong, target.transitions).holds
    right[np.unravel_index(np.argmin(target.transitions), right.shape)] += 1
    assert fit_transitions(right, target.transitions).impossible == 1
    with pytest.raises(ValueError, match="too few"):
        fit_transitions(np.eye(len(target.trees), dtype=np.int64), target.transitions)
