"""Support of `infer`: by default after a search, the same on all devices, and refused where there is none."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer.inference import InferenceProgress
from syclade.host.answer.request import arguments
from syclade.host.chains.runs.run import run_plan
from syclade.host.chains.scores import score as scores
from syclade.host.commands.main import cli
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.graphviz import from_graphviz
from syclade.host.data.trees.newick import from_newick
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.device.work import STEPS
from syclade.host.findings.consensus.clone_tree import clade_support
from syclade.host.findings.support import plan, rounds, stage
from syclade.host.findings.support.budget import CHAINS, Budget
from syclade.host.findings.support.of_samples import without_doubtful
from syclade.host.findings.support.rounds import error_of
from syclade.host.findings.support.value import COLUMNS, Missed, Support
from syclade.host.findings.unplaced import Unplaced
from syclade.host.ground.errors import DeviceMemoryError, MatrixError, OptionError, OutputError
from syclade.host.ground.signals import Stop
from tests.support.did_all import assert_did_all
from tests.support.searches import shorten_chains, shorten_support, whole_support

RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2}
MADE = simulate(12, 6, 0.01, 0.2, 0.1, 4).matrix


FEW = Budget(512, 1024, 2, 256)


@pytest.fixture(scope="module", autouse=True)
def _few_samples() -> Iterator[None]:
    """Let support be of few samples, for tests that do not ask how good it is."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_support(patch, FEW)
        yield


def infer(**options: Any) -> syclade.Result:
    return syclade.infer(MADE, **{**RATES, "device": "native", **options})


def support_of(result: syclade.Result) -> Support:
    assert result.support is not None
    return result.support


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    return infer()


def test_the_default_is_quick(result: syclade.Result) -> None:
    found, quick = support_of(result), support_of(infer(support="quick"))
    assert found.level == "quick"
    np.testing.assert_array_equal(found.trees, quick.trees)
    assert found.to_dict() == quick.to_dict()


def test_support_counts_the_sampled_trees(result: syclade.Result) -> None:
    found, n = support_of(result), 6
    assert found.trees.shape == (found.sampled.log_likelihoods.size, n + 1)
    np.testing.assert_allclose(found.edges, (found.trees[:, :n] == result.parents[:n]).mean(axis=0))
    above = [ancestor_matrix(tree)[:n, :n] & ~np.eye(n, dtype=bool) for tree in found.trees[::10]]
    np.testing.assert_allclose(found.before, np.mean(above, axis=0), atol=0.1)
    assert found.sure == int((found.edges >= 0.8).sum())
    assert ((found.cells > 0) & (found.cells <= 1)).all()
    assert not found.trees.flags.writeable


def test_the_tree_is_that_without_support(result: syclade.Result) -> None:
    without = infer(support="none")
    assert without.support is None
    written = result.summary()
    assert written.pop("support")["enough"] is support_of(result).enough
    assert written.pop("consensus")["clones"] > 0
    assert written == without.summary()
    assert without.to_newick() == result.to_newick()
    steps, less = (sum(one.count for one in each.work if one.unit == STEPS) for each in (result, without))
    assert steps - less == CHAINS * support_of(result).steps


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("device", "doublets"),
    [
        ("cpu", None),
        pytest.param("fpga-emu", None, marks=pytest.mark.verification),
        pytest.param("cpu", 0.1, marks=pytest.mark.verification),
        pytest.param("fpga-emu", 0.1, marks=pytest.mark.verification),
    ],
)
def test_devices_agree(device: str, doublets: float | None) -> None:
    one, other = (infer(device=name, doublets=doublets) for name in ("native", device))
    assert_did_all(other, device)
    np.testing.assert_array_equal(support_of(one).trees, support_of(other).trees)
    assert one.summary() == other.summary()
    assert one.to_attachments() == other.to_attachments()


def test_numpy_agrees_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_chains(monkeypatch, 1_000)
    monkeypatch.setattr(plan, "budget_for", lambda *_given, **_named: Budget(64, 128, 2))
    one, other = (infer(device=device, support="quick") for device in ("native", "numpy"))
    assert_did_all(other, "numpy")
    assert support_of(one).steps == 4 * 128
    np.testing.assert_array_equal(support_of(one).trees, support_of(other).trees)
    assert one.summary() == other.summary()


def test_numpy_has_none_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_chains(monkeypatch, 1_000)
    assert infer(device="numpy").support is None


def test_slots_agree(result: syclade.Result) -> None:
    assert infer(slots=1).summary() == result.summary()


def test_full_support_ends_when_it_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    whole_support(monkeypatch)
    found = support_of(infer(support="full"))
    assert (found.level, found.enough) == ("full", True)
    assert found.sampled.ess >= 400
    assert found.sampled.rhat <= 1.01
    assert found.sampled.spread <= 0.01
    assert not [words for words in found.warnings if "too few" in words]


@pytest.mark.parametrize(
    "options",
    [{"method": "anneal"}, {"doublets": 0.1}, {"method": "anneal", "score": "sum"}],
    ids=["annealing", "doublets", "sum score"],
)
def test_annealed_trees_have_support(options: dict[str, Any]) -> None:
    found = infer(chains=4, **options) if "method" in options else infer(**options)
    assert len(support_of(found).edges) == 6


def test_zygosity_and_one_mutation_have_support(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_support(monkeypatch, Budget(1024, 2048, 4, 256))
    made = simulate(12, 6, 0.01, 0.1, 0.1, 4, fn_rate_hom=0.1, hom_rate=0.01).matrix
    found = syclade.infer(made, fp_rate=0.01, fn_rate=0.1, fn_rate_hom=0.1, hom_rate=0.01, device="native")
    assert support_of(found).sampled.ess > 100
    whole_support(monkeypatch)
    one = syclade.infer(MADE.values[:1], **RATES, device="native")
    assert support_of(one).edges.tolist() == support_of(one).clades.tolist() == [1.0]
    assert support_of(one).enough


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 50, "chains": 2},
        {"method": "chain", "steps": 50},
        {"steps": 50, "samples": 10},
        {"steps": 50, "learn_fn": 0.2},
        {"tree": "leaf"},
        {"recurrent": 1},
    ],
)
def test_where_there_is_no_support(options: dict[str, Any]) -> None:
    assert infer(**options).support is None
    for level in ("quick", "full"):
        with pytest.raises(OptionError, match=f"does not go with --support {level}") as caught:
            infer(support=level, **options)
        assert "or use --support none" in str(caught.value)
    assert infer(support="none", **options).support is None


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(OptionError, match="--support is 'much'"):
        infer(support="much")


def test_a_matrix_of_many_mutations_has_none_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "MOST_BY_DEFAULT", 5)
    assert infer().support is None
    assert infer(support="quick").support is not None


def test_a_tree_is_not_lost_if_its_support_fails(
    result: syclade.Result, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise DeviceMemoryError("there is too little memory")

    monkeypatch.setattr(stage, "run_plan", fail)
    found = infer()
    assert (found.support, found.interrupted) == (None, False)
    assert found.parents.tolist() == result.parents.tolist()
    assert "the tree has no support: there is too little memory" in caplog.text


def test_a_matrix_that_is_too_large_has_none_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "SUM_BITS", 10)
    assert infer().support is None
    with pytest.raises(MatrixError, match="too many for the sum score"):
        infer(support="quick")


class DuringSupport:
    """Progress callback that acts once the chains for support have done some steps, over all chains."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, steps: int, act: Callable[[], None]) -> None:
        self._began, self._steps, self._act = False, steps, act
        whole = run_plan

        def noted(*given: Any, **named: Any) -> Any:
            self._began = True
            return whole(*given, **named)

        monkeypatch.setattr(stage, "run_plan", noted)

    def __call__(self, state: InferenceProgress) -> None:
        if self._began and state.steps_done >= self._steps:
            self._act()


def test_a_stop_leaves_the_support_of_the_rounds_that_ended(
    result: syclade.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped_after(steps: int) -> syclade.Result:
        stop = Stop()
        progress = DuringSupport(monkeypatch, steps, lambda: setattr(stop, "wanted", True))
        return infer(support="full", stop=stop, progress=progress)

    early = stopped_after(1)
    assert (early.interrupted, early.stopped_in, early.support) == (True, "support", None)
    assert early.stop_words == "stopped before the end: the tree is complete, but has no support"
    assert early.parents.tolist() == result.parents.tolist()
    first = FEW.first
    late = stopped_after(3 * CHAINS * first)
    found = support_of(late)
    assert (late.stopped_in, found.interrupted, found.steps) == ("support", True, 2 * first)
    assert "its support is that of the samples until then" in str(late.stop_words)
    assert late.summary()["support"]["interrupted"]
    assert found.enough or "sampling was stopped" in found.warnings[-1]


def test_a_stop_shortens_support_that_takes_long(
    result: syclade.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large tree; here small ones count as large."""
    stop, whole = Stop(), run_plan

    def stopped_late(*given: Any, **named: Any) -> Any:
        found = whole(*given, **named)
        stop.wanted = True
        return found

    monkeypatch.setattr(stage, "run_plan", stopped_late)
    monkeypatch.setattr(plan, "_SOON", 0)
    monkeypatch.setattr(rounds, "_BRIEF_ENTRIES", 0)
    late, all_samples = support_of(infer(stop=stop)), support_of(result)
    assert (late.interrupted, late.steps) == (True, all_samples.steps)
    assert len(late.trees) == 32 < len(all_samples.trees)
    assert late.sampled.every * 32 == all_samples.sampled.every * sum(
        map(all_samples.sampled.store.count, all_samples.sampled.store.chains)
    )


def test_a_stop_after_the_last_round_changes_nothing(
    result: syclade.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = Stop()
    whole = run_plan

    def stopped_late(*given: Any, **named: Any) -> Any:
        found = whole(*given, **named)
        stop.wanted = True
        return found

    monkeypatch.setattr(stage, "run_plan", stopped_late)
    late = infer(stop=stop)
    assert late.summary() == result.summary()
    assert late.summary()["interrupted"] is False


def test_a_run_killed_during_support_resumes_with_the_same_files(
    result: syclade.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("killed")

    kept = tmp_path / "kept"
    with pytest.raises(RuntimeError, match="killed"):
        infer(checkpoint=kept, progress=DuringSupport(monkeypatch, 1000, fail))
    monkeypatch.undo()
    resumed = infer(resume=kept)
    assert resumed.summary() == result.summary()
    np.testing.assert_array_equal(support_of(resumed).trees, support_of(result).trees)
    assert support_of(infer(resume=kept, support="full")).level == "full", "it does not decide the search"


def test_a_resumed_annealing_has_the_same_support(tmp_path: Path) -> None:
    """Its chains start at the trees of the annealed chains, which the checkpoint has."""
    kept = tmp_path / "kept"
    whole = infer(doublets=0.1, checkpoint=kept)
    resumed = infer(doublets=0.1, resume=kept)
    np.testing.assert_array_equal(support_of(resumed).trees, support_of(whole).trees)
    assert resumed.summary() == whole.summary()


def test_progress_shows_the_best_tree(result: syclade.Result) -> None:
    seen: list[InferenceProgress] = []
    infer(support="full", progress=seen.append)
    assert seen[-1].log_likelihood == pytest.approx(result.log_likelihood, abs=1e-3)
    assert max(one.log_likelihood for one in seen) < result.log_likelihood + 1e-3


# ---- files


def test_files_have_the_support(result: syclade.Result, tmp_path: Path) -> None:
    found = support_of(result)
    names = result.write(tmp_path / "out", report=True)
    assert "support.tsv" in names
    head, *lines = (tmp_path / "out" / "support.tsv").read_text().splitlines()
    assert head.split("\t") == list(COLUMNS)
    rows = [line.split("\t") for line in lines]
    labels = result.labels
    assert [row[:2] for row in rows] == [
        [labels[node], labels[result.parents[node]]] for node in range(len(labels) - 1)
    ]
    np.testing.assert_allclose([float(row[2]) for row in rows], found.edges, rtol=1e-5)
    np.testing.assert_allclose([float(row[3]) for row in rows], found.clades, rtol=1e-5)
    head, *lines = (tmp_path / "out" / "attachments.tsv").read_text().splitlines()
    assert head.split("\t")[-1] == "support"
    np.testing.assert_allclose([float(line.split("\t")[-1]) for line in lines], found.cells, rtol=1e-5)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["support"] == found.to_dict()
    page = (tmp_path / "out" / "report.html").read_text()
    assert ">Support</h3>" in page
    assert f"{found.words[1:]}." in page.replace("&gt;", ">")


def test_newick_carries_support_and_is_read_back(result: syclade.Result, tmp_path: Path) -> None:
    import newick

    found = support_of(result)
    result.write(tmp_path / "out")
    text = (tmp_path / "out" / "support.nhx").read_text()
    np.testing.assert_array_equal(from_newick(text, result.mutations), result.parents)
    (root,) = newick.loads(text.strip())
    (edges, clades), labels = np.zeros((2, 6)), result.labels
    for node in root.walk():
        if node.ancestor is None:
            assert not node.comments
            continue
        at = labels.index(node.unquoted_name)
        assert node.ancestor.unquoted_name == labels[result.parents[at]]
        assert set(node.properties) == {"support", "clade", "transfer"}
        edges[at], clades[at] = (float(node.properties[name]) for name in ("support", "clade"))
    np.testing.assert_allclose(edges, found.edges, rtol=1e-5)
    np.testing.assert_allclose(clades, found.clades, rtol=1e-5)
    assert "[" not in result.to_newick()  # tree.newick stays as SCITE writes it


def test_graphviz_carries_support_and_is_read_back(result: syclade.Result) -> None:
    for attach in (False, True):
        text = result.to_graphviz(attach=attach)
        parents = from_graphviz(text, result.mutations)
        np.testing.assert_array_equal(parents, result.parents)
        top = int(np.flatnonzero(result.parents[:-1] == 6)[0])
        edge = f'"{result.labels[6]}" -> "{result.labels[top]}"'
        assert f'{edge} [label="{support_of(result).edges[top]:.2f}"];' in text
    assert "label" not in infer(support="none").to_graphviz()


def test_anndata_has_support(result: syclade.Result) -> None:
    found = result.to_anndata()
    np.testing.assert_array_equal(found.obs["support"], support_of(result).cells)
    np.testing.assert_array_equal(found.var["p_clade"], support_of(result).clades)
    np.testing.assert_array_equal(found.var["p_parent"], support_of(result).edges)


def test_the_command_reports_support(tmp_path: Path) -> None:
    matrix, out = tmp_path / "matrix.csv", tmp_path / "out"
    np.savetxt(matrix, simulate(5, 6, 0.01, 0.2, 0.1, 1).matrix.values, fmt="%d")
    words = ["infer", str(matrix), "--fp-rate=0.01", "--fn-rate=0.2", "--device=native", f"--out={out}"]
    said = CliRunner().invoke(cli, words)
    assert said.exit_code == 0
    found = json.loads((out / "summary.json").read_text())["support"]
    assert (
        f"support of at least 0.8 in the most likely tree: {found['edges_sure']} of 5 edges, " in said.stdout
    )  # one is seen in no cell
    assert found["edges_unsure"] > 0
    assert "fewer than half of the sampled trees" not in said.stderr  # mutations of one clone are no news
    with pytest.raises(OptionError, match="--steps does not go with --support full"):
        CliRunner().invoke(cli, [*words, "--support=full", "--steps=50"], catch_exceptions=False)
    for name in {path.name for path in out.iterdir()} - {"support.tsv"}:
        (out / name).unlink()
    with pytest.raises(OutputError, match=r"support\.tsv"):  # before the run, not after it
        CliRunner().invoke(cli, words, catch_exceptions=False)


def test_edges_of_claims_that_are_kept_back_are_not_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A is before B and C in the samples, and lost in all cells with C."""
    shorten_support(monkeypatch)
    columns = [(1, 0, 0)] * 60 + [(1, 1, 0)] * 60 + [(0, 1, 1)] * 30 + [(0, 0, 0)] * 10
    matrix = matrix_from_array(np.array(columns, dtype=np.uint8).T, ("A", "B", "C"))
    result = syclade.infer(matrix, fp_rate=0.01, fn_rate=0.3, seed=1, device="native")
    assert result.support is not None
    assert result.consensus is not None
    assert [(one.first, one.second) for one in result.consensus.kept_back] == [(0, 2)]
    assert dict(result.support.doubtful) == dict.fromkeys((0, 2), "kept back")
    assert (result.support.edges >= 0.8).sum() == 3
    assert "1 of 1 edge, 1 of 1 clade" in result.support.words
    assert "2 mutations of claims that are kept back are not counted" in result.support.words
    rows = [
        line.split("\t") for line in result.support.table(result.tree.parents, result.mutations).splitlines()
    ]
    assert [row[-1] for row in rows] == ["doubt", "kept back", "", "kept back"]
    found = result.support.to_dict()
    assert [found[name] for name in ("edges_sure", "edges_unsure", "transfer_sure")] == [1, 0, 1]
    doubtful = replace(result.support, edges=np.array([0.1, 0.9, 0.1]), unplaced=Unplaced({0: "silent"}))
    assert (doubtful.placed, doubtful.unsure) == (1, 0)
    assert "; 1 mutation of claims that are kept back is not counted" in doubtful.words
    assert replace(result.support, doubtful={}).sure == 3


def test_mutations_that_are_not_counted_change_no_clade_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all samples, D is on another branch than in the tree: nothing else differs."""
    shorten_support(monkeypatch)
    found = syclade.infer(
        simulate(40, 5, 0.01, 0.1, 0.0, 3).matrix, fp_rate=0.01, fn_rate=0.1, device="native"
    )
    assert found.support is not None
    tree = np.array([5, 0, 1, 2, 0, 5], dtype=np.int32)
    elsewhere = np.array([5, 0, 1, 4, 0, 5], dtype=np.int32)  # the fourth below the fifth
    support = replace(
        found.support,
        trees=np.tile(elsewhere, (20, 1)),
        clades=clade_support(tree, lambda: [np.tile(elsewhere, (20, 1))]),
        transfer=np.zeros(5),
        unplaced=Unplaced(),
    )
    assert support.clades.tolist() == [1.0, 0.0, 0.0, 1.0, 0.0], "the control"
    changed = without_doubtful(support, tree, {3: "kept back"})
    assert dict(changed.doubtful) == {3: "kept back"}
    assert changed.clades.tolist() == [1.0] * 5
    assert changed.transfer.tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]
    other = without_doubtful(support, tree, {2: "unobserved"})
    assert other.clades.tolist() == [1.0, 0.0, 0.0, 1.0, 0.0], "D is still in the way"
    assert (
        without_doubtful(support, tree, dict.fromkeys(range(5), "kept back")).clades.tolist()
        == support.clades.tolist()
    )


@pytest.mark.statistical
@pytest.mark.verification
@pytest.mark.parametrize("shares", ["zipf", "1", "one"])
def test_the_error_is_that_of_runs_with_other_seeds(shares: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The difference of two runs is normal, with twice the variance; its mean size follows from that."""
    whole_support(monkeypatch)
    given = {"M1": 1.0, "M2": 1.0, "M3": 1.0, "M4": 57.0}
    differences, errors, spreads, pairs = [], [], [], []
    for seed in range(1, 6):
        kind = given if shares == "one" else float(shares) if shares == "1" else shares
        matrix = simulate(40, 20, 0.001, 0.2, 0.3, seed, shares=kind).matrix
        one, other = (
            support_of(
                syclade.infer(matrix, fp_rate=0.001, fn_rate=0.2, dropout="shared", device="native", seed=own)
            )
            for own in (seed, seed + 500)
        )
        often = np.maximum(one.before, other.before) >= 0.1  # False for NaN
        pairs.append(int(often.sum()))  # some inputs have one or two
        differences.append(np.abs(one.before - other.before)[often].mean() * math.sqrt(math.pi) / 2)
        errors.append(error_of(one.sampled))
        spreads.append(one.sampled.spread)
    found, error, spread = (np.average(values, weights=pairs) for values in (differences, errors, spreads))
    assert 0.7 * error < found < 1.4 * error
    assert found < 0.7 * spread, "the error is that of all chains together, not of one"


@pytest.mark.parametrize(
    ("missed", "seen", "is_open"),
    [
        ([100.0, 120.0, 80.0], [400.0, 380.0, 420.0], True),
        ([100.0, 100.0, 100.0], [400.0, 400.0, 400.0], False),  # one rate
        ([100.0, 180.0, 40.0], [400.0, 320.0, 460.0], False),  # three
        ([10.0, 14.0, 8.0], [30.0, 26.0, 32.0], False),  # too few values
    ],
)
def test_a_warning_says_that_the_data_leave_dropout_open(
    missed: list[float], seen: list[float], is_open: bool
) -> None:
    counts = Missed([(np.array(missed), np.array(seen))])
    assert counts.leaves_open is is_open
    found = syclade.infer(
        simulate(30, 3, 0.01, 0.2, 0.1, 1).matrix, fp_rate=0.01, fn_rate=0.2, device="native", seed=1
    )
    assert found.support is not None
    words = replace(found.support, missed=counts, dropout=None).warnings
    assert any("leave open whether mutations differ in dropout" in line for line in words) is is_open


@pytest.mark.parametrize(("seen", "said"), [([400.0, 320.0, 460.0], True), ([400.0, 400.0, 400.0], False)])
def test_a_stop_before_rates_of_mutations_is_reported(seen: list[float], said: bool) -> None:
    """Only if the samples so far ask for such rates, and not once they are there."""
    counts = Missed([(500.0 - np.array(seen), np.array(seen))])
    found = syclade.infer(
        simulate(30, 3, 0.01, 0.2, 0.1, 1).matrix, fp_rate=0.01, fn_rate=0.2, device="native", seed=1
    )
    assert found.support is not None
    support = replace(found.support, missed=counts, dropout=None)
    words = "before it was repeated with a rate of dropout"
    assert any(words in line for line in replace(support, interrupted=True).warnings) is said
    assert not any(words in line for line in support.warnings)
