"""Calls from numbers of reads: pairs of tables, long tables, layers, folders; and filters of genotypes."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.convert import command
from syclade.host.data.input import read_matrix as door
from syclade.host.data.input.formats import FORMATS, ReadOptions
from syclade.host.data.input.formats.reads import called
from syclade.host.data.input.matrix import Matrix
from syclade.host.ground.errors import MatrixError, OptionError, SycladeError
from tests.support.formats import CELLS, MUTATIONS, SAID, VALUES, Named, reads_of, write_forms, write_pair

COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"
HEAD = "##fileformat=VCFv4.2\n##contig=<ID=1>\n" + "".join(
    f'##FORMAT=<ID={name},Number={number},Type={kind},Description="x">\n'
    for name, number, kind in (
        ("GT", "1", "String"), ("DP", "1", "Integer"), ("GQ", "1", "Integer"), ("AD", ".", "Integer"),
        ("AF", "A", "Float"), ("VAF", "A", "Float"),
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reads")
    return {**write_forms(folder), **write_pair(folder)}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files by libraries in this process, which takes no half a second to start."""
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ({"min_depth": 1}, [0, 0, 1, 1, 2, 2, 3, 3]),
        ({"min_depth": 11}, [3, 0, 1, 1, 3, 2, 3, 3]),
        ({"min_depth": 1, "min_vaf": 0}, [0, 1, 1, 1, 2, 2, 3, 3]),
        ({"min_depth": 1, "min_vaf": 50}, [0, 0, 0, 1, 2, 2, 3, 3]),
        ({"min_depth": 1, "vaf_hom": 100}, [0, 0, 1, 1, 2, 1, 3, 3]),
        ({"min_depth": 1, "vaf_ref": 5}, [0, 3, 1, 1, 2, 2, 3, 3]),
    ],
)
def test_limits_of_calls(said: dict[str, Any], values: list[int]) -> None:
    alternate = np.array([[0, 9, 10, 50, 10, 90, 0, np.nan]])
    depth = np.array([[10, 100, 100, 100, 10, 100, 0, 10]])
    found, (note, _), evidence = called(alternate, depth, ReadOptions(**said), "x")
    assert (found.tolist(), evidence) == ([values], None)
    assert f"missing below {said['min_depth']} read" in note


READS = ("cellsnp", "mquad", "long.tsv", "reads.h5ad", "alternate")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", READS)
def test_numbers_of_reads_in_every_form(
    forms: dict[str, Path], tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "syclade")
    said: dict[str, Any] = SAID.get(name, {"rows": "cells", "total_reads": forms["total"], "min_depth": 1})
    matrix = syclade.read_matrix(forms[name], **said)
    np.testing.assert_array_equal(matrix.values, VALUES)
    assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)
    assert "a mutation from 10 % of alternate reads (--min-vaf)" in caplog.text
    few = syclade.read_matrix(forms[name], **{**said, "min_vaf": 60})
    np.testing.assert_array_equal(few.values, np.where(VALUES == 1, 0, VALUES))
    deep = syclade.read_matrix(forms[name], **{**said, "min_depth": 9})
    assert (deep.values == 3).all()
    with pytest.raises(MatrixError, match="numbers of reads") as caught:
        syclade.read_matrix(forms[name], **{key: said[key] for key in said if key != "min_depth"})
    assert "--min-depth N" in str(caught.value.hint)
    words = [str(forms[name]), "--to", "sc", "--out", str(tmp_path / "out")]
    words += [word for key, value in said.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    again = syclade.read_matrix(tmp_path / "out" / "matrix.SC")
    np.testing.assert_array_equal(again.values, VALUES)
    assert (again.mutations, again.cells) == (MUTATIONS, CELLS)


def test_reference_reads_in_a_table(forms: dict[str, Path], tmp_path: Path) -> None:
    """Rows are mutations here; the digest of the matrix covers both files."""
    alternate, depth = reads_of(VALUES)
    paths = tmp_path / "alt.csv", tmp_path / "ref.csv"
    for path, table in zip(paths, (alternate, depth - alternate), strict=True):
        lines = [";".join(("", *CELLS))]
        lines += [
            ";".join((name, *(f"{count},0" for count in row)))
            for name, row in zip(MUTATIONS, table, strict=True)
        ]
        path.write_text("\n".join(lines).replace("0,0;", "NA;", 0) + "\n")
    said: dict[str, Any] = {"rows": "mutations", "min_depth": 1}
    matrix = syclade.read_matrix(paths[0], ref_reads=paths[1], **said)
    np.testing.assert_array_equal(matrix.values, VALUES)
    paths[1].write_text(paths[1].read_text() + "\n")
    assert syclade.read_matrix(paths[0], ref_reads=paths[1], **said).file_sha256 != matrix.file_sha256


def test_layers_of_an_anndata() -> None:
    import anndata
    import pandas
    import scipy.sparse

    alternate, depth = (table.T for table in reads_of(VALUES))
    obs, var = pandas.DataFrame(index=list(CELLS)), pandas.DataFrame(index=list(MUTATIONS))
    for kind in (np.asarray, scipy.sparse.csr_matrix):
        data = anndata.AnnData(kind(alternate), obs, var, layers={"AD": kind(alternate), "DP": kind(depth)})
        for layer in (None, "AD"):
            matrix = syclade.read_matrix(data, layer=layer, total_layer="DP", min_depth=1)
            np.testing.assert_array_equal(matrix.values, VALUES)
            assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)
    with pytest.raises(MatrixError, match="no layer RD"):
        syclade.read_matrix(data, total_layer="RD", min_depth=1)
    with pytest.raises(OptionError, match="--coding is for genotypes"):
        syclade.read_matrix(data, layer="AD", total_layer="DP", coding="scite", min_depth=1)
    with pytest.raises(MatrixError, match="--min-depth is for numbers of reads"):
        syclade.read_matrix(data, min_depth=1)


def test_a_second_table_is_not_overwritten(forms: dict[str, Path], tmp_path: Path) -> None:
    second = tmp_path / "matrix.csv"
    second.write_bytes(forms["total"].read_bytes())
    words = [
        "--rows",
        "cells",
        "--total-reads",
        str(second),
        "--min-depth",
        "1",
        "--out",
        str(tmp_path),
        "--force",
    ]
    done = CliRunner().invoke(command, [str(forms["alternate"]), *words])
    assert done.exit_code != 0
    assert "--total-reads" in str(done.exception)
    assert second.read_bytes() == forms["total"].read_bytes()


def test_pairs_of_data_frames() -> None:
    import pandas

    alternate, depth = (
        pandas.DataFrame(table.T, index=list(CELLS), columns=list(MUTATIONS)) for table in reads_of(VALUES)
    )
    for name, other in (("total_reads", depth.iloc[::-1, ::-1]), ("ref_reads", depth - alternate)):
        matrix = syclade.read_matrix(alternate, rows="cells", min_depth=1, **{name: other})
        np.testing.assert_array_equal(matrix.values, VALUES)
        assert (matrix.mutations, matrix.cells) == (MUTATIONS, CELLS)
    with pytest.raises(MatrixError, match="lacks names"):
        syclade.read_matrix(alternate, rows="cells", min_depth=1, total_reads=depth.T)
    with pytest.raises(OptionError, match="must be one data frame"):
        syclade.read_matrix(alternate, rows="cells", min_depth=1, total_reads="x")
    with pytest.raises(MatrixError, match="is for numbers of reads"):
        syclade.read_matrix(alternate, rows="cells", min_depth=1)


LONG = "chr,pos,cell,a,d\n1,10,x,4,8\n1,25,x,0,9\n1,10,y,7,7\n"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (LONG, "cell=cell,mutation=chr+pos,alt=a,total=d"),
        (LONG, "mutation=1+2, cell=3, total=5, alt=4"),
        (LONG.partition("\n")[2].replace(",", "\t"), "cell=3,mutation=1+2,alt=4,total=5"),
        (LONG.replace(",", ";").replace("x", '"x"'), "cell=cell,mutation=1+2,alt=a,total=d"),
        (
            LONG.replace("4,8", "4,4").replace("7,7", "7,0").replace(",", " "),
            "cell=3,mutation=1+2,alt=a,ref=d",
        ),
        (LONG.replace("chr,pos", "ref,alt").replace("a,d", "AD,DP").replace("1,", "A,"), None),
    ],
)
def test_long_tables(tmp_path: Path, text: str, columns: str | None) -> None:
    path = tmp_path / "x"
    path.write_text(
        text
        if columns
        else text.replace("ref,alt", "variant,alt").replace("A,10", "1:10,T").replace("A,25", "1:25,T")
    )
    matrix = syclade.read_matrix(path, format="long", columns=columns, min_depth=1)
    assert matrix.values.tolist() == [[1, 2], [0, 3]]
    assert (matrix.mutations, matrix.cells) == (("1:10", "1:25"), ("x", "y"))


def test_a_long_table_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("Barcode\tSNV\talt_count\tref_count\nx\tm\t4\t4\n")
    assert syclade.read_matrix(path, min_depth=1).values.tolist() == [[1]]


@pytest.mark.parametrize(
    ("text", "said", "words"),
    [
        (LONG, {}, "no column of mutations, alternate reads, all reads, or reference reads"),
        (LONG, {"columns": "cell=cell,mutation=pos,alt=a"}, "no column of all reads"),
        (LONG, {"columns": "cell=cell,mutation=pos,alt=a,total=e"}, "there is no column 'e'"),
        (LONG, {"columns": "cell=cell,mutation=pos,alt=a,total=6"}, "there is no column '6'"),
        (LONG, {"columns": "cell=cell,mutation=pos,alt=a,total=d,ref=d"}, "total and ref"),
        (LONG, {"columns": "cell=cell,mutation=pos,alt=a+d,total=d"}, "several columns of reads"),
        (LONG, {"columns": "cell"}, "--columns is 'cell'"),
        (LONG, {"columns": "cell=,mutation=pos,alt=a,total=d"}, "--columns is"),
        (LONG, {"columns": "cell=3,cell=3,mutation=pos,alt=a,total=d"}, "--columns is"),
        (LONG + "1,10,x,4,8\n", {"columns": "cell=3,mutation=1+2,alt=4,total=5"}, ":5: .* also in line 2"),
        (LONG + "1,10,z,4\n", {"columns": "cell=3,mutation=1+2,alt=4,total=5"}, ":5: the row has 4 fields"),
        (LONG + "1,10,z,4,u\n", {"columns": "cell=3,mutation=1+2,alt=4,total=5"}, ":5: 'u' is not a number"),
        (LONG + "1,10,z,-4,5\n", {"columns": "cell=3,mutation=1+2,alt=4,total=5"}, "'-4' is not a number"),
        (LONG + "1,10,z,9,5\n", {"columns": "cell=3,mutation=1+2,alt=4,total=5"}, "9 alternate reads of 5"),
        (LONG + "1,,z,1,5\n", {"columns": "cell=3,mutation=2,alt=4,total=5"}, "/x: mutation 3: a name is"),
        ("cell,variant,ad,dp\n", {}, "no rows"),
        ("", {}, "empty"),
        (LONG, {"two": "missing"}, "--two is not for"),
        (LONG, {"rows": "cells"}, "--rows is not for"),
    ],
)  # fmt: skip
def test_malformed_long_tables(tmp_path: Path, text: str, said: dict[str, Any], words: str) -> None:
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(SycladeError, match=words):
        syclade.read_matrix(path, format="long", min_depth=1, **said)


@pytest.mark.parametrize(
    ("alternate", "total", "said", "words"),
    [
        (",a,b\nx,1,2\n", ",a,c\nx,3,4\n", {}, "total: there is no column 'b', which .*alternate has"),
        (",a,b\nx,1,2\n", ",a,b,c\nx,3,4,5\n", {}, "alternate: there is no column 'c', which .*total has"),
        (",a\nx,1\ny,1\n", ",a\nx,3\n", {}, "total: there is no row 'y'"),
        (",a,b\nx,1,2\n", ",a,b\nx,3\n", {}, "total:2: the row has 2 fields"),
        (",a,b\nx,1,2\n", ",a,b\nx,3,z\n", {}, "total:2: 'z' is not a number of reads"),
        (",a,b\nx,1,2.5\n", ",a,b\nx,3,4\n", {}, "alternate:2: '2.5' is not a number of reads"),
        (",a,b\nx,-1,2\n", ",a,b\nx,3,4\n", {}, "alternate:2: '-1' is not a number of reads"),
        (",a,b\nx,5,2\n", ",a,b\nx,3,4\n", {}, "5 alternate reads of 3 in cell 1\nhint: are .* exchanged"),
        (",a,a\nx,1,2\n", ",a,a\nx,3,4\n", {}, "twice"),
        (",a,b\nx,1,2\n", "", {}, "total: the file is empty"),
        (",a,b\nx,1,2\n", ",a,b\nx,3,4\n", {"two": "missing"}, "--two is for genotypes"),
        (",a,b\nx,1,2\n", ",a,b\nx,3,4\n", {"ref_reads": "x"}, "are both given"),
        (",a,b\nx,1,2\n", None, {}, "no such file"),
        (",a,b\nx,1,2\n", ",a,b\nx,3,4\n", {"rows": None}, "rows may be cells or mutations"),
    ],
)  # fmt: skip
def test_malformed_pairs(
    tmp_path: Path, alternate: str, total: str | None, said: dict[str, Any], words: str
) -> None:
    paths = tmp_path / "alternate", tmp_path / "total"
    paths[0].write_text(alternate)
    if total is not None:
        paths[1].write_text(total)
    with pytest.raises(SycladeError, match=words):
        syclade.read_matrix(
            paths[0], **{"format": "csv", "rows": "cells", "total_reads": paths[1], "min_depth": 1, **said}
        )


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", ["cellsnp", "mquad"])
def test_malformed_folders(forms: dict[str, Path], tmp_path: Path, name: str) -> None:
    """A plain table counts where there is no gzipped one."""
    files = {one.name: one.read_bytes() for one in forms[name].iterdir()}
    files = {
        file.removesuffix(".gz"): gzip.decompress(data) if file.endswith(".gz") else data
        for file, data in files.items()
    }
    folder = tmp_path / "x"
    folder.mkdir()

    def read(**changes: bytes | None) -> Matrix:
        for file, whole in files.items():
            data = changes.get(file.rpartition(".")[0].rpartition("_")[2].rpartition(".")[2], whole)
            (folder / file).unlink(missing_ok=True)
            if data is not None:
                (folder / file).write_bytes(data)
        return syclade.read_matrix(folder, format=name, min_depth=1)

    np.testing.assert_array_equal(read().values, VALUES)
    depth = "DP" if name == "cellsnp" else "dp"
    with pytest.raises(MatrixError, match="no such file"):
        read(**{depth: None})
    with pytest.raises(MatrixError, match="not a table of 4 variants"):
        read(**{depth: b"%%MatrixMarket matrix coordinate integer general\n3 6 1\n1 1 5\n"})
    with pytest.raises(MatrixError, match="-5 is no number of reads"):
        read(**{depth: b"%%MatrixMarket matrix coordinate integer general\n4 6 1\n1 1 -5\n"})
    with pytest.raises(MatrixError, match="alternate reads of 0"):
        read(**{depth: b"%%MatrixMarket matrix coordinate integer general\n4 6 1\n1 1 5\n"})
    with pytest.raises(MatrixError, match="the file ends after 1 of 2 entries"):
        read(**{depth: b"%%MatrixMarket matrix coordinate integer general\n4 6 2\n1 1 5\n"})


@pytest.mark.usefixtures("here")
def test_a_folder_of_mquad_without_names_of_cells(forms: dict[str, Path], tmp_path: Path) -> None:
    for one in forms["mquad"].glob("passed*"):
        (tmp_path / one.name).write_bytes(one.read_bytes())
    matrix = syclade.read_matrix(tmp_path, min_depth=1)
    assert (matrix.mutations, matrix.cells) == (MUTATIONS, None)
    np.testing.assert_array_equal(matrix.values, VALUES)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"layer": "AD"}, "--total-layer NAME"),
        ({"layer": "AD", "total_layer": "RD"}, "no layer RD"),
        ({"layer": "AD", "total_layer": "small"}, "has another shape"),
        ({"layer": "bad", "total_layer": "DP"}, r"layer bad\[0, 0\] is -1, not a number of reads"),
        ({"layer": "DP", "total_layer": "AD"}, "are numbers of alternate and of all reads exchanged"),
        ({"layer": "AD", "total_layer": "DP", "two": "missing"}, "--two is for genotypes"),
        ({"total_layer": "DP"}, "there is no X"),
        ({"layer": "AD", "coding": "scite"}, "--min-depth is for numbers of reads"),
    ],
)
def test_malformed_layers(forms: dict[str, Path], tmp_path: Path, said: dict[str, Any], words: str) -> None:
    import h5py

    path = tmp_path / "x.h5ad"
    path.write_bytes(forms["reads.h5ad"].read_bytes())
    with h5py.File(path, "r+") as file:
        file["layers/small"], file["layers/bad"] = np.ones((2, 2)), np.full((6, 4), -1)
    with pytest.raises(SycladeError, match=words):
        syclade.read_matrix(path, format="h5ad", min_depth=1, **said)


SHARE, FIT = {"min_vaf": 10}, {"vaf_het": 10, "vaf_ref": 5, "vaf_hom": 95}
PHERTILIZER = {"format": "long", "columns": "cell=3,mutation=1+2,alt=5,total=6"}

VCF_CASES: list[tuple[str, tuple[str, ...], dict[str, Any], list[list[int]]]] = [
    ("GT:DP:GQ", ("0/1:9:50", "0/1:3:9", "0/0:9:.", "1/1:.:50"), {"min_gq": 20}, [[1, 3, 3, 2]]),
    ("GT:DP:GQ", ("0/1:9:50", "0/1:3:9", "0/0:9:.", "1/1:.:50"), {"min_gq": 0}, [[1, 1, 0, 2]]),
    ("GT:DP:GQ", ("0/1:9:50", "0/1:3:9", "0/0:9:.", "1/1:.:50"), {"min_depth": 5}, [[1, 3, 0, 3]]),
    ("GT:AD", ("0/1:9,1", "0/1:4,5", "0/0:2,0", "1/1:."), {"min_depth": 3}, [[1, 1, 3, 3]]),
    ("GT:AD", ("0/1:19,1", "0/1:4,5", "0/0:2,0", "1/1:."), {"min_vaf": 10}, [[0, 1, 0, 3]]),
    ("GT:AD", ("0/1:19,1", "0/1:4,5", "0/0:8,2", "1/1:1,9"), FIT, [[3, 1, 3, 3]]),
    ("GT:AD:DP", ("0/1:1:20", "0/1:5:9", "0/0:0:2", "1/1:9:9"), {"min_vaf": 10}, [[0, 1, 0, 2]]),
    ("GT:AF", ("0/1:0.05", "0/1:0.5", "0/0:0", "1/1:1"), {"min_vaf": 10}, [[0, 1, 0, 2]]),
    ("GT:VAF", ("0/1:0.05", "0/1:0.5", "0/0:0", "1/1:1"), {"min_vaf": 10}, [[0, 1, 0, 2]]),
    ("GT:AD", ("0/1:19,1,0", "0/2:5,0,5", "1/2:0,1,19", "./.:."), SHARE, [[0, 0, 0, 3], [0, 1, 1, 3]]),
]  # fmt: skip


@pytest.mark.parametrize("form", ["vcf", "bcf"])
@pytest.mark.parametrize(("fields", "calls", "said", "values"), VCF_CASES)
def test_filters_of_vcf(
    tmp_path: Path,
    form: str,
    fields: str,
    calls: tuple[str, ...],
    said: dict[str, Any],
    values: list[list[int]],
) -> None:
    path = tmp_path / "x.vcf"
    alleles = "G,T" if len(values) > 1 else "G"
    path.write_text(
        f"{HEAD}{COLUMNS}a\tb\tc\td\n1\t5\t.\tA\t{alleles}\t.\t.\t.\t{fields}\t" + "\t".join(calls) + "\n"
    )
    grid = FORMATS[form].read(*((path.read_bytes(), "x") if form == "vcf" else (path,)), ReadOptions(**said))
    assert grid.values.tolist() == values


@pytest.mark.parametrize("form", ["vcf", "bcf"])
def test_calls_that_rest_on_few_of_many_reads_are_counted(tmp_path: Path, form: str) -> None:
    path = tmp_path / "x.vcf"
    calls = "0/1:44,2\t0/1:20,20\t0/0:50,1\t0/1:9,1\t0/1:."
    path.write_text(f"{HEAD}{COLUMNS}a\tb\tc\td\te\n1\t5\t.\tA\tG\t.\t.\t.\tGT:AD\t{calls}\n")
    given = (path.read_bytes(), "x") if form == "vcf" else (path,)
    notes = " ".join(FORMATS[form].read(*given, ReadOptions()).notes)
    assert "1 of 3 calls of both alleles have fewer than 10 % of alternate reads (such as 2 of 46)" in notes
    assert "recommended" not in " ".join(FORMATS[form].read(*given, ReadOptions(evidence="reads")).notes)


@pytest.mark.parametrize("form", ["vcf", "bcf"])
@pytest.mark.parametrize(
    ("fields", "call", "said", "words"),
    [
        ("GT:DP", "0/1:5", {"min_gq": 5}, "no GQ"),
        ("GT:DP", "0/1:5", {"min_vaf": 5}, "no AD, AF or VAF"),
        ("GT:AD", "0/1:5", {"vaf_ref": 5}, "no AD, AF or VAF"),  # the alternate reads alone
        ("GT:AD", "0/1:5", {"min_depth": 5}, "no DP"),
    ],
)
def test_fields_that_a_record_does_not_have(
    tmp_path: Path, form: str, fields: str, call: str, said: dict[str, Any], words: str
) -> None:
    path = tmp_path / "x.vcf"
    path.write_text(f"{HEAD}{COLUMNS}a\n1\t5\t.\tA\tG\t.\t.\t.\t{fields}\t{call}\n")
    with pytest.raises(MatrixError, match=words) as caught:
        FORMATS[form].read(*((path.read_bytes(), "x") if form == "vcf" else (path,)), ReadOptions(**said))
    assert caught.value.hint == f"leave out --{next(iter(said)).replace('_', '-')}, or the records without it"


@pytest.mark.parametrize("field", ["DP", "GQ", "AD"])
def test_fields_that_are_no_numbers(tmp_path: Path, field: str) -> None:
    path = tmp_path / "x.vcf"
    path.write_text(f"{COLUMNS}a\n1\t5\t.\tA\tG\t.\t.\t.\tGT:DP:AD:GQ:{field}\t0/1:9:4,5:7:x\n")
    with pytest.raises(MatrixError, match=f"'x' .cell 1. is no value of {field}"):
        syclade.read_matrix(path, format="vcf", min_gq=5, min_vaf=5)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("form", ["vcf", "bcf", "cellsnp"])
def test_names_from_the_column_id(forms: dict[str, Path], tmp_path: Path, form: str) -> None:
    """Two mutations of one gene keep its name and get their sites."""
    ids, path = ("TP53", ".", "NRAS", "TP53"), tmp_path / "x"
    source = forms["cellsnp"] / "cellSNP.base.vcf.gz" if form == "cellsnp" else forms["calls.vcf"]
    text = (gzip.decompress(source.read_bytes()) if form == "cellsnp" else source.read_bytes()).decode()
    lines, given = text.splitlines(), iter(ids)
    lines = [
        line if line.startswith("#") else line.replace("\t.\t", f"\t{next(given)}\t", 1) for line in lines
    ]
    if form == "cellsnp":
        path.mkdir()
        for one in forms["cellsnp"].glob("*.*"):
            (path / one.name).write_bytes(one.read_bytes())
        (path / "cellSNP.base.vcf.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    else:
        path.write_text("\n".join(lines) + "\n")
    said: dict[str, Any] = {"format": form, **({"min_depth": 1} if form == "cellsnp" else {})}
    matrix = syclade.read_matrix(path, name_by="id", **said)
    assert matrix.mutations == (f"TP53 {MUTATIONS[0]}", MUTATIONS[1], "NRAS", f"TP53 {MUTATIONS[3]}")
    assert syclade.read_matrix(path, name_by="site", **said).mutations == MUTATIONS


def test_filters_of_compass(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("NAME,a,b,c,d\nm,19:1:1,5:5:1,8:2:0,1:9:2\n")
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({"min_vaf": 10}, [0, 1, 0, 2]), ({"vaf_het": 10, "vaf_ref": 5, "vaf_hom": 95}, [3, 1, 3, 3]),
        ({"min_depth": 11}, [1, 3, 3, 3]), ({"vaf_hom": 80}, [1, 1, 0, 2]),
    ]  # fmt: skip
    for said, values in cases:
        assert syclade.read_matrix(path, format="compass", **said).values.tolist() == [values]
    path.write_text("NAME,a,b,c,d\nm,19:1,5:5,8:2:0,0:9\n")
    assert syclade.read_matrix(path, min_depth=1).values.tolist() == [[0, 1, 0, 2]]


def test_frequent_variants_of_compass_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Column FREQ has frequencies in the population: frequent variants are probably germline ones."""
    path = tmp_path / "x"
    path.write_text("NAME,FREQ,a,b\nFLT3,0.25,1:9:1,1:9:1\nNPM1,0,9:1:0,1:9:1\nTET2,?,9:1:0,1:9:1\n")
    assert syclade.read_matrix(path, format="compass").values.tolist() == [[1, 1], [0, 1], [0, 1]]
    (record,) = [one for one in caplog.records if one.levelname == "WARNING"]
    assert record.getMessage().startswith("1 mutation is frequent in the population by FREQ (FLT3): ")
    cells = [*["9:9:1"] * 37, *["0:9:2"], *["9:0:0"] * 2]
    table = [["NAME", "FREQ", *map(str, range(40))], ["A", "0.002", *cells], ["B", "0", *cells[::-1]]]
    table.append(["C", "0", "9:0:0", *cells[1:]])
    path.write_text("\n".join(map(",".join, table)))
    syclade.read_matrix(path, format="compass")
    first, second = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"][-2:]
    assert first.startswith("1 mutation is frequent in the population by FREQ (A): ")
    assert "1 mutation is seen in at least 95 % of the cells with a value (B 95.0%)" in second


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("fractions", [True, False])
def test_filters_of_a_loom(tmp_path: Path, fractions: bool) -> None:
    import h5py

    with h5py.File(tmp_path / "x", "w") as file:
        file["matrix"], file["row_attrs/id"] = np.array([[1, 1, 0, 2]]), np.array(["m"], "S")
        file["col_attrs/barcode"] = np.array(list("abcd"), "S")
        file["layers/AD"], file["layers/DP"] = np.array([[1, 5, 2, 9]]), np.array([[20, 10, 10, 10]])
        if fractions:
            file["layers/AF"] = np.array([[5.0, 50.0, 20.0, 90.0]])
            del file["layers/AD"]
    cases: list[tuple[dict[str, Any], list[int]]] = [
        ({"min_vaf": 10}, [0, 1, 0, 2]), ({"vaf_het": 10, "vaf_ref": 5, "vaf_hom": 95}, [3, 1, 3, 3]),
        ({"min_vaf": 10, "vaf_ref": 5}, [0, 1, 3, 2]),
    ]  # fmt: skip
    for said, values in cases:
        assert syclade.read_matrix(tmp_path / "x", format="loom", **said).values.tolist() == [values]


@pytest.mark.parametrize(
    ("form", "said", "words"),
    [
        (
            "sasc",
            {"min_vaf": 5},
            "it is for tsv, csv, long, vcf, bcf, compass, h5ad, tapestri, loom, cellsnp, mquad",
        ),
        ("scite", {"total_reads": "x"}, "it is for tsv, csv"),
        ("csv", {"columns": "x"}, "it is for long"),
        ("h5ad", {"name_by": "id"}, "it is for vcf, bcf, cellsnp"),
        ("csv", {"total_layer": "DP"}, "it is for h5ad"),
        ("compass", {"min_gq": 5}, "it is for vcf, bcf, tapestri, loom"),
    ],
)
def test_options_are_refused_with_the_formats_that_have_them(
    forms: dict[str, Path], form: str, said: dict[str, Any], words: str
) -> None:
    with pytest.raises(OptionError, match="does not go with --format") as caught:
        syclade.read_matrix(forms["matrix.csv"], format=form, **said)
    assert caught.value.hint == words


@pytest.mark.parametrize("option", ["min_depth", "min_vaf", "vaf_ref"])
def test_filters_by_reads_need_reads(forms: dict[str, Path], option: str) -> None:
    said: dict[str, Any] = {option: 5}
    with pytest.raises(MatrixError, match="is for numbers of reads") as caught:
        syclade.read_matrix(forms["table.csv"], rows="cells", **said)
    assert caught.value.hint == "leave it out, or give --total-reads FILE or --ref-reads FILE"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", [*READS, "calls.vcf", "compass.csv"])
def test_large_files_of_reads(large: dict[str, Path], name: str) -> None:
    """2000 mutations × 100 cells within seconds."""
    said: dict[str, Any] = SAID.get(name, {"rows": "cells", "total_reads": large["total"], "min_depth": 1})
    start = time.process_time()
    matrix = syclade.read_matrix(large[name], **said)
    assert time.process_time() - start < 5
    assert matrix.values.shape == (2000, 100)
    np.testing.assert_array_equal(matrix.values, LARGE.values)
    assert (matrix.mutations, matrix.cells) == (LARGE.mutations, LARGE.cells)


LARGE = Named(
    np.random.default_rng(1).choice(np.array((0, 1, 3), np.uint8), (2000, 100)),
    tuple(f"1:{at}:A/G" for at in range(2000)),
    tuple(f"cell{at}" for at in range(100)),
)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("large")
    return {**write_forms(folder, LARGE), **write_pair(folder, LARGE)}


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "said", "shape"),
    [
        ("mquad", {}, (12, 81)),
        ("phertilizer_variant_counts.tsv.gz", PHERTILIZER, (1285, 1427)),
        ("mquad/example.vcf.gz", {"min_vaf": 10}, (510, 81)),
    ],
)  # fmt: skip
def test_published_reads(shared_dir: Path, name: str, said: dict[str, Any], shape: tuple[int, int]) -> None:
    matrix = syclade.read_matrix(shared_dir / "reality" / "formats" / name, min_depth=1, **said)
    assert matrix.values.shape == shape
    assert (matrix.values == 1).any()
