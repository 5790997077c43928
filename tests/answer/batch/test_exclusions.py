"""Mutations that a batch leaves out: each matrix those that it has, and a name that none has is an error."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.answer.batch import many
from syclade.host.answer.batch.many import check_exclusions, with_exclusions_if_present
from syclade.host.answer.batch.task import Task
from syclade.host.answer.output.result import Result
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import Options
from tests.answer.batch.cohort import OPTIONS, write_table
from tests.golden.commands import call

MUTATIONS = {"p1": ("A", "B", "FLT3 p.D835Y", "C"), "p2": ("A", "B", "D", "x,y"), "p3": ("A", "B", "E", "F")}

NONE = "no mutation of any matrix is named"


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    """Matrices of three patients, each with mutations of its own."""
    generator = np.random.default_rng(1)
    for name, mutations in MUTATIONS.items():
        rows = generator.integers(0, 2, (12, 4)).tolist()
        lines = ["\t".join(("cellIDxmutID", *mutations))]
        lines += ["\t".join((f"c{at}", *map(str, row))) for at, row in enumerate(rows)]
        (tmp_path / f"{name}.SC").write_text("\n".join(lines) + "\n")
    return tmp_path


def common_of(names: str | list[str]) -> Options:
    return Options(**with_exclusions_if_present({"exclude_mutations": names}))


def tasks_of(folder: Path, common: Options, **own: Options) -> list[Task]:
    return [Task(name, str(folder / f"{name}.SC"), own.get(name, common)) for name in MUTATIONS]


def left_out(folder: Path, name: str, options: Options) -> list[str]:
    read = read_matrix(folder / f"{name}.SC", two="homozygous", exclude_mutations=options.exclude_mutations)
    return [one.name for one in read.left_out]


def test_each_matrix_leaves_out_those_that_it_has(cohort: Path, caplog: pytest.LogCaptureFixture) -> None:
    common = common_of('A,FLT3,D,"x,y"')
    assert common.exclude_mutations == 'if-present:A,FLT3,D,"x,y"'
    assert common_of(["A", "FLT3", "D", "x,y"]) == common
    assert with_exclusions_if_present({"seed": 1}) == {"seed": 1}
    check_exclusions(tasks_of(cohort, common), common)
    assert not caplog.text, "it is logged where the matrix is read for its run"
    assert [left_out(cohort, name, common) for name in MUTATIONS] == [
        ["A", "FLT3 p.D835Y"], ["A", "D", "x,y"], ["A"]
    ]  # fmt: skip
    assert [left_out(cohort, name, common_of("E")) for name in MUTATIONS] == [[], [], ["E"]]
    with pytest.raises(OptionError, match="no mutation is named E"):
        left_out(cohort, "p1", Options(exclude_mutations="E"))


def test_matrices_are_read_until_each_name_is_found(cohort: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(path: str, *given: object, **named: object) -> object:
        read.append(Path(path).stem)
        return read_matrix(path, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(many, "read_matrix", counted)
    for names, expected in (("A,B", ["p1"]), ("A,D", ["p1", "p2"]), ("E", ["p1", "p2", "p3"])):
        read.clear()
        check_exclusions(tasks_of(cohort, common_of(names)), common_of(names))
        assert read == expected
    read.clear()
    check_exclusions(tasks_of(cohort, Options()), Options())
    assert not read


def test_a_name_that_no_matrix_has_is_an_error(cohort: Path) -> None:
    common = common_of("A,FLT,D")
    with pytest.raises(OptionError, match=f"{NONE} FLT") as caught:
        check_exclusions(tasks_of(cohort, common), common)
    assert "near names: FLT3 p.D835Y" in str(caught.value.hint)


def test_names_of_a_line_do_not_count_for_the_others(cohort: Path) -> None:
    common, own = common_of("A,E"), Options(exclude_mutations="E,F")
    check_exclusions(tasks_of(cohort, common, p1=own), common)
    (cohort / "p3.SC").write_text("cellIDxmutID\tA\n1")
    with pytest.raises(MatrixError):
        left_out(cohort, "p3", common)
    with pytest.raises(OptionError, match=f"{NONE} E"):
        check_exclusions(tasks_of(cohort, common, p1=own), common)


def test_infer_many_has_the_same_rule(cohort: Path, caplog: pytest.LogCaptureFixture) -> None:
    options: dict[str, Any] = {
        "fp_rate": 0.02,
        "fn_rate": 0.2,
        "support": "none",
        "device": "native",
        "two": "homozygous",
    }
    paths = [cohort / f"{name}.SC" for name in MUTATIONS]
    left = []
    with caplog.at_level(logging.WARNING, "syclade.input"):
        for result in syclade.infer_many(paths, exclude_mutations=["A", "D"], **options):
            assert isinstance(result, Result)
            left.append([one.name for one in result.observed.left_out])
    assert left == [["A"], ["A", "D"], ["A"]]
    assert NONE not in caplog.text
    with caplog.at_level(logging.WARNING, "syclade.input"):
        list(syclade.infer_many(paths, exclude_mutations="A,FLT", **options))
    assert f"--exclude-mutations: {NONE} FLT; near names: FLT3 p.D835Y" in caplog.text
    own = [(paths[0], {"exclude_mutations": "D"})]
    with pytest.raises(OptionError, match="no mutation is named D"):
        list(syclade.infer_many(own, **options))


def test_the_command(cohort: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    names = tmp_path / "germline.txt"
    names.write_text("A\nD\n")
    words = ["batch", *(str(cohort / f"{name}.SC") for name in MUTATIONS), *OPTIONS, "--two", "homozygous"]
    done = call([*words, "--exclude-mutations", f"@{names}", "--out", str(out)])
    assert done.status == 0, done.messages
    left = {
        name: json.loads((out / name / "summary.json").read_text())["left_out"]["mutations"]
        for name in MUTATIONS
    }
    assert left == {"p1": 1, "p2": 2, "p3": 1}
    again = ["infer", str(cohort / "p1.SC"), *OPTIONS, "--two", "homozygous", "--out", str(tmp_path / "one")]
    done = call([*again, "--exclude-mutations", f"if-present:@{names}"])
    assert done.status == 0, done.messages
    assert (tmp_path / "one/summary.json").exists()
    wrong = call([*words, "--exclude-mutations", "A,nothing", "--out", str(tmp_path / "other")])
    assert wrong.status == 2
    assert f"{NONE} nothing" in wrong.messages
    table = write_table(
        cohort / "table.tsv",
        ("matrix", "exclude_mutations"),
        ("p1.SC", "D"),
        ("p2.SC", ""),
        ("p3.SC", "if-present:D"),
    )
    options = [*OPTIONS, "--two", "homozygous", "--exclude-mutations", "A,D"]
    mixed = call(["batch", str(table), *options, "--out", str(tmp_path / "third")])
    assert mixed.status == 1
    lines = (tmp_path / "third" / "results.tsv").read_text()
    assert lines.count("no mutation is named D") == 1
