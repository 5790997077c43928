"""The model of reads: probabilities by the definition, extremes, and fits of its parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import betabinom

from syclade.host.data.input.annotations import Reads
from syclade.host.data.model.reads import PARAMETERS, START, ReadLikelihood, fit_reads
from syclade.host.data.model.simulate import simulate
from syclade.host.data.model.simulate_reads import ReadModel, simulate_reads

MODEL = ReadLikelihood(0.02, 0.25, 0.1, 0.05)


def reads_of(pairs: list[tuple[int, int]]) -> Reads:
    alternate, total = (np.array([row], dtype=np.int32) for row in zip(*pairs, strict=True))
    return Reads(alternate, total)


def by_definition(model: ReadLikelihood, a: int, t: int) -> float:
    """Return log P(reads | mutated) - log P(reads | not): alleles are lost independently, and not both."""

    def reads(mean: float, correlation: float) -> float:
        total = 1.0 / correlation - 1.0
        return float(betabinom.pmf(a, t, mean * total, (1.0 - mean) * total))

    d, wild = model.allelic_dropout, reads(model.seq_error, model.error_overdispersion)
    both = (1.0 - d) ** 2 * reads(0.5, model.overdispersion)
    one = d * (1.0 - d) * (wild + reads(1.0 - model.seq_error, model.error_overdispersion))
    return float(np.log((both + one) / (1.0 - d**2)) - np.log(wild))


def test_log_odds_are_those_of_the_definition() -> None:
    pairs = [(a, t) for t in (1, 2, 7, 30) for a in range(t + 1)]
    found = MODEL.log_odds(reads_of(pairs))[0]
    np.testing.assert_allclose(found, [by_definition(MODEL, a, t) for a, t in pairs], rtol=1e-9)
    own = replace(MODEL, dropouts=np.array([0.1]))
    other = replace(MODEL, allelic_dropout=0.1)
    assert own.log_odds(reads_of(pairs)).tolist() == other.log_odds(reads_of(pairs)).tolist()


def test_extremes() -> None:
    none, few, many, half, all_of = MODEL.log_odds(
        reads_of([(0, 0), (0, 3), (0, 10**6), (5 * 10**5, 10**6), (10**6, 10**6)])
    )[0]
    assert none == 0.0
    # Without the mutated allele there are no alternate reads either: the evidence against is bounded.
    least = np.log(MODEL.allelic_dropout / (1.0 + MODEL.allelic_dropout))
    assert least <= many < few < 0.0
    assert many == pytest.approx(least, abs=1e-3)
    assert 5.0 < half < np.inf
    assert 5.0 < all_of < np.inf


@pytest.mark.parametrize("with_tree", [False, True])
def test_fits_find_the_parameters_of_simulated_reads(with_tree: bool) -> None:
    made = simulate(120, 60, 1e-9, 1e-9, 0.05, 7)
    sim = simulate_reads(made, ReadModel(depth=12.0, overdispersion=0.02), 3)
    tree = made.parents if with_tree else None
    found = fit_reads(sim.reads, tree, START, PARAMETERS)
    assert found.dropouts is None
    assert found.seq_error == pytest.approx(0.01, rel=0.2)
    assert found.allelic_dropout == pytest.approx(0.2, rel=0.2)
    assert found.overdispersion == pytest.approx(0.02, rel=0.6)
    fixed = fit_reads(sim.reads, tree, replace(START, seq_error=0.05), PARAMETERS[1:])
    assert fixed.seq_error == 0.05
    assert fixed.error_overdispersion != START.error_overdispersion


def test_dropout_differs_between_mutations_if_the_reads_show_it() -> None:
    made = simulate(400, 30, 1e-9, 1e-9, 0.05, 7)
    sim = simulate_reads(made, ReadModel(depth=12.0, allelic_dropout_range=(0.02, 0.5)), 3)
    found = fit_reads(sim.reads, made.parents, START, PARAMETERS)
    assert found.dropouts is not None
    often = (made.matrix.values == 1).sum(axis=1) > 40
    assert often.sum() > 8
    assert np.corrcoef(found.dropouts[often], sim.dropout[often])[0, 1] > 0.8
    assert fit_reads(sim.reads, made.parents, START, PARAMETERS, by_mutation=False).dropouts is None


def test_deep_reads_do_not_overflow() -> None:
    """With thousands of reads of both alleles, the log odds against a loss are beyond what exp() has."""
    alternate = np.array([[20_000, 0, 21_000, 3], [0, 19_000, 20_500, 0]], np.int32)
    found = fit_reads(Reads(alternate, np.full((2, 4), 40_000, np.int32)), None, START, PARAMETERS)
    assert found.seq_error < 0.01
