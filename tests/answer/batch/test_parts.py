"""Batches in parts: the same files as in one process, in any order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.answer.batch.cohort import batch, content_of, lines_of, write_cohort
from tests.golden.commands import call


def test_parts_in_any_order_give_the_same_files(tmp_path: Path) -> None:
    paths = write_cohort(tmp_path / "in", 5)
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert batch(*paths, "--out", whole, "--multiqc").status == 0
    assert batch(*paths, "--out", out, "--multiqc", "--prepare").status == 0
    assert [one.name for one in out.iterdir()] == ["batch.json"]
    assert call(["gather", str(out)]).status == 1
    assert {line["state"] for line in lines_of(out)} == {"waiting"}
    for part in (3, 1, 3):  # one of them twice
        assert call(["run", str(out), "--part", f"{part}/3"]).status == 0
    assert call(["gather", str(out)]).status == 1
    assert [line["state"] for line in lines_of(out)] == ["done", "waiting", "done", "done", "waiting"]
    assert call(["run", str(out), "--part", "2/3", "--jobs", "1"]).status == 0
    assert call(["gather", str(out)]).status == 0
    assert content_of(out) == content_of(whole)


def test_failures_and_other_options_are_gathered(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 2), tmp_path / "out"
    paths[0].write_text("0 7\n")
    assert batch(*paths, "--out", out, "--prepare").status == 0
    assert call(["run", str(out)]).status == 1
    assert call(["gather", str(out)]).status == 1
    assert [line["state"] for line in lines_of(out)] == ["failed", "done"]
    assert f"{paths[0]}:1:3" in lines_of(out)[0]["error"]
    paths[0].write_text("0 1\n")  # corrected, but not run again
    assert call(["gather", str(out)]).status == 1
    assert [line["state"] for line in lines_of(out)] == ["waiting", "done"]
    assert batch(*paths, "--out", out, "--prepare", "--seed", 2).status == 2
    assert batch(*paths, "--out", out, "--prepare", "--seed", 2, "--force").status == 0
    assert call(["gather", str(out)]).status == 1
    assert "--force" in lines_of(out)[1]["error"]
    assert call(["run", str(out), "--force"]).status == 0
    assert call(["gather", str(out)]).status == 0


def test_a_part_may_have_no_matrices(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    assert batch(*paths, "--out", out, "--prepare").status == 0
    assert call(["run", str(out), "--part", "2/2"]).status == 0


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "1/0", "a/b", "-1/3", "1/3/5"])
def test_what_is_no_part(tmp_path: Path, part: str) -> None:
    called = call(["run", str(tmp_path), "--part", part])
    assert called.status == 2
    assert "part" in called.messages


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "[]",
        "{}",
        '{"form": 2, "tasks": []}',
        '{"form": 1, "report": 0, "multiqc": 0, "resampling": null, "tasks": [1]}',
    ],
)
def test_folders_that_are_no_batch(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "batch.json").write_text(text)
    for command in ("run", "gather"):
        called = call([command, str(tmp_path)])
        assert called.status == 2
        assert "batch.json" in called.messages


def test_a_name_that_is_twice_in_batch_json(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 2), tmp_path / "out"
    assert batch(*paths, "--out", out, "--prepare").status == 0
    written = json.loads((out / "batch.json").read_text())
    written["tasks"][1]["name"] = "M0"
    (out / "batch.json").write_text(json.dumps(written))
    for command in ("run", "gather"):
        called = call([command, str(out)])
        assert called.status == 2
        assert "the name 'm0' is there twice" in called.messages


def test_names_in_batch_json_are_checked(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    assert batch(*paths, "--out", out, "--prepare").status == 0
    written = json.loads((out / "batch.json").read_text())
    written["tasks"][0]["name"] = "../outside"
    (out / "batch.json").write_text(json.dumps(written))
    assert call(["run", str(out)]).status == 2
    assert not (tmp_path / "outside").exists()
