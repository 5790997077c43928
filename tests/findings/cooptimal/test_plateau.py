"""Co-optimal trees: neighbours checked by scoring every tree, walks by searching the graph of all trees."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import syclade
from syclade.host.chains.plan import make_plan
from syclade.host.commands.main import cli
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.cooptimal.finding import Scorer, consensus_of, equal_neighbours, walk_plateau
from syclade.host.ground.signals import Stop
from syclade.quality.oracle.trees import all_trees
from tests.conftest import ROOT

RATES = Rates(0.01, 0.3)
EXAMPLE = ROOT / "host" / "data" / "example"
Tree = tuple[int, ...]


def problem_of(seed: int, mutations: int, cells: int = 8) -> Any:
    made = simulate(cells, mutations, RATES.fp_rate, RATES.fn_rate, 0.3, seed)
    return make_problem(made.matrix, RATES)


def score_of(problem: Any, tree: Any) -> int:
    plan = make_plan(problem)
    return int(plan.score.of(problem, np.array(tree, dtype=np.int32), problem.rates, plan.settings))


def neighbours(tree: Tree) -> set[Tree]:
    """Return all trees with one subtree moved, and all with a mutation and its parent exchanged."""
    root = len(tree) - 1
    above = ancestor_matrix(np.array(tree, dtype=np.int32))
    found = set()
    for node in range(root):
        for place in range(root + 1):
            if not above[node, place] and place != tree[node]:
                found.add((*tree[:node], place, *tree[node + 1 :]))
        upper = tree[node]
        if upper != root:
            exchange = {node: upper, upper: node}
            moved = list(tree)
            for one in range(root):
                moved[exchange.get(one, one)] = exchange.get(tree[one], tree[one])
            found.add(tuple(moved))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_are_all_that_score_alike(seed: int) -> None:
    problem, generator = problem_of(seed, 5), np.random.default_rng(seed)
    for _ in range(8):
        tree = np.full(6, 5, dtype=np.int32)
        order = generator.permutation(5)
        for at, node in enumerate(order):
            tree[node] = generator.choice([5, *order[:at]])
        score, found = equal_neighbours(Scorer.of(problem), tree)
        assert score == score_of(problem, tree)
        expected = {one for one in neighbours(tuple(tree.tolist())) if score_of(problem, one) == score}
        assert {tuple(one.tolist()) for one in found} == expected


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_finds_what_neighbours_lead_to(seed: int) -> None:
    problem = problem_of(seed, 4, cells=3)
    trees = {tuple(map(int, tree)): score_of(problem, tree) for tree in all_trees(4)}
    top = max(trees.values())
    start = next(tree for tree, score in trees.items() if score == top)
    seen, waiting = {start}, [start]
    while waiting:
        for one in neighbours(waiting.pop()):
            if trees[one] == top and one not in seen:
                seen.add(one)
                waiting.append(one)
    first = np.array(start, dtype=np.int32)
    found = walk_plateau(problem, [first], 1000)
    assert {tuple(tree.tolist()) for tree in found.trees} == seen
    assert found.complete
    np.testing.assert_array_equal(found.trees[0], first)
    if len(seen) > 1:
        some = walk_plateau(problem, [first], len(seen) - 1)
        assert (len(some.trees), some.complete) == (len(seen) - 1, False)
        assert some.counted == f"at least {len(seen) - 1}"


def test_worse_trees_are_left_out() -> None:
    problem = problem_of(1, 4)
    ranked = sorted(all_trees(4), key=lambda tree: score_of(problem, tree))
    best, worst = (np.array(ranked[at], dtype=np.int32) for at in (-1, 0))
    assert score_of(problem, worst) < score_of(problem, best)
    found = walk_plateau(problem, [best, worst], 1000)
    assert tuple(worst.tolist()) not in {tuple(tree.tolist()) for tree in found.trees}


def test_shares() -> None:
    trees: NDArray[np.int32] = np.array(
        [[3, 0, 1, 3], [3, 0, 0, 3], [3, 0, 0, 3], [1, 3, 0, 3]], dtype=np.int32
    )
    shared = consensus_of(trees)
    assert shared.edges[0, 1] == 0.75
    assert shared.edges[3, 0] == 0.75
    assert shared.ancestors[0, 2] == 1.0
    assert shared.ancestors[1, 2] == 0.5
    assert shared.ancestors[0, 0] == 0.0
    table = shared.to_table(["a", "b", "c"]).splitlines()
    assert table[0] == "relation\tupper\tlower\tshare"
    assert "ancestor\ta\tc\t1" in table
    assert '"a" -> "b" [label="75%", color=gray20];' in shared.to_graphviz(["a", "b", "c"])


def test_files(tmp_path: Path) -> None:
    arguments = [str(EXAMPLE / "matrix.csv"), "--fp-rate", "0.001", "--fn-rate", "0.2", "--device", "native"]
    said = CliRunner().invoke(
        cli, ["infer", *arguments, "--max-trees", "7", "--out", str(tmp_path / "out")], catch_exceptions=False
    )
    assert "trees have this log-likelihood" in said.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    count = summary["co_optimal"]["trees"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {f"tree_{number}.newick" for number in range(count)} <= names
    assert {"co_optimal.tsv", "co_optimal.gv"} <= names
    scores = {
        syclade.score(arguments[0], tmp_path / "out" / f"tree_{number}.gv", fp_rate=0.001, fn_rate=0.2)
        for number in range(count)
    }
    assert scores == {summary["log_likelihood"]}


def test_a_stop_during_the_walk_keeps_the_trees_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop request after the chains ends the walk, and the result says so."""
    stop = Stop()
    options: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.3, "chains": 2, "steps": 20, "device": "numpy"}
    matrix = np.full((5, 4), 3, np.uint8)
    matrix[0, 0] = 0  # that cell is best at the root of any tree: all are equally likely
    whole = syclade.infer(matrix, **options, max_trees=2000)
    assert whole.co_optimal is not None
    assert (whole.co_optimal.complete, whole.interrupted) == (True, False)

    def stopped(*given: Any) -> Any:
        stop.wanted = True
        return walk_plateau(*given)

    monkeypatch.setattr("syclade.host.answer.stages.walk_plateau", stopped)
    result = syclade.infer(matrix, **options, max_trees=2000, stop=stop)
    assert result.co_optimal is not None
    assert (result.co_optimal.complete, result.stopped_in) == (False, "co_optimal")
    assert len(result.co_optimal.trees) < len(whole.co_optimal.trees)
