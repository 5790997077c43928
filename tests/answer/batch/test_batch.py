"""`syclade batch`: results of single runs, failures, and what a second run does."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from syclade.host.answer.batch.results_table import Line, failed_line, page_of
from syclade.host.data.input.matrix import format_matrix
from tests.answer.batch.cohort import OPTIONS, batch, content_of, lines_of, write_cohort, write_table
from tests.golden.commands import call


def test_results_are_those_of_single_commands(tmp_path: Path) -> None:
    paths = write_cohort(tmp_path / "in", 3)
    assert batch(*paths, "--out", tmp_path / "out", "--jobs", 2).status == 0
    for path in paths:
        single, own = tmp_path / "single" / path.stem, tmp_path / "out" / path.stem
        assert call(["infer", str(path), "--out", str(single), *OPTIONS]).status == 0
        for name in ("tree.newick", "tree.gv", "attachments.tsv", "summary.json"):
            assert (own / name).read_bytes() == (single / name).read_bytes()
        shown, alone = (json.loads((folder / "run.json").read_text()) for folder in (own, single))
        assert shown["options"] == alone["options"]
        assert {one.name for one in own.iterdir()} == {one.name for one in single.iterdir()} | {"task.json"}


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path: Path) -> None:
    paths = write_cohort(tmp_path / "in", 4)
    for jobs in (1, 2, 4):
        assert batch(*paths, "--out", tmp_path / str(jobs), "--jobs", jobs).status == 0
    assert content_of(tmp_path / "1") == content_of(tmp_path / "2") == content_of(tmp_path / "4")


def test_options_of_the_table_go_before_those_of_the_command(tmp_path: Path) -> None:
    write_cohort(tmp_path, 2)
    rows = (("name", "matrix", "seed", "fn-rate"), ("one", "m0.csv", "5", ""), ("two", "m1.csv", "", "0.3"))
    table = write_table(tmp_path / "cohort.tsv", *rows)
    assert batch(table, "--seed", 9, "--out", tmp_path / "out").status == 0
    summaries = [
        json.loads((tmp_path / "out" / name / "summary.json").read_text()) for name in ("one", "two")
    ]
    assert [(shown["seed"], shown["fn_rate"]) for shown in summaries] == [(5, 0.2), (9, 0.3)]
    assert [line["fn_rate"] for line in lines_of(tmp_path / "out")] == ["0.2", "0.3"]


def test_labels_are_in_the_tables_and_change_no_result(tmp_path: Path) -> None:
    write_cohort(tmp_path, 2)
    head, out = ("label:tumour stage", "matrix", "label:site"), tmp_path / "out"
    table = write_table(tmp_path / "t.tsv", head, ("III", "m0.csv", ""), ("IV", "m1.csv", "lung"))
    called = batch(table, "--out", out, "--json")
    assert called.status == 0
    assert [line["labels"] for line in json.loads(called.output)][1] == {"tumour stage": "IV", "site": "lung"}
    shown = [(line["name"], line["tumour stage"], line["site"]) for line in lines_of(out)]
    assert shown == [("m0", "III", ""), ("m1", "IV", "lung")]
    before = (out / "m0" / "task.json").read_bytes()
    assert b"label" not in before

    write_table(table, head, ("II", "m0.csv", "colon"), ("IV", "m1.csv", "lung"), ("I", "none.csv", ""))
    assert batch(table, "--out", out, "--prepare").status == 0
    assert call(["gather", str(out)]).status == 1
    labelled = [(line["state"], line["tumour stage"], line["site"]) for line in lines_of(out)]
    assert labelled == [("done", "II", "colon"), ("done", "IV", "lung"), ("failed", "I", "")]
    assert (out / "m0" / "task.json").read_bytes() == before


def test_a_matrix_that_fails_stops_no_other(tmp_path: Path) -> None:
    paths = write_cohort(tmp_path / "in", 2)
    bad = tmp_path / "in" / "bad.csv"
    bad.write_text("0 1\n0 7\n")
    out = tmp_path / "out"
    names = ("missing.csv", "bad.csv", *(path.name for path in paths))
    table = write_table(tmp_path / "in" / "t.tsv", ("matrix",), *((name,) for name in names))
    called = batch(table, "--out", out)
    assert called.status == 1
    assert "2 done, 2 failed" in called.output
    assert [line["state"] for line in lines_of(out)] == ["failed", "failed", "done", "done"]
    assert lines_of(out)[0]["error"] == f"{tmp_path / 'in' / 'missing.csv'}: no such file"
    assert f"{bad}:2:3" in lines_of(out)[1]["error"]
    bad.write_text("0 1\n0 0\n")  # corrected: only what is missing is inferred
    before = (out / "m0" / "run.json").stat().st_mtime_ns
    assert batch(table, "--out", out).status == 1
    assert [line["state"] for line in lines_of(out)] == ["failed", "done", "done", "done"]
    assert (out / "m0" / "run.json").stat().st_mtime_ns == before


def test_errors_name_options_as_on_the_command_line(tmp_path: Path) -> None:
    """Neither the terminal nor results.tsv adds how an option is given in Python."""
    (tmp_path / "two.SC").write_text("cellIDxmutID\ta\tb\nx\t2\t1\ny\t0\t1\n")
    called = batch(tmp_path / "two.SC", "--out", tmp_path / "out")
    reason = f"{tmp_path / 'two.SC'}: 2 occurs, which may be homozygous or missing; "
    reason += "give --two homozygous or --two missing"
    assert [line["error"] for line in lines_of(tmp_path / "out")] == [reason]
    assert reason in called.messages
    assert "in Python" not in called.messages


def test_missing_inputs_run_nothing(tmp_path: Path) -> None:
    (path,) = write_cohort(tmp_path / "in", 1)
    none = tmp_path / "nothing.tsv"
    for inputs in ((none,), (path, none), (none, path)):
        called = batch(*inputs, "--out", tmp_path / "out")
        assert called.status == 2
        assert f"there is no file or folder {none}\n" in called.messages
        assert "give a table of matrices, or matrices" in called.messages
    table = write_table(tmp_path / "t.tsv", ("matrix",), ("a.csv",), ("b.csv",))
    called = batch(table, "--out", tmp_path / "out")
    assert called.status == 2
    assert f"{table}: none of its matrices exists, such as {tmp_path / 'a.csv'}\n" in called.messages
    assert not (tmp_path / "out").exists()


def test_one_matrix_is_in_the_singular(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    assert (
        batch(*paths, "--out", out, "--prepare").output
        == f"wrote 1 matrix to {out}: run parts, then gather\n"
    )
    ended = f"1 matrix: 1 done; results are in {out}\n"
    assert call(["run", str(out), "--part", "1/1"]).output == ended
    assert call(["gather", str(out)]).output == ended
    assert batch(*paths, "--out", out).output == ended


def test_missing_and_changed_results_are_inferred_again(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 3), tmp_path / "out"
    assert batch(*paths, "--out", out).status == 0
    before = content_of(out)
    times = {path: (out / path.stem / "run.json").stat().st_mtime_ns for path in paths}
    (out / "m0" / "tree.gv").unlink()
    (out / "m1" / "task.json").write_text((out / "m1" / "task.json").read_text().replace('"done"', "null"))
    assert batch(*paths, "--out", out).status == 0
    assert content_of(out) == before
    changed = [
        path.stem for path in paths if (out / path.stem / "run.json").stat().st_mtime_ns != times[path]
    ]
    assert changed == ["m0", "m1"]


def test_locks_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """A process may be killed when all files are written, but the lock is still there."""
    (path,) = write_cohort(tmp_path / "in", 1)
    assert batch(path, "--out", tmp_path / "out").status == 0
    lock = tmp_path / "out" / "m0" / ".run.json.lock"
    lock.touch()
    assert batch(path, "--out", tmp_path / "out").status == 0
    assert not lock.exists()


@pytest.mark.parametrize("change", ["matrix", "names"])
def test_other_inputs_are_refused_for_that_matrix(tmp_path: Path, change: str) -> None:
    paths, out = write_cohort(tmp_path / "in", 2), tmp_path / "out"
    assert batch(*paths, "--out", out).status == 0
    kept = (out / "m0" / "summary.json").read_bytes()
    if change == "matrix":
        paths[0].write_text(paths[1].read_text())
    else:
        (tmp_path / "in" / "m0.geneNames").write_text("".join(f"g{number}\n" for number in range(8)))
    assert batch(*paths, "--out", out).status == 1
    assert [line["state"] for line in lines_of(out)] == ["failed", "done"]
    assert "--force" in lines_of(out)[0]["error"]
    assert (out / "m0" / "summary.json").read_bytes() == kept
    assert batch(*paths, "--out", out, "--force").status == 0
    assert (out / "m0" / "summary.json").read_bytes() != kept


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("prepare", [(), ("--prepare",)])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("option", "'m0' has another --seed"),
        ("fewer", "'m0' is missing here"),
        ("elsewhere", "'m1' is the matrix"),
        ("table", "'m0' has another --gamma"),
    ],
)
def test_another_batch_in_the_folder_is_refused(
    change: str, said: str, prepare: tuple[str, ...], tmp_path: Path
) -> None:
    """Its tasks and tables stay, so that `run --part` does no other tasks; --force replaces them."""
    paths, out = write_cohort(tmp_path / "in", 2), tmp_path / "out"
    assert batch(*paths, "--out", out, "--prepare").status == 0
    assert call(["run", str(out), "--part", "1/2"]).status == 0
    assert call(["gather", str(out)]).status == 1
    before = files_in(out)
    rows = (("name", "matrix", "gamma"), ("m0", str(paths[0]), "2"), ("m1", str(paths[1]), ""))
    words: dict[str, Sequence[object]] = {
        "option": (*paths, "--seed", 3),
        "fewer": paths[1:],
        "elsewhere": write_cohort(tmp_path / "other", 2),
        "table": (write_table(tmp_path / "t.tsv", *rows),),
    }
    called = batch(*words[change], "--out", out, *prepare)
    assert called.status == 2
    assert f"{out} has another batch: {said}" in called.messages
    assert "--force" in called.messages
    assert files_in(out) == before
    assert batch(*words[change], "--out", out, "--prepare", "--force").status == 0
    assert files_in(out)["batch.json"] != before["batch.json"]
    assert files_in(out)["results.tsv"] == before["results.tsv"]


def test_a_batch_without_any_result_is_replaced(tmp_path: Path) -> None:
    """All matrices need an option: with it, the same folder is taken; once there is a result, it is not."""
    paths = write_cohort(tmp_path / "in", 2)
    for path in paths:
        path.write_text(path.read_text().replace("1", "2", 1))
    out = tmp_path / "out"
    assert batch(*paths, "--out", out).status == 1
    assert batch(*paths, "--out", out, "--merge-homozygous").status == 0
    assert batch(*paths, "--out", out, "--merge-homozygous", "--seed", 3).status == 2


def test_a_cohort_may_grow_and_move(tmp_path: Path) -> None:
    """More matrices, other devices and more files are the same batch; so are matrices at other paths."""
    paths, out = write_cohort(tmp_path / "in", 3), tmp_path / "out"
    assert batch(*paths[:2], "--out", out).status == 0
    kept = (out / "m0" / "run.json").read_bytes()
    assert batch(*paths, "--out", out, "--slots", 2, "--multiqc").status == 0
    (tmp_path / "in").rename(tmp_path / "moved")
    assert batch(tmp_path / "moved", "--out", out).status == 0
    assert (out / "m0" / "run.json").read_bytes() == kept
    assert [line["state"] for line in lines_of(out)] == ["done"] * 3


@pytest.mark.parametrize("name", ["results.tsv", "report.html", "syclade_mqc.json"])
def test_tables_that_no_batch_has_written_are_not_replaced(name: str, tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")
    for more in ((), ("--prepare",)):
        called = batch(*paths, "--out", out, *more)
        assert called.status == 2
        assert f"already has {name}" in called.messages
        assert files_in(out) == {name: b"mine"}
    assert batch(*paths, "--out", out, "--prepare", "--force").status == 0


def test_damaged_tasks_are_not_replaced(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    out.mkdir()
    (out / "batch.json").write_text("{}")
    called = batch(*paths, "--out", out)
    assert called.status == 2
    assert "batch.json: the tasks are damaged" in called.messages
    assert files_in(out) == {"batch.json": b"{}"}
    assert batch(*paths, "--out", out, "--prepare", "--force").status == 0


def test_devices_and_slots_are_no_other_options(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    assert batch(*paths, "--out", out).status == 0
    before = (out / "m0" / "run.json").read_bytes()
    assert (
        call(["batch", str(paths[0]), "--out", str(out), *OPTIONS[:-1], "numpy", "--slots", "2"]).status == 0
    )
    assert (out / "m0" / "run.json").read_bytes() == before


def test_files_of_others_are_not_overwritten(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    (out / "m0").mkdir(parents=True)
    (out / "m0" / "notes.txt").write_text("mine")
    assert batch(*paths, "--out", out).status == 1
    assert [one.name for one in (out / "m0").iterdir()] == ["notes.txt"]
    assert "no batch has written" in lines_of(out)[0]["error"]
    assert call(["gather", str(out)]).status == 1
    assert "no batch has written" in lines_of(out)[0]["error"]
    assert batch(*paths, "--out", out, "--force").status == 0
    assert (out / "m0" / "notes.txt").read_text() == "mine"


def test_pages_and_table_for_multiqc(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    paths, out = write_cohort(tmp_path / "in", 2), tmp_path / "out"
    bad = tmp_path / "in" / "<b>.csv"
    bad.write_text("")
    table = write_table(
        tmp_path / "in" / "t.tsv",
        ("name", "matrix"),
        ("a b", paths[0].name),
        ("c", paths[1].name),
        ("bad", bad.name),
    )
    assert batch(table, "--out", out, "--report", "--multiqc").status == 1
    page = (out / "report.html").read_text()
    assert '<a href="a%20b/report.html">a b</a>' in page
    assert (out / "a b" / "report.html").exists()
    assert "bad/report.html" not in page
    content = re.sub(r"<main>.*</main>", "", page.partition("<body>")[2], flags=re.DOTALL)
    assert content.split() == ["</body>", "</html>"], "all is in the main landmark, for screen readers"
    assert "&lt;b&gt;.csv" in page
    data = json.loads((out / "syclade_mqc.json").read_text())["data"]
    assert list(data) == ["a b", "c"]
    assert (
        data["c"]["log_likelihood"] == json.loads((out / "c" / "summary.json").read_text())["log_likelihood"]
    )
    assert not (out / "c" / "syclade_mqc.json").exists()


def test_the_page_tells_what_has_no_report_and_what_did_not_converge() -> None:
    pytest.importorskip("jinja2")
    lines: list[Line] = [
        {"name": "a", "state": "done", "agreeing": 3, "runs": 8, "converged": "yes"},
        {"name": "b", "state": "done", "agreeing": 3, "runs": 8, "converged": "no"},
        failed_line("c", "no such file"),
    ]
    page = page_of(lines, {"a"})
    assert page.count("<a href=") == 1
    assert '<a href="a/report.html">a</a>' in page
    assert page.count('<td class=" without">no</td>') == 1
    assert "<h1>3 matrices, 2 with a tree</h1>" in page
    assert "<h1>1 matrix</h1>" in page_of(lines[:1], ())
    lines[0]["labels"] = {"stage": "<II>"}
    assert "<th>Name</th><th>stage</th><th" in page_of(lines, {"a"})
    assert '<a href="a/report.html">a</a></td><td>&lt;II&gt;</td><td class="number">' in page_of(lines, {"a"})


def test_files_are_added_to_results_that_are_there(tmp_path: Path) -> None:
    """No option but those of the files differs, so the other files are the same and nothing is forced."""
    pytest.importorskip("jinja2")
    paths, out = write_cohort(tmp_path / "in", 2), tmp_path / "out"

    def times() -> list[int]:
        return [(out / path.stem / "run.json").stat().st_mtime_ns for path in paths]

    assert batch(*paths, "--out", out).status == 0
    before, first = content_of(out), times()
    called = batch(*paths, "--out", out, "--multiqc")
    assert (called.status, times()) == (0, first)
    assert [*json.loads((out / "syclade_mqc.json").read_text())["data"]] == ["m0", "m1"]

    called = batch(*paths, "--out", out, "--report")
    assert called.status == 0
    assert "inferring again what has a result, but not all of its files: 2 of 2" in called.messages
    found, second = content_of(out), times()
    assert min(second) > max(first)
    assert all((out / folder / "report.html").exists() for folder in ("m0", "m1", "."))
    for name, content in before.items():
        if name.endswith((".newick", ".gv", "summary.json", "attachments.tsv")):
            assert found[name] == content

    for more in ((), ("--report",)):  # reports that are there stay, and are not made again
        assert batch(*paths, "--out", out, *more).status == 0
        assert times() == second
        assert (out / "m0" / "report.html").exists()
    (out / "m0" / "tree.gv").unlink()  # inferred again, with the report that it had
    assert batch(*paths, "--out", out).status == 0
    assert (out / "m0" / "report.html").exists()
    assert times()[1] == second[1]


def test_json_has_the_lines(tmp_path: Path) -> None:
    paths = write_cohort(tmp_path / "in", 2)
    called = batch(*paths, "--out", tmp_path / "out", "--json")
    shown = json.loads(called.output)
    assert [line["name"] for line in shown] == ["m0", "m1"]
    assert [str(line["agreeing"]) for line in shown] == [
        line["agreeing"] for line in lines_of(tmp_path / "out")
    ]


def test_support_gives_the_certainty(tmp_path: Path) -> None:
    paths, out = write_cohort(tmp_path / "in", 1), tmp_path / "out"
    quick = tuple("quick" if word == "none" else word for word in OPTIONS)
    assert call(["batch", str(paths[0]), "--out", str(out), *quick]).status == 0
    edges = [float(row.split("\t")[2]) for row in (out / "m0" / "support.tsv").read_text().splitlines()[1:]]
    assert float(lines_of(out)[0]["certainty"]) == pytest.approx(sum(edges) / len(edges), abs=1e-5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fp-rate", "2"), "fp-rate"),
        (("--samples", "5"), "--steps"),
        (("--method", "search", "--steps", "5"), "--steps"),
        (("--fn-rate-hom", "0.1"), "--hom-rate"),
    ],
)
def test_bad_common_options_run_nothing(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    write_cohort(tmp_path / "in", 1)
    called = call(["batch", str(tmp_path / "in"), *OPTIONS, *words, "--out", str(tmp_path / "out")])
    assert called.status == 2
    assert said in called.messages
    assert not (tmp_path / "out").exists()


@pytest.mark.shared
def test_published_matrices(tmp_path: Path, shared_dir: Path) -> None:
    """With rates of their own, the best log-likelihoods that are known."""
    rows = (
        ("name", "matrix", "fp_rate", "fn_rate", "fn_rate_hom", "hom_rate"),
        ("Navin", "dataNavin.csv", "1.24e-6", "0.0973", "", ""),
        ("Xu", "dataXu.csv", "2.67e-5", "0.1643", "", ""),
        ("Hou18", "dataHou18.csv", "6.04e-5", "0.21545", "0.21545", "1.299164e-5"),
    )
    matrices = [(name, str(shared_dir / "data" / file), *rates) for name, file, *rates in rows[1:]]
    table = write_table(tmp_path / "cohort.tsv", rows[0], *matrices)
    assert batch(table, "--out", tmp_path / "out").status == 0
    found = [float(line["log_likelihood"]) for line in lines_of(tmp_path / "out")]
    assert found == pytest.approx([-579.49661525633, -153.07907576310, -378.35359911749], abs=1e-8)


def test_evidence_is_an_option_of_a_matrix(tmp_path: Path) -> None:
    """Tables of likelihoods are found beside the table of the batch; other evidence has another result."""
    (tmp_path / "with.csv").write_text("NAME,c1,c2,c3\nm1,-1,-9,-1\nm2,-9,-9,-0.5\n")
    (tmp_path / "without.csv").write_text("NAME,c1,c2,c3\nm1,-9,-1,-8\nm2,-1,-1,-7\n")
    (tmp_path / "calls.txt").write_text("HAPLOID 2 3 a b c\n1 0.9 0.5 0.1\n2 0.8 0.2 0.01\n")
    head = ("matrix", "name", "evidence", "absent", "coding", "rows", "fp_rate", "fn_rate")
    rows = (
        ("with.csv", "pair", "likelihoods", "without.csv", "log", "mutations", "", ""),
        ("calls.txt", "likely", "likelihoods", "", "", "", "", ""),
        ("calls.txt", "calls", "calls", "", "", "", "0.02", "0.2"),
    )
    out = tmp_path / "out"
    words = ("--support", "none", "--device", "native", "--out", str(out))
    table = write_table(tmp_path / "t.tsv", head, *rows)
    assert call(["batch", str(table), *words]).status == 0
    summaries = {name: json.loads((out / name / "summary.json").read_text()) for _, name, *_ in rows}
    assert len({summary["log_likelihood"] for summary in summaries.values()}) == 3
    write_table(table, head, *rows[:2], ("calls.txt", "calls", "likelihoods", *[""] * 5))
    assert "--evidence" in call(["batch", str(table), *words]).messages
    (tmp_path / "without.csv").write_text("NAME,c1,c2,c3\nm1,-9,-1,-8\nm2,-1,-2,-7\n")
    write_table(table, head, *rows)
    refused = call(["batch", str(table), *words])
    assert "2 done, 1 failed" in refused.output
    assert "pair has a result of other options or of another matrix" in refused.messages


def test_warnings_are_counted_and_named(tmp_path: Path) -> None:
    """One matrix without errors, with a cell without an observation, under a wrong rate and a right one."""
    values = np.repeat(1 - np.tri(5, 6, -1, dtype=np.uint8), 20, axis=1)
    values[:, 0], values[0, 1:20] = 3, 0  # no mutation is in all cells
    (tmp_path / "m.csv").write_text(format_matrix(values))
    rows = (("matrix", "name", "fn_rate"), ("m.csv", "a", "0.2"), ("m.csv", "b", "0.01"))
    table, out = write_table(tmp_path / "table.tsv", *rows), tmp_path / "out"
    done = call(["batch", str(table), "--out", str(out), "--fp-rate=0.01", "--support=none", "--report"])
    lines = lines_of(out)
    assert [line["warnings"] for line in lines] == ["2", "1"]
    silent = "1 cell without an observation (s0): it says nothing of the tree"
    assert lines[1]["warned"] == silent
    texts = lines[0]["warned"].split(" | ")
    assert texts[0] == silent
    assert texts[1].startswith("the matrix contradicts --fn-rate 0.2: ")
    assert "2 matrices: 2 done (2 with warnings, see results.tsv)" in done.output
    for name in "ab":
        assert f"syclade: warning: {name}: 1 cell without an observation (s0)" in done.messages
    page = (out / "report.html").read_text()
    assert re.search(
        r"<dt>a</dt>\s*<dd>1 cell without an observation .*\s*<dd>the matrix contradicts --fn-rate", page
    )
    assert re.search(r"<dt>b</dt>\s*<dd>1 cell without an observation", page)
    for row in csv.DictReader((out / "results.tsv").read_text().splitlines(), delimiter="\t"):
        shown = json.loads((out / row["name"] / "run.json").read_text())
        assert float(row["seconds"]) == shown["total_seconds"] > shown["seconds"]
