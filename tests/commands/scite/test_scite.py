"""`syclade scite`: SCITE's own runs, written by us, and our own runs."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.runs.clock import Progress
from syclade.host.commands.scite import run as run_module
from syclade.host.commands.scite.arguments import parse_arguments
from syclade.host.commands.scite.dialect import best_nodes, graphviz_text, newick_text, rates_of
from syclade.host.commands.scite.run import SciteOutcome, run_scite
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.likelihood import log_likelihood, summed_log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import tree_key
from syclade.host.data.trees.treefile import read_tree
from syclade.host.findings.samples.sampled import sample_line
from syclade.host.ground.signals import Stop
from tests.conftest import ROOT
from tests.support.commands import printed_by

EXAMPLE = ROOT / "host" / "data" / "example"
CALL = "-n 20 -m 40 -r 2 -l 400 -fd 0.001 -ad 0.2 -seed 3 --device numpy"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    return partial(printed_by, capsys, "scite")


# ---- SCITE's runs


@pytest.mark.shared
@pytest.mark.parametrize("name", ["ml", "ml-names-attach", "gamma-moves", "zygosity", "map-samples"])
def test_scites_trees_are_written_as_scite_does(shared_dir: Path, name: str) -> None:
    """Our texts have SCITE's lines, and the trees have the scores that it printed."""
    folder = shared_dir / "reference" / "scite-cli" / name
    words = (folder / "command.txt").read_text().splitlines()[0].split()[1:]
    call = parse_arguments(words)
    names = None if call.names is None else shared_dir / "data" / call.names
    matrix, rates = read_matrix(shared_dir / "data" / call.matrix, names), rates_of(call)
    assert matrix.values.shape == (call.mutations, call.cells)
    printed = (folder / "stdout.txt").read_text()
    score = float(re.findall(r"best log score for tree:\t(\S+)", printed)[0])
    files = sorted(folder.glob("out_map*.gv" if call.sum_score else "out_ml*.gv"))
    assert len(files) == call.max_trees
    for file in files:
        parents = read_tree(file, matrix.mutations)
        of_tree = summed_log_likelihood if call.sum_score else log_likelihood
        assert of_tree(matrix, rates, parents) == pytest.approx(score, abs=1e-9)
        attached = best_nodes(make_problem(matrix, rates), parents) if call.attach else None
        text = graphviz_text(parents, None if names is None else matrix.mutations, attached)
        assert sorted(text.splitlines()) == sorted(file.read_text().splitlines())
        assert text.splitlines()[: call.mutations + 2] == file.read_text().splitlines()[: call.mutations + 2]
        newick = file.with_suffix(".newick").read_text()
        ours = newick_text(parents)
        assert sorted(re.findall(r"\d+|[(),]", ours)) == sorted(re.findall(r"\d+|[(),]", newick))
        assert (";" in ours, ours[-1]) == (";" in newick, newick[-1])


@pytest.mark.shared
def test_scites_samples_have_the_sum_score(shared_dir: Path) -> None:
    folder = shared_dir / "reference" / "scite-cli" / "map-samples"
    call = parse_arguments((folder / "command.txt").read_text().splitlines()[0].split()[1:])
    matrix, rates = read_matrix(shared_dir / "data" / call.matrix), rates_of(call)
    lines = (folder / "out.samples").read_text().splitlines()
    assert len(lines) == 75
    for line in lines:
        score, _leaves, numbers = line.split("\t")
        parents = [*map(int, numbers.split()), call.mutations]
        assert summed_log_likelihood(matrix, rates, parents) == pytest.approx(float(score), rel=5e-6)


def test_the_sum_score_is_written_as_scite_does(run: Any, tmp_path: Path) -> None:
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), "-s", "-p", "50", "-o", tmp_path / "x"]
    status, lines, _told = run(*given, "-max_treelist_size", "1")
    assert status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.samples", "x_map0.gv", "x_map0.newick"]
    matrix, rates = read_matrix(EXAMPLE / "matrix.csv"), Rates(0.001, 0.2)
    tree = read_tree(tmp_path / "x_map0.gv", matrix.mutations)
    score = float(lines[0].split("\t")[1])
    assert score == pytest.approx(summed_log_likelihood(matrix, rates, tree), abs=1e-9)
    assert score != pytest.approx(log_likelihood(matrix, rates, tree), abs=0.1)


@pytest.mark.shared
def test_scites_lines(shared_dir: Path) -> None:
    """Lines that scripts look for are identical to SCITE's."""
    printed = (shared_dir / "reference" / "scite-cli" / "ml" / "stdout.txt").read_text()
    call = parse_arguments([*CALL.split(), "-i", "x", "-r", "1", "-l", "100000", "-o", "ml/out"])
    outcome = SciteOutcome(-154.88511031668659, [np.zeros(2, np.int32)] * 23, None, 75000, 531.535)
    for line in outcome.lines(call):
        assert line in printed.splitlines()


@pytest.mark.shared
def test_scites_samples(shared_dir: Path) -> None:
    file = shared_dir / "reference" / "scite-cli" / "map-samples" / "out.samples"
    for line in file.read_text().splitlines(keepends=True):
        score, _, parents = line.split("\t")
        tree = np.array([*map(int, parents.split()), 35], np.int32)
        assert sample_line(float(score), tree) == line


def test_cells_at_the_root_alone_are_not_lost() -> None:
    """The root keeps a cell only if no other node is as good."""
    problem = make_problem(matrix_from_array([[0, 3, 1], [0, 0, 1]]), Rates(0.01, 0.2))
    parents = np.array([2, 0, 2], np.int32)
    at = best_nodes(problem, parents)
    assert at.tolist() == [[False, True, False], [False, False, True], [True, False, False]]
    assert graphviz_text(parents, None, at).endswith("1 -> s1;\n2 -> s2;\n3 -> s0;\n}\n")


# ---- our runs


def test_files_and_lines(run: Any, tmp_path: Path) -> None:
    out = tmp_path / "new" / "base"
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), "-o", out]
    assert "there is no directory" in run(*given)[2]
    out.parent.mkdir()
    status, lines, shown = run(*given, "-p", 50, "-max_treelist_size", 2, "-t", EXAMPLE / "true_tree.newick",
                              "-names", EXAMPLE / "matrix.geneNames", "-a")  # fmt: skip
    assert (status, shown) == (0, "syclade: 2 chains of 400 steps on numpy (numpy fallback)\n")
    said = dict(re.split(r":?\t|: ", line, maxsplit=1) for line in lines if "opt trees" not in line)
    (count,) = (int(line.split()[0]) for line in lines if line.endswith("opt trees "))
    assert said["total #steps after burn-in"] == "600"
    assert said["samples from posterior written to"] == f"{out}.samples"
    matrix = read_matrix(EXAMPLE / "matrix.csv", EXAMPLE / "matrix.geneNames")
    score, rates = float(said["best log score for tree"]), rates_of(parse_arguments(map_words(given)))
    expected = {f"base_ml{number}.{end}" for number in range(min(count, 2)) for end in ("gv", "newick")}
    assert {file.name for file in out.parent.iterdir()} == expected | {"base.samples"}
    keys = set()
    for name in sorted(expected):
        parents = read_tree(out.parent / name, matrix.mutations)
        assert log_likelihood(matrix, rates, parents) == pytest.approx(score, abs=1e-9)
        keys.add(tree_key(parents))
    assert len(keys) == min(count, 2)
    true = read_tree(EXAMPLE / "true_tree.newick", matrix.mutations)
    assert 0 <= int(said["distance to true tree"]) <= int((parents != true).sum())
    samples = (out.parent / "base.samples").read_text().splitlines()
    assert len(samples) == 2 * 300 // 50
    for line in samples:
        told_score, _, tree = line.split("\t")
        ours = log_likelihood(matrix, rates, np.array([*map(int, tree.split()), 20], np.int32))
        assert float(told_score) == pytest.approx(ours, rel=1e-5)
    assert run(*given)[0] == 2, "files are there"
    assert run(*given, "--force")[0] == 0


def test_a_result_that_cannot_be_written_is_kept(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output folder disappears while the chains run."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "out"
    folder.mkdir()
    right = best_nodes

    def vanish(*of_tree: Any) -> Any:
        shutil.rmtree(folder)
        folder.write_text("a file now")
        return right(*of_tree)

    monkeypatch.setattr(run_module, "best_nodes", vanish)
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), "-o", folder / "x", "-a", "-max_treelist_size", 1]
    status, _, shown = run(*given)
    assert status == 2
    kept = Path(shown.split("the result is not lost: it is in ")[1].strip())
    assert {file.name for file in kept.iterdir()} == {"x_ml0.gv", "x_ml0.newick", "x.samples"}
    assert kept.is_relative_to(tmp_path / "state")


def test_progress_is_told(tmp_path: Path) -> None:
    seen: list[int] = []
    given = ["-i", str(EXAMPLE / "matrix.csv"), *CALL.split(), "-o", str(tmp_path / "x"), "-no_tree_list"]
    run_scite(parse_arguments(given), lambda state, _problem: seen.append(state.steps_done))
    assert seen == sorted(seen)
    assert seen[-1] == 800


@pytest.mark.parametrize("more", ["", "-transpose"])
def test_a_stopped_run_writes_what_it_has(tmp_path: Path, more: str) -> None:
    stop, given = Stop(), ["-i", str(EXAMPLE / "matrix.csv"), *CALL.split(), "-o", str(tmp_path / "x")]
    call = replace(parse_arguments([*given, *more.split()]), steps=10**9)

    def report(state: Progress, _problem: object) -> None:
        stop.wanted = state.steps_done > 1000

    outcome = run_scite(call, report, stop)
    assert outcome.interrupted
    assert outcome.steps_after_burn_in == 0, "stopped within the burn-in"
    assert (tmp_path / "x_ml0.newick").exists()
    assert outcome.log_likelihood < 0


def map_words(given: list[object]) -> list[str]:
    return [str(word) for word in given]


def test_one_seed_gives_one_answer(run: Any, tmp_path: Path) -> None:
    """The answer is the same with or without the list of trees, with or without samples, on every device."""
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), "-o", tmp_path / "x"]
    _, lines, _ = run(*given, "-p", 100)
    score, kept = lines[0], (tmp_path / "x_ml0.newick").read_bytes()
    for file in tmp_path.iterdir():
        file.unlink()
    status, lines, _ = run(*given, "-no_tree_list")
    assert (status, lines[0]) == (0, score)
    assert "0 opt trees " in lines
    assert [file.name for file in tmp_path.iterdir()] == ["x.samples"]
    assert (tmp_path / "x.samples").read_text() == ""
    _, lines, shown = run(*given, "--device", "native", "--force")
    assert lines[0] == score
    assert shown.rstrip().endswith("2 chains of 400 steps on native (this processor, by numba)")
    assert (tmp_path / "x_ml0.newick").read_bytes() == kept


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("-n 21", "there are 20 rows"),
        ("-i nowhere.csv", "nowhere.csv: no such file"),
        ("-names nowhere", "no such file"),
        ("-t nowhere", "no such file"),
        ("-z", "-z is a flag of ∞SCITE"),
        ("-q", "there is no flag -q"),
        ("-fd 0.9", "add up to 1 or more"),
        ("-g 0", "-g is 0"),
    ],
)
def test_refused_before_anything_is_run(run: Any, tmp_path: Path, more: str, words: str) -> None:
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), "-o", tmp_path / "x", *more.split()]
    status, lines, shown = run(*given)
    assert (status, lines) == (2, [])
    assert words in shown
    assert not list(tmp_path.iterdir())


def test_help(run: Any) -> None:
    status, lines, _ = run("--help")
    assert status == 0
    assert any("-max_treelist_size" in line for line in lines)


# ---- learned error rate


@pytest.mark.shared
@pytest.mark.parametrize("name", ["map-learn-beta-samples", "zygosity-learn-beta"])
def test_learned_rates_of_scites_calls(run: Any, tmp_path: Path, shared_dir: Path, name: str) -> None:
    """SCITE's arguments, with more steps, give its lines and files, and its scores or better ones."""
    folder = shared_dir / "reference" / "scite-cli" / name
    words = (folder / "command.txt").read_text().splitlines()[0].split()[1:]
    words[words.index("-i") + 1] = str(shared_dir / "data" / words[words.index("-i") + 1])
    words[words.index("-r") + 1], words[words.index("-l") + 1] = "4", "200000"
    status, lines, _ = run(*words, "-o", tmp_path / "out", "--device", "native")
    assert status == 0
    scite = (folder / "stdout.txt").read_text().splitlines()

    def value(of: list[str], label: str) -> float:
        return float(next(line for line in of if line.startswith(label)).split("\t")[1])

    found, wanted = (value(one, "best log score for (T, beta):") for one in (lines, scite))
    assert found >= wanted - 0.01
    rate, expected = (value(one, "best value for beta:") for one in (lines, scite))
    assert rate == pytest.approx(expected, abs=0.02)
    assert {one.name for one in tmp_path.iterdir()} <= {one.name for one in folder.iterdir()}
    theirs = (folder / "out.samples").read_text().splitlines()
    ours = (tmp_path / "out.samples").read_text().splitlines()
    assert len(ours) == 8 * len(theirs)  # none without -p
    assert {line.count("\t") for line in (*ours, *theirs)} <= {4}


@pytest.mark.shared
def test_scites_samples_have_its_prior(shared_dir: Path) -> None:
    """The columns are score, leaves, rate and score with the prior, which is ours at these rates."""
    samples = shared_dir / "reference" / "scite-cli" / "map-learn-beta-samples" / "out.samples"
    learned = make_rate_model(Rates(2.67e-5, 0.1643), learn_fn=0.2)
    assert learned is not None
    assert learned.fn is not None
    for line in samples.read_text().splitlines():
        score, _, rate, both, _ = line.split("\t")
        prior = np.interp(float(rate), learned.fn.rates, learned.fn.log_density)
        assert float(both) - float(score) == pytest.approx(float(prior), abs=0.003)


# ---- cell trees


@pytest.mark.shared
def test_the_cell_leaf_tree_of_scites_call(run: Any, tmp_path: Path, shared_dir: Path) -> None:
    """Arguments of a SCITE call give its score or a better one, and its files: cells 1 to m, no semicolon."""
    folder = shared_dir / "reference" / "scite-cli" / "transpose"
    words = (folder / "command.txt").read_text().splitlines()[0].split()[1:]
    words[words.index("-i") + 1] = str(shared_dir / "data" / "dataXu.csv")
    status, lines, _ = run(*words, "-o", tmp_path / "out", "--device", "native")
    assert status == 0
    scite = (folder / "stdout.txt").read_text()
    best = next(line for line in lines if line.startswith("best log score for tree:"))
    expected = next(line for line in scite.splitlines() if line.startswith("best log score for tree:"))
    assert float(best.split("\t")[1]) >= float(expected.split("\t")[1]) - 1e-9
    assert next(line for line in lines if "after burn-in" in line) in scite
    assert {one.name for one in tmp_path.iterdir()} == {one.name for one in folder.iterdir()} & {
        "out_ml0.newick", "out.samples"
    }  # fmt: skip
    assert (tmp_path / "out.samples").read_bytes() == (folder / "out.samples").read_bytes() == b""
    ours, theirs = ((place / "out_ml0.newick").read_text() for place in (tmp_path, folder))
    numbers = sorted(map(int, re.findall(r"\d+", ours)))
    assert numbers == sorted(map(int, re.findall(r"\d+", theirs))) == list(range(1, 34))
    assert re.search(r"\d+\n$", ours)
    leaves = [set(re.findall(r"[(,](\d+)(?=[,)])", text)) for text in (ours, theirs)]
    assert leaves == [{str(cell) for cell in range(1, 18)}] * 2
    log = syclade.score(
        shared_dir / "data" / "dataXu.csv",
        tmp_path / "out_ml0.newick",
        fp_rate=2.67e-5,
        fn_rate=0.1643,
        kind="leaf",
    )
    assert float(best.split("\t")[1]) == pytest.approx(log, abs=1e-9)


def test_cell_leaf_trees_without_a_list(run: Any, tmp_path: Path) -> None:
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), "-transpose", "-o", tmp_path / "base"]
    status, lines, _ = run(*given, "-no_tree_list", "-move_probs", 0.5, 0.5)
    assert status == 0
    assert "0 opt trees " in lines
    assert {one.name for one in tmp_path.iterdir()} == {"base.samples"}
