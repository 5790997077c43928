"""Chains with one bug each: the posterior check must detect every one, in numpy and with few samples.

The tests put the bugs into the fallback from outside, so that the product needs no switch for them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.fallback.chain import propose
from syclade.fallback.chain.parts import TURN_OVER, Draws, Proposals, Relations
from syclade.fallback.chain.philox import philox_4x32_10
from syclade.fallback.moves import prune_and_reattach, swap_subtrees
from syclade.fallback.moves.words import draw_below
from syclade.host.chains import plan as chain_kernels
from syclade.host.chains.backends import runner as chain_runner
from syclade.host.commands import main as main_module
from syclade.host.device.device import NUMPY
from syclade.quality.oracle import enumeration
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_plan

pytestmark = pytest.mark.statistical

SAMPLES, CHAINS = 8192, 1024
MUTATIONS, GAMMA = 4, 1.5

Fault = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(scope="module")
def target() -> Target:
    return make_target(small_plan(MUTATIONS, GAMMA))


def check(target: Target, samples: int = SAMPLES) -> PosteriorCase:
    return judge(target, sample_chain(target, NUMPY, "auto", samples, seed=1, slots=CHAINS))


# ---- the bugs


def greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept only proposals that are no worse, apart from the neighbourhood correction."""
    monkeypatch.setattr(propose, "negative_log_uniform", lambda word, table: np.zeros(word.shape, np.int64))


def change_swaps(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Relations, Draws, Proposals], Any]
) -> None:
    """Give the swaps of related subtrees another correction."""
    right = swap_subtrees.propose

    def wrong(trees: Relations, draws: Draws, mutations: int) -> Proposals:
        swaps = right(trees, draws, mutations)
        related = swaps.edit == TURN_OVER
        return swaps._replace(correction=np.where(related, change(trees, draws, swaps), swaps.correction))

    monkeypatch.setattr(swap_subtrees, "MOVE", swap_subtrees.MOVE._replace(propose=wrong))


def correction_of_the_thesis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use |C| / |desc(w)| in place of |C| / |B|."""

    def change(trees: Relations, draws: Draws, swaps: Proposals) -> Any:
        of_v, of_w = (trees.subtree_size(node) for node in (swaps.v, swaps.w))
        return draws.log_of(of_v) - draws.log_of(of_w)

    change_swaps(monkeypatch, change)


def no_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every swap of related subtrees as if its inverse were equally probable."""
    change_swaps(monkeypatch, lambda _trees, _draws, swaps: np.zeros_like(swaps.correction))


def unscaled_gamma(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the tables of logarithms undivided by gamma, so that the chain runs at gamma 1."""
    right = chain_kernels.log_tables
    monkeypatch.setattr(
        chain_runner, "log_tables", lambda mutations, bits, _gamma: right(mutations, bits, 1.0)
    )


def change_words(monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Any]], None]) -> None:
    right = philox_4x32_10

    def wrong(*arguments: Any) -> tuple[Any, ...]:
        words = list(right(*arguments))
        change(words)
        return tuple(words)

    monkeypatch.setattr(propose, "philox_4x32_10", wrong)


def stuck_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Always set the third bit from the top of word 2, which draws the second node."""

    def change(words: list[Any]) -> None:
        words[2] = words[2] | np.uint64(1 << 29)

    change_words(monkeypatch, change)


def never_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the first try of a new parent uniformly among the mutations, never the root."""
    monkeypatch.setattr(prune_and_reattach, "any_node", draw_below)


def dependent_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the word of the first node for the acceptance, too: each is uniform, but they are dependent."""

    def change(words: list[Any]) -> None:
        words[3] = words[1]

    change_words(monkeypatch, change)


FAULTS = [
    greedy,
    correction_of_the_thesis,
    no_correction,
    unscaled_gamma,
    stuck_bit,
    never_the_root,
    dependent_words,
]

FOUND_SOON = [greedy, unscaled_gamma, never_the_root, dependent_words]
"""Bugs that half the samples show as clearly."""

FOUND_IN_STEPS = [greedy, correction_of_the_thesis, unscaled_gamma, dependent_words]
"""Bugs that single steps show with few samples; to show the others in steps, 65,536 samples are needed."""


# ---- verdicts of the checks


def test_the_right_chain_holds(target: Target) -> None:
    case = check(target)
    assert case.holds
    assert min(case.visits.fit.p_value, case.steps.p_value) > 0.01


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.__name__))
def test_the_check_finds_the_fault(target: Target, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    case = check(target, SAMPLES // 2 if fault in FOUND_SOON else SAMPLES)
    assert not case.holds
    assert not case.visits.holds
    assert case.visits.fit.p_value < 1e-6
    if fault in FOUND_IN_STEPS:
        assert not case.steps.holds


def test_balance_finds_the_correction_of_the_thesis(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = functools.partial(enumeration.kernel, factor=enumeration.thesis_factor)
    monkeypatch.setattr(enumeration, "kernel", wrong)
    assert make_target(small_plan(3, GAMMA)).imbalance > 0


def test_gamma_is_found_out_because_it_is_not_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check's default gamma is 1.5 because at 1 a chain that ignores gamma is correct."""
    unscaled_gamma(monkeypatch)
    assert check(make_target(small_plan(3, 1.0)), 5000).holds


def test_reads_that_hang_together_fail(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without thinning, a correct chain's visits vary too much: the reads must be independent."""
    monkeypatch.setattr(Target, "thinning", 2)
    case = judge(target, sample_chain(target, NUMPY, "auto", 4000, seed=1, slots=4))
    assert not case.visits.holds
    assert case.steps.holds


def test_the_command_fails_with_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    greedy(monkeypatch)
    options = [
        "--device",
        "numpy",
        "--mutations",
        "3",
        "--samples",
        "2000",
        "--out",
        str(tmp_path),
    ]
    with pytest.raises(SystemExit) as caught:
        main_module.main(["quality", "posterior", *options])
    assert caught.value.code == 1
    assert "3 mutations, 16 trees, gamma 1.5: DOES NOT HOLD" in capsys.readouterr().out
