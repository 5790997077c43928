"""Mutations that a batch leaves out: each matrix those that it has, and a name that none has is an error."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from syclade.host.answer.batch.exclusions import with_own_exclusions
from syclade.host.answer.batch.task import Task
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import Options
from tests.answer.batch.cohort import OPTIONS, write_table
from tests.golden.commands import call

MUTATIONS = {"p1": ("A", "B", "FLT3 p.D835Y", "C"), "p2": ("A", "B", "D", "x,y"), "p3": ("A", "B", "E", "F")}


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


def tasks_of(folder: Path, common: Options, **own: Options) -> list[Task]:
    return [Task(name, str(folder / f"{name}.SC"), own.get(name, common)) for name in MUTATIONS]


def test_each_matrix_leaves_out_those_that_it_has(cohort: Path, caplog: pytest.LogCaptureFixture) -> None:
    common = Options(exclude_mutations='A,FLT3,D,"x,y"')
    found = with_own_exclusions(tasks_of(cohort, common), common)
    assert [one.options.exclude_mutations for one in found] == ["A,FLT3", 'A,D,"x,y"', "A"]
    assert not caplog.text, "it is logged where the matrix is read for its run"
    few = Options(exclude_mutations="E")
    assert [one.options.exclude_mutations for one in with_own_exclusions(tasks_of(cohort, few), few)] == [
        None, None, "E"
    ]  # fmt: skip
    shared = Options(exclude_mutations="A,B")
    tasks = tasks_of(cohort, shared)
    assert with_own_exclusions(tasks, shared) == tasks, "the options are those of the command"
    none = tasks_of(cohort, Options())
    assert with_own_exclusions(none, Options()) == none


def test_a_name_that_no_matrix_has_is_an_error(cohort: Path) -> None:
    common = Options(exclude_mutations="A,FLT,D")
    with pytest.raises(OptionError, match="no mutation of any matrix is named FLT") as caught:
        with_own_exclusions(tasks_of(cohort, common), common)
    assert "near names: FLT3 p.D835Y" in str(caught.value.hint)


def test_names_of_a_line_have_to_be_those_of_its_matrix(cohort: Path) -> None:
    """They stay as they are, and do not count for the others."""
    common, own = Options(exclude_mutations="A,E"), Options(exclude_mutations="E,F")
    found = with_own_exclusions(tasks_of(cohort, common, p1=own), common)
    assert [one.options.exclude_mutations for one in found] == ["E,F", "A", "A,E"]
    (cohort / "p3.SC").write_text("cellIDxmutID\tA\n1")
    with pytest.raises(OptionError, match="no mutation of any matrix is named E"):
        with_own_exclusions(tasks_of(cohort, common, p1=own), common)
    both = Options(exclude_mutations="A,D")
    found = with_own_exclusions(tasks_of(cohort, both), both)
    assert found[2].options.exclude_mutations == "A,D", "a matrix that cannot be read says so in its run"


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
    wrong = call([*words, "--exclude-mutations", "A,nothing", "--out", str(tmp_path / "other")])
    assert wrong.status == 2
    assert "no mutation of any matrix is named nothing" in wrong.messages
    table = write_table(
        cohort / "table.tsv", ("matrix", "exclude_mutations"), ("p1.SC", "D"), ("p2.SC", ""), ("p3.SC", "")
    )
    options = [*OPTIONS, "--two", "homozygous", "--exclude-mutations", "A,D"]
    mixed = call(["batch", str(table), *options, "--out", str(tmp_path / "third")])
    assert mixed.status == 1
    assert "no mutation is named D" in (tmp_path / "third" / "results.tsv").read_text()
