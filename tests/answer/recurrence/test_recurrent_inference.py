"""Inferences with a recurrent mutation: planted ones are found, files, checkpoints and errors right."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy.special import betaln

import syclade
from syclade.host.answer.batch.results_table import line_of
from syclade.host.answer.figures.source import files_in, files_in_memory
from syclade.host.answer.output.result_files import multiqc_row
from syclade.host.answer.recurrence import bayes_factors as recurrence_tests
from syclade.host.answer.recurrence import sampled_factors
from syclade.host.answer.recurrence.chains import Estimate, estimate_of
from syclade.host.answer.report.summary import quality_of
from syclade.host.commands.main import cli
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.recurrence import LOSS, PARALLEL, genotypes_of, is_allowed
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import ancestor_matrix, node_labels
from syclade.host.findings.support.plan import make_support_plan
from syclade.host.ground.errors import CheckpointError, OptionError, TreeError
from syclade.host.ground.signals import Stop
from syclade.quality.oracle.trees import all_trees
from tests.answer.recurrence.test_recurrent_posterior import RATES, small_matrix
from tests.chains.doublets.cases import matrix_of
from tests.support.backends import Case
from tests.support.did_all import assert_did_all
from tests.support.dirichlet import log_probabilities

FP, FN = 0.01, 0.1

LOST = (7, 0, 1, 2, 2, 7, 3, 7)
"""Mutation 0 and its copy, 6, on one path."""
TWICE = (7, 0, 1, 7, 3, 4, 5, 7)
"""Mutation 0 and its copy in two branches."""
PLANTED = {LOSS: LOST, PARALLEL: TWICE}


def planted(kind: str, cells: int = 140) -> NDArray[np.uint8]:
    """Return cells of all nodes of a tree in which mutation 0 recurs, with errors."""
    generator = np.random.default_rng(5)
    has = genotypes_of(np.array(PLANTED[kind], dtype=np.int32), 0)[:-1]
    true = has[:, np.arange(cells) % has.shape[1]]
    wrong = generator.random(true.shape) < np.where(true, FN, FP)
    return np.asarray(true ^ wrong, dtype=np.uint8)


@pytest.mark.parametrize("doublets", [None, 0.05], ids=["max", "doublets"])
@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_recurrence_is_found(kind: str, doublets: float | None) -> None:
    options: dict[str, Any] = {"fp_rate": FP, "fn_rate": FN, "doublets": doublets, "steps": 3000, "chains": 4}
    found = syclade.infer(planted(kind), recurrent=1, device="native", **options)
    recurrence = found.assignment.recurrence
    assert recurrence is not None
    assert (recurrence.mutation, recurrence.kind) == ("1", kind)
    assert recurrence.gain is not None
    assert recurrence.gain > 20
    assert recurrence.words in found.report()
    doubt = "this gain alone is no evidence, since two copies fit at least as well as one"
    doubt += ": --recurrent all tests it"
    lines = [line for finding in found.findings for line in finding.lines]
    assert f"{recurrence.words}; {doubt}" in lines
    assert doubt in found.report()
    assert found.fitted_rates is None, "they are fitted to trees without copies"
    has = genotypes_of(found.parents, 0)
    true = genotypes_of(np.array(PLANTED[kind], dtype=np.int32), 0)
    assert set(map(tuple, has.T.tolist())) == set(map(tuple, true.T.tolist()))
    assert (found.kind.genotypes(found.tree) == has[:, found.attachment]).all()
    again = syclade.score(
        planted(kind), found.parents, fp_rate=FP, fn_rate=FN, doublets=doublets, recurrent=1
    )
    assert again == found.log_likelihood
    without = syclade.infer(planted(kind), device="native", **options)
    assert recurrence.without == without.log_likelihood


def test_the_copy_is_not_counted_as_a_measured_mutation(tmp_path: Path) -> None:
    """Counts and tables of the input are those of the matrix as it was given."""
    values = planted(LOSS, 40)
    values[1, :24] = 3
    path = tmp_path / "matrix.csv"
    np.savetxt(path, values, fmt="%d")
    found = syclade.infer(
        path, recurrent=1, fp_rate=FP, fn_rate=FN, steps=500, chains=2, device="native", samples=5
    )
    assert found.mutations == (*"123456", "1_copy")
    assert found.measured == tuple("123456")
    assert "6 mutations × 40 cells" in repr(found)
    assert found.summary()["n_mutations"] == 6
    assert line_of("a", found)["mutations"] == 6
    row = multiqc_row(found)
    assert row["mutations"] == 6
    assert row["missing"] == pytest.approx(10.0)
    made = found.to_anndata()
    assert list(made.var_names) == list("123456")
    np.testing.assert_array_equal(made.X, values.T)
    assert made.layers["tree"].shape == made.shape
    found.write(tmp_path / "result")
    for files in (files_in_memory(found), files_in(tmp_path / "result")):
        mutations, cells = quality_of(files)
        assert (mutations.words[0], cells.words[0]) == ("10.0% of all entries are missing.",) * 2
        assert mutations.table is not None
        assert {line[0] for line in mutations.table.rows} == set("123456")
    page = found.report()
    assert "6 mutations, 40 cells" in page
    assert "6 of the 6 mutations" in page


@pytest.mark.parametrize("kind", PLANTED)
def test_a_test_of_all_finds_the_planted_one(kind: str) -> None:
    result = syclade.infer(
        planted(kind), recurrent="all", fp_rate=FP, fn_rate=FN, steps=2000, chains=3, device="native"
    )
    found = result.recurrences
    assert found is not None
    assert "Mutations that may recur" in result.report()
    assert [test.recurrence.mutation for test in found.tests] == ["1", "2", "3", "4", "5", "6"]
    assert found.best.recurrence.mutation == "1"
    assert found.best.recurrence.kind == kind
    by_factor = max(found.tests, key=lambda test: test.log_bayes_factor)
    assert by_factor is found.best
    assert by_factor.log_bayes_factor > 10 > by_factor.error
    rows = list(csv.DictReader(io.StringIO(found.table()), delimiter="\t"))
    assert [row["mutation"] for row in rows] == list(result.mutations)
    assert [row["row"] for row in rows] == list("123456")
    for row, test in zip(rows, found.tests, strict=True):
        assert test.recurrence.without is not None
        gain = test.log_likelihood - test.recurrence.without
        assert float(row["gain"]) == test.recurrence.gain == pytest.approx(gain, abs=1e-9)


def test_chains_start_at_the_trees_of_searches() -> None:
    """Without options of chains, these start at the best trees without a recurrence, each with a copy."""
    found = syclade.infer(
        planted(LOSS), fp_rate=FP, fn_rate=FN, recurrent="1", encoding="parities", device="native"
    )
    assert found.options["start"] == "search"
    assert found.converged
    recurrence = found.assignment.recurrence
    assert recurrence is not None
    assert recurrence.kind == LOSS
    without = syclade.infer(planted(LOSS), fp_rate=FP, fn_rate=FN, device="native", support="none")
    assert recurrence.without == without.log_likelihood


@cache
def counts_at_nodes(nodes: int, cells: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return all numbers of cells at the nodes, and their log-probabilities over all shares."""
    counts = np.array([some for some in product(range(cells + 1), repeat=nodes) if sum(some) == cells])
    return counts, log_probabilities(counts)


@cache
def evidence_of(nodes_with: tuple[tuple[bool, ...], ...], model: str) -> float:
    """Return the log-likelihood of a tree for a small matrix, with the nodes of the cells summed out.

    Args:
        nodes_with: which of the 3 mutations each node has.
        model: shares, for a Dirichlet prior with each concentration of the grid; equal, for nodes of equal
            probabilities; or doublets, for these and cells that are two together, at `DOUBLETS`.
    """
    has, problem = np.array(nodes_with).T, make_problem(small_matrix(3), RATES)
    weights = problem.unit * problem.weight_rows().astype(np.float64)[:, problem.column_of]
    likely = np.exp(has.T @ weights)
    nodes, cells = likely.shape
    if model == "doublets":
        pairs = (has[:, :, None] | has[:, None, :]).reshape(3, -1)
        both = DOUBLETS * np.exp(pairs.T @ weights).mean(axis=0) + (1 - DOUBLETS) * likely.mean(axis=0)
        return float(np.log(both).sum())
    if model == "equal":
        return float(np.log(likely.mean(axis=0)).sum())
    by_counts = np.zeros(
        (cells + 1,) * nodes
    )  # sums over all nodes of the cells, by the numbers at the nodes
    by_counts[(0,) * nodes] = 1.0
    for cell in range(cells):
        moved = [likely[node, cell] * np.roll(by_counts, 1, axis=node) for node in range(nodes)]
        by_counts = np.sum(moved, axis=0)
    there, priors = counts_at_nodes(nodes, cells)
    return float(np.logaddexp.reduce(priors + np.log(by_counts[tuple(there.T)])))


def exact_factor(model: str, mutation: int, *, constrained: bool = True, gained: bool = False) -> float:
    """Return the log of the Bayes factor for a small matrix, from all trees.

    Args:
        model: as for `evidence_of`.
        mutation: the mutation.
        constrained: whether the copies are neither siblings nor parent and child.
        gained: whether a loss is none.
    """

    def evidence(has: NDArray[np.bool_]) -> float:
        # The root comes last, with no mutation.
        return evidence_of(tuple(sorted(map(tuple, has.astype(bool).T.tolist()), reverse=True)), model)

    plain = [evidence(ancestor_matrix(np.array(tree, dtype=np.int32))[:-1]) for tree in all_trees(3)]
    recurrent = []
    for tree in all_trees(4):
        parents = np.array(tree, dtype=np.int32)
        if constrained and not is_allowed(parents, mutation):
            continue
        has, above = genotypes_of(parents, mutation), ancestor_matrix(parents)
        if gained:
            has[mutation] = above[mutation] | above[3]
        recurrent.append(evidence(has[:-1]))
    means = [np.logaddexp.reduce(logs) - math.log(len(logs)) for logs in (recurrent, plain)]
    return float(means[0] - means[1])


DOUBLETS = 0.2


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("steps", "chains", "most"),
    [(12_000, 8, 0.05), pytest.param(50_000, 16, 0.032, marks=pytest.mark.verification)],
)
@pytest.mark.parametrize("model", ["shares", "doublets"])
def test_bayes_factors_are_those_of_all_trees_and_of_no_other_model(
    model: str, steps: int, chains: int, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The score of the best trees does not matter for Bayes factors, but doublets do.

    With shares, chains have the length of quick support, however many steps there are: here, of full support.
    """
    if chains > 8:
        monkeypatch.setattr(sampled_factors, "_SAMPLES", 4096)
        quick = make_support_plan
        monkeypatch.setattr(sampled_factors, "make_support_plan", lambda _, *rest: quick("full", *rest))
    found = syclade.infer(
        small_matrix(3), recurrent="all", fp_rate=RATES.fp_rate, fn_rate=RATES.fn_rate,
        steps=steps, chains=chains, device="native", doublets=DOUBLETS if model == "doublets" else None,
    ).recurrences  # fmt: skip
    assert found is not None
    others: list[dict[str, Any]] = [{"constrained": False}, {"gained": True}]
    others += [{"model": "equal"}] if model == "doublets" else []
    wrong = [0] * len(others)
    for mutation, test in enumerate(found.tests):
        error = 5 * test.error + 1e-3  # that of rounded weights, and of sums of powers
        assert 0 < test.error < most
        assert test.log_bayes_factor == pytest.approx(exact_factor(model, mutation), abs=error)
        for number, wrongly in enumerate(others):
            without = exact_factor(**{"model": model, "mutation": mutation, **wrongly})
            wrong[number] += abs(test.log_bayes_factor - without) > error
    assert all(wrong), "the check would also hold for other models"


def test_the_error_of_an_estimate_is_that_of_a_mean() -> None:
    """Of one rung with small values, the log of a mean of exponentials is nearly their mean."""
    ratios = 1e-4 * np.random.default_rng(1).standard_normal((200, 1))
    found = estimate_of(ratios)
    assert found.value == pytest.approx(ratios.mean(), abs=1e-8)
    assert found.error == pytest.approx(ratios.std(ddof=1) / math.sqrt(200), rel=1e-3)
    assert math.isnan(estimate_of(ratios[:1]).error)
    assert Estimate(1.0, 3.0).minus(Estimate(0.5, 4.0)) == (0.5, 5.0)


def run(*words: object) -> tuple[int, str]:
    """Run the command; return its exit code and output."""
    found = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)
    return found.exit_code, found.output


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.csv"
    np.savetxt(path, planted(LOSS), fmt="%d")
    return path


def test_files_have_both_copies(matrix: Path, tmp_path: Path) -> None:
    out, rates = tmp_path / "out", ("--fp-rate", FP, "--fn-rate", FN)
    words = ("--recurrent", 1, "--steps", 3000, "--chains", 4, "--device", "native", "--out", out)
    code, output = run("infer", matrix, *rates, *words)
    assert code == 0, output
    assert "1: loss: log-likelihood" in output
    written = json.loads((out / "summary.json").read_text())
    assert written["mutations"] == ["1", "2", "3", "4", "5", "6", "1_copy"]
    assert (
        written["matrix_sha256"]
        == syclade.infer(matrix, fp_rate=FP, fn_rate=FN, steps=1, chains=1, device="numpy").matrix_sha256
    )
    assert {written["recurrence"]["upper"], written["recurrence"]["lower"]} == {0, 6}
    labels = node_labels(written["mutations"])
    assert "1_copy" in (out / "tree.newick").read_text()
    assert '"1_copy"' in (out / "tree.gv").read_text()
    with (out / "attachments.tsv").open() as file:
        names = {row["node"] for row in csv.DictReader(file, delimiter="\t")}
    assert {"1", "1_copy"} <= names <= set(labels)
    for tree in ("tree.newick", "tree.gv"):
        code, output = run("score", matrix, out / tree, *rates, "--recurrent", 1, "--json")
        assert code == 0, output
        scored = json.loads(output)
        assert scored["log_likelihood"] == written["log_likelihood"]
        assert scored["recurrence"]["kind"] == LOSS


def test_a_test_of_all_writes_its_table(matrix: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--recurrent", "all", "--steps", 300, "--chains", 2, "--device", "native", "--out", out)
    code, output = run("infer", matrix, "--fp-rate", FP, "--fn-rate", FN, *words)
    assert code == 0, output
    assert "evidence for a recurrence" in output
    written = json.loads((out / "summary.json").read_text())
    assert written["mutations"] == list("123456")
    rows = list(csv.DictReader(io.StringIO((out / "recurrences.tsv").read_text()), delimiter="\t"))
    assert [float(row["gain"]) for row in rows] == [test["gain"] for test in written["recurrences"]["tests"]]
    assert "recurrences.tsv" in json.loads((out / "run.json").read_text())["files"]


def test_a_resumed_run_ends_as_if_it_had_never_stopped(matrix: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "fp_rate": FP, "fn_rate": FN, "recurrent": "1", "chains": 2, "steps": 400, "device": "native",
    }  # fmt: skip
    through = syclade.infer(matrix, **options)
    kept, stop = tmp_path / "kept", Stop()

    def once(state: object) -> None:
        stop.wanted = True

    cut = syclade.infer(matrix, checkpoint=kept, checkpoint_every=0, stop=stop, progress=once, **options)
    assert cut.stopped_in == "tree"
    assert cut.assignment.recurrence is not None
    assert cut.assignment.recurrence.gain is None
    resumed = syclade.infer(matrix, resume=kept, **options)
    assert resumed.summary() == through.summary()
    with pytest.raises(CheckpointError, match="--recurrent"):
        syclade.infer(matrix, resume=kept, **{**options, "recurrent": "2"})


@pytest.mark.parametrize("kind", ["--recurrent", "--losses"])
def test_simulated_truth_is_found_and_scored(kind: str, tmp_path: Path) -> None:
    """A simulation's own log-likelihood of its tree is that of `score`, and the mutation is found."""
    out, rates = tmp_path / "made", ("--fp-rate", FP, "--fn-rate", FN)
    words = ("--cells", 100, "--mutations", 15, *rates, kind, 1, "--seed", 3, "--out", out)
    code, output = run("simulate", *words)
    assert code == 0, output
    written = json.loads((out / "simulation.json").read_text())
    mutation = written["copies"][0]["mutation"]
    tree = out / "true_tree.gv"
    code, output = run("score", out / "matrix.csv", tree, *rates, "--recurrent", mutation + 1)
    assert code == 0, output
    assert float(output.splitlines()[-1]) == pytest.approx(written["log_likelihood"], abs=1e-9)
    found = syclade.infer(
        out / "matrix.csv", fp_rate=FP, fn_rate=FN, recurrent="all", steps=2000, chains=2, device="native"
    ).recurrences
    assert found is not None
    assert found.best.recurrence.mutation == f"M{mutation + 1}"
    assert found.best.recurrence.kind == (LOSS if kind == "--losses" else PARALLEL)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"tree": "leaf"}, "--tree leaf does not go with --recurrent"),
        ({"score": "sum", "doublets": 0.1}, "--score sum does not go with --doublets"),
        ({"max_trees": 3}, "--max-trees does not go with --recurrent"),
        ({"stages": "separate", "steps": 10}, "does not go with"),
        ({"recurrent": "nobody"}, "--recurrent is 'nobody', which is not a mutation"),
        ({"encoding": "preorder", "steps": 10}, "have no encoding 'preorder'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(more: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"fp_rate": FP, "fn_rate": FN, "recurrent": 1, "device": "native", **more}
    with pytest.raises(OptionError, match=message):
        syclade.infer(planted(LOSS), **options)


@pytest.mark.parametrize("recurrent", [1, "all"])
def test_one_mutation_is_refused(recurrent: int | str) -> None:
    values = matrix_of(Case(1, 5)).values
    with pytest.raises(OptionError, match="--recurrent with 1 mutation"):
        syclade.infer(values, fp_rate=FP, fn_rate=FN, recurrent=recurrent, device="numpy", steps=10)


def test_a_tree_that_is_not_allowed_has_no_score() -> None:
    with pytest.raises(TreeError, match="1 and 1_copy are parent and child"):
        syclade.score(planted(LOSS), [7, 0, 1, 2, 2, 7, 0, 7], fp_rate=FP, fn_rate=FN, recurrent=1)


def test_numpy_and_other_devices_give_the_same_answer() -> None:
    options: dict[str, Any] = {"fp_rate": FP, "fn_rate": FN}
    one = options | {"recurrent": 1, "steps": 500, "chains": 3}
    everything = options | {"recurrent": "all", "steps": 50, "chains": 2}
    for values, given in ((planted(LOSS), one), (planted(LOSS, 40), everything)):
        found = {device: syclade.infer(values, device=device, **given) for device in ("numpy", "native")}
        for device, result in found.items():
            assert_did_all(result, device)
        assert found["numpy"].summary() == found["native"].summary()


TWO_VIOLATIONS = simulate(100, 10, FP, FN, 0.05, seed=9, recurrent=2)
"""Mutations 1 and 3 recur; 2 and 8 have evidence as long as 1 is there, and 7 takes the place of 3."""
OF_ROUNDS: dict[str, Any] = {
    "fp_rate": FP, "fn_rate": FN, "recurrent": "all", "score": "sum", "steps": 1000, "chains": 3,
    "device": "native",
}  # fmt: skip


def test_rounds_clear_an_innocent_mutation() -> None:
    assert {copy.mutation for copy in TWO_VIOLATIONS.copies} == {1, 3}
    result = syclade.infer(TWO_VIOLATIONS.matrix, **OF_ROUNDS)
    found = result.recurrences
    assert found is not None
    assert {row for row, test in enumerate(found.tests) if test.is_evident} == {1, 7, 8}
    assert found.tests[8].log_bayes_factor > 4, "without rounds, it seems to recur"
    assert found.accepted == (1, 7)
    assert set(found.rounds[0]) == {7, 8}
    number, last = found.last_of(8)
    assert number == 2
    assert last.log_bayes_factor + 2 * last.error < 0
    assert found.last_of(7)[1].is_evident
    assert found.explained == (8,)
    assert found.words.endswith("; no longer for M9")
    named = [
        f"{name} ({test.recurrence.kind}, log Bayes factor {test.log_bayes_factor:.2f})"
        for name, test in (("M2", found.tests[1]), ("M8", found.last_of(7)[1]))
    ]
    assert found.words.startswith(f"evidence for a recurrence: {', '.join(named)}; ")
    assert "greatest gain" not in found.words
    none = replace(found, tests=found.tests[:1], accepted=()).words
    factor = f"(log Bayes factor {found.tests[0].log_bayes_factor:.2f})"
    assert none.startswith("no evidence for a recurrence of any mutation; the greatest gain: M1: ")
    assert none.endswith(factor)
    rows = list(csv.DictReader(io.StringIO(found.table()), delimiter="\t"))
    assert [row["accepted"] for row in rows if row["accepted"]] == [
        str(found.accepted.index(row) + 1) for row in sorted(found.accepted)
    ]
    assert [row["last_round"] for row in rows].count("1") == 8
    assert float(rows[8]["last_log_bayes_factor"]) == pytest.approx(last.log_bayes_factor)
    written = json.loads(json.dumps(found.to_dict()))
    assert {one["mutation"] for one in written["rounds"][0]} == {f"M{row + 1}" for row in found.rounds[0]}
    assert written["accepted"] == [f"M{row + 1}" for row in found.accepted]


def test_a_stop_between_rounds_leaves_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, inner = Stop(), recurrence_tests._set_aside

    def stopping(*given: Any) -> Any:
        stop.wanted = True
        return inner(*given)

    monkeypatch.setattr(recurrence_tests, "_set_aside", stopping)
    result = syclade.infer(TWO_VIOLATIONS.matrix, **OF_ROUNDS, stop=stop)
    assert result.stopped_in == "recurrence"
    assert result.recurrences is not None
    assert len(result.recurrences.tests) == 10
    assert result.recurrences.rounds == ()


DIFFERING: dict[str, Any] = {"fn_range": (0.02, 0.6)}
OF_DIFFERING: dict[str, Any] = {**OF_ROUNDS, "fn_rate": 0.2, "steps": 500}


def test_a_mutation_that_is_missed_often_does_not_seem_to_recur() -> None:
    """With one rate for all, M2 of this matrix, in which no mutation recurs, has evidence."""
    made = simulate(120, 8, FP, 0.2, 0.05, seed=1, **DIFFERING)
    shared = syclade.infer(made.matrix, **OF_DIFFERING, dropout="shared").recurrences
    found = syclade.infer(made.matrix, **OF_DIFFERING).recurrences
    assert shared is not None
    assert found is not None
    assert shared.tests[1].is_evident
    assert (shared.dropout, shared.fn_rates) == (None, None)
    assert max(test.log_bayes_factor for test in found.tests) < 3
    assert found.accepted == ()
    assert found.dropout is not None
    assert found.dropout > 3
    assert found.fn_rates is not None
    assert made.fn_rates is not None
    assert np.abs(found.fn_rates - made.fn_rates).mean() < np.abs(0.2 - made.fn_rates).mean()
    assert "each mutation has its rate of false negatives" in found.words
    assert len(json.loads(json.dumps(found.to_dict()))["fn_rates"]) == 8
    of_prior = int(found.fn_rates.argmax())  # as if no cell had shown it
    less = replace(found, unseen=(of_prior,))
    least, most = (f"{end:.3g}" for end in np.sort(found.fn_rates)[[0, -2]])
    assert f"rate of false negatives, {least} to {most} (log" in less.words
    written = json.loads(json.dumps(less.to_dict()))["fn_rates"]
    assert [row for row, rate in enumerate(written) if rate is None] == [of_prior]
    for test in found.tests:
        assert test.recurrence.without == found.tests[0].recurrence.without


def test_a_recurrence_is_found_where_dropout_differs() -> None:
    made = simulate(120, 8, FP, 0.2, 0.05, seed=19, recurrent=1, **DIFFERING)
    found = syclade.infer(made.matrix, **OF_DIFFERING).recurrences
    assert found is not None
    assert found.dropout is not None
    assert found.accepted == (made.copies[0].mutation,)


def test_the_integral_over_a_rate_is_that_of_known_cells() -> None:
    """With two well separated nodes, the cells are known, and so is the integral over the Beta."""
    from syclade.host.data.model.recurrence_rates import fit_own_rates

    values = np.zeros((5, 40), np.uint8)
    values[:4, :20], values[4, :14] = 1, 1
    has = np.repeat([[True, False]], 5, axis=0)
    own = fit_own_rates(values, 1e-6, 0.2, has)
    assert own.fit.missed == pytest.approx([0, 0, 0, 0, 6], abs=1e-3)
    assert own.fit.seen == pytest.approx([20, 20, 20, 20, 14], abs=1e-3)
    a, b = own.fit.shapes
    with_it = own.log_tables()[..., 1]
    mean = np.logaddexp.reduce(6 * with_it[:, 0] + 14 * with_it[:, 1]) - np.log(len(with_it))
    assert mean == pytest.approx(betaln(a + 6, b + 14) - betaln(a, b), abs=0.03)
    without = own.with_copy(has, 0)
    assert without.rates == pytest.approx(own.fit.rates, rel=0.01)
    assert own.log_likelihood(has, own.fit, -5.0, summed=True) == pytest.approx(
        own.log_likelihood(has, own.fit, -5.0, summed=False), abs=1e-4
    )


def test_without_violations_there_is_one_round() -> None:
    made = simulate(60, 6, FP, FN, 0.05, seed=2)
    found = syclade.infer(made.matrix, **{**OF_ROUNDS, "steps": 300}).recurrences
    assert found is not None
    assert (found.accepted, found.rounds, found.explained) == ((), (), ())


def test_mutations_of_unequal_clones_have_no_evidence() -> None:
    """With equal probabilities of all nodes, 9 of these had log Bayes factors from 3 to 35."""
    made = simulate(400, 24, FP, 0.13, 0.0, seed=1, shares="zipf", per_branch=3)
    options: dict[str, Any] = {"score": "sum", "steps": 300, "chains": 2, "device": "native"}
    found = syclade.infer(made.matrix, fp_rate=FP, fn_rate=0.13, recurrent="all", **options).recurrences
    assert found is not None
    assert max(test.log_bayes_factor for test in found.tests) < 3


def test_recurrences_among_unequal_clones_are_found() -> None:
    made = simulate(400, 24, FP, 0.13, 0.0, seed=1, shares="zipf", recurrent=2)
    options: dict[str, Any] = {"steps": 300, "chains": 2, "device": "native"}
    found = syclade.infer(made.matrix, fp_rate=FP, fn_rate=0.13, recurrent="all", **options).recurrences
    assert found is not None
    assert set(found.accepted) == {copy.mutation for copy in made.copies}


LEARNED_RATES: dict[str, dict[str, Any]] = {
    "max": {"learn_fn": 0.2, "learn_fp": 0.1},
    "sum": {"learn_fn": 0.2, "score": "sum"},
    "doublets": {"learn_fn": 0.2, "doublets": "learn"},
}


@pytest.mark.parametrize("name", LEARNED_RATES)
def test_learned_rates_go_with_a_recurrence(name: str) -> None:
    """The recurrence is found, and the tree without it has learned rates, too."""
    options = LEARNED_RATES[name] | {"fp_rate": FP, "fn_rate": 0.2, "steps": 1500, "chains": 4}
    values = planted(PARALLEL)
    found = syclade.infer(values, recurrent=1, device="native", samples=50, **options)
    assert_did_all(found, "native")
    recurrence = found.assignment.recurrence
    assert recurrence is not None
    assert recurrence.gain is not None
    assert (recurrence.kind, recurrence.gain > 20) == (PARALLEL, True)
    assert found.learned is not None
    assert found.rates.fn_rate == found.learned["fn_rate"]["value"] == pytest.approx(FN, abs=0.06)
    assert list(found.move_probabilities)[3:] == [f"learn {rate}" for rate in found.learned][:-1]
    doublets = None if found.assignment.doublets is None else found.assignment.doublets.rate
    assert (doublets is not None) == (name == "doublets")
    own = syclade.score(
        values, found.parents, fp_rate=found.rates.fp_rate, fn_rate=found.rates.fn_rate, recurrent=1,
        doublets=doublets, score=options.get("score", "max"),
    )  # fmt: skip
    assert own == pytest.approx(found.log_likelihood, abs=1e-9)
    assert found.samples is not None
    assert found.samples.rates["fn_rate"].std() > 0.005
    without = syclade.infer(values, device="native", **options)
    assert recurrence.without == without.log_likelihood


def test_all_are_tested_under_the_learned_rates() -> None:
    values = planted(LOSS, 40)
    options: dict[str, Any] = {"chains": 2, "steps": 100, "device": "native", "doublets": "learn"}
    found = syclade.infer(values, fp_rate=FP, fn_rate=0.2, learn_fn=0.2, recurrent="all", **options)
    assert found.recurrences is not None
    assert found.assignment.doublets is not None
    for mutation, test in enumerate(found.recurrences.tests, 1):
        own = syclade.score(
            values, test.parents, fp_rate=FP, fn_rate=found.rates.fn_rate, recurrent=mutation,
            doublets=found.assignment.doublets.rate,
        )  # fmt: skip
        assert test.log_likelihood == pytest.approx(own, abs=1e-9)


def test_the_command_score_fits_the_rate_of_doublets(matrix: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree.newick"
    tree.write_text(to_newick(np.array(LOST, np.int32), [*"123456", "1_copy"]))
    words = ("score", matrix, tree, "--fp-rate", FP, "--fn-rate", FN, "--recurrent", 1, "--json")
    code, output = run(*words, "--doublets", "learn")
    assert code == 0, output
    written = json.loads(output)
    rate = written["doublets"]["rate"]
    for other in (rate * 0.8, rate * 1.2):
        worse = json.loads(run(*words, "--doublets", other)[1])
        assert worse["log_likelihood"] < written["log_likelihood"]
    assert written["recurrence"]["kind"] == LOSS


def test_the_work_of_all_tests_is_reported() -> None:
    options: dict[str, Any] = {"fp_rate": FP, "fn_rate": FN, "steps": 50, "chains": 2, "device": "native"}
    alone, tested = (syclade.infer(planted(LOSS, 40), recurrent=one, **options) for one in (None, "all"))
    mutations = len(tested.mutations)
    done, before = (sum(one.count for one in result.work) for result in (tested, alone))
    assert done - before >= (mutations + 1) * 2 * 50
