"""Findings: a part of an answer is one module and one row, and every output is a loop over them."""

from __future__ import annotations

import csv
import io
import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer import stages
from syclade.host.commands.main import cli
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.finding import (
    MUTATIONS,
    RESULT,
    Column,
    Draft,
    Finding,
    FindingKind,
    Question,
    Section,
    Table,
    no_files,
)
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OutputError
from syclade.host.ground.options import Options

SMALL = simulate(30, 6, 0.05, 0.25, 0.0, seed=4)
RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.1, "device": "native"}


@dataclass(frozen=True, eq=False)
class Parsimony(Finding):
    """A made-up finding: the numbers of cells that contradict the tree, one for each mutation."""

    name = "parsimony"
    mutations: tuple[str, ...]
    changes: tuple[int, ...]

    def files(self) -> dict[str, Content]:
        return {
            "parsimony.tsv": "".join(f"{m}\t{c}\n" for m, c in zip(self.mutations, self.changes, strict=True))
        }

    def summary(self) -> dict[str, Any]:
        return {"parsimony": sum(self.changes)}

    @property
    def lines(self) -> list[str]:
        return [f"{sum(self.changes)} entries contradict the tree"]

    @property
    def warnings(self) -> list[str]:
        return ["some entries contradict the tree"] if any(self.changes) else []

    def section(self) -> Section:
        rows = [(m, str(c)) for m, c in zip(self.mutations, self.changes, strict=True)]
        return Section("Parsimony", (), Table(("mutation", "entries"), rows))

    def columns(self) -> list[Column]:
        of_mutations = Column(MUTATIONS, "parsimony", list(self.changes))
        return [of_mutations, Column(RESULT, "changes", [sum(self.changes)])]


def parsimony(draft: Draft) -> Parsimony:
    best = draft.best
    has = ancestor_matrix(best.parents)[:-1, best.assignment.node]
    wrong = (best.observed.values != has) & (best.observed.values != 3)
    return Parsimony(best.mutations, tuple(wrong.sum(axis=1).tolist()))


@pytest.fixture
def with_parsimony(monkeypatch: pytest.MonkeyPatch) -> None:
    row = FindingKind("parsimony", parsimony, lambda _question: ("parsimony.tsv",))
    monkeypatch.setattr(stages, "FINDINGS", (*stages.FINDINGS, row))


@pytest.mark.usefixtures("with_parsimony")
def test_a_finding_is_in_every_output(tmp_path: Path) -> None:
    pytest.importorskip("anndata")
    matrix, out = tmp_path / "m.csv", tmp_path / "out"
    matrix.write_text(format_matrix(SMALL.matrix.values))
    words = ["infer", str(matrix), "--fp-rate=0.01", "--fn-rate=0.1", "--device=native", f"--out={out}"]
    done = CliRunner().invoke(
        cli, [*words, "--report", "--multiqc", "--support=none"], catch_exceptions=False
    )
    rows = list(csv.reader(io.StringIO((out / "parsimony.tsv").read_text()), delimiter="\t"))
    total = sum(int(count) for _, count in rows)
    assert len(rows) == 6
    assert total > 0
    assert f"{total} entries contradict the tree" in done.stdout
    assert "warning: some entries contradict the tree" in done.stderr
    assert json.loads((out / "summary.json").read_text())["parsimony"] == total
    assert "parsimony.tsv" in json.loads((out / "run.json").read_text())["files"]
    table = json.loads((out / "syclade_mqc.json").read_text())
    assert table["data"]["out"]["changes"] == total
    assert table["headers"]["changes"] == {"title": "Changes"}
    assert ">Parsimony</h3>" in (out / "report.html").read_text()
    found = syclade.infer(SMALL.matrix, support="none", **RATES)
    assert found.to_anndata().var["parsimony"].sum() == total


@pytest.mark.usefixtures("with_parsimony")
def test_its_files_are_checked_before_the_run(tmp_path: Path) -> None:
    matrix, out = tmp_path / "m.csv", tmp_path / "out"
    matrix.write_text(format_matrix(SMALL.matrix.values))
    out.mkdir()
    (out / "parsimony.tsv").write_text("mine")
    words = ["infer", str(matrix), "--fp-rate=0.01", "--fn-rate=0.1", f"--out={out}", "--device=native"]
    refused = CliRunner().invoke(cli, words)
    assert type(refused.exception) is OutputError, "after the run, it would be the error of a rescued result"
    assert "parsimony.tsv" in str(refused.exception)
    assert (out / "parsimony.tsv").read_text() == "mine"


def test_a_result_keeps_the_promises_of_its_findings() -> None:
    """Each file of a finding is promised; a promised one may be absent, such as dropout.tsv."""
    found = syclade.infer(SMALL.matrix, max_trees=3, true_tree=SMALL.parents, **RATES)
    assert [one.name for one in found.findings] == [
        "unplaced", "rates", "consensus", "support", "co_optimal", "true_tree",
    ]  # fmt: skip
    question = Question(MUTATION, Options(max_trees=3), "quick")
    promised = stages.promised(question)
    written = [name for one in found.findings for name in one.files()]
    assert set(written) - {"tree_1.newick", "tree_1.gv", "tree_2.newick", "tree_2.gv"} <= set(promised)
    assert len(promised) == len(set(promised))


def test_findings_without_a_word_say_nothing() -> None:
    one = Finding()
    assert (one.files(), one.summary(), one.lines, one.warnings, one.section(), one.columns()) == (
        {}, {}, [], [], None, [],
    )  # fmt: skip
    assert no_files(Question(MUTATION, Options(), "none")) == ()


def test_results_with_findings_can_be_pickled() -> None:
    found = syclade.infer(SMALL.matrix, max_trees=2, **RATES)
    again = pickle.loads(pickle.dumps(found))
    assert again.summary() == found.summary()
    assert again.support is not None
