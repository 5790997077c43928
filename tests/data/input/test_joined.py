"""Matrices of several specimens as one: union of mutations, names and labels of cells, evidence, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli, main
from syclade.host.data.input.annotations import Reads
from syclade.host.data.input.convert import join, measured_by
from syclade.host.data.input.matrix import Matrix, matrix_from_array, with_cell_names, with_names
from syclade.host.ground.errors import MatrixError, OptionError

EARLY = matrix_from_array([[1, 0], [0, 2]], ["KIT", "NPM1"])
LATE = with_cell_names(matrix_from_array([[1, 3, 1], [0, 0, 1]], ["NPM1", "FLT3"]), ["a", "b", "c"])


def with_reads(matrix: Matrix, alternate: Any, total: Any) -> Matrix:
    evidence = Reads(np.array(alternate, np.int32), np.array(total, np.int32))
    return Matrix(matrix.values, matrix.mutations, "array", evidence=evidence)


def test_mutations_of_one_matrix_are_missing_in_the_cells_of_the_other() -> None:
    joined = join([EARLY, LATE], ["P1", "P2"])
    assert joined.mutations == ("KIT", "NPM1", "FLT3")
    assert joined.values.tolist() == [[1, 0, 3, 3, 3], [0, 2, 1, 3, 1], [3, 3, 0, 0, 1]]
    assert joined.cells == ("P1:s0", "P1:s1", "P2:a", "P2:b", "P2:c")
    assert joined.labels == {"sample": ("P1", "P1", "P2", "P2", "P2")}


def at(matrix: Matrix, **places: str) -> Matrix:
    return Matrix(matrix.values, matrix.mutations, "array", cells=matrix.cells, places=places)


def test_mutations_are_matched_by_their_places() -> None:
    """One variant has two names, since one of the files tells two variants of a gene apart."""
    early = at(matrix_from_array([[1, 0]], ["NF1"]), NF1="17:5:T/A")
    two = matrix_from_array([[0, 1], [1, 1]], ["NF1 17:5:T/A", "NF1 17:9:C/A"])
    late = at(two, **{"NF1 17:5:T/A": "chr17:5:T/A", "NF1 17:9:C/A": "17:9:C/A"})
    joined = join([early, late], ["P1", "P2"])
    assert joined.mutations == ("NF1", "NF1 17:9:C/A")
    assert joined.values.tolist() == [[1, 0, 0, 1], [3, 3, 1, 1]]
    assert measured_by([early, late]) == {"NF1": 2, "NF1 17:9:C/A": 1}


def test_different_mutations_of_one_name_stay_two() -> None:
    early = at(matrix_from_array([[1, 0], [1, 1]], ["NF1", "KIT"]), NF1="17:5:T/A")
    late = at(matrix_from_array([[0, 1], [0, 1]], ["NF1", "KIT"]), NF1="17:9:C/A")
    joined = join([early, late], ["P1", "P2"])
    assert joined.mutations == ("NF1 17:5:T/A", "KIT", "NF1 17:9:C/A")
    assert joined.values.tolist() == [[1, 0, 3, 3], [1, 1, 0, 1], [3, 3, 0, 1]]
    assert joined.places == {"NF1 17:5:T/A": "17:5:T/A", "NF1 17:9:C/A": "17:9:C/A"}


def test_reads_are_joined_too() -> None:
    first = with_reads(EARLY, [[5, 0], [0, 8]], [[9, 7], [6, 8]])
    second = with_reads(LATE, [[1, 2, 3], [0, 0, 4]], [[2, 2, 3], [9, 9, 9]])
    evidence = join([first, second], ["P1", "P2"]).evidence
    assert isinstance(evidence, Reads)
    assert evidence.alternate.tolist() == [[5, 0, 0, 0, 0], [0, 8, 1, 2, 3], [0, 0, 0, 0, 4]]
    assert evidence.total.tolist() == [[9, 7, 0, 0, 0], [6, 8, 2, 2, 3], [0, 0, 9, 9, 9]]


@pytest.mark.parametrize(
    ("matrices", "samples", "words"),
    [
        ([EARLY], ["P1"], "at least two"),
        ([EARLY, LATE], ["P1"], "a name for each"),
        ([EARLY, LATE], ["P1", "P1"], "two matrices are of the sample 'P1'.*--samples NAME,NAME"),
        ([EARLY, matrix_from_array([[1]], ["TP53"])], ["P1", "P2"], "no mutation is in two"),
        ([with_reads(EARLY, [[0, 0]] * 2, [[1, 1]] * 2), LATE], ["P1", "P2"], "another has not"),
    ],
)
def test_what_is_not_joined(matrices: list[Matrix], samples: list[str], words: str) -> None:
    with pytest.raises(MatrixError, match=f"(?s){words}"):
        join(matrices, samples)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The specimens of a simulated patient, taken apart and joined again, give the same answer."""
    given = ("--fp-rate", "0.01", "--fn-rate", "0.1", "--out", str(tmp_path / "p"), "--seed", "3")
    made = CliRunner().invoke(cli, ["simulate", "--samples", "12,18", "--mutations", "4", *given])
    assert made.exception is None, made.output
    whole = syclade.read_matrix(tmp_path / "p" / "matrix.csv")
    for name, cells in (("day_1", slice(0, 12)), ("day_9", slice(12, 30))):
        rows = zip(whole.mutations, whole.values[:, cells].tolist(), strict=True)
        header = "\t".join(["mutation", *(f"c{at}" for at in range(len(whole.values[0, cells])))])
        text = "\n".join([header, *("\t".join([one, *map(str, row)]) for one, row in rows)]) + "\n"
        (tmp_path / f"{name}_calls.tsv").write_text(text)
    files = [str(tmp_path / f"day_{day}_calls.tsv") for day in (1, 9)]
    out = tmp_path / "joined"
    options = ["join", *files, "--format", "tsv", "--rows", "mutations", "--out", str(out)]
    report = json.loads(CliRunner().invoke(cli, [*options, "--json"]).stdout)
    assert report["samples"] == {"day_1": 12, "day_9": 18}
    assert report["files_with"] == dict.fromkeys(whole.mutations, 2)
    joined = syclade.read_matrix(out / "matrix.SC")
    assert (joined.values == whole.values).all()
    labels = [line.split("\t") for line in (out / "metadata.tsv").read_text().splitlines()]
    assert labels[0] == ["cell", "sample"]
    assert [sample for _, sample in labels[1:]] == ["day_1"] * 12 + ["day_9"] * 18
    assert labels[12] == ["day_1:c11", "day_1"]
    for more, words in (([], "--force"), (["--force", "--samples", "A"], "1 name for 2 matrices")):
        refused = CliRunner().invoke(cli, [*options, *more])
        assert words in str(refused.exception)
    with pytest.raises(SystemExit):
        main(["infer", *files])
    assert "syclade join" in capsys.readouterr().err
    with pytest.raises(OptionError, match="at least two"):
        CliRunner().invoke(cli, ["join", files[0], "--out", str(out)], catch_exceptions=False)


def compass(path: Path, *rows: str) -> Path:
    """Write a table of COMPASS with two cells."""
    path.write_text("CHR,POS,REF,ALT,REGION,NAME,FREQ,c1,c2\n" + "".join(f"{row}\n" for row in rows))
    return path


@pytest.fixture
def panels(tmp_path: Path) -> list[str]:
    """Two panels with a variant that is frequent in one alone, one that is in both, and one of its own."""
    one = (
        "1,5,A,T,R1,NF1,0.0,20:0:0,9:9:1",
        "2,7,C,G,R2,KIT,0.25,9:9:1,9:9:1",
        "3,7,C,G,R3,RAS,0,9:9:1,9:0:0",
    )
    two = (
        "1,5,A,T,R1,NF1,0.1,9:9:1,9:0:0",
        "2,7,C,G,R2,KIT,0.250,9:9:1,9:9:1",
        "9,1,A,C,,ABL,0.0,9:9:1,9:0:0",
    )
    return [str(compass(tmp_path / "p1.csv", *one)), str(compass(tmp_path / "p2.csv", *two))]


@pytest.mark.parametrize("evidence", ["calls", "reads"])
def test_columns_about_mutations_are_kept(
    panels: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture, evidence: str
) -> None:
    out = tmp_path / "joined"
    with caplog.at_level("INFO", "syclade.input"):
        CliRunner().invoke(cli, ["join", *panels, "--evidence", evidence, "--out", str(out)])
    words = "the files differ in FREQ of 1 mutation (NF1: 0.0, 0.1): all values are kept"
    assert words in [record.getMessage() for record in caplog.records]
    lines = (out / "matrix.mutations.tsv").read_text().splitlines()
    assert lines == [
        "mutation\tplace\tREGION\tFREQ",
        "NF1\t1:5:A/T\tR1\t0.0|0.1",
        "KIT\t2:7:C/G\tR2\t0.25",
        "RAS\t3:7:C/G\tR3\t0",
        "ABL\t9:1:A/C\t\t0.0",
    ]
    place = out / "matrix.SC" if evidence == "calls" else out
    options: dict[str, Any] = {"two": "homozygous"} if evidence == "calls" else {}
    again = syclade.read_matrix(place, evidence=evidence, **options)
    assert again.frequent == ("NF1", "KIT")
    assert again.places == {"NF1": "1:5:A/T", "KIT": "2:7:C/G", "RAS": "3:7:C/G", "ABL": "9:1:A/C"}
    assert again.about["REGION"] == {"NF1": "R1", "KIT": "R2", "RAS": "R3"}
    assert any(
        "2 mutations are frequent in the population by FREQ (NF1, KIT)" in one for one in again.warnings
    )
    renamed = with_names(again, ["a", "b", "c", "d"])
    assert renamed.frequent == ("a", "b")
    assert renamed.about["REGION"] == {"a": "R1", "b": "R2", "c": "R3"}


def test_a_format_that_defines_two_joins_one_that_does_not(panels: list[str], tmp_path: Path) -> None:
    """The meaning of 2 is given for the other file; a format where 2 is homozygous takes this one alone."""
    mine = tmp_path / "mine.SC"
    mine.write_text("cellIDxmutID\tNF1\tABL\na\t2\t1\nb\t0\t3\n")
    options = ["join", panels[0], str(mine), "--out", str(tmp_path / "out")]
    assert "give --two homozygous" in str(CliRunner().invoke(cli, options).exception)
    done = CliRunner().invoke(cli, [*options, "--two", "homozygous"])
    assert done.exception is None, done.exception
    joined = syclade.read_matrix(tmp_path / "out" / "matrix.SC", two="homozygous")
    assert joined.values[joined.mutations.index("NF1")].tolist() == [0, 1, 2, 0]
    refused = CliRunner().invoke(cli, [*options, "--force", "--two", "missing"]).exception
    assert isinstance(refused, MatrixError)
    assert refused.text == (
        f"{panels[0]}: 2 is homozygous in this format\nhint: leave out --two, or give --two homozygous"
    )


def test_tables_of_other_mutations_are_not_used(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "matrix.csv").write_text("1 0\n0 1\n")
    (tmp_path / "matrix.mutations.tsv").write_text("mutation\tplace\tFREQ\nTP53\t\t0.5\n")
    found = syclade.read_matrix(tmp_path / "matrix.csv")
    assert not found.about
    assert "none of the matrix's mutations is in this table: it is not used" in caplog.text


def test_matrices_without_columns_have_no_table(tmp_path: Path) -> None:
    for name in ("p1", "p2"):
        (tmp_path / f"{name}.SC").write_text("cellIDxmutID\tA\tB\nc1\t1\t0\nc2\t0\t1\n")
    CliRunner().invoke(
        cli, ["join", *(str(tmp_path / f"p{at}.SC") for at in (1, 2)), "--out", str(tmp_path / "o")]
    )
    assert sorted(one.name for one in (tmp_path / "o").iterdir()) == ["matrix.SC", "metadata.tsv"]
