"""`syclade quality models`: fits against brute force, and the command with small inputs."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.commands.main import main
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.model.doublet_fit import best_share
from syclade.host.data.model.doublets import Mixture, fitted_rate, mixture_of
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import Simulation, simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.quality.models.fit import MODELS, Fit, fit_model, with_lineages
from syclade.quality.models.result import Explained

WITH, WITHOUT = (simulate(150, 10, 0.01, 0.1, 0.05, 6, doublets=rate) for rate in (0.4, None))


def fits_of(made: Simulation) -> dict[str, Fit]:
    return {model: fit_model(made.matrix, made.parents, 1e-3, 0.2, model) for model in MODELS}


def log_likelihood(made: Simulation, fp_rate: float, fn_rate: float, share: float, model: str) -> float:
    mixture = mixture_of(made.matrix, Rates(fp_rate, fn_rate), made.parents)
    mixture = with_lineages(mixture, made.parents) if model == "control" else mixture
    return float(mixture.log_likelihoods(share).sum())


@pytest.mark.parametrize("made", [WITH, WITHOUT], ids=["doublets", "none"])
@pytest.mark.parametrize("model", MODELS)
def test_no_rates_near_the_fit_are_better(made: Simulation, model: str) -> None:
    fit = fits_of(made)[model]
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(made, fit.fp_rate, fit.fn_rate, fit.doublets, model), abs=1e-9
    )
    for fp, fn, share in product((0.9, 1.0, 1.1), (0.95, 1.0, 1.05), (-0.02, 0.0, 0.02)):
        near = min(max(fit.doublets + share, 0.0), 1.0) if model != "single" else 0.0
        found = log_likelihood(made, fit.fp_rate * fp, fit.fn_rate * fn, near, model)
        assert found <= fit.log_likelihood + 1e-4


def test_simulated_doublets_are_found_and_others_are_not() -> None:
    """The gain over the control is evidence; without doublets, there is none."""
    one, other = (Explained("x", 10, 150, fits_of(made), 0.0) for made in (WITH, WITHOUT))
    assert one.best == "doublets"
    assert one.over_control > 10
    assert one.p_value < 1e-6
    assert one.fits["doublets"].doublets == pytest.approx(0.4, abs=0.15)
    assert one.fits["doublets"].calls > 10
    assert other.over_control < 2
    assert other.fits["doublets"].calls <= 3
    for explained in (one, other):
        fits = explained.fits
        assert fits["single"].log_likelihood <= min(
            fits["control"].log_likelihood, fits["doublets"].log_likelihood
        )


def test_the_control_has_pairs_on_one_lineage() -> None:
    made = simulate(20, 5, 0.02, 0.2, 0.1, 3)
    rates = Rates(0.02, 0.2)
    table, above = rates.log_table(), ancestor_matrix(made.parents).astype(bool)
    mixture = with_lineages(mixture_of(made.matrix, rates, made.parents), made.parents)
    for cell in range(20):
        likelihoods = []
        for v, w in product(range(6), range(6)):
            if above[v, w] or above[w, v]:
                has = above[:5, v] | above[:5, w]
                log = sum(table[made.matrix.values[gene, cell], int(has[gene])] for gene in range(5))
                likelihoods.append(math.exp(log))
        assert mixture.pair[cell] == pytest.approx(math.log(sum(likelihoods) / len(likelihoods)), rel=1e-9)
    assert (mixture.branches(0.5) == 0).all()


@given(st.lists(st.tuples(st.floats(-30, 0), st.floats(-30, 0)), min_size=1, max_size=20))
def test_the_best_share_is_that_of_a_grid_and_of_em(cells: list[tuple[float, float]]) -> None:
    single, pair = np.array(cells).T
    mixture = Mixture(single, pair, np.full_like(pair, -np.inf))
    share = best_share(mixture)
    assert 0 <= share <= 1
    best = mixture.log_likelihoods(share).sum()
    grid = [mixture.log_likelihoods(rate).sum() for rate in np.linspace(0, 1, 101)]
    assert best >= max(grid) - 1e-9
    assert best >= mixture.log_likelihoods(fitted_rate(mixture)).sum() - 1e-9


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, made in (("one", WITH), ("two", WITHOUT)):
        (tmp_path / f"{name}.csv").write_text(format_matrix(made.matrix.values))
    given = ["quality", "models", *(str(tmp_path / f"{name}.csv") for name in ("one", "two"))]
    given += [
        "--chains",
        "2",
        "--steps",
        "150",
        "--device",
        "numpy",
        "--start",
        "random",
        "--out",
        str(tmp_path / "out"),
    ]
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 0
    report = json.loads((tmp_path / "out" / "models.json").read_text())
    assert report["holds"]
    one, two = report["matrices"]
    assert (one["name"], two["name"]) == ("one", "two")
    assert one["gain"] == pytest.approx(one["doublets"]["log_likelihood"] - one["single"]["log_likelihood"])
    assert one["over_control"] > 10 > two["over_control"]
    lines = (tmp_path / "out" / "models.tsv").read_text().splitlines()
    heads, values = (line.split("\t") for line in lines[:2])
    assert dict(zip(heads, values, strict=True))["doublets.calls"] == str(one["doublets"]["calls"])
    table = (tmp_path / "out" / "models.md").read_text()
    assert table in capsys.readouterr().out
    assert table.count("\n") == 4
