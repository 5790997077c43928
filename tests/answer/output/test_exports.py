"""Results for other programs: AnnData, figures, notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.answer.figures import canvas
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.ground.errors import MatrixError, OptionError, OutputError
from tests.support.formats import CELLS, MUTATIONS, VALUES

RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2}


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    matrix = syclade.read_matrix(VALUES, MUTATIONS, cell_names=CELLS)
    return syclade.infer(matrix, **RATES, device="numpy", chains=2, steps=200)


def test_anndata_can_be_written_and_inferred_from_again(result: syclade.Result, tmp_path: Path) -> None:
    import anndata

    result.to_anndata().write_h5ad(tmp_path / "result.h5ad")
    data = anndata.read_h5ad(tmp_path / "result.h5ad")
    assert (tuple(data.obs_names), tuple(data.var_names)) == (CELLS, MUTATIONS)
    np.testing.assert_array_equal(data.X, VALUES.T)
    expected = ancestor_matrix(result.parents)[:-1, result.attachment].T
    np.testing.assert_array_equal(data.layers["tree"], expected)
    labels = [*MUTATIONS, "root"]
    assert data.obs["node"].tolist() == [labels[node] for node in result.attachment]
    assert data.var["parent"].tolist() == [labels[node] for node in result.parents[:-1]]
    assert data.uns["syclade"]["newick"] == result.to_newick()
    assert json.loads(data.uns["syclade"]["summary"]) == result.summary()
    np.testing.assert_array_equal(data.uns["syclade"]["parents"], result.parents)
    matrix = syclade.read_matrix(tmp_path / "result.h5ad")
    np.testing.assert_array_equal(matrix.values, VALUES)
    assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)


def annotated(values: Any) -> Any:
    """Return an AnnData with the names of this file's matrix, and with something of everything besides."""
    import anndata
    import pandas

    cells, mutations = len(CELLS), len(MUTATIONS)
    return anndata.AnnData(
        values,
        obs=pandas.DataFrame({"patient": ["p"] * cells, "support": np.arange(cells)}, index=list(CELLS)),
        var=pandas.DataFrame({"depth": np.arange(mutations) + 30.0}, index=list(MUTATIONS)),
        layers={"reads": np.full((cells, mutations), 7)},
        obsm={"X_umap": np.ones((cells, 2))},
        varm={"loadings": np.ones((mutations, 3))},
        uns={"study": "a"},
    )


OF_CLONES = ["clone", "clone_probability", "runner_up", "runner_up_probability", "fits"]


@pytest.mark.parametrize("by_path", [True, False])
def test_anndata_replaces_an_earlier_result(by_path: bool, tmp_path: Path) -> None:
    """Parts of an earlier result go; labels, and what the user added since, stay."""
    import anndata

    given: dict[str, Any] = {**RATES, "device": "native", "support": "quick", "genotypes": True}
    matrix = syclade.read_matrix(VALUES, MUTATIONS, cell_names=CELLS)
    labels = dict(zip(CELLS, "PPPQQQQQQQ", strict=False))
    first = syclade.infer(matrix, metadata=labels, **given).to_anndata()
    assert {"clone", "runner_up", "sample"} <= set(first.obs)
    first.obs["mine"] = "x"
    first.write_h5ad(tmp_path / "first.h5ad")
    source = syclade.read_matrix(tmp_path / "first.h5ad" if by_path else first)
    assert not {"clone", "node"} & set(source.labels)
    made = syclade.infer(source, **RATES, device="numpy", chains=1, steps=50, support="none").to_anndata()
    assert list(made.obs) == ["sample", "mine", "node", "equally_good_nodes", "log_likelihood", *OF_CLONES]
    assert list(made.var) == ["parent", "depth", "clone"]
    assert (list(made.layers), list(made.obsm)) == (["tree"], [])
    made.write_h5ad(tmp_path / "again.h5ad")
    again = syclade.infer(syclade.read_matrix(made), metadata=labels, **given).to_anndata()
    assert set(again.obs) == set(first.obs)
    assert anndata.read_h5ad(tmp_path / "again.h5ad").uns["syclade"]["written"]["obs"][0] == "node"


def test_anndata_has_the_clones_of_mutations_and_their_tree(tmp_path: Path) -> None:
    import anndata

    values = np.array([[1] * 8 + [0] * 2, [1] * 4 + [0] * 6, [0] * 5 + [1] * 3 + [0] * 2, [3] * 10])
    found = syclade.infer(values, **RATES, device="native", support="quick")
    assert found.consensus is not None
    found.to_anndata().write_h5ad(tmp_path / "result.h5ad")
    made = anndata.read_h5ad(tmp_path / "result.h5ad")
    clones = {name: None if clone != clone else int(clone) for name, clone in made.var["clone"].items()}
    assert clones == found.consensus.clones_of_mutations
    assert clones["4"] is None, "it is missing in all cells"
    assert made.var["clone"].cat.categories.tolist() == made.obs["clone"].cat.categories.tolist()
    assert made.uns["syclade"]["consensus"] == found.consensus.to_newick()
    likely = syclade.infer(values, **RATES, device="native", support="none").to_anndata()
    cells = zip(likely.obs["clone"], likely.obs["node"], strict=True)
    assert {(clone, likely.var["clone"].get(node, "0")) for clone, node in cells} <= {
        (clone, clone) for clone in "0123"
    }
    assert "consensus" not in likely.uns["syclade"]


def test_anndata_with_x_among_its_layers(
    result: syclade.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From anndata 0.13 on, iteration over layers yields None, too, for X."""
    kind = type(result.to_anndata().layers)
    names = kind.__iter__
    monkeypatch.setattr(
        kind, "__iter__", lambda self: iter([*(one for one in names(self) if one is not None), None])
    )
    found = result.to_anndata().uns["syclade"]["written"]
    assert found["layers"].tolist() == ["tree"]
    made = syclade.infer(annotated(VALUES.T), **RATES, device="numpy", chains=1, steps=50, support="none")
    assert {*made.to_anndata().layers} - {None} == {"reads", "tree"}


@pytest.mark.parametrize("by_path", [True, False])
def test_anndata_keeps_what_the_source_has(by_path: bool, tmp_path: Path) -> None:
    data, path = annotated(np.where(VALUES.T == 3, np.nan, VALUES.T)), tmp_path / "source.h5ad"
    data.write_h5ad(path)
    matrix = syclade.read_matrix(path if by_path else data, two="homozygous")
    given: dict[str, Any] = {**RATES, "merge_homozygous": True, "device": "numpy", "chains": 2, "steps": 50}
    made = syclade.infer(matrix, **given).to_anndata()
    np.testing.assert_array_equal(made.X, VALUES.T)
    np.testing.assert_array_equal(made.layers["X"], data.X)
    own = ["patient", "support", "node", "equally_good_nodes", "log_likelihood"]
    assert list(made.obs) == [*own, *OF_CLONES]
    assert list(made.var) == ["depth", "parent", "syclade_depth", "clone"], (
        "columns of the source are not replaced"
    )
    assert made.var["depth"].tolist() == data.var["depth"].tolist()
    np.testing.assert_array_equal(made.layers["reads"], data.layers["reads"])
    assert set(made.layers) == {"reads", "tree", "X"}
    assert ("X_umap" in made.obsm, "loadings" in made.varm, made.uns["study"]) == (True, True, "a")
    made.write_h5ad(tmp_path / "again.h5ad")
    again = syclade.infer(syclade.read_matrix(tmp_path / "again.h5ad"), **given).to_anndata()
    assert list(again.obs) == list(made.obs)
    copy = syclade.infer(matrix, **given, recurrent=1).to_anndata()
    assert next(iter(copy.obs)) == "patient"
    assert copy.var["depth"].tolist() == data.var["depth"].tolist()
    assert {"reads", "tree", "X"} == set(copy.layers), "the copy is no variable, so nothing is lost"


def test_anndata_has_no_more_of_the_source_than_options_leave() -> None:
    values = np.where(VALUES.T == 2, 1, VALUES.T)
    values[:, 1], values[2] = 0, 3
    source = annotated(values)
    source.obs["patient"] = [f"p{number}" for number in range(len(CELLS))]
    matrix = syclade.read_matrix(source, two="homozygous", min_cells=1, max_missing_cell=0.9)
    assert {one.kind for one in matrix.left_out} == {"cell", "mutation"}
    made = syclade.infer(matrix, **RATES, support="none", device="numpy", steps=20, chains=1).to_anndata()
    kept = source[list(matrix.cells or ()), list(matrix.mutations)]
    assert made.obs["patient"].tolist() == kept.obs["patient"].tolist()
    assert (made.obs_names.tolist(), made.var_names.tolist()) == (
        kept.obs_names.tolist(),
        kept.var_names.tolist(),
    )


def test_anndata_of_a_file_that_has_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "source.h5ad"
    annotated(np.where(VALUES.T == 2, 3, VALUES.T)).write_h5ad(path)
    result = syclade.infer(path, **RATES, device="numpy", chains=2, steps=50)
    assert "patient" in result.to_anndata().obs
    annotated(np.ones_like(VALUES.T)).write_h5ad(path)
    assert "patient" not in result.to_anndata().obs
    assert "has changed since the run" in caplog.text


def test_anndata_has_posteriors_of_the_sum_score() -> None:
    summed = syclade.infer(VALUES, **RATES, device="numpy", chains=2, steps=200, score="sum")
    data = summed.to_anndata()
    assert summed.attachment_posteriors is not None
    np.testing.assert_array_equal(data.obs["posterior"], summed.attachment_posteriors)


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_plots(result: syclade.Result, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"tree.{ending}"
    with pytest.raises(OutputError, match="there is no directory"):
        result.plot(path)
    path.parent.mkdir()
    figure = result.plot(path)
    assert path.read_bytes().startswith({"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[ending])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert set(MUTATIONS) <= set(", ".join(texts).split(", "))
    with pytest.raises(OutputError):
        result.plot(path)
    result.plot(path, force=True)
    with pytest.raises(OptionError, match=r"cannot be written as tree\.doc"):
        result.plot(tmp_path / "tree.doc")


def test_plots_of_many_mutations_and_of_names_that_look_like_formulas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of pixels is lowered here, since a picture of 25 million takes 500 MB."""
    monkeypatch.setattr(canvas, "MOST_AREA", 3e6)
    made = simulate(120, 300, 0.01, 0.2, 0.1, 3).matrix
    syclade.infer(made, **RATES, device="native", chains=1, steps=100).plot(
        "matrix", tmp_path / "large.png", names="all"
    )
    content = (tmp_path / "large.png").read_bytes()
    assert len(content) > 10000
    width, height = (int.from_bytes(content[at : at + 4]) for at in (16, 20))
    assert 2.9e6 < width * height <= 3e6
    named = syclade.infer(
        VALUES, names=["$x", "a_b$", "^{", "\\frac"], **RATES, device="numpy", chains=1, steps=50
    )
    named.plot(tmp_path / "named.svg")


def test_notebooks(result: syclade.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = result._repr_html_()
    assert shown.count("<svg") == 1
    assert f"{result.log_likelihood:.4f}" in shown
    assert "&lt;Result" in shown
    assert "<script" not in shown
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "<svg" in result._repr_html_()
    for method in (result.to_anndata, result.plot, result.report):
        with pytest.raises(OptionError, match="needs"):
            method()


def test_anndata_has_clones_labels_and_genotypes(tmp_path: Path) -> None:
    """Columns of obs that the source has are kept; those of a table are added."""
    import anndata
    import pandas

    made = simulate(30, 5, 0.01, 0.1, 0.0, 3, unplaced=1)
    cells = [f"c{number}" for number in range(30)]
    made.matrix.values.setflags(write=True)
    made.matrix.values[:, 4] = 3
    source = anndata.AnnData(
        made.matrix.values.T.astype(np.float32),
        obs=pandas.DataFrame({"sample": ["P", "Q"] * 15, "clone": "mine"}, index=cells),
        layers={"genotype": np.zeros((30, 5))},
    )
    table = {"cell": cells, "day": ["1", "2"] * 15}
    options: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native", "genotypes": True}
    result = syclade.infer(source, **options)
    consensus, found = result.consensus, result.clones_by_sample
    assert consensus is not None
    assert found is not None
    assert found.samples == ("P", "Q")
    for given, extra in ((result, []), (syclade.infer(source, metadata=table, **options), ["day"])):
        path = tmp_path / f"{len(extra)}.h5ad"
        given.to_anndata().write_h5ad(path)
        data = anndata.read_h5ad(path)
        assert data.obs["sample"].tolist() == ["P", "Q"] * 15
        assert set(data.obs["clone"]) == {"mine"}
        assert [name for name in data.obs if name in ("day", "syclade_sample")] == extra
    clones = data.obs["syclade_clone"]
    assert clones.isna().tolist() == [number == 4 for number in range(30)]
    assert clones.dropna().tolist() == [str(clone) for clone in consensus.cells.best.tolist()]
    posterior = np.delete(data.obsm["clone_posterior"], 4, axis=0)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    np.testing.assert_array_equal(posterior.max(axis=1), data.obs["clone_probability"].dropna())
    assert result.genotypes is not None
    np.testing.assert_array_equal(data.layers["syclade_genotype"], result.genotypes.called.T)
    assert not data.layers["genotype"].any()


def test_anndata_has_the_specimens_of_joined_matrices() -> None:
    """Their labels are in no AnnData, from which they would come otherwise."""
    pytest.importorskip("anndata")
    values = simulate(40, 5, 0.01, 0.1, 0.0, seed=3).matrix.values
    parts = [syclade.read_matrix(part) for part in (values[:, :18], values[:, 18:])]
    joined = syclade.join(parts, ["P1", "P2"])
    result = syclade.infer(joined, fp_rate=0.01, fn_rate=0.1, device="native")
    data = result.to_anndata()
    assert data.obs["sample"].tolist() == ["P1"] * 18 + ["P2"] * 22
    again = syclade.infer(data, fp_rate=0.01, fn_rate=0.1, device="native").to_anndata()
    assert [name for name in again.obs if "sample" in name] == ["sample"]
    with pytest.raises(
        MatrixError, match=r"ndarray is no Matrix\nhint: read each file .* by syclade\.read_matrix"
    ):
        syclade.join([values, values], ["P1", "P2"])  # type: ignore[list-item]
