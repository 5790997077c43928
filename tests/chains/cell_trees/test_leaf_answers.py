"""Cell trees have what mutation trees have: search, report, netCDF, AnnData, MultiQC, names and versions."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer import run
from syclade.host.answer.figures.style import support_of
from syclade.host.chains.scores.score import BEST_PLACEMENT
from syclade.host.commands.main import cli
from syclade.host.data.model.problem import make_leaf_problem, make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.cells import clades, clones_of_cell_tree
from syclade.host.data.trees.tree import initial_leaf_parents
from syclade.host.findings.kinds.cell_trees import CELL
from syclade.host.findings.samples.cell_trees import SampledCellTrees
from syclade.host.ground.options import command_of
from syclade.host.ground.signals import Stop
from tests.support.did_all import assert_did_all

MADE = simulate(cells=12, mutations=9, fp_rate=0.01, fn_rate=0.2, missing=0.1, seed=4)
RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "device": "native"}
UNSUPPORTED = {**RATES, "support": "none"}


@pytest.fixture(scope="module")
def sampled() -> syclade.Result:
    return syclade.infer(MADE.matrix, tree="leaf", chains=3, steps=6000, samples=100, **RATES)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.verification) for seed in (2, 3))]
)
def test_the_search_is_never_below_the_mutation_tree(seed: int) -> None:
    """The most likely mutation tree, drawn as a cell tree, is where the chains start."""
    matrix = simulate(cells=18, mutations=14, fp_rate=0.01, fn_rate=0.3, missing=0.2, seed=seed).matrix
    of_mutations = syclade.infer(matrix, **UNSUPPORTED)
    rates = Rates(0.01, 0.2)
    drawn = CELL.from_mutation_tree(make_problem(matrix, rates), rates, of_mutations.parents)
    _, drawn_score = CELL.assign(matrix, rates, make_leaf_problem(matrix, rates), drawn, BEST_PLACEMENT)
    found = syclade.infer(matrix, tree="leaf", **UNSUPPORTED)
    assert found.log_likelihood >= drawn_score - 1e-3
    assert drawn_score >= of_mutations.log_likelihood - 1e-9, "a cell tree has all clades of a mutation tree"
    assert (found.options["method"], found.options["start"]) == ("search", "random")
    assert len(found.searches) == 16
    assert_did_all(found, "native")
    annealed = syclade.infer(matrix, tree="leaf", method="anneal", **UNSUPPORTED)
    assert annealed.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-9)
    assert annealed.steps > 0
    random = syclade.infer(matrix, tree="leaf", chains=1, steps=1, **UNSUPPORTED)
    assert random.log_likelihood < drawn_score, "one step from a random tree does not get there"


def test_a_mutation_that_all_cells_lack_is_in_one() -> None:
    """It is in none of them in a mutation tree, and costs the same in all cell trees."""
    values = simulate(cells=18, mutations=14, fp_rate=0.01, fn_rate=0.3, missing=0.0, seed=1).matrix.values
    values = np.vstack((values[values.any(axis=1)], np.zeros(18, dtype=values.dtype)))
    found = syclade.infer(values, tree="leaf", **RATES)
    of_mutations = syclade.infer(values, support="none", **RATES)
    cost = np.log(1 - RATES["fp_rate"]) - np.log(RATES["fn_rate"])
    assert found.log_likelihood == pytest.approx(of_mutations.log_likelihood - cost, abs=1e-9)
    assert found.options["method"] == "search"


@pytest.fixture
def open_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches leave every cell tree open."""
    monkeypatch.setattr(run, "_as_likely", lambda *_: False)


@pytest.mark.usefixtures("open_search")
def test_chains_go_on_where_the_search_leaves_something_open(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    found = syclade.infer(MADE.matrix, tree="leaf", checkpoint=kept, **RATES)
    assert (found.options["method"], found.options["start"], found.chains) == ("anneal", "search", 16)
    assert "annealed chains" in found.runs
    assert syclade.infer(MADE.matrix, tree="leaf", resume=kept, **RATES).summary() == found.summary()
    repeated = syclade.infer(MADE.matrix, tree="leaf", method="anneal", **RATES)
    assert repeated.summary() == found.summary()


def _goes_on(tmp_path: Path) -> str:
    """Stop a run after its first checkpoint, and resume it; return the method that it ended with."""
    matrix = simulate(cells=60, mutations=50, fp_rate=0.01, fn_rate=0.3, missing=0.1, seed=3).matrix
    kept, stop = tmp_path / "kept", Stop()

    def count(_: object) -> None:
        stop.wanted = stop.wanted or kept.exists()

    kinds: dict[str, Any] = {"tree": "leaf", **RATES}
    stopped = syclade.infer(matrix, stop=stop, checkpoint=kept, checkpoint_every=0, progress=count, **kinds)
    assert stopped.interrupted
    assert len(stopped.searches) == 16
    whole, resumed = syclade.infer(matrix, **kinds), syclade.infer(matrix, resume=kept, **kinds)
    assert resumed.summary() == whole.summary()
    return str(whole.options["method"])


def test_interrupted_searches_go_on(tmp_path: Path) -> None:
    assert _goes_on(tmp_path) == "search"


@pytest.mark.usefixtures("open_search")
def test_chains_follow_interrupted_searches(tmp_path: Path) -> None:
    assert _goes_on(tmp_path) == "anneal"


def test_one_result_for_both_kinds(sampled: syclade.Result) -> None:
    summary = sampled.summary()
    assert (summary["tree"], summary["cells"]) == ("leaf", list(sampled.cells))
    assert set(sampled.run()["versions"]) >= {"python", "numpy", "numba"}
    of_mutations = syclade.infer(MADE.matrix, chains=2, steps=500, **RATES)
    assert set(of_mutations.summary()) | {"samples"} == set(summary) | {"fitted_rates"}
    assert set(of_mutations.run()) == set(sampled.run())
    with pytest.raises(AttributeError, match="cell trees assign each mutation"):
        _ = sampled.attachment
    with pytest.raises(AttributeError, match="mutation trees assign each cell"):
        _ = of_mutations.placement
    graph = sampled.to_networkx()
    assert graph.number_of_edges() == len(sampled.parents) - 1
    assert {node for node in graph if not graph[node]} == set(sampled.cells)


def test_clones_of_a_cell_tree() -> None:
    parents = initial_leaf_parents(20, 7, 0)
    placement = np.random.default_rng(2).integers(0, len(parents), 15).astype(np.int32)
    clones, below = clones_of_cell_tree(parents, placement), clades(parents)
    assert sorted(one for clone in clones for one in clone.mutations) == list(range(15))
    assert sum(clone.cells for clone in clones) == 11 == clones[0].below
    for clone in clones[1:]:
        assert set(placement[list(clone.mutations)]) == {clone.node}
        assert clone.below == below[clone.node].sum()
        assert clones[clone.parent].depth == clone.depth - 1
        assert (below[clones[clone.parent].node] >= below[clone.node]).all()
        nearest = [one for one in clones if one.parent == clones.index(clone) and one is not clone]
        inside = set(np.flatnonzero(below[clone.node])) - {
            cell for one in nearest for cell in np.flatnonzero(below[one.node])
        }
        assert clone.cells == len(inside)


def test_shares_are_those_of_the_clades(sampled: syclade.Result) -> None:
    assert isinstance(sampled.samples, SampledCellTrees)
    clones = CELL.clones(sampled.tree, sampled.unplaced)
    shares, of = support_of(sampled, clones)
    assert (of, shares is None) == ("the sampled trees", False)
    below = clades(sampled.parents)
    for clone, share in zip(clones, shares or (), strict=True):
        cells = frozenset(np.flatnonzero(below[clone.node]).tolist())
        assert share == (sampled.samples.clades.get(cells, 0.0) if clone.depth and len(cells) > 1 else None)


def test_the_report_of_a_cell_tree(sampled: syclade.Result) -> None:
    page = sampled.report()
    assert "Best edge of each mutation" in page
    assert "best edge" in page
    assert "each edge with mutations begins one" in page
    assert "The share of the sampled trees in which some clone has exactly these mutations" in page
    assert "--tree leaf" in page
    has = clades(sampled.parents)[sampled.placement]
    values = MADE.matrix.values
    assert (
        f"In this tree, {int(((values == 1) & ~has).sum())} of {int(((values != 3) & ~has).sum())} entries"
        in page
    )
    assert sampled.plot().get_axes()
    assert sampled._repr_html_().startswith("<pre>&lt;Result: log-likelihood")


def test_samples_as_netcdf(sampled: syclade.Result, tmp_path: Path) -> None:
    sampled.to_netcdf(tmp_path / "samples.nc")
    assert sampled.samples is not None
    with h5netcdf.File(tmp_path / "samples.nc", "r") as file:
        parents, lp = file["posterior"]["parents"][...], file["sample_stats"]["lp"][...]
        assert file["posterior"]["node"][...].tolist()[:12] == [name.encode() for name in sampled.cells]
        assert "leaves" not in file["posterior"]
    assert parents.shape == (3, 45, 22)
    problem = make_leaf_problem(MADE.matrix, Rates(0.01, 0.2))
    for chain, draw in ((0, 0), (1, 20), (2, 44)):
        tree = np.append(parents[chain, draw], 22).astype(np.int32)
        _, score = CELL.assign(MADE.matrix, Rates(0.01, 0.2), problem, tree, BEST_PLACEMENT)
        assert score == pytest.approx(lp[chain, draw], abs=1e-3)


def test_anndata_and_multiqc(sampled: syclade.Result) -> None:
    from syclade.host.answer.output.result_files import multiqc_of

    table = sampled.to_anndata()
    assert table.shape == (12, 9)
    assert table.var["edge"].tolist() == [sampled.labels[node] for node in sampled.placement]
    assert table.obs["parent"].tolist() == [sampled.labels[parent] for parent in sampled.parents[:12]]
    np.testing.assert_array_equal(table.layers["tree"].T, clades(sampled.parents)[sampled.placement])
    row = json.loads(multiqc_of(sampled, "one"))
    assert row["data"]["one"]["log_likelihood"] == sampled.log_likelihood
    assert "Cell trees" in row["description"]


def test_the_command_writes_all_of_them(tmp_path: Path) -> None:
    matrix, out = tmp_path / "matrix.csv", tmp_path / "out"
    np.savetxt(matrix, MADE.matrix.values, fmt="%d")
    arguments = ["infer", str(matrix), "--fp-rate=0.01", "--fn-rate=0.2", "--device=native", "--tree=leaf"]
    arguments += ["--chains=2", "--steps=2000", "--samples=50", "--out", str(out)]
    said = CliRunner().invoke(cli, [*arguments, "--report", "--netcdf", "--multiqc"], catch_exceptions=False)
    assert said.exit_code == 0
    names = {*CELL.file_names, *CELL.sample_names, "report.html", "samples.nc", "syclade_mqc.json"}
    assert {path.name for path in out.iterdir()} == names
    assert "9 mutations at " in said.stdout
    again = CliRunner().invoke(cli, [*arguments, "--report"])
    assert "already has" in str(again.exception)


@pytest.mark.parametrize("more", ["", "--chains=2 --steps=500 --samples=50 --move-probs 1 2 0"])
def test_the_command_of_a_report_repeats_the_run(tmp_path: Path, more: str) -> None:
    matrix, first, again = tmp_path / "matrix.csv", tmp_path / "first", tmp_path / "again"
    np.savetxt(matrix, MADE.matrix.values, fmt="%d")
    arguments = ["infer", str(matrix), "--fp-rate=0.01", "--fn-rate=0.2", "--device=native", "--tree=leaf"]
    arguments += more.split()
    CliRunner().invoke(cli, [*arguments, "--out", str(first)], catch_exceptions=False)
    command = shlex.split(command_of(str(matrix), json.loads((first / "run.json").read_text())["options"]))
    assert command[0] == "syclade"
    said = CliRunner().invoke(cli, [*command[1:], "--out", str(again)], catch_exceptions=False)
    assert said.exit_code == 0, said.output
    assert (again / "summary.json").read_bytes() == (first / "summary.json").read_bytes()
