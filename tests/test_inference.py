"""`syclade.infer`: its inputs, its results, and that it finds SCITE's best trees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.answer.inference import InferenceProgress
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import validate_parents
from syclade.host.data.trees.treefile import read_tree
from syclade.host.device.device import NUMPY
from syclade.host.device.workarounds import prepare
from syclade.host.ground.errors import (
    DeviceError,
    MatrixError,
    OptionError,
    OutputError,
    RatesError,
    TreeError,
)
from tests.support.backends import BACKENDS

RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2}
QUICK: dict[str, Any] = {**RATES, "chains": 3, "steps": 200, "device": "numpy", "encoding": "ancestor"}
MADE = simulate(16, 8, 0.01, 0.2, 0.1, 4).matrix
SUMMARY_FIELDS = {
    "tree", "cells", "matrix_sha256", "log_likelihood", "parents", "mutations", "n_mutations", "n_cells",
    "fp_rate", "fn_rate", "fn_rate_hom", "hom_rate", "merge_homozygous", "method", "gamma", "score",
    "move_probabilities", "chains", "steps", "converged", "interrupted", "seed", "chain_log_likelihoods",
    "moves", "searches", "fitted_rates", "unplaced",
}  # fmt: skip
RUN_FIELDS = {
    "matrix", "matrix_file_sha256", "device", "device_name", "encoding", "work", "slots", "threads",
    "pipeline", "seconds", "total_seconds", "stages", "steps_per_second", "options", "date", "version",
    "versions", "files",
}  # fmt: skip


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    return syclade.infer(MADE.values, names=MADE.mutations, **QUICK)


# ---- inputs


@pytest.mark.parametrize("kind", ["list", "int64", "float", "fortran", "strided", "matrix"])
def test_arrays(result: syclade.Result, kind: str) -> None:
    values = MADE.values
    forms: dict[str, Any] = {
        "list": values.tolist(),
        "int64": values.astype(np.int64),
        "float": values.astype(np.float64),
        "fortran": np.asfortranarray(values),
        "strided": np.repeat(values, 2, axis=1)[:, ::2],
        "matrix": MADE,
    }
    assert syclade.infer(forms[kind], **QUICK).parents.tolist() == result.parents.tolist()


def test_truth_values_are_observations() -> None:
    values = MADE.values == 1
    of_bool, of_int = (syclade.infer(v, **QUICK) for v in (values, values.astype(np.uint8)))
    assert of_bool.log_likelihood == of_int.log_likelihood


def test_files(result: syclade.Result, tmp_path: Path) -> None:
    matrix, names = tmp_path / "matrix.csv", tmp_path / "names"
    matrix.write_text(format_matrix(MADE.values))
    names.write_text("\n".join(MADE.mutations) + "\n")
    for path in (matrix, str(matrix)):
        for given in (names, str(names), MADE.mutations, list(MADE.mutations)):
            one = syclade.infer(path, names=given, **QUICK)
            assert one.mutations == MADE.mutations
            assert one.parents.tolist() == result.parents.tolist()
    assert syclade.infer(matrix, **QUICK).mutations == tuple(str(k) for k in range(1, 9))


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["opencl:cpu:0", "opencl:accelerator:0"])
def test_arrays_of_dpctl(result: syclade.Result, device: str) -> None:
    prepare()
    import dpctl.tensor

    array = dpctl.tensor.asarray(MADE.values, device=device)
    for given in (array, dpctl.tensor.copy(array.T).T):
        assert syclade.infer(given, **QUICK).parents.tolist() == result.parents.tolist()


DPNP = """
import json, sys, numpy
from syclade.host.device.workarounds import load_dpnp_libraries, prepare
prepare()
load_dpnp_libraries()
import dpnp
import syclade
values = numpy.array(json.loads(sys.argv[1]))
result = syclade.infer(dpnp.asarray(values), **json.loads(sys.argv[2]) | {"device": "cpu"})
print(result.parents.tolist())
"""


@pytest.mark.sycl
def test_arrays_of_dpnp(result: syclade.Result) -> None:
    command = [sys.executable, "-c", DPNP, json.dumps(MADE.values.tolist()), json.dumps(QUICK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == result.parents.tolist()


# ---- rejected inputs


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"fp_rate": 0.0}, RatesError, "--fp-rate"),
        ({"fn_rate": 1.0}, RatesError, "--fn-rate"),
        ({"chains": 0}, OptionError, "--chains is 0"),
        ({"chains": 2**32}, OptionError, "--chains"),
        ({"steps": 0}, OptionError, "--steps is 0"),
        ({"seed": -1}, OptionError, "--seed is -1"),
        ({"seed": 2**64}, OptionError, "--seed"),
        ({"slots": 0}, OptionError, "--slots is 0"),
        ({"chains": 2.5}, OptionError, "2.5, which is not a whole number"),
        ({"steps": "9"}, OptionError, "'9', which is not a whole number"),
        ({"gamma": 0.0}, OptionError, "--gamma"),
        ({"gamma": None}, OptionError, "--gamma is None, which is not a number"),
        ({"gamma": "1"}, OptionError, "--gamma is '1', which is not a number"),
        ({"gamma": 10**400}, OptionError, "--gamma is inf"),
        ({"fp_rate": 10**400}, RatesError, "--fp-rate"),
        ({"move_probabilities": (0, 0, 0)}, OptionError, "move probabilities"),
        ({"move_probabilities": "x"}, OptionError, "move probabilities 'x' are not 3 numbers"),
        ({"move_probabilities": "abc"}, OptionError, "move probabilities 'abc' are not 3 numbers"),
        ({"move_probabilities": 5}, OptionError, "move probabilities 5 are not 3 numbers"),
        ({"move_probabilities": (None, 1, 1)}, OptionError, "are not 3 numbers"),
        ({"names": ["a", "b"]}, MatrixError, "names"),
        ({"names": 5}, MatrixError, "the names are 5, which is neither a file nor a sequence"),
        ({"names": {"a", "b"}}, MatrixError, "the names are {'a', 'b'}, which is neither"),
        ({"device": None}, DeviceError, "the device is None"),
        ({"device": ["cpu"]}, DeviceError, "the device is "),
        ({"encoding": ["ancestor"]}, OptionError, "there is no encoding"),
        ({"image": 5}, OptionError, "--image is 5, which is not a path"),
        ({"chains": 10**5000}, OptionError, "--chains is of type int"),
        ({"names": ["a"] * 8}, MatrixError, "a"),
        ({"device": "nonsense"}, DeviceError, "nonsense"),
        ({"encoding": "nonsense"}, OptionError, "nonsense"),
        ({"matrix": [[0, 2]]}, MatrixError, "is 2"),
        ({"matrix": [[0, 1], [1]]}, MatrixError, "list"),
        ({"matrix": []}, MatrixError, "dimensions"),
        ({"matrix": "there/is/no/such/file"}, MatrixError, "no/such/file"),
    ],
)
def test_refusals(change: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        syclade.infer(**{"matrix": MADE.values, **QUICK, **change})
    assert isinstance(caught.value, syclade.SycladeError)


@pytest.mark.parametrize("tree", [[[1, 2], [1]], [2, 2, None], None, 5, {}, ["a"], [10**400, 2, 2]])
def test_trees_that_are_none(tree: Any) -> None:
    with pytest.raises(TreeError, match="a parent vector has n"):
        syclade.score([[0, 1], [1, 0]], tree, **RATES)


@pytest.mark.parametrize("path", [5, None, b"matrix", [1], ""])
def test_paths_that_are_none(result: syclade.Result, path: Any) -> None:
    with pytest.raises(MatrixError, match=r"which is not a path|an empty name|1 dimensions"):
        syclade.read_matrix(path)
    with pytest.raises(OutputError, match=r"which is not a path|an empty name"):
        result.write(path)


# ---- results


def test_numbers_of_numpy(result: syclade.Result, tmp_path: Path) -> None:
    numbers = {"chains": np.int64(3), "steps": np.uint16(200), "seed": np.int8(1), "slots": np.int32(2)}
    made = syclade.infer(MADE, **{**QUICK, **numbers})
    assert made.parents.tolist() == result.parents.tolist()
    made.write(tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text())["seed"] == 1


def test_result(result: syclade.Result) -> None:
    assert result.parents.dtype == np.int32
    np.testing.assert_array_equal(validate_parents(result.parents), result.parents)
    assert result.log_likelihood == syclade.score(MADE, result.parents, **RATES)
    assert result.chain_log_likelihoods.shape == (3,)
    assert result.chain_log_likelihoods.max() == pytest.approx(result.log_likelihood, abs=1e-3)
    assert (result.device, result.slots, result.version) == ("numpy", 3, syclade.__version__)
    assert sum(tried for tried, _ in result.moves.values()) == 600
    assert all(0 <= taken <= tried for tried, taken in result.moves.values())
    (work,) = result.work
    assert (work.executor, work.kernel, work.unit, work.count) == (NUMPY, "numpy", "steps", 600)
    assert result.steps_per_second == 600 / work.seconds
    assert work.seconds <= result.seconds


def test_the_tree_is_a_graph(result: syclade.Result) -> None:
    graph = result.to_networkx()
    assert networkx.is_arborescence(graph)
    assert set(graph) == {*MADE.mutations, "root"}
    for child, parent in enumerate(result.parents[:-1].tolist()):
        names = [*MADE.mutations, "root"]
        assert graph.has_edge(names[parent], names[child])


def test_writers(result: syclade.Result, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    result.write(folder)
    files = {"tree.newick", "tree.gv", "attachments.tsv", "cells.tsv", "summary.json", "run.json"}
    assert {path.name for path in folder.iterdir()} == files
    assert (folder / "attachments.tsv").read_text() == result.to_attachments()
    for name in ("tree.newick", "tree.gv"):
        np.testing.assert_array_equal(read_tree(folder / name, MADE.mutations), result.parents)
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary) == SUMMARY_FIELDS
    assert summary == json.loads(json.dumps(result.summary()))
    assert summary["log_likelihood"] == result.log_likelihood
    assert summary["parents"] == result.parents.tolist()
    assert (summary["n_mutations"], summary["n_cells"]) == (8, 16)
    with pytest.raises(OutputError, match="already has"):
        result.write(folder)
    result.write(folder, force=True)


def test_progress() -> None:
    seen: list[InferenceProgress] = []
    result = syclade.infer(MADE, progress=seen.append, **QUICK)
    assert (seen[-1].steps_done, seen[-1].steps_total) == (600, 600)
    assert seen[-1].log_likelihood == pytest.approx(result.log_likelihood, abs=1e-3)
    assert all(state.steps_per_second >= 0 for state in seen)  # 0 until it was timed for a second


@pytest.mark.parametrize("options", [{"score": "sum"}, {"tree": "leaf"}, {"learn_fn": 0.2}])
def test_progress_of_searches_before_chains_has_their_scores(options: dict[str, Any]) -> None:
    """The scores of searches and of these chains have other units."""
    seen: list[InferenceProgress] = []
    given = {**QUICK, "device": "native", "encoding": "auto", "start": "search"}
    syclade.infer(MADE, **given, progress=seen.append, **options)
    found = syclade.infer(MADE, **RATES, device="native", method="search")
    of_searches = [state.log_likelihood for state in seen if state.steps_total is None]
    assert max(of_searches) == pytest.approx(found.log_likelihood, abs=1e-3)


def test_progress_after_the_tree_has_its_score() -> None:
    """Chains of support, and of recurrences, have scores of other units."""
    seen: list[InferenceProgress] = []
    result = syclade.infer(MADE, **RATES, device="native", recurrent="all", progress=seen.append)
    later = [state.log_likelihood for state in seen if state.steps_done > 0][-1]
    assert later == pytest.approx(result.log_likelihood, abs=1e-3)


def test_seeds() -> None:
    one, same, other = (
        syclade.infer(MADE, **{**QUICK, "steps": 30, "chains": 1, "seed": seed}) for seed in (5, 5, 2**64 - 1)
    )
    assert one.parents.tolist() == same.parents.tolist()
    assert one.moves == same.moves != other.moves


@pytest.mark.parametrize("values", [[[1]], [[0, 1, 3]], [[1], [0], [3]]])
def test_small_matrices(values: list[list[int]]) -> None:
    result = syclade.infer(values, **QUICK)
    assert result.log_likelihood == syclade.score(values, result.parents, **RATES)


def test_a_matrix_without_a_value_is_refused() -> None:
    with pytest.raises(MatrixError, match="all entries are missing"):
        syclade.infer([[3, 3], [3, 3]], **QUICK)


# ---- the same result on every device, as good as SCITE's


def outcome(values: NDArray[np.uint8], **options: Any) -> tuple[list[int], float, dict[str, Any]]:
    result = syclade.infer(values, fp_rate=1e-3, fn_rate=0.25, chains=4, steps=150, **options)
    return result.parents.tolist(), result.log_likelihood, result.moves


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("cells", "mutations", "counts"),
    [
        (16, 14, (1, 3, 6)),
        *(pytest.param(n + 1, n, (1, 3, 6), marks=pytest.mark.verification) for n in (63, 95)),
    ],
)
def test_devices_and_slots_agree(cells: int, mutations: int, counts: tuple[int, ...]) -> None:
    values = simulate(cells, mutations, 1e-3, 0.25, 0.25, 1).matrix.values
    expected = outcome(values, device="numpy", encoding="ancestor")
    for backend in (one for one in BACKENDS if one.encoding != "general"):
        for slots in counts:
            options = {"device": backend.device, "encoding": backend.encoding, "slots": slots}
            assert outcome(values, **options) == expected, options


@pytest.mark.shared
@pytest.mark.sycl
@pytest.mark.parametrize(
    ("name", "fp_rate", "fn_rate", "best", "encoding"),
    [
        ("dataNavin", 1.24e-6, 0.0973, -579.4966, "auto"),
        ("dataXu", 2.67e-5, 0.1643, -153.0791, "ancestor"),
        ("pat_2", 3.45e-3, 0.146, -476.0789, "ancestor"),
    ],
)
def test_scites_best_is_reached(
    shared_dir: Path, name: str, fp_rate: float, fn_rate: float, best: float, encoding: str
) -> None:
    """The encoding affects only the run time, most of which is compilation."""
    folder = shared_dir / "data"
    result = syclade.infer(
        folder / f"{name}.csv",
        names=folder / f"{name}.geneNames",
        fp_rate=fp_rate,
        fn_rate=fn_rate,
        device="cpu",
        encoding=encoding,
        support="none",
    )
    assert result.log_likelihood == pytest.approx(best, abs=1e-4)
