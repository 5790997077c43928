"""One matrix in every form that readers accept: files of all formats, data frames, AnnData; and `infer`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.commands.main import main
from syclade.host.data.input import read_matrix as door
from syclade.host.data.input.formats import FORMATS
from syclade.host.data.input.formats.hdf import texts
from syclade.host.ground.errors import MatrixError, OptionError
from tests.support.formats import CELLS, MUTATIONS, SAID, VALUES, write_forms

WITHOUT_NAMES = {"matrix.csv": ("1", "2", "3", "4"), "sifit.txt": ("0", "1", "2", "3")}
WITHOUT_NAMES |= dict.fromkeys(("sphyr.B", "sasc.txt"), WITHOUT_NAMES["matrix.csv"])
NEEDS = {"h5ad": ("h5py", "anndata"), "tapestri": ("h5py",), "loom": ("h5py",), "bcf": ("cyvcf2",)}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_forms(tmp_path_factory.mktemp("forms"))


@pytest.mark.parametrize("name", SAID)
def test_every_form_is_the_same_matrix(forms: dict[str, Path], name: str) -> None:
    matrix = syclade.read_matrix(forms[name], **SAID[name])
    np.testing.assert_array_equal(matrix.values, VALUES)
    if name in WITHOUT_NAMES:
        assert (matrix.mutations, matrix.cells) == (WITHOUT_NAMES[name], None)
    else:
        assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)
    assert matrix.file_sha256 is not None
    assert len(matrix.file_sha256) == 64


def test_every_format_has_a_form() -> None:
    second = {"calls.vcf.gz", "sparse.h5ad", "reads.h5ad", "r.tsv", "excel.csv"}
    assert len(SAID.keys() - second) == len(FORMATS)


@pytest.mark.parametrize("name", [name for name in SAID if name not in ("cellsnp", "mquad", "folder")])
def test_from_a_stream(forms: dict[str, Path], name: str) -> None:
    with forms[name].open("rb") as stream:
        if name.endswith((".h5", ".loom", ".h5ad", ".bcf")):
            with pytest.raises(MatrixError, match="cannot be read from a stream"):
                syclade.read_matrix(stream, format="bcf")
        else:
            np.testing.assert_array_equal(syclade.read_matrix(stream, **SAID[name]).values, VALUES)


def test_five_forms_of_one_matrix_have_one_result(forms: dict[str, Path], tmp_path: Path) -> None:
    """Compare tree, score, attachments and the whole summary, byte by byte."""
    names, cells = tmp_path / "names", tmp_path / "cells"
    names.write_text("\n".join(MUTATIONS))
    cells.write_text("\n".join(CELLS))
    report = set()
    for name in ("matrix.csv", "matrix.SC", "calls.vcf.gz", "data.h5ad", "tapestri.h5", "calls.bcf"):
        out = tmp_path / name
        words = ["infer", str(forms[name]), "--fp-rate=0.01", "--fn-rate=0.2", "--seed=3", "--device=native"]
        words += ["--quiet", f"--out={out}"]
        if name == "matrix.csv":
            words += [f"--names={names}", f"--cell-names={cells}"]
        with pytest.raises(SystemExit) as caught:
            main(words)
        assert caught.value.code == 0
        written = sorted(one for one in out.iterdir() if one.name != "run.json")
        report.add(tuple((one.name, one.read_bytes()) for one in written))
        run = json.loads((out / "run.json").read_text())
        assert run["matrix"] == str(forms[name])
        assert len(run["matrix_file_sha256"]) == 64
    assert len(report) == 1


@pytest.mark.parametrize("rows", ["cells", "mutations"])
@pytest.mark.parametrize("kind", ["Int64", "float64", "object"])
def test_data_frames(rows: str, kind: str) -> None:
    import pandas

    frame = pandas.DataFrame(VALUES.T.astype(float), index=list(CELLS), columns=list(MUTATIONS))
    frame = frame.where(frame != 3).astype(kind)
    matrix = syclade.read_matrix(frame if rows == "cells" else frame.T, rows=rows)
    np.testing.assert_array_equal(matrix.values, VALUES)
    assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)
    with pytest.raises(MatrixError, match="may be cells or mutations") as caught:
        syclade.infer(frame, fp_rate=0.01, fn_rate=0.2)
    assert "read_matrix" in str(caught.value.hint)


def test_columns_of_text_and_series_are_named() -> None:
    import pandas

    frame = pandas.DataFrame({"A": [0, 1], "batch": ["x", "y"]})
    with pytest.raises(MatrixError, match=r"not a number in 1 column \(batch\)"):
        syclade.read_matrix(frame, rows="cells")
    with pytest.raises(MatrixError, match="a Series is one column"):
        syclade.read_matrix(frame["A"], rows="cells")


@pytest.mark.parametrize(
    ("entry", "words"),
    [("x", "could not convert|not a number"), (7, "has 7 in the row"), (1.5, "has 1.5 in the row")],
)
def test_data_frames_with_other_values(entry: Any, words: str) -> None:
    import pandas

    with pytest.raises(MatrixError, match=words):
        syclade.read_matrix(pandas.DataFrame([[0, entry], [1, 1]]), rows="cells")


@pytest.mark.parametrize("kind", ["nan", "None", "NA"])
def test_names_of_a_frame_that_are_missing(kind: str) -> None:
    """A name of NaN would be a mutation called nan."""
    pandas = pytest.importorskip("pandas")
    name = {"nan": float("nan"), "None": None, "NA": pandas.NA}[kind]
    frame = pandas.DataFrame([[0, 1], [1, 0]], columns=pandas.Index(["A", name], dtype=object))
    with pytest.raises(MatrixError, match="column 2 of the DataFrame has no name"):
        syclade.read_matrix(frame, rows="cells")
    with pytest.raises(MatrixError, match="row 2 of the DataFrame has no name"):
        syclade.read_matrix(frame.T, rows="mutations")


@pytest.mark.parametrize("rows", ["cells", "mutations"])
def test_a_wrong_value_of_a_frame_is_named(rows: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1.0, float("nan")], [1, 7, 0]], index=["x", "y"], columns=["A", "B", "C"])
    with pytest.raises(MatrixError, match="the DataFrame has 7 in the row 'y', column 'B', not 0, 1, 2 or 3"):
        syclade.read_matrix(frame, rows=rows)


def test_anndata() -> None:
    import anndata
    import pandas
    import scipy.sparse

    obs, var = pandas.DataFrame(index=list(CELLS)), pandas.DataFrame(index=list(MUTATIONS))
    missing = np.where(VALUES == 3, np.nan, VALUES).T
    for table in (missing, scipy.sparse.csc_matrix(VALUES.T)):
        matrix = syclade.read_matrix(anndata.AnnData(table.astype(np.float32), obs, var))
        np.testing.assert_array_equal(matrix.values, VALUES)
        assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)
    calls = np.array((0, 1, 3, 2), np.int8)[VALUES].T
    data = anndata.AnnData(np.zeros(calls.shape, np.float32), obs, var, layers={"genotype": calls})
    with pytest.raises(MatrixError, match="X is all 0"):
        syclade.read_matrix(data)
    zeros = data.X
    reads = anndata.AnnData(zeros, obs, var, layers={"AD": calls, "DP": calls})
    with pytest.raises(MatrixError, match=r"X is all 0, and there are layers \(AD, DP\)") as refused:
        syclade.read_matrix(reads)
    assert "--total-layer ALL" in str(refused.value.hint)
    written = anndata.AnnData(zeros, obs, var, layers={"tree": calls})
    assert not syclade.read_matrix(written).values.any(), "the layer of a result has no observations"
    with pytest.raises(MatrixError, match="is not given"):
        syclade.read_matrix(data, layer="genotype")
    with pytest.raises(MatrixError, match="no layer other"):
        syclade.read_matrix(data, layer="other", coding="scite")
    matrix = syclade.read_matrix(data, layer="genotype", coding="cyvcf2")
    np.testing.assert_array_equal(matrix.values, VALUES)
    two = anndata.AnnData(np.full(calls.shape, 2, np.float32), obs, var)
    with pytest.raises(MatrixError, match="2 occurs"):
        syclade.read_matrix(two)
    assert (syclade.read_matrix(two, two="missing").values == 3).all()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"format": "nexus"}, "--format is 'nexus'"),
        ({"two": "maybe"}, "--two is 'maybe'"),
        ({"rows": "both"}, "--rows is 'both'"),
        ({"coding": "vcf"}, "--coding is 'vcf'"),
        ({"min_depth": -1}, "--min-depth is -1"),
        ({"min_gq": -5}, "--min-gq is -5"),
        ({"vaf_hom": 101}, "--vaf-hom is 101"),
        ({"layer": "X"}, "--layer does not go with --format scite"),
        ({"format": "sasc", "vaf_ref": 5}, "--vaf-ref does not go with --format sasc"),
    ],
)
def test_options_that_do_not_fit(forms: dict[str, Path], said: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError) as caught:
        syclade.read_matrix(forms["matrix.csv"], **said)
    assert words in str(caught.value)


@pytest.mark.parametrize("source", [VALUES, VALUES.tolist()])
def test_an_array_takes_no_options(source: Any) -> None:
    with pytest.raises(OptionError, match="does not go with an array"):
        syclade.read_matrix(source, rows="cells")
    with pytest.raises(OptionError, match="is for files"):
        syclade.read_matrix(source, format="csv")


@pytest.mark.parametrize("name", ["data.h5ad", "tapestri.h5", "tapestri.loom", "calls.bcf", "cellsnp"])
def test_a_library_that_is_not_there_is_named(
    forms: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    absent = ("h5py", "cyvcf2", "scipy")
    monkeypatch.setattr(importlib.util, "find_spec", lambda one: None if one in absent else find(one))
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))
    with pytest.raises(OptionError, match="this format needs") as caught:
        syclade.read_matrix(forms[name], **SAID[name])
    assert re.search(r"\.\[.*\bio\b.*\]", str(caught.value.hint))


def test_a_warning_of_entries_that_are_missing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import h5py

    with h5py.File(tmp_path / "x.loom", "w") as file:
        file["matrix"] = np.full((20, 20), 3, np.uint8)
        file["row_attrs/id"] = np.array([f"m{at}" for at in range(20)], "S")
        file["col_attrs/barcode"] = np.array([f"c{at}" for at in range(20)], "S")
    syclade.read_matrix(tmp_path / "x.loom")
    assert "100 % of the entries are missing" in caplog.text


def test_a_kind_of_part_that_anndata_does_not_know(forms: dict[str, Path], tmp_path: Path) -> None:
    """anndata then raises an Exception of its own; found by `python -m tests.fuzz --kind libraries`."""
    import h5py

    damaged = tmp_path / "sparse.h5ad"
    damaged.write_bytes(forms["sparse.h5ad"].read_bytes())
    with h5py.File(damaged, "r+") as file:
        file["X"].attrs["encoding-type"] = "cs\x0c_matrix"
    with pytest.raises(MatrixError, match="cannot be read by anndata: No read method"):
        syclade.read_matrix(damaged)


@pytest.mark.parametrize("how", ["link", "unused link", "storage", "virtual"])
def test_data_in_other_files_are_refused(forms: dict[str, Path], tmp_path: Path, how: str) -> None:
    """The digest of the matrix covers its file only."""
    import h5py

    path, other, values = tmp_path / "x.h5ad", tmp_path / "other", VALUES.T.astype("<f4")
    path.write_bytes(forms["data.h5ad"].read_bytes())
    with h5py.File(other, "w") as file:
        file["X"] = values
    with h5py.File(path, "r+") as file:
        if how == "unused link":
            file["uns/more"] = h5py.ExternalLink(other, "X")
        else:
            del file["X"]
        if how == "link":
            file["X"] = h5py.ExternalLink(other, "X")
        elif how == "storage":
            raw = tmp_path / "raw"
            raw.write_bytes(values.tobytes())
            file.create_dataset("X", values.shape, "<f4", external=[(str(raw), 0, h5py.h5f.UNLIMITED)])
        elif how == "virtual":
            layout = h5py.VirtualLayout(values.shape, "<f4")
            layout[:] = h5py.VirtualSource(str(other), "X", values.shape)
            file.create_virtual_dataset("X", layout)
    with pytest.raises(MatrixError, match=r"/(X|uns/more) is in another file, .*(other|raw)"):
        syclade.read_matrix(path)


def test_links_within_a_file_are_followed(forms: dict[str, Path], tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "x.h5ad"
    path.write_bytes(forms["data.h5ad"].read_bytes())
    with h5py.File(path, "r+") as file:
        file["calls"] = file["X"]
        del file["X"]
        file["X"] = h5py.SoftLink("/calls")
        file["uns/circle"] = file["/"]
    np.testing.assert_array_equal(syclade.read_matrix(path).values, VALUES)


@pytest.mark.parametrize("kind", ["texts", "nullable texts", "categories", "records"])
def test_every_encoding_of_names_in_anndata(tmp_path: Path, kind: str) -> None:
    """Nullable texts are those of anndata 0.13 with pandas 3; records are those before anndata 0.7."""
    import h5py

    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = VALUES.T
        for part, names in (("obs", CELLS), ("var", MUTATIONS)):
            if kind == "records":
                file[part] = np.array([(name, 1.0) for name in names], [("index", "S20"), ("n", "f8")])
                continue
            index = f"{part}/names"
            if kind == "texts":
                file[index] = names
            elif kind == "nullable texts":
                file[f"{index}/values"], file[f"{index}/mask"] = names, np.zeros(len(names), np.bool_)
            else:
                file[f"{index}/categories"], file[f"{index}/codes"] = names[::-1], np.arange(len(names))[::-1]
            file[part].attrs["_index"] = "names"
    matrix = syclade.read_matrix(tmp_path / "x.h5ad")
    np.testing.assert_array_equal(matrix.values, VALUES)
    assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"values": ["a", "b"], "mask": [False, True]}, "obs's index has no name at 1"),
        ({"values": ["a", "b"], "mask": [False]}, "obs's index is not a list of 2 names"),
        ({"values": ["a"], "mask": [False, False]}, "obs's index is not a list of 2 names"),
        ({"categories": ["a"], "codes": [0, -1]}, "obs's index has no name at 1"),
        ({"categories": ["a"], "codes": [0, 1]}, "obs's index has no name at 1"),
        ({"categories": ["a"], "codes": [[0, 0]]}, "obs's index is not a list of 2 names"),
        ({"categories": ["a", "b"], "codes": [0.0, 1.0]}, "obs's index is not a list of 2 names"),
        ({"categories": [["a", "b"]], "codes": [0, 1]}, "obs's index is not a list of 1 names"),
        ({"other": ["a", "b"]}, "obs's index is not a list of 2 names"),
    ],
)
def test_names_in_anndata_that_are_none(tmp_path: Path, parts: dict[str, Any], words: str) -> None:
    import h5py

    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        for name, content in parts.items():
            file[f"_index/{name}"] = content
        with pytest.raises(MatrixError, match=words):
            texts(file["_index"], 2, "obs's index", tmp_path)
