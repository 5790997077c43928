"""Mutations and cells that options leave out: by their observations, or by marks in the file."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.input.annotations import Reads
from syclade.host.data.input.checks import Limits, left_out_table, limited
from syclade.host.data.input.formats.grid import ReadOptions
from syclade.host.data.input.formats.h5ad import read_h5ad
from syclade.host.data.input.formats.tapestri import read_tapestri
from syclade.host.data.input.matrix import Marks, Matrix, matrix_from_array
from syclade.host.findings.unplaced import NEVER_SEEN, NO_OBSERVATION, unplaced_in
from syclade.host.findings.weighed_matrix import weighed
from syclade.host.ground.errors import MatrixError, OptionError, TableError

VALUES = np.array(
    [
        [1, 1, 1, 0, 3, 0],
        [1, 0, 0, 0, 3, 0],
        [3, 3, 3, 3, 3, 1],
        [0, 2, 1, 0, 3, 1],
    ],
    dtype=np.uint8,
)
NAMES, CELLS = ("A", "B", "C", "D"), tuple("uvwxyz")


def named(matrix: Matrix) -> tuple[str, str]:
    assert matrix.cells is not None
    return "".join(matrix.mutations), "".join(matrix.cells)


@pytest.mark.parametrize(
    ("options", "mutations", "cells"),
    [
        ({"min_cells": 0}, "ABCD", "uvwxyz"),
        ({"min_cells": 2}, "AD", "uvwxyz"),
        ({"max_missing_mutation": 0.8}, "ABD", "uvwxyz"),
        ({"max_missing_mutation": 0.0}, None, None),
        ({"max_missing_cell": 0.5}, "ABCD", "uvwxz"),
        ({"max_missing_cell": 0.0}, "ABCD", "z"),
        ({"max_missing_mutation": 0.5, "max_missing_cell": 0.0}, "ABD", "uvwxz"),  # in this order
        ({"max_missing_cell": 0.0, "min_cells": 1}, "CD", "z"),  # of the other cells
    ],
)
def test_limits(options: dict[str, Any], mutations: str | None, cells: str) -> None:
    matrix = matrix_from_array(VALUES, NAMES)
    if mutations is None:
        with pytest.raises(MatrixError, match=r"nothing is left: 4 mutations missing in more than 0 of"):
            syclade.read_matrix(matrix, cell_names=CELLS, **options)
        return
    found = syclade.read_matrix(matrix, cell_names=CELLS, **options)
    assert named(found) == (mutations, cells)
    rows, columns = [NAMES.index(name) for name in mutations], [CELLS.index(name) for name in cells]
    np.testing.assert_array_equal(found.values, VALUES[np.ix_(rows, columns)])
    assert {(one.kind, one.name) for one in found.left_out} == {
        *(("mutation", name) for name in NAMES if name not in mutations),
        *(("cell", name) for name in CELLS if name not in cells),
    }
    again = syclade.read_matrix(found, min_cells=0)
    assert again.left_out == found.left_out


def test_limits_count_what_evidence_says() -> None:
    """Calls have a mutation with 3 alternate reads of 26 in a cell, and none where no limit was met."""
    total = np.full((4, 6), 26, dtype=np.int32)
    alternate = np.zeros((4, 6), dtype=np.int32)
    alternate[0, 0], alternate[1, 1], total[2] = 1, 12, 0
    calls = matrix_from_array(np.where(np.arange(4)[:, None] == 0, VALUES, 0).astype(np.uint8), NAMES)
    matrix = replace(calls, evidence=Reads(alternate, total))
    assert named(syclade.read_matrix(matrix, cell_names=CELLS, min_cells=1))[0] == "B"
    assert named(syclade.read_matrix(matrix, cell_names=CELLS, max_missing_mutation=0.5))[0] == "ABD"
    assert unplaced_in(matrix).mutations == {0: NEVER_SEEN, 2: NO_OBSERVATION, 3: NEVER_SEEN}


def test_a_warning_says_which_mutations_a_limit_leaves_out() -> None:
    """By the model of the run, two mutations are seen in no cell; the reader counts one of them."""
    alternate = np.zeros((3, 6), dtype=np.int32)
    alternate[0, 0], alternate[1, 1] = 5, 12
    matrix = replace(
        matrix_from_array(np.zeros((3, 6), dtype=np.uint8)), evidence=Reads(alternate, np.full((3, 6), 26))
    )
    odds = np.where(alternate == 12, 3.0, -3.0)
    by_run = unplaced_in(weighed(matrix, odds, 1e-4))
    assert by_run.mutations == {0: NEVER_SEEN, 2: NEVER_SEEN}
    (words,) = by_run.warnings(("A", "B", "C"), CELLS)
    assert words.endswith("(--min-cells 1 leaves 1 of these mutations out)")
    (left,) = syclade.read_matrix(matrix, min_cells=1).left_out[1:] or [None]
    assert left is None
    (words,) = unplaced_in(matrix).warnings(("A", "B", "C"), CELLS)
    assert words.endswith("(--min-cells 1 leaves such mutations out)")


def test_cells_without_names_keep_their_numbers(caplog: pytest.LogCaptureFixture) -> None:
    found = syclade.read_matrix(VALUES, max_missing_cell=0.5, min_cells=2)
    assert named(found) == ("14", "s0s1s2s3s5")
    assert left_out_table(found.left_out).splitlines() == [
        "kind\tname\tnumber\treason",
        "cell\ts4\t5\tmissing more than 0.5 of the mutations",
        "mutation\t2\t2\tseen in fewer than 2 cells",
        "mutation\t3\t3\tseen in fewer than 2 cells",
    ]
    assert caplog.messages == [
        "left out: 1 cell missing more than 0.5 of the mutations (s4), "
        "2 mutations seen in fewer than 2 cells (2, 3)"
    ]


@pytest.mark.parametrize(
    ("name", "value"), [("min_cells", -1), ("max_missing_cell", 1.5), ("max_missing_mutation", "x")]
)
def test_wrong_limits(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f"--{name.replace('_', '-')} is "):
        syclade.read_matrix(VALUES, **{name: value})


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("A", "BCD"),
        ("A, C", "BD"),
        (("A", "C"), "BD"),
        (["D"], "ABC"),
        ('"B"', "ACD"),
    ],
)
def test_mutations_are_left_out_by_name(value: str | list[str], left: str) -> None:
    found = syclade.read_matrix(VALUES, NAMES, cell_names=CELLS, exclude_mutations=value)
    assert named(found) == (left, "".join(CELLS))
    assert {one.reason for one in found.left_out} == {"named by --exclude-mutations"}
    assert [one.name for one in found.left_out] == [name for name in NAMES if name not in left]


def test_names_to_leave_out_may_be_genes_or_in_a_file(tmp_path: Path) -> None:
    names = ("TP53 chr17:7578406", "TP53 chr17:7578190", "KRAS, exon 2", "FLT3")
    found = syclade.read_matrix(VALUES, names, exclude_mutations='TP53,"KRAS, exon 2"')
    assert found.mutations == ("FLT3",)
    of_flt3 = ("FLT3-ITD chr13:1", "FLT3 p.D835Y", "FLT3L p.A1T", "NPM1")
    found = syclade.read_matrix(VALUES, of_flt3, exclude_mutations="FLT3")
    assert found.mutations == of_flt3[2:]
    (tmp_path / "out.txt").write_text("KRAS, exon 2\nFLT3\n")
    found = syclade.read_matrix(VALUES, names, exclude_mutations=f"@{tmp_path / 'out.txt'}")
    assert found.mutations == names[:2]
    first = syclade.read_matrix(VALUES, names, exclude_mutations="FLT3", max_missing_mutation=0.5)
    assert [one.name for one in first.left_out] == ["FLT3", "KRAS, exon 2"]  # names go before parts


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("flt3", "no mutation is named flt3\nhint: near names: FLT3"),
        (["FLT3", "X", "Y"], "no mutation is named X, Y\nhint: names are such as TP53, KRAS"),
        ("", "has no names"),
        ((), "has no names"),
        (3, "--exclude-mutations is 3"),
    ],
)
def test_wrong_names_to_leave_out(value: Any, said: str) -> None:
    with pytest.raises(OptionError) as refused:
        syclade.read_matrix(VALUES, ("TP53", "KRAS", "FLT3", "NPM1"), exclude_mutations=value)
    assert said in refused.value.text


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.csv"
    np.savetxt(path, VALUES, fmt="%d")
    (tmp_path / "names.txt").write_text("\n".join(NAMES) + "\n")
    (tmp_path / "cells.txt").write_text("\n".join(CELLS) + "\n")
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)


LIMITS = ("--two", "homozygous", "--max-missing-cell", 0.5, "--min-cells", 2)


def test_infer_lists_what_it_left_out(matrix: Path, tmp_path: Path) -> None:
    """The names of the file are those of all rows, and the run can be repeated from its record."""
    out = tmp_path / "out"
    given = ("--names", tmp_path / "names.txt", "--cell-names", tmp_path / "cells.txt")
    rates = (
        "--fp-rate",
        0.01,
        "--fn-rate",
        0.1,
        "--merge-homozygous",
        "--support",
        "none",
        "--device",
        "native",
    )
    said = run("infer", matrix, *given, *rates, *LIMITS, "--out", out)
    assert said.exit_code == 0
    assert (
        "syclade: warning: left out: 1 cell missing more than 0.5 of the mutations (y), 2 mut" in said.stderr
    )
    with (out / "left_out.tsv").open() as file:
        assert [row["name"] for row in csv.DictReader(file, delimiter="\t")] == ["y", "B", "C"]
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["mutations"], summary["cells"]) == (["A", "D"], list("uvwxz"))
    assert summary["left_out"] == {"mutations": 2, "cells": 1}
    record = json.loads((out / "run.json").read_text())
    assert "left_out.tsv" in record["files"]
    options = record["options"]
    assert (options["min_cells"], options["max_missing_cell"]) == (2, 0.5)
    assert [options["names"], options["cell_names"]] == [str(given[1]), str(given[3])]


def test_convert_and_batch_leave_out_as_well(matrix: Path, tmp_path: Path) -> None:
    out, batch = tmp_path / "converted", tmp_path / "batch"
    said = run("convert", matrix, *LIMITS, "--out", out)
    assert (said.exit_code, (out / "matrix.csv").read_text()) == (0, "1 1 1 0 0\n0 2 1 0 1\n")
    assert (out / "matrix.cellNames").read_text().split() == ["s0", "s1", "s2", "s3", "s5"]
    rates = ("--fp-rate", 0.01, "--fn-rate", 0.1, "--merge-homozygous", "--support", "none")
    names = ("--names", tmp_path / "names.txt")
    said = run("batch", matrix, *names, *rates, *LIMITS, "--device", "native", "--out", batch)
    assert said.exit_code == 0
    assert json.loads((batch / "matrix" / "summary.json").read_text())["mutations"] == ["A", "D"]
    assert (batch / "matrix" / "left_out.tsv").read_text() == (out / "left_out.tsv").read_text().replace(
        "\t2\t2\t", "\tB\t2\t"
    ).replace("\t3\t3\t", "\tC\t3\t")


# ---- marks in files


def tapestri(path: Path, variants: NDArray[Any] | None, cells: NDArray[Any] | None) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        assay = file.create_group("assays/dna_variants")
        assay["layers/NGT"] = VALUES.T
        assay["ca/id"] = np.array([f"chr1:{at}:A/T" for at in range(4)], dtype="S")
        assay["ra/barcode"] = np.array(CELLS, dtype="S")
        if variants is not None:
            assay["ca/filtered"] = variants
        if cells is not None:
            assay["ra/filtered"] = cells
    return path


VARIANTS, FILTERED = np.array([0, 0, 1, 0]), np.array([0, 1, 0, 0, 1, 0])


@pytest.mark.parametrize(
    "as_type", [np.bool_, np.int8, lambda marks: np.array(["00", "01"], dtype="S")[marks]],
    ids=["bool", "int8", "text"],
)  # fmt: skip
def test_marks_of_tapestri(tmp_path: Path, as_type: Any) -> None:
    path = tapestri(tmp_path / "file.h5", as_type(VARIANTS), as_type(FILTERED))
    whole = read_tapestri(path, ReadOptions())
    note = "1 of 4 variants and 2 of 6 cells are marked as filtered: --drop-filtered leaves them out"
    assert (whole.marks, whole.notes) == (Marks(), (note,))
    marks = read_tapestri(path, ReadOptions(drop_filtered=True)).marks
    assert marks.mutations is not None
    assert marks.cells is not None
    assert (marks.mutations.tolist(), marks.cells.tolist()) == (
        VARIANTS.astype(bool).tolist(),
        FILTERED.astype(bool).tolist(),
    )


def test_marked_cells_and_variants_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = syclade.read_matrix(tapestri(tmp_path / "file.h5", VARIANTS, FILTERED), drop_filtered=True)
    assert named(found) == ("chr1:0:A/Tchr1:1:A/Tchr1:3:A/T", "uwxz")
    assert (
        "left out: 1 mutation marked by ca/filtered (chr1:2:A/T), 2 cells marked by ra/filtered"
        in caplog.text
    )


def test_one_kind_of_marks_is_enough_and_none_is_an_error(tmp_path: Path) -> None:
    path, wanted = tapestri(tmp_path / "cells.h5", None, FILTERED), ReadOptions(drop_filtered=True)
    marks = read_tapestri(path, wanted).marks
    assert (marks.mutations, marks.cells is None) == (None, False)
    for number, wrong in enumerate((None, np.array([0, 2, 0, 0, 1, 0]), FILTERED[:3])):
        path = tapestri(tmp_path / f"{number}.h5", None, wrong)
        assert read_tapestri(path, ReadOptions()).values.shape == (4, 6)
        with pytest.raises(MatrixError, match="neither ca/filtered nor ra/filtered with marks"):
            read_tapestri(path, wanted)
    with pytest.raises(OptionError, match="--drop-filtered does not go with --format vcf"):
        syclade.read_matrix(path, format="vcf", drop_filtered=True)


def h5ad(path: Path) -> Path:
    """Write an AnnData as anndata does; `sure` is a nullable array of pandas."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["X"] = VALUES.T
        for part, names in (("obs", CELLS), ("var", NAMES)):
            file.create_group(part).attrs["_index"] = "_index"
            file[f"{part}/_index"] = np.array(names, dtype="S")
        file["obs/kept"], file["obs/depth"] = FILTERED == 0, np.arange(6)
        file["var/sure/values"] = np.array([True, True, True, False])
        file["var/sure/mask"] = np.array([False, False, True, False])
    return path


def test_masks_of_anndata_files(tmp_path: Path) -> None:
    path = h5ad(tmp_path / "data.h5ad")
    grid = read_h5ad(path, ReadOptions(two="homozygous", obs_mask="kept", var_mask="sure"))
    found = limited(matrix_from_array(grid.values, NAMES), Limits(), grid.marks)
    assert named(found) == ("AB", "s0s2s3s5")
    assert {one.reason for one in found.left_out} == {"false in obs[kept]", "false in var[sure]"}
    assert read_h5ad(path, ReadOptions(two="homozygous")).notes == (
        "var has columns of booleans (sure): --var-mask heeds one",
        "obs has columns of booleans (kept): --obs-mask heeds one",
    )
    for column in ("depth", "none"):
        with pytest.raises(MatrixError, match=f"obs has no column {column} of booleans"):
            read_h5ad(path, ReadOptions(two="homozygous", obs_mask=column))


def test_masks_of_anndata_objects() -> None:
    pandas = pytest.importorskip("pandas")
    cells = pandas.DataFrame({"kept": FILTERED == 0, "depth": range(6)}, index=list(CELLS))
    sure = pandas.array([True, True, None, False], dtype="boolean")
    variants = pandas.DataFrame({"sure": sure}, index=list(NAMES))
    data = SimpleNamespace(
        X=VALUES.T, layers={}, obs=cells, var=variants, obs_names=cells.index, var_names=variants.index
    )
    found = syclade.read_matrix(data, two="homozygous", obs_mask="kept", var_mask="sure")
    assert named(found) == ("AB", "uwxz")
    assert {one.reason for one in found.left_out} == {"false in obs[kept]", "false in var[sure]"}
    with pytest.raises(MatrixError, match="obs has no column depth of booleans"):
        syclade.read_matrix(data, two="homozygous", obs_mask="depth")


def test_names_of_a_file_are_recorded(matrix: Path, tmp_path: Path) -> None:
    """The file may change after the run: its record, and a batch, have the names."""
    listed, rates = tmp_path / "germline.txt", ("--fp-rate", 0.01, "--fn-rate", 0.1, "--support", "none")
    listed.write_text("A\n")
    given = ("--names", tmp_path / "names.txt", "--exclude-mutations", f"@{listed}", *rates)
    assert run("infer", matrix, *given, "--two", "homozygous", "--out", tmp_path / "out").exit_code == 0
    options = json.loads((tmp_path / "out" / "run.json").read_text())["options"]
    assert options["exclude_mutations"] == "A"
    assert (tmp_path / "out" / "left_out.tsv").read_text().splitlines()[1].startswith("mutation\tA\t1\t")

    table = tmp_path / "t.tsv"
    table.write_text("matrix\tnames\texclude-mutations\nmatrix.csv\tnames.txt\t@germline.txt\n")
    assert run("batch", table, *rates, "--out", tmp_path / "batch", "--prepare").exit_code == 0
    (task,) = json.loads((tmp_path / "batch" / "batch.json").read_text())["tasks"]
    assert task["options"]["exclude_mutations"] == "A"
    listed.unlink()
    with pytest.raises(TableError, match=r"t\.tsv:2:22: .*germline\.txt: no such file"):
        run("batch", table, *rates, "--out", tmp_path / "other")
