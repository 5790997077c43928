"""The numpy fallback on preorder intervals: the same chains as on ancestor matrices, and a valid encoding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.preorder import chain_step, group
from syclade.fallback.preorder.batch import CODES, draw_batch
from syclade.fallback.preorder.layout import make_layout, rows_per_slot
from syclade.fallback.preorder.lookahead import MOST, steps_ahead
from syclade.fallback.preorder.propose import propose
from syclade.fallback.preorder.rebuild import Tables
from syclade.fallback.preorder.score_mapping import ScoreMapping
from syclade.fallback.preorder.trees import Trees
from syclade.host.chains.initial import initial_parents
from syclade.host.chains.state import ChainState
from syclade.host.encodings import ENCODINGS
from syclade.host.model.problem import Problem
from syclade.quality.oracle.draws import step_words
from syclade.quality.oracle.proposal import Cuts, Kind, apply, correction_sizes
from syclade.quality.oracle.proposal import propose as oracle_propose
from tests.support.backends import Case, assert_equal_states
from tests.support.numpy_chains import chains_of, runner_of

pytestmark = pytest.mark.usefixtures("one_process")

KINDS = 4
TREE_ARRAYS = ("parent", "order", "position", "size", "best_parent")


def assert_same_chains(case: Case, *targets: tuple[int, ...]) -> list[ChainState]:
    ours = chains_of("preorder", case, targets)
    for state, expected in zip(ours, chains_of("ancestor", case, targets), strict=True):
        assert_equal_states(state, expected)
    return ours


@pytest.mark.parametrize(
    ("case", "steps"),
    [
        (Case(1, 1), 60),
        (Case(1, 16), 60),
        (Case(2, 1), 200),
        (Case(2, 16, seed=2), 200),
        (Case(3, 7), 200),
        (Case(5, 9, seed=3), 300),
        (Case(7, 64), 200),
        (Case(8, 1), 200),
        (Case(8, 13), 300),
        (Case(8, 40, kind="duplicates"), 200),
        (Case(9, 16, kind="missing"), 200),
        (Case(8, 13, kind="nothing"), 200),
        (Case(15, 16, seed=2**64 - 1), 300),
        (Case(16, 16), 300),
        (Case(63, 64), 200),
        (Case(64, 16), 200),
        (Case(128, 37), 120),
        (Case(129, 5), 120),
        (Case(300, 3), 60),
        (Case(600, 2), 30),
    ],
    ids=lambda value: f"{value.n}x{value.m}-{value.kind}" if isinstance(value, Case) else None,
)
def test_chains_are_those_on_ancestor_matrices(case: Case, steps: int) -> None:
    """In two launches."""
    assert_same_chains(case, (steps // 3,) * 3, (steps,) * 3)


MOVES = {
    "prune": ((1, 0, 0), {0}),
    "labels": ((0, 1, 0), {1}),
    "subtrees": ((0, 0, 1), {2, 3}),
    "all": ((1, 1, 1), {0, 1, 2, 3}),
}


@pytest.mark.parametrize("gamma", [0.02, 1.0])
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("n", [6, 40])
def test_every_kind_of_move(n: int, moves: str, gamma: float) -> None:
    """Alone and mixed; nearly all accepted, and few."""
    probabilities, kinds = MOVES[moves]
    states = assert_same_chains(Case(n, 11, gamma=gamma, moves=probabilities), (150,) * 4)
    tallies = np.sum([state.tallies for state in states], axis=0)
    assert set(np.flatnonzero(tallies[:5])) == kinds
    if gamma < 1:
        assert set(np.flatnonzero(tallies[5:])) == kinds


def test_slots_stop_at_their_own_step() -> None:
    assert_same_chains(Case(8, 13), (1, 50, 0, 7, 150), (8, 50, 99, 7, 150), (100, 51, 100, 170, 151))


def test_large_numbers_of_steps_and_chains() -> None:
    case = Case(8, 13)
    for chain, first_step in ((0, 2**32 - 3), (2**32 - 1, 0), (3, 2**62 - 20)):
        states = []
        for encoding in ("preorder", "ancestor"):
            runner = runner_of(encoding, case, 1)
            runner.put(0, case.start(chain, first_step))
            runner.advance(np.array([first_step + 30]))
            states.append(runner.get(0))
        assert_equal_states(*states)


def test_a_slot_that_is_through_stays_as_it_is() -> None:
    runner = runner_of("preorder", Case(8, 13), 3)
    runner.advance(np.array([40, 40, 40]))
    names = ("chain", "step", "score", "best_score", "tallies", *TREE_ARRAYS)
    before = {name: runner.read_all(name) for name in names}
    runner.advance(np.array([40, 90, 3]))
    for name in names:
        np.testing.assert_array_equal(runner.read_all(name)[::2], before[name][::2], err_msg=name)
    assert runner.read_all("step").tolist() == [40, 90, 40]


def test_states_may_be_replaced_between_launches() -> None:
    case = Case(15, 16)
    runner, other = runner_of("preorder", case, 2), runner_of("preorder", case, 2)
    runner.advance(np.array([70, 90]))
    state = runner.get(1)
    other.advance(np.array([20, 30]))
    other.put(0, state)
    other.advance(np.array([150, 40]))
    runner.advance(np.array([150, 150]))
    assert_equal_states(other.get(0), runner.get(1))
    assert_equal_states(other.get(1), chains_of("ancestor", case, ((0, 40),))[1])


# ---- the encoding


def assert_is_valid(parents: NDArray[np.int32], part: dict[str, NDArray[np.int32]], count: int) -> None:
    """What PreorderEncoding.encode promises, for any order of children."""
    order, position, size = part["order"], part["position"], part["size"]
    places = np.arange(len(order))
    np.testing.assert_array_equal(order[position], places)
    np.testing.assert_array_equal(part["parent"][:count], parents)
    for name in ("parent", "order", "position"):
        np.testing.assert_array_equal(part[name][count:], places[count:], err_msg=name)
    assert order[0] == count - 1
    assert not size[count:].any()
    sizes = np.zeros(count, dtype=int)
    for node in order[:count][::-1].tolist():
        sizes[node] += 1
        if node != count - 1:
            assert position[parents[node]] < position[node]
            sizes[parents[node]] += sizes[node]
    np.testing.assert_array_equal(size[:count], sizes)
    # Every node's subtree stands behind it without a gap.
    for node in range(count - 1):
        start, above = position[node], position[parents[node]]
        assert start + size[node] <= above + size[parents[node]]


@pytest.mark.parametrize("n", [1, 2, 4, 7, 9])
def test_the_encoding_is_valid_after_every_step(n: int) -> None:
    case, slots = Case(n, 5, gamma=0.1, moves=(1, 1, 1)), 4
    runner = runner_of("preorder", case, slots)
    for step in range(1, 60):
        runner.advance(np.full(slots, step))
        arrays = {name: runner.read_all(name) for name in TREE_ARRAYS}
        for slot in range(slots):
            part = {name: array[slot] for name, array in arrays.items()}
            assert_is_valid(runner.get(slot).parents, part, n + 1)


# ---- stages


def proposals_of(problem: Problem, parents: list[NDArray[np.int32]], steps: int, seed: int) -> Any:
    """(moves, their scores) of the first steps of each tree's chain, all tried on the tree itself."""
    encoding = ENCODINGS["preorder"](problem)
    encoded = [encoding.encode(tree) for tree in parents]
    state = {name: np.array([each[name] for each in encoded]) for name in encoded[0]}
    slots, layout = len(parents), make_layout(problem.nodes, len(parents))
    trees = Trees(layout)
    trees.load(state, np.arange(slots))
    tables = Tables(layout, group.weights_of(problem))
    tables.fill(trees, slots)
    chain = np.arange(slots)
    batch = draw_batch(problem, trees, chain, chain * 0, chain * 0 + steps, steps, seed)
    lanes = np.arange(slots * steps)
    moves = propose(batch, lanes, lanes // steps, layout, trees, problem.log_sizes)
    return moves, ScoreMapping(layout, problem.multiplicity)(tables.rows, moves)


@pytest.mark.parametrize(
    "case", [Case(1, 3), Case(2, 5), Case(5, 9), Case(8, 40, kind="duplicates"), Case(33, 6), Case(140, 4)]
)
def test_every_proposal_is_scored_right(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that no chain accepts; lanes worked on in several groups."""
    monkeypatch.setattr("syclade.fallback.preorder.score_mapping.CHUNK_BYTES", 64 * case.m * 50)
    problem, slots, steps, seed = case.problem(), 3, 60, 2**63 + 5
    parents = [initial_parents(case.n, seed, slot) for slot in range(slots)]
    moves, scores = proposals_of(problem, parents, steps, seed)
    cuts = Cuts(problem.prune_below, problem.swap_below)
    exponential = moves.threshold.copy()
    seen = set()
    for slot, tree in enumerate(parents):
        for step in range(steps):
            move = oracle_propose(step_words(seed, slot, step), tree, cuts)
            lane = slot * steps + step
            assert moves.code[lane] == slot * CODES + move.kind
            assert scores[lane] == problem.score(np.array(apply(move, tree), dtype=np.int32)), move
            size_c, size_b = correction_sizes(move, tree)
            exponential[lane] -= problem.log_sizes[size_c] - problem.log_sizes[size_b]
            seen.add(move.kind)
    assert (exponential >= 0).all()
    assert case.n < 33 or seen == set(Kind) - {Kind.NULL}


# ---- what only speed depends on


@pytest.mark.parametrize("ahead", [1, 2, 5, MOST])
def test_steps_tried_ahead_do_not_matter(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "steps_ahead", lambda *_: ahead)
    assert_same_chains(Case(8, 13), (77, 78, 5), (150, 150, 151))
    assert_same_chains(Case(20, 6, gamma=0.05), (150, 20, 60))


@pytest.mark.parametrize(("most", "batch"), [(1, 8), (2, 30), (64, 50)])
def test_groups_and_batches_do_not_matter(most: int, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(8, 13)
    row_bytes = 4 * case.problem().columns.shape[1]
    monkeypatch.setattr(chain_step, "TABLE_BYTES", most * row_bytes * rows_per_slot(case.n + 1))
    monkeypatch.setattr(group, "BATCH", batch)
    monkeypatch.setattr(group, "SHORTEST_BATCH", 3)
    assert_same_chains(case, (60, 5, 0, 60, 61), (120, 120, 80, 61, 61))


def test_blocks_are_renewed_in_any_number_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syclade.fallback.preorder.rebuild.CHUNK_BYTES", 1)
    assert_same_chains(Case(40, 6, gamma=0.1), (100,) * 3)


def test_more_steps_are_tried_where_that_pays() -> None:
    assert steps_ahead(256, 64, 1.0) == 1
    few, many = steps_ahead(8, 64, 0.2), steps_ahead(256, 64, 0.2)
    assert 1 <= many < few < steps_ahead(8, 64, 0.02) <= steps_ahead(1, 64, 0.0) == MOST
    assert steps_ahead(8, 1000, 0.2) < few
