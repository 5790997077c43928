"""The Snakemake wrapper: alone with a stand-in for the rule, and in a workflow that Snakemake runs."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "workflows" / "snakemake"
EXAMPLE = ROOT / "host" / "data" / "example"


class Named(list[str]):
    """List with names for some of its entries, as a rule's inputs and outputs are."""

    def __init__(self, **entries: object) -> None:
        super().__init__(map(str, entries.values()))
        self.__dict__.update({name: str(value) for name, value in entries.items()})

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.__dict__.get(name, default)


class Rule:
    """Stand-in for the object that Snakemake gives to a script."""

    def __init__(self, out: Path, inputs: Mapping[str, object], **params: object) -> None:
        self.input = Named(**inputs)
        self.output = Named(tree=out / "tree.newick", summary=out / "summary.json")
        self.params = params
        self.log = Named(log=out.parent / "infer.log")
        self.threads = 1


@pytest.fixture(autouse=True)
def _commands_of_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def run(rule: Rule) -> None:
    runpy.run_path(str(FOLDER / "wrapper.py"), {"snakemake": rule})


def test_the_wrapper_gives_the_result_of_the_command(tmp_path: Path) -> None:
    options = {"fp_rate": 0.01, "fn_rate": 0.2, "support": "none", "device": "native", "report": False}
    out = tmp_path / "a folder"
    out.mkdir()
    inputs = {"names": EXAMPLE / "matrix.geneNames", "matrix": EXAMPLE / "matrix.csv"}
    run(Rule(out, inputs, options=options, extra="--seed 3"))
    command = [
        "syclade",
        "infer",
        str(EXAMPLE / "matrix.csv"),
        "--out",
        str(tmp_path / "other"),
        "--seed",
        "3",
    ]
    command += ["--fp-rate", "0.01", "--fn-rate", "0.2", "--support", "none", "--device", "native"]
    subprocess.run(command, check=True, capture_output=True)
    assert (out / "tree.newick").read_bytes() == (tmp_path / "other" / "tree.newick").read_bytes()
    assert json.loads((out / "run.json").read_text())["options"]["seed"] == 3
    assert not (out / "report.html").exists()
    assert "log-likelihood" in (tmp_path / "infer.log").read_text()


def test_an_error_ends_the_rule_and_is_in_its_log(tmp_path: Path) -> None:
    rule = Rule(
        tmp_path / "out", {"matrix": tmp_path / "none.csv"}, options={"fp_rate": 0.01, "fn_rate": 0.2}
    )
    with pytest.raises(subprocess.CalledProcessError) as raised:
        run(rule)
    assert raised.value.returncode == 2
    assert "none.csv" in (tmp_path / "infer.log").read_text()


def test_outputs_are_in_one_folder(tmp_path: Path) -> None:
    rule = Rule(tmp_path / "out", {"matrix": EXAMPLE / "matrix.csv"})
    rule.output.append(str(tmp_path / "elsewhere" / "run.json"))
    with pytest.raises(ValueError, match="in one folder, not in 2"):
        run(rule)


@pytest.mark.snakemake
@pytest.mark.verification
def test_snakemake_runs_the_example(tmp_path: Path) -> None:
    snakemake = shutil.which("snakemake")
    assert snakemake is not None
    command = [
        snakemake,
        "--cores",
        "2",
        "--snakefile",
        str(FOLDER / "Snakefile"),
        "--directory",
        str(tmp_path),
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [json.loads(one.read_text()) for one in sorted((tmp_path / "differences").iterdir())]
    assert len(found) == 3
    assert all(one["ancestors"]["precision"] > 0.7 for one in found)
    again = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "Nothing to be done" in again.stderr
