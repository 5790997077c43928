"""`infer` by search: results, rejected options, and equal results on every device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.answer.inference import InferenceProgress
from syclade.host.chains.search.policy import CHAIN_STEPS
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OptionError
from syclade.host.ground.signals import Stop
from tests.support.did_all import assert_did_all
from tests.support.searches import shorten_chains

RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2}
MADE = simulate(40, 25, 0.01, 0.2, 0.1, 1).matrix
SMALLER = simulate(24, 15, 0.01, 0.2, 0.1, 1).matrix


def first_of(seeds: range) -> list[Any]:
    """Return the seeds; `make verify` alone runs those after the first."""
    return [seeds[0], *(pytest.param(seed, marks=pytest.mark.verification) for seed in seeds[1:])]


def test_it_is_the_default_and_says_how_each_search_began() -> None:
    result = syclade.infer(MADE, **RATES, device="native")
    assert [search.start for search in result.searches] == ["by-mutations", "by-columns", *["by-chain"] * 14]
    best = max(search.log_likelihood for search in result.searches)
    assert result.log_likelihood == pytest.approx(best, rel=1e-3)
    assert result.log_likelihood == syclade.score(MADE, result.parents, **RATES)
    assert_did_all(result, "native")
    assert result.options["method"] == "search"
    assert "16 searches on native" in repr(result)


@pytest.mark.parametrize("keywords", [{"chains": 2}, {"steps": 100}, {"method": "chain", "steps": 100}])
def test_chains_run_where_they_are_asked_for(keywords: dict[str, Any]) -> None:
    options = {"steps": 100} | keywords
    result = syclade.infer(MADE, **RATES, device="native", **options)
    assert result.searches == ()
    assert result.options["method"] == "chain"
    assert result.chains == keywords.get("chains", 16)


def test_a_search_is_never_below_the_chains() -> None:
    by_chains = syclade.infer(MADE, **RATES, device="native", chains=16)
    by_search = syclade.infer(MADE, **RATES, device="native", support="none")
    assert by_search.log_likelihood >= by_chains.log_likelihood - 1e-9


def test_a_stop_in_the_first_climb_keeps_the_trees_of_chains() -> None:
    stop, seen = Stop(), list[float]()

    def progress(state: InferenceProgress) -> None:
        seen.append(state.log_likelihood)
        stop.wanted = len(seen) > CHAIN_STEPS // 5000  # the first launch of a search

    result = syclade.infer(MADE, **RATES, device="native", slots=1, stop=stop, progress=progress)
    assert result.stopped_in == "tree"
    assert [search.start for search in result.searches] == ["by-mutations"]
    assert result.searches[0].log_likelihood < max(seen) == pytest.approx(result.log_likelihood)
    assert seen == sorted(seen), "the best tree so far never gets worse"


@pytest.mark.parametrize("option", [{"chains": 2}, {"steps": 10}])
def test_options_of_chains_do_not_go_with_a_search(option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="does not go with --method search"):
        syclade.infer(MADE, **RATES, method="search", **option)


def test_another_method_is_refused() -> None:
    with pytest.raises(OptionError, match="--method is 'guess'"):
        syclade.infer(MADE, **RATES, method="guess")


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("device", "slots"),
    [
        ("cpu", 1),
        ("cpu", 3),
        pytest.param("numpy", 3, marks=pytest.mark.verification),
        pytest.param("fpga-emu", 3, marks=pytest.mark.verification),
        pytest.param("fpga-emu", 1, marks=pytest.mark.verification),
        pytest.param("numpy", 1, marks=pytest.mark.verification),
    ],
)
def test_one_seed_gives_one_answer(device: str, slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_chains(monkeypatch, 4000)
    expected = syclade.infer(SMALLER, **RATES, device="native", seed=5, support="none")
    found = syclade.infer(SMALLER, **RATES, device=device, seed=5, slots=slots, support="none")
    np.testing.assert_array_equal(found.parents, expected.parents)
    assert found.searches == expected.searches
    assert_did_all(found, device)
    assert [one.unit for one in found.work] == ["steps", "sweeps"]


@pytest.mark.parametrize(("cells", "mutations"), [(1, 1), (5, 1), (1, 6), (2, 2)])
def test_the_smallest_matrices(cells: int, mutations: int) -> None:
    result = syclade.infer(np.ones((mutations, cells), dtype=np.uint8), **RATES, device="native")
    assert len(result.parents) == mutations + 1


@pytest.mark.shared
@pytest.mark.parametrize("seed", first_of(range(3)))
@pytest.mark.parametrize(
    ("name", "fp_rate", "fn_rate", "best"),
    [
        ("dataNavin.csv", 1.24e-6, 0.0973, -579.4966),
        ("dataXu.csv", 2.67e-5, 0.1643, -153.0791),
        ("pat_2.csv", 3.45e-3, 0.146, -476.0789),
        ("real/hgsoc1.csv", 1e-3, 0.2, -4088.0760),
    ],
)
def test_known_answers(
    name: str, fp_rate: float, fn_rate: float, best: float, seed: int, shared_dir: Path
) -> None:
    result = syclade.infer(
        shared_dir / "data" / name,
        fp_rate=fp_rate,
        fn_rate=fn_rate,
        device="native",
        seed=seed,
        support="none",
    )
    assert result.log_likelihood >= best - 1e-3
    assert result.converged


@pytest.mark.shared
@pytest.mark.parametrize("seed", first_of(range(1, 6)))
@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("dataHou18.csv", -378.3536),
        pytest.param("dataHou78.csv", -2368.5436, marks=pytest.mark.verification),  # 16 s of processor time
    ],
)
def test_known_answers_with_zygosity(name: str, best: float, seed: int, shared_dir: Path) -> None:
    """SCITE finds the second tree in one of ten runs of a million steps."""
    rates: dict[str, Any] = {
        "fp_rate": 6.04e-5,
        "fn_rate": 0.21545,
        "fn_rate_hom": 0.21545,
        "hom_rate": 1.299164e-5,
    }
    result = syclade.infer(shared_dir / "data" / name, device="native", seed=seed, support="none", **rates)
    assert result.log_likelihood >= best - 1e-3


@pytest.mark.shared
@pytest.mark.parametrize("seed", first_of(range(1, 6)))
def test_a_known_answer_from_another_format(seed: int, shared_dir: Path) -> None:
    """CRC1 (Leung et al. 2017), in SPhyR's format."""
    file = shared_dir / "formats" / "real" / "CRC1.SPhyR.input"
    result = syclade.infer(file, fp_rate=0.0152, fn_rate=0.0789, device="native", seed=seed, support="none")
    assert result.log_likelihood == pytest.approx(-337.705396, abs=1e-4)
