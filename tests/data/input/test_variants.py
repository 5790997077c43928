"""Variants: alleles, filters and equal names of VCF, BCF, COMPASS and the formats in HDF5."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.convert import command
from syclade.host.data.input.formats import FORMATS, Grid, ReadOptions
from syclade.host.ground.errors import MatrixError

HEAD = """##fileformat=VCFv4.3
##FILTER=<ID=LowQual,Description="l">
##FILTER=<ID=q10,Description="q">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
##contig=<ID=1,length=1000>
"""
COLUMNS = ("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT")
DNA = "assays/dna_variants"
READERS = ["vcf", "bcf"]


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Return a function that reads records by one of the readers; htslib reads texts, too."""

    def read(form: str, *records: str, cells: tuple[str, ...] = ("c1", "c2"), **said: Any) -> Grid:
        path = tmp_path / "x.vcf"
        lines = [" ".join((*COLUMNS, *cells)), *records]
        path.write_text(HEAD + "".join("\t".join(line.split()) + "\n" for line in lines))
        given = path.read_bytes() if form == "vcf" else path
        chosen = FORMATS[form]
        grid: Grid = chosen.read(given, *([] if chosen.whole else [str(path)]), ReadOptions(**said))
        return grid

    return read


@pytest.mark.parametrize("form", READERS)
def test_unspecified_alleles_are_no_mutations(read: Any, form: str) -> None:
    grid = read(
        form,
        "1 50 . A <*> . . . GT 0/0 0/0",
        "1 100 . A G,<*> . . . GT 0/1 0/2",
        "1 200 . C <NON_REF>,T . . . GT 0/0 2/2",
        "1 300 . C <X> . . . GT 0/0 0/1",
        "1 400 . C X,* . . . GT 0/0 0/1",
        "1 500 . C <DEL> . . . GT 0/0 0/1",
    )
    assert grid.mutations == ("1:100:A/G", "1:200:C/T", "1:500:C/<DEL>")
    assert grid.values.tolist() == [[1, 0], [0, 2], [0, 1]]
    assert grid.notes == ()


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize(("genotype", "allele"), [("0/2", 2), ("7|7", 7), ("./3", 3), ("2", 2)])
def test_an_allele_that_is_not_in_alt_is_refused(read: Any, form: str, genotype: str, allele: int) -> None:
    """It would else be read as wild type."""
    cell = f"'{genotype}' (cell 2)" if form == "vcf" else "the genotype of cell 2 in the record 1:200"
    with pytest.raises(MatrixError) as caught:
        read(form, "1 100 . A G,T . . . GT 0/2 0/1", f"1 200 . A G . . . GT 0/1 {genotype}")
    assert f"{cell} has allele {allele}, but ALT has 1 allele" in str(caught.value)
    assert ("x.vcf:8" if form == "vcf" else "x.vcf") in str(caught.value)


@pytest.mark.parametrize("form", READERS)
def test_records_that_programs_have_split(read: Any, form: str) -> None:
    """Alleles of the other record are 0 (bcftools norm -m-), or . (its --multi-overlaps ., and vt)."""
    grid = read(
        form, "1 100 . A G . . . GT 1/0 0/0", "1 100 . A T . . . GT 0/1 0/1",
        "1 200 . A G . . . GT 1/. 0/.", "1 200 . A T . . . GT ./1 0/1",
    )  # fmt: skip
    assert grid.values.tolist() == [[1, 0], [1, 1], [1, 0], [1, 1]]


FILTERED = (
    "1 100 . A G . PASS . GT 0/1 0/0",
    "1 200 . A G . . . GT 0/0 0/1",
    "1 300 . A G,T . LowQual . GT 0/1 0/2",
    "1 400 . A G . q10;LowQual . GT 0/0 0/1",
    "1 500 . A <*> . q10 . GT 0/0 0/1",
)


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("said", [None, "all", "pass"])
def test_records_that_did_not_pass(read: Any, form: str, said: str | None) -> None:
    grid = read(form, *FILTERED, filter=said)
    names = ("1:100:A/G", "1:200:A/G", "1:300:A/G", "1:300:A/T", "1:400:A/G")
    assert grid.mutations == (names[:2] if said == "pass" else names)
    done = "are left out" if said == "pass" else "are used; --filter pass leaves them out"
    report = "2 of 4 records did not pass their filters ('LowQual' 1, 'q10;LowQual' 1)"
    assert grid.notes == (f"{report} and {done}",)


@pytest.mark.parametrize("form", READERS)
def test_no_record_passed(read: Any, form: str) -> None:
    with pytest.raises(MatrixError, match=r"alternate allele: 1 of 1 records did not pass .* left out"):
        read(form, FILTERED[2], filter="pass")


@pytest.mark.parametrize("form", READERS)
def test_records_that_differ_in_their_identifiers(read: Any, form: str) -> None:
    rows = [f"1 {at} {name} A G . . . GT 0/1 0/{copies}" for at, name, copies in
            ((100, "rs1", 0), (100, "rs2", 1), (100, ".", 1), (200, "rs3", 1))]  # fmt: skip
    grid = read(form, *rows)
    assert grid.mutations == ("1:100:A/G rs1", "1:100:A/G rs2", "1:100:A/G", "1:200:A/G")
    assert grid.values.tolist() == [[1, 0], [1, 1], [1, 1], [1, 1]]
    assert grid.notes == (
        "2 mutations share names with others and are renamed, such as '1:100:A/G' to '1:100:A/G rs1'",
    )
    with pytest.raises(MatrixError, match="the name '1:100:A/G' occurs twice, for mutations 1 and 2"):
        read(form, rows[2], rows[2])


@pytest.mark.parametrize("form", READERS)
def test_a_vcf_without_samples(tmp_path: Path, form: str) -> None:
    path = tmp_path / "sites.vcf"
    columns = "\t".join(COLUMNS[:8])
    path.write_text(f"##fileformat=VCFv4.2\n##contig=<ID=1>\n{columns}\n1\t2\t.\tA\tG\t.\t.\t.\n")
    where = ":3" if form == "vcf" else ""
    with pytest.raises(MatrixError, match=f"sites.vcf{where}: the VCF has no samples"):
        syclade.read_matrix(path, format=form)


def test_blanks_around_fields(tmp_path: Path) -> None:
    path = tmp_path / "x.vcf"
    header, record = (
        " \t ".join((*COLUMNS, "c1", "c2")),
        "1 \t 100\t.\t A\tG , <*>\t.\tPASS \t.\t GT: DP \t0/1 :3\t 0/0:4",
    )
    path.write_text(f"##fileformat=VCFv4.2\n{header}\n{record}\n")
    matrix = syclade.read_matrix(path, filter="pass", min_depth=4)
    assert (matrix.mutations, matrix.cells) == (("1:100:A/G",), ("c1", "c2"))
    assert matrix.values.tolist() == [[3, 0]]
    path.write_text(" ".join((*COLUMNS, "c1")) + "\n" + record.replace("\t", " ") + "\n")
    with pytest.raises(MatrixError, match=r"x.vcf:1: the columns are separated by blanks, not by tabs"):
        syclade.read_matrix(path)


COMPASS = """CHR,POS,REF,ALT,NAME,FREQ,c1,c2
13,100,X,XAA,ITD,0,1:1:1,2:0:0
13,100,X,XAAA,ITD,0,1:0:0,1:1:1
1,5,A,C,NRAS,0,1:1:1,2:0:0
"""


def test_variants_of_one_name_in_compass(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "out"
    path.write_text(COMPASS)
    done = CliRunner().invoke(command, [str(path), "--out", str(out)])
    assert done.exit_code == 0
    note = "2 mutations share names with others and are renamed, such as 'ITD' to 'ITD 13:100:X/XAA'"
    assert done.stderr.splitlines()[1:] == [f"syclade: {path}: {note}"]
    names = (out / "matrix.geneNames").read_text().splitlines()
    assert names == ["ITD 13:100:X/XAA", "ITD 13:100:X/XAAA", "NRAS"]


@pytest.mark.parametrize("text", [COMPASS.replace("XAAA", "XAA"), "NAME,c1\na,1:1:1\na,1:0:0\n"])
def test_equal_variants_of_compass_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(MatrixError, match="occurs twice, for mutations 1 and 2"):
        syclade.read_matrix(path)


def test_a_table_of_compass_without_variants(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(COMPASS.splitlines()[0] + "\n")
    with pytest.raises(MatrixError, match="a header, but no rows of variants"):
        syclade.read_matrix(path)


@pytest.mark.parametrize(
    ("form", "table", "columns", "ids", "cells"),
    [
        ("tapestri", f"{DNA}/layers/NGT", f"{DNA}/ca", "id", f"{DNA}/ra/barcode"),
        ("loom", "matrix", "row_attrs", "id", "col_attrs/barcode"),
        ("h5ad", "X", "var", "_index", "obs/_index"),
    ],
)
def test_equal_names_in_hdf5(
    tmp_path: Path, form: str, table: str, columns: str, ids: str, cells: str
) -> None:
    import h5py

    path, values = tmp_path / "x", np.array([[1, 0, 0], [0, 1, 1]])
    with h5py.File(path, "w") as file:
        file[table], file[cells] = (values.T if form == "loom" else values), ["c1", "c2"]
        file[f"{columns}/{ids}"] = ["a", "a", "b"]
        for name, entries in (("CHROM", ["1", "1", "2"]), ("POS", [5, 6, 7]), ("REF", list("AAA"))):
            file[f"{columns}/{name}"] = entries
    with pytest.raises(MatrixError, match="the name 'a' occurs twice"):
        FORMATS[form].read(path, ReadOptions())
    with h5py.File(path, "r+") as file:
        file[f"{columns}/ALT/categories"], file[f"{columns}/ALT/codes"] = ["C", "G"], [0, 1, 1]
    grid = FORMATS[form].read(path, ReadOptions())
    assert grid.mutations == ("a 1:5:A/C", "a 1:6:A/G", "b")
    assert grid.values.tolist() == values.T.tolist()
    assert len(grid.notes) == 1


def test_equal_names_in_an_anndata(caplog: pytest.LogCaptureFixture) -> None:
    """The object as the file: names are distinguished by the columns CHROM, POS, REF and ALT."""
    import anndata
    import pandas

    var = pandas.DataFrame({"CHROM": ["1", "1"], "POS": [5, 6], "REF": ["A", "A"]}, index=["a", "b"])
    data = anndata.AnnData(np.eye(2, dtype=np.float32), var=var)
    assert syclade.read_matrix(data).mutations == ("a", "b")
    data.var.index = ["a", "a"]
    with pytest.raises(MatrixError, match="the name 'a' occurs twice"):
        syclade.read_matrix(data)
    data.var["ALT"] = pandas.Categorical(["C", "G"])
    with caplog.at_level(logging.INFO, logger="syclade.input"):
        assert syclade.read_matrix(data).mutations == ("a 1:5:A/C", "a 1:6:A/G")
    assert "2 mutations share names with others" in caplog.text


def test_layers_of_an_anndata_that_has_x_among_them() -> None:
    """From 0.13 on, `layers` of an AnnData has X under None."""
    table = np.ones((1, 1), np.float32)
    for layers, report in (({None: table}, "none"), ({None: table, "a": table}, "a")):
        data = SimpleNamespace(obs_names=["c"], var_names=["m"], X=table, layers=layers, var={}, obs={})
        assert syclade.read_matrix(data).mutations == ("m",)
        with pytest.raises(MatrixError, match=f"there is no layer x\nhint: there are {report}$"):
            syclade.read_matrix(data, layer="x", coding="scite")


def test_notes_are_logged_with_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "x.vcf"
    lines = ["\t".join(line.split()) for line in (" ".join((*COLUMNS, "c1", "c2")), *FILTERED)]
    path.write_text("\n".join(lines) + "\n")
    with caplog.at_level(logging.INFO, logger="syclade.input"):
        assert syclade.read_matrix(path).n_mutations == 5
    assert f"{path}: 2 of 4 records did not pass" in caplog.text
    done = CliRunner().invoke(command, [str(path), "--filter", "pass", "--out", str(tmp_path / "out")])
    assert "left out" in done.stderr
    assert done.stdout.startswith("2 mutations")
