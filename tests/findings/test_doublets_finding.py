"""Warning of doublets that no tree could show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import syclade
from syclade.host.data.model.doublets import Doublets, apart_share
from syclade.host.data.model.simulate import random_parents, simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.doublets import DoubletsFinding
from tests.support.searches import shorten_support


def finding(relevant_rate: float, probability: float = 0.16) -> DoubletsFinding:
    """Return a finding of 100 cells with equal probabilities of being doublets."""
    none = np.zeros(100, dtype=np.int32)
    calls = Doublets(0.1, np.full(100, probability), none, none, relevant_rate)
    return DoubletsFinding(calls, tuple(map(str, range(100))), ["A", "root"], "given")


def test_expected_doublets_of_one_lineage_are_no_finding() -> None:
    """In a chain, no doublet is of two branches; where none is expected, nothing is said."""
    (words,) = finding(0.0).warnings
    assert words.startswith("hardly any of the 16.0 expected doublets ")
    section = finding(0.0).section()
    assert section is not None
    assert len(section.warnings) == 1
    assert not finding(0.05).warnings
    assert not finding(0.0, 0.001).warnings


def test_the_section_says_where_the_rate_is_from_and_how_sure_the_number_is() -> None:
    """Of 100 cells, each a doublet with a probability of 0.16, 10 to 22 are: 16 ± 1.645 × 3.67."""
    (first, _) = finding(0.05).section().words
    assert first == (
        "Rate of doublets: 0.1 (given). Given this rate and this tree, 16.0 of 100 cells are expected to be "
        "doublets (16.0%; 90 %: 10 to 22 cells); 0 are more likely one than not."
    )
    matrix = simulate(60, 6, 0.01, 0.15, 0.05, seed=1, doublets=0.1).matrix
    result = syclade.infer(matrix, doublets="learn", support="none", device="native")
    found = next(one for one in result.findings if isinstance(one, DoubletsFinding))
    assert "(estimated from the matrix, by the best tree)" in found.section().words[0]


def test_numbers_on_the_clones_of_a_consensus_without_some_mutations_are_named() -> None:
    """Both tables have a column `doublet`: the line says which mutations each is by, if they differ."""
    plain = finding(0.05)
    assert plain.lines == ["16.0 doublets expected (90 %: 10 to 22), 0 cells more likely one than not"]
    both = replace(plain, on_clones=np.array([0.9] * 2 + [0.1] * 20))
    assert both.lines == [
        "16.0 doublets expected (90 %: 10 to 22), 0 cells more likely one than not, by all mutations; 3.8 "
        "expected and 2 cells by those of the consensus, which leaves some out (cells.tsv)"
    ]
    assert "3.8 expected and 2 cells by those of the consensus" in both.section().words[-1]


@pytest.mark.parametrize("least", [0.0, 0.95])
def test_results_say_so_where_a_mutation_wanders(least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A consensus sets mutations aside whose best place has too small a probability."""
    shorten_support(monkeypatch)
    monkeypatch.setattr("syclade.host.findings.consensus.find_consensus.PLACE", least)
    matrix = simulate(60, 6, 0.01, 0.15, 0.05, seed=1, doublets=0.1).matrix
    result = syclade.infer(matrix, doublets=0.1, fp_rate=0.01, fn_rate=0.15, device="native", seed=1)
    found = next(one for one in result.findings if isinstance(one, DoubletsFinding))
    assert result.consensus is not None
    assert bool(result.consensus.unplaced.uncertain) == (least > 0)
    assert any("by those of the consensus" in line for line in found.lines) == (least > 0)


@pytest.mark.parametrize(
    ("true", "given", "words"),
    [
        (
            None,
            0.3,
            "the matrix contradicts --doublets 0.3: fewer cells are of two branches (",
        ),
        (
            0.1,
            0.01,
            "the matrix contradicts --doublets 0.01: more cells are of two branches (",
        ),
        (0.1, 0.1, None),
        (0.2, 0.2, None),
    ],
)
def test_a_given_rate_that_the_cells_contradict(true: float | None, given: float, words: str | None) -> None:
    matrix = simulate(400, 15, 0.01, 0.15, 0.05, seed=1, doublets=true).matrix
    result = syclade.infer(
        matrix, fp_rate=0.01, fn_rate=0.15, doublets=given, support="none", device="native"
    )
    found = [one for one in result.warnings if "contradicts --doublets" in one]
    assert bool(found) is (words is not None)
    if words is not None:
        assert found[0].startswith(words)
        rate = float(found[0].partition("(")[2].split()[0])
        assert abs(rate - (true or 0.0)) < 0.08


@pytest.mark.parametrize("n", [1, 2, 9])
def test_the_share_of_pairs_of_two_branches(n: int) -> None:
    generator = np.random.Generator(np.random.PCG64(n))
    parents, shares = random_parents(n, generator), generator.dirichlet(np.ones(n + 1))
    above = ancestor_matrix(parents).astype(bool)
    assert apart_share(parents, shares) == pytest.approx(shares @ ~(above | above.T) @ shares, abs=1e-12)


@pytest.mark.parametrize(
    ("origin", "better", "words"),
    [
        (
            "given",
            0.9,
            "the matrix contradicts --doublets 0.1: more cells are of two branches than doublets of any",
        ),
        (
            "given",
            0.2,
            "the matrix contradicts --doublets 0.1: more cells are of two branches (0.2 fits this tree",
        ),
        ("estimated from the matrix, by the best tree", None, ""),
    ],
)
def test_rates_beyond_those_of_instruments_point_to_recurrences(
    origin: str, better: float | None, words: str
) -> None:
    found = [str(one) for one in replace(finding(0.05), origin=origin, better=better).warnings]
    assert [one[: len(words)] for one in found] == ([words] if words else [])
    assert any("--recurrent all tests them" in one for one in found) == (better == 0.9)


@pytest.mark.parametrize("origin", ["estimated from the matrix, by the best tree", "learned with the tree"])
def test_an_estimated_rate_beyond_those_of_instruments_is_a_warning(origin: str) -> None:
    plain = finding(0.05)
    (found,) = replace(plain, origin=origin, calls=replace(plain.calls, rate=0.999)).warnings
    assert found.startswith(f"--doublets 1, {origin}, is more than instruments make: mutations that occurred")
    assert ("cells deep in the tree" in found) == (origin == "learned with the tree")


def test_tests_of_recurrences_are_advised_only_where_they_can_run() -> None:
    """Evidence has no rates of calls, which `--recurrent all` takes."""
    (found,) = replace(finding(0.05), better=0.9, testable=False).warnings
    assert found.endswith("mutations that occurred twice, or were lost, look like doublets, too")
