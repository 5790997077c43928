"""`syclade infscite`: ∞SCITE's own runs, written by us, and our own runs."""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import syclade
from syclade.host.chains.runs.clock import Progress
from syclade.host.commands.scite.dialect import best_nodes, newick_text
from syclade.host.commands.scite.infscite import dialect_of, graphviz_text, parse_arguments
from syclade.host.commands.scite.run import run_scite
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.copy_scores import mixture_with_copy
from syclade.host.data.model.doublets import doublet_log_likelihood, fitted_rate, mixture_of
from syclade.host.data.model.likelihood import summed_log_likelihood
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.recurrence import is_allowed, with_copy
from syclade.host.data.trees.treefile import read_tree
from syclade.host.findings.samples.sampled import sample_line
from syclade.host.ground.signals import Stop
from tests.conftest import ROOT
from tests.support.commands import printed_by

EXAMPLE = ROOT / "host" / "data" / "example"
CALL = "-n 20 -m 40 -r 2 -l 200 -fd 0.001 -ad 0.2 -seed 3 --device numpy"
COPIES = ("recurrent-ml", "recurrent-doublet")
RUNS = ("doublet-fixed", "doublet-learned", "doublet-learn-rates", "learn-alpha")
ALPHA, BETA = 3.45e-3, 0.146


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    return partial(printed_by, capsys, "infscite")


def values_of(lines: list[str]) -> dict[str, str]:
    return dict(re.split(r":\t|: +", line, maxsplit=1) for line in lines if ":" in line)


# ---- ∞SCITE's runs


def folder_of(shared: Path, name: str) -> Path:
    return shared / "reference" / "infscite-cli" / name


def words_of(folder: Path, shared: Path) -> list[str]:
    words = (folder / "command.txt").read_text().splitlines()[0].split()[1:]
    return [str(shared / "data" / word) if word.startswith("pat_2") else word for word in words]


def matrix_of(shared: Path) -> Matrix:
    return read_matrix(shared / "data" / "pat_2.csv", shared / "data" / "pat_2.geneNames")


@pytest.mark.shared
@pytest.mark.parametrize("name", RUNS)
def test_the_tree_files_are_those_of_infscite_byte_for_byte(shared_dir: Path, name: str) -> None:
    folder = folder_of(shared_dir, name)
    call, matrix = parse_arguments(words_of(folder, shared_dir)), matrix_of(shared_dir)
    file = folder / "out_map0.gv"
    names = matrix.mutations if call.names else [str(number) for number in range(1, 17)]
    parents = read_tree(file, names)
    np.testing.assert_array_equal(parents, read_tree(file.with_suffix(".newick"), names))
    attached = best_nodes(make_problem(matrix, Rates(ALPHA, BETA)), parents) if call.attach else None
    assert graphviz_text(parents, matrix.mutations if call.names else None, attached) == file.read_text()
    ours, theirs = newick_text(parents), file.with_suffix(".newick").read_text()
    assert sorted(re.findall(r"\d+|[(),]", ours)) == sorted(re.findall(r"\d+|[(),]", theirs))


@pytest.mark.shared
@pytest.mark.parametrize("name", COPIES)
def test_its_files_of_a_recurrent_mutation_are_ours_byte_for_byte(shared_dir: Path, name: str) -> None:
    """-rec 13 is the 13th row, and its copy is called 13_copy; columns of samples include the copy."""
    folder = folder_of(shared_dir, name)
    call = parse_arguments(words_of(folder, shared_dir))
    learned = call.learn > 0
    mutation = dialect_of(call).score.recurrent
    assert mutation == 12
    names = with_copy(read_matrix(call.matrix, beside=False), mutation).mutations
    [file] = folder.glob("out_*0.gv")
    parents = read_tree(file, names)
    np.testing.assert_array_equal(parents, read_tree(file.with_suffix(".newick"), names))
    assert graphviz_text(parents, names) == file.read_text()
    ours, theirs = newick_text(parents), file.with_suffix(".newick").read_text()
    assert sorted(re.findall(r"\d+|[(),]", ours)) == sorted(re.findall(r"\d+|[(),]", theirs))
    for line in (folder / "out.samples").read_text().splitlines() if learned else ():
        score, leaves, *rates, numbers = line.split("\t")
        tree = np.array([*map(int, numbers.split()), 17], np.int32)
        assert is_allowed(tree, mutation)
        assert sample_line(float(score), tree) == f"{score}\t{leaves}\t{numbers}\n"
        assert len(rates) == 5


def log_beta(x: float, mean: float, deviation: float) -> float:
    """Return the logarithm of ∞SCITE's density, whose shape parameters may be negative."""
    a = (1 - mean) * mean**2 / deviation**2 - mean
    b = a * (1 / mean - 1)
    return float(gammaln(a + b) - gammaln(a) - gammaln(b) + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x))


@pytest.mark.shared
@pytest.mark.parametrize("name", ["doublet-fixed", "doublet-learn-rates", "learn-alpha"])
def test_its_samples_have_our_scores_and_rates(shared_dir: Path, name: str) -> None:
    """All columns follow from the tree and its error rates, except for the rate of relevant doublets."""
    folder = folder_of(shared_dir, name)
    call, matrix = parse_arguments(words_of(folder, shared_dir)), matrix_of(shared_dir)
    for line in (folder / "out.samples").read_text().splitlines():
        score, _leaves, *more, numbers = line.split("\t")
        beta, alpha, both, _relevant, rate = map(float, more) if more else (BETA, ALPHA, 0.0, 0.0, 0.1)
        tree = np.array([*map(int, numbers.split()), 16], np.int32)
        rates = Rates(alpha, beta)
        if call.doublets:
            fitted = fitted_rate(mixture_of(matrix, rates, tree)) if call.doublet_rate is None else 0.1
            assert rate == pytest.approx(fitted, rel=2e-5)
            found = doublet_log_likelihood(matrix, rates, tree, fitted)
        else:
            found = summed_log_likelihood(matrix, rates, tree)
        assert float(score) == pytest.approx(found, rel=5e-6)
        if more:
            zeros, ones = call.unmutated or (10_000, 0)
            terms = zeros * math.log1p(-alpha) + ones * math.log(alpha)
            prior = log_beta(beta, BETA, 0.1) + log_beta(alpha, ALPHA, 0.1) + terms
            assert both == pytest.approx(float(score) + prior, rel=1e-5)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["doublet-learn-rates", "learn-alpha"])
def test_its_best_trees_have_our_scores_to_1e_6(shared_dir: Path, name: str) -> None:
    """At its 17 digits of the rates. The score of (T, theta) has its priors, and counts also without -z."""
    folder = folder_of(shared_dir, name)
    call, matrix = parse_arguments(words_of(folder, shared_dir)), matrix_of(shared_dir)
    summary = values_of((folder / "stdout.txt").read_text().splitlines())
    alpha, beta = float(summary["best value for alpha"]), float(summary["best value for beta"])
    tree = read_tree(folder / "out_map0.gv", [str(number) for number in range(1, 17)])
    if call.doublets:
        rate = float(summary["best doublet rate"])
        found = doublet_log_likelihood(matrix, Rates(alpha, beta), tree, rate)
        assert rate == pytest.approx(fitted_rate(mixture_of(matrix, Rates(alpha, beta), tree)), abs=1e-6)
    else:
        found = summed_log_likelihood(matrix, Rates(alpha, beta), tree)
    assert float(summary["best log score for tree"]) == pytest.approx(found, abs=1e-6)
    zeros, ones = call.unmutated or (10_000, 0)
    terms = zeros * math.log1p(-alpha) + ones * math.log(alpha)
    with_priors = found + log_beta(beta, BETA, 0.1) + log_beta(alpha, ALPHA, 0.1) + terms
    assert float(summary["best log score for (T, theta)"]) == pytest.approx(with_priors, abs=1e-6)


@pytest.mark.shared
def test_its_rate_of_relevant_doublets_counts_the_last_cell_twice(shared_dir: Path) -> None:
    """∞SCITE adds the last cell's share of relevant pairs, whatever its probability of being a doublet."""
    matrix, rates = matrix_of(shared_dir), Rates(ALPHA, BETA)
    folder = folder_of(shared_dir, "doublet-learned")
    mixture = mixture_of(matrix, rates, read_tree(folder / "out_map0.gv", matrix.mutations))
    rate = fitted_rate(mixture)
    once_more = math.exp(mixture.relevant[-1] - mixture.pair[-1]) / matrix.n_cells
    assert "best rel. doublet rate 0.1157173462894765" in (folder / "stdout.txt").read_text()
    assert mixture.relevant_rate(rate) + once_more == pytest.approx(0.1157173462894765, abs=1e-7)
    assert mixture.relevant_rate(rate) != pytest.approx(0.1157173462894765, abs=1e-5)


@pytest.mark.shared
@pytest.mark.parametrize("name", [*RUNS, *COPIES])
def test_its_arguments_give_its_lines_and_a_tree_nearly_as_good(
    run: Any, tmp_path: Path, shared_dir: Path, name: str
) -> None:
    """Four chains with doublets instead of one, 16 with a copy. A best state depends on the sampled rates."""
    folder = folder_of(shared_dir, name)
    words = words_of(folder, shared_dir)
    chains = {"recurrent-doublet": 16, "recurrent-ml": 1, "learn-alpha": 1}.get(name, 4)
    words[words.index("-r") + 1] = str(chains)
    device = "cpu" if name == "learn-alpha" else "native"  # which has no kernel that learns alpha alone
    status, lines, _ = run(*words, "-o", tmp_path / "out", "--device", device)
    assert status == 0
    ours, theirs = values_of(lines), values_of((folder / "stdout.txt").read_text().splitlines())
    assert set(ours) <= {*theirs, "best relevant doublet rate", "best doublet rate"}
    label = "best log score for tree"
    if name != "learn-alpha":  # its prior of α differs
        assert float(ours[label]) >= float(theirs[label]) - 0.3
    if "best value for beta" in theirs:
        assert float(ours["best value for beta"]) == pytest.approx(
            float(theirs["best value for beta"]), abs=0.02
        )
    expected = {file.name for file in folder.glob("out*")} | {"out.samples"}  # empty without -p
    assert {file.name for file in tmp_path.iterdir()} == expected
    if "-p" in words:
        one, other = ((place / "out.samples").read_text().splitlines() for place in (tmp_path, folder))
        assert len(one) == chains * len(other)
        assert {line.count("\t") for line in one} == {line.count("\t") for line in other}


# ---- our runs


@pytest.mark.parametrize(
    ("more", "columns"),
    [
        ("-d 0.1", 3), ("-d", 3), ("-s", 3), ("", 3), ("-d 0.2 -e 0.2", 8), ("-d -e 0.2 -z 500 2", 8),
        ("-s -e 0.2", 8), ("-s -e 0.3 -z", 8), ("-rec 3", 3), ("-rec 3 -s", 3), ("-d 0.1 -rec 20", 3),
        ("-d -rec 3", 3), ("-s -e .2 -d -rec 13", 8), ("-rec 3 -e 0.3 -z 500 2", 8),
    ],
)  # fmt: skip
def test_files_and_lines(run: Any, tmp_path: Path, more: str, columns: int) -> None:
    words = more.split()
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), *words, "-p", 25, "-o", tmp_path / "x", "-a"]
    # The package has no kernel of this processor that learns rates of homozygous mutations.
    device, title = (
        ("numpy", "numpy fallback")
        if "-e" in words and words[-1] == "-z"
        else ("native", "this processor, by numba")
    )
    given += ["-max_treelist_size", 1, "-names", EXAMPLE / "matrix.geneNames", "--device", device]
    status, lines, summary = run(*given)
    assert (status, summary.splitlines()[-1]) == (0, f"syclade: 2 chains of 200 steps on {device} ({title})")
    kind = "map" if "-s" in words or "-d" in words else "ml"
    assert {file.name for file in tmp_path.iterdir()} == {"x.samples", f"x_{kind}0.gv", f"x_{kind}0.newick"}
    found = values_of(lines)
    matrix = read_matrix(EXAMPLE / "matrix.csv", EXAMPLE / "matrix.geneNames")
    rates: dict[str, Any] = {
        "fp_rate": float(found.get("best value for alpha", 0.001)),
        "fn_rate": float(found.get("best value for beta", 0.2)),
    }
    assert ("best value for beta" in found) == ("-e" in words)
    score = float(found["best log score for tree"])
    model: dict[str, Any] = {"score": "sum" if "-s" in words else "max"}
    nodes, copies = 20, dict[str, Any]()
    if "-rec" in words:
        row = words[words.index("-rec") + 1]
        nodes, copies = 21, {"recurrent": row}
        copied = with_copy(matrix, int(row) - 1)
        text = (tmp_path / f"x_{kind}0.gv").read_text()
        assert f'\n20[label="{matrix.mutations[int(row) - 1]}_copy"];\n21[label="Root"];\n' in text
        tree = read_tree(tmp_path / f"x_{kind}0.gv", copied.mutations)
        problem = make_problem(copied, Rates(**rates), octaves=kind == "map")
        assert text == graphviz_text(tree, copied.mutations, best_nodes(problem, tree, int(row) - 1))
    if "-d" in words:
        model = {"doublets": float(found["best doublet rate"])}
        assert 0 <= float(found["best relevant doublet rate"]) <= model["doublets"]
    for end in ("gv", "newick"):
        file, names = tmp_path / f"x_{kind}0.{end}", matrix.mutations if end == "gv" else None
        assert score == pytest.approx(
            syclade.score(matrix.values, file, names=names, **rates, **model, **copies), abs=1e-9
        )
    samples = (tmp_path / "x.samples").read_text().splitlines()
    assert len(samples) == 2 * 150 // 25
    for line in samples[::3]:
        told_score, leaves, *of_rates, numbers = line.split("\t")
        assert len(of_rates) == columns - 3
        tree = np.array([*map(int, numbers.split()), nodes], np.int32)
        assert int(leaves) == nodes + 1 - len(set(tree.tolist()))
        if of_rates:
            rates["fn_rate"], rates["fp_rate"] = float(of_rates[0]), float(of_rates[1])
        if "-d" in words:
            fixed = [float(word) for word in words[1:2] if not word.startswith("-")]
            model = {"doublets": fixed[0] if fixed else "learn"}
            if of_rates and not fixed:
                ours = fitted_rate(
                    mixture_with_copy(copied, Rates(**rates), tree, int(row) - 1)
                    if copies
                    else mixture_of(matrix, Rates(**rates), tree)
                )
                assert float(of_rates[4]) == pytest.approx(ours, rel=1e-4, abs=1e-6)
        ours = syclade.score(matrix.values, tree, **rates, **model, **copies)
        assert float(told_score) == pytest.approx(ours, rel=3e-5)


def test_one_seed_gives_one_answer_on_every_device(run: Any, tmp_path: Path) -> None:
    given = [
        "-i",
        EXAMPLE / "matrix.csv",
        *CALL.split(),
        "-d",
        "-e",
        0.2,
        "-z",
        "-p",
        50,
        "-o",
        tmp_path / "x",
    ]
    texts = []
    for device in ("numpy", "native"):
        assert run(*given, "--device", device, "--force")[0] == 0
        texts.append({file.name: file.read_bytes() for file in tmp_path.iterdir()})
    assert texts[0] == texts[1]
    status, lines, _ = run(*given, "-no_tree_list", "--force")
    assert (status, "0 opt trees " in lines) == (0, True)


@pytest.mark.parametrize("more", ["-rec 3", "-rec 3 -d 0.1"])
def test_trees_with_a_copy_are_those_of_infer_on_every_device(run: Any, tmp_path: Path, more: str) -> None:
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), *more.split(), "-p", 25, "-o", tmp_path / "x"]
    texts = []
    for device in ("numpy", "native"):
        status, lines, _ = run(*given, "-max_treelist_size", 1, "--device", device, "--force")
        assert (status, "1 opt trees " in lines) == (0, True)
        texts.append({file.name: file.read_bytes() for file in tmp_path.iterdir()})
    assert texts[0] == texts[1]
    matrix = read_matrix(EXAMPLE / "matrix.csv", beside=False)
    found = syclade.infer(
        matrix, fp_rate=0.001, fn_rate=0.2, recurrent="3", doublets=0.1 if "-d" in more else None,
        method="chain", chains=2, steps=200, seed=3, device="native",
    )  # fmt: skip
    [file] = tmp_path.glob("x_*0.gv")
    np.testing.assert_array_equal(read_tree(file, with_copy(matrix, 2).mutations), found.parents)
    assert float(values_of(lines)["best log score for tree"]) == pytest.approx(found.log_likelihood, abs=1e-9)


@pytest.mark.parametrize("more", ["-d 0.1", "-rec 3"])
def test_the_distance_to_a_true_tree(run: Any, tmp_path: Path, more: str) -> None:
    names = EXAMPLE / "matrix.geneNames"
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), *more.split(), "-names", names]
    run(*given, "-o", tmp_path / "x")
    [file] = tmp_path.glob("x_*0.gv")
    status, lines, _ = run(*given, "-o", tmp_path / "y", "-t", file)
    assert (status, values_of(lines)["distance to true tree"]) == (0, "0")


def test_cell_trees_are_those_of_scite(run: Any, tmp_path: Path) -> None:
    given = ["-i", EXAMPLE / "matrix.csv", *CALL.split(), "-transpose", "-o", tmp_path / "x"]
    assert run(*given)[0] == 0
    assert (tmp_path / "x_ml0.newick").exists()


def test_a_stopped_run_writes_what_it_has(tmp_path: Path) -> None:
    given = ["-i", str(EXAMPLE / "matrix.csv"), *CALL.split(), "-d", "-o", str(tmp_path / "x")]
    call, stop = parse_arguments([*given, "-l", "1000000000"]), Stop()

    def report(state: Progress, _problem: object) -> None:
        stop.wanted = state.steps_done > 500

    assert run_scite(call, report, stop, dialect_of(call)).interrupted
    assert (tmp_path / "x_map0.newick").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("-n 21", "there are 20 rows"), ("-d 2", "-d is 2"), ("-rec 21", "-rec is 21"),
        ("-rec 3 -transpose", "-transpose does not go with -rec here"),
    ],
)  # fmt: skip
def test_refused_before_anything_is_run(run: Any, tmp_path: Path, more: str, words: str) -> None:
    status, lines, summary = run(
        "-i", EXAMPLE / "matrix.csv", *CALL.split(), "-o", tmp_path / "x", *more.split()
    )
    assert (status, lines) == (2, [])
    assert words in summary
    assert not list(tmp_path.iterdir())


def test_help(run: Any) -> None:
    status, lines, _ = run("--help")
    assert status == 0
    assert any("-sd_alpha" in line for line in lines)
