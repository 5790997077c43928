"""Posterior of cell trees: correct chains sample it, and the check detects those that do not."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from syclade.host.chains.plan import Plan
from syclade.host.commands import main as main_module
from syclade.host.device.choice import choose_device
from syclade.quality.oracle.enumeration import is_ergodic
from syclade.quality.oracle.leaf import all_leaf_trees, leaf_proposal
from syclade.quality.oracle.leaf_enumeration import leaf_kernel, tree_name
from syclade.quality.posterior.check import PosteriorCase, judge
from syclade.quality.posterior.samples import sample_chain
from syclade.quality.posterior.small_target import Target, make_target, small_leaf_plan

CUT = 26214


@pytest.fixture(scope="module")
def target() -> Target:
    return make_target(small_leaf_plan(4, 1.5))


def judged(target: Target, plan: Plan, samples: int = 20_000) -> PosteriorCase:
    """Return the check's verdict on samples from the chain of another plan."""
    other = Target(
        plan,
        target.trees,
        target.starts,
        target.posterior,
        target.transitions,
        target.imbalance,
        target.spectrum,
    )
    return judge(target, sample_chain(other, choose_device("native"), "auto", samples, 3))


# ---- enumeration


@pytest.mark.parametrize(("cells", "trees"), [(3, 3), (4, 15), (5, 105)])
def test_the_kernel_is_of_all_trees_and_leads_everywhere(cells: int, trees: int) -> None:
    kernel = leaf_kernel(cells, CUT)
    assert len(kernel) == trees
    assert set(kernel) == {tree_name(tree) for tree in all_leaf_trees(cells)}
    assert all(sum(way.probability for way in ways) == Fraction(1) for ways in kernel.values())
    assert is_ergodic(kernel)


def test_words_give_the_kernels_proposals() -> None:
    """Proposals are counted over an even grid of random words, which the definition does not use."""
    start = next(iter(leaf_kernel(4, CUT)))
    counts: dict[tuple[int, ...], int] = {}
    many = 42  # a multiple of 6 nodes, 7 nodes, and 2 and 3 cells
    for first in range(many):
        for second in range(many):
            for third in range(many):
                one, two, three = ((2 * place + 1) * 2**31 // many for place in (first, second, third))
                # The second candidate is drawn from `extra`, whose high half is the low half of word 0.
                _, tree = leaf_proposal(start, (three >> 16, one, two, 0), 65536)
                counts[tree_name(tree)] = counts.get(tree_name(tree), 0) + 1
    wanted: dict[tuple[int, ...], Fraction] = {}
    for way in leaf_kernel(4, 65536)[start]:
        wanted[way.target] = wanted.get(way.target, Fraction(0)) + way.probability
    assert set(counts) == {tree for tree, share in wanted.items() if share}
    for name, count in counts.items():
        assert count / many**3 == pytest.approx(float(wanted[name]), abs=2e-3)


# ---- the check


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("device", "zygosity", "samples"),
    [
        ("native", False, 50_000),
        pytest.param("native", False, 200_000, marks=pytest.mark.verification),
        ("native", True, 50_000),
        pytest.param("numpy", False, 5_000, marks=pytest.mark.verification),
        pytest.param("cpu", False, 50_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
        pytest.param("fpga-emu", False, 50_000, marks=[pytest.mark.sycl, pytest.mark.verification]),
    ],
)
def test_the_chain_samples_its_posterior(tmp_path: Path, device: str, zygosity: bool, samples: int) -> None:
    given = ["quality", "posterior", "--tree", "leaf", "--mutations", "4", "--samples", str(samples)]
    more = ["--zygosity"] if zygosity else []
    with pytest.raises(SystemExit) as caught:
        main_module.main([*given, *more, "--device", device, "--out", str(tmp_path)])
    assert caught.value.code == 0
    report = json.loads((tmp_path / "posterior.json").read_text())
    (case,) = report["cases"]
    assert (case["trees"], case["cells"]) == (15, 4)
    assert case["balance"] == {"holds": True, "imbalance": "0"}
    assert case["visits"]["holds"]
    assert case["steps"]["holds"]
    assert report["settings"]["encoding"] == ("plain" if device == "numpy" else "clade")


@pytest.mark.statistical
def test_a_chain_with_another_exponent_does_not(target: Target) -> None:
    assert judged(target, target.plan).holds
    case = judged(target, small_leaf_plan(4, 1.2))
    assert not case.visits.holds
    assert not case.steps.holds


@pytest.mark.statistical
def test_other_moves_show_in_single_steps_alone(target: Target) -> None:
    case = judged(target, small_leaf_plan(4, 1.5, (0.5, 0.5)), 50_000)
    assert case.visits.holds
    assert not case.steps.holds


@pytest.mark.parametrize("more", [("--score", "sum"), ("--move-probs", "1", "1", "1")])
def test_what_does_not_go_with_cell_leaf_trees_is_refused(
    more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main_module.main(["quality", "posterior", "--tree", "leaf", *more, "--out", str(tmp_path)])
    assert caught.value.code == 2
    assert "cell trees have their own score and moves" in capsys.readouterr().err
