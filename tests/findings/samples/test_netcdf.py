"""Samples as netCDF: xarray reads what the chains sampled, and a stuck chain is reported."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np
import pytest
import xarray
from click.testing import CliRunner

import syclade
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.state import Event
from syclade.host.commands.main import cli
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.findings.samples import finding as samples_finding
from syclade.host.findings.samples.diagnostics import FEWEST_CHANGES
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees, judge_mutation_trees
from syclade.host.findings.samples.sampled import Sampling
from syclade.host.ground.errors import OptionError, OutputError
from tests.findings.samples.test_samples import infer


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    return infer(chains=3, steps=2000, samples=100)


def test_xarray_reads_what_was_sampled(
    result: syclade.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples_finding, "_DRAWS", 4)  # several blocks, the last one shorter
    result.to_netcdf(tmp_path / "samples.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["samples.nc"]
    sampled = result.samples
    assert sampled is not None
    with xarray.open_datatree(tmp_path / "samples.nc", engine="h5netcdf") as tree:
        posterior, stats = tree["posterior"], tree["sample_stats"]
        assert dict(posterior.sizes) == {"chain": 3, "draw": 15, "mutation": 3}
        assert posterior["mutation"].to_numpy().tolist() == list(result.mutations)
        assert (tree.attrs["every"], tree.attrs["burn_in"]) == (100, 500)
        assert stats["step"].to_numpy().tolist() == list(range(600, 2001, 100))
        np.testing.assert_array_equal(stats["lp"].to_numpy(), sampled.log_likelihoods)
        rows = np.concatenate(
            [posterior["leaves"].to_numpy()[..., None], posterior["parents"].to_numpy()], axis=-1
        )
    lines = [line.split("\t") for line in sampled.lines()]
    expected = [[int(leaves), *map(int, parents.split())] for _, leaves, parents in lines]
    assert rows.reshape(-1, 4).tolist() == expected


MATRIX = Matrix(np.array([[1, 0], [0, 1]], dtype=np.uint8), ("a", "b"), "an array")
PROBLEM = make_problem(MATRIX, Rates(0.01, 0.2))


def judged(store: SampleStore, burn_in: int = 0) -> SampledMutationTrees:
    """Return samples of trees of two mutations, a and b, one a step."""
    return judge_mutation_trees(store, Sampling(1, burn_in), PROBLEM, ["a", "b"])


def test_chains_are_cut_to_the_shortest(tmp_path: Path) -> None:
    store = SampleStore(3)
    trees = [np.array(tree, dtype=np.int32) for tree in ([2, 2, 2], [2, 0, 2], [1, 2, 2])]
    events = [
        Event(chain, 10 + at, at, 1, 0, trees[at]) for chain, last in ((0, 3), (1, 2)) for at in range(last)
    ]
    store.take(events)
    samples_finding.write_netcdf(tmp_path / "x.nc", judged(store, 9))
    with h5netcdf.File(tmp_path / "x.nc", "r") as file:
        parents = file["posterior"]["parents"][...]
    assert parents.tolist() == [[[2, 2], [2, 0]]] * 2


def of_trees(numbers: list[int]) -> SampledMutationTrees:
    """Return the samples of one chain over two trees, given by their numbers."""
    trees = np.array([[2, 2, 2], [2, 0, 2]], dtype=np.int32)
    store = SampleStore(3)
    store.take([Event(0, at, one, 1, 0, trees[one]) for at, one in enumerate(numbers)])
    return judged(store)


def test_a_chain_that_hardly_moved_is_told_of() -> None:
    blip = of_trees([0] * 500 + [1] + [0] * 499)  # its autocorrelation looks like that of independent samples
    assert blip.ess > 400
    assert blip.stuck == 1
    assert "may be stuck" in blip.warnings[0]
    assert blip.to_dict()["still_chains"] == 1
    moving = of_trees([0, 1] * FEWEST_CHANGES)
    assert moving.stuck == 0
    assert not any("stuck" in words for words in moving.warnings)


def test_trees_of_a_result(result: syclade.Result) -> None:
    assert result.trees.tolist() == [result.parents.tolist()]
    assert not result.trees.flags.writeable
    found = infer(steps=200, samples=None, max_trees=50)
    assert found.co_optimal is not None
    np.testing.assert_array_equal(found.trees, found.co_optimal.trees)


def test_nothing_is_replaced_or_left_behind(
    result: syclade.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "samples.nc"
    place.write_text("mine")
    with pytest.raises(OutputError, match="already has"):
        result.to_netcdf(place)
    monkeypatch.setattr(
        samples_finding, "_blocks", lambda *_: (_ for _ in ()).throw(OSError(28, "disk full"))
    )
    with pytest.raises(OutputError, match="disk full"):
        result.to_netcdf(place, force=True)
    assert place.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["samples.nc"]
    monkeypatch.undo()
    result.to_netcdf(place, force=True)
    assert place.read_bytes().startswith(b"\x89HDF")


def test_refusals(result: syclade.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="no samples"):
        replace(result, findings=()).to_netcdf(tmp_path / "x.nc")
    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    with pytest.raises(OptionError, match="h5netcdf") as refused:
        result.to_netcdf(tmp_path / "x.nc")
    assert "samples" in (refused.value.hint or "")
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_it(tmp_path: Path) -> None:
    matrix, out = tmp_path / "matrix.csv", tmp_path / "out"
    matrix.write_text("0 1 0 1\n0 1 1 0\n")
    rates = ["--fp-rate", "0.05", "--fn-rate", "0.3", "--device", "numpy", "--chains", "2"]
    options: list[Any] = ["infer", str(matrix), *rates, "--netcdf", "--out", str(out)]
    said = CliRunner().invoke(cli, options)
    assert isinstance(said.exception, OptionError)
    assert said.exception.message == "--netcdf without --samples"
    chains = ["--steps", "400", "--samples", "10"]
    CliRunner().invoke(cli, [*options, *chains], catch_exceptions=False)
    with h5netcdf.File(out / "samples.nc", "r") as file:
        assert file["posterior"]["parents"].shape == (2, 30, 2)
    again = CliRunner().invoke(cli, [*options, *chains])
    assert isinstance(again.exception, OutputError)
    assert "samples.nc" in str(again.exception)


def test_a_run_that_ended_before_its_first_sample() -> None:
    """Stopped runs write their files as well."""
    sampled = judged(SampleStore(3), 9)
    assert (sampled.posterior.edges.shape, sampled.posterior.ancestors.shape) == ((3, 2), (2, 2))
    assert sampled.files()["posterior.tsv"] == "relation\tupper\tlower\tshare\n"
    assert sampled.to_dict()["samples"] == 0
    assert sampled.warnings == ["the run ended before every chain had a sample: run longer"]
