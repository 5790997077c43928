"""Stages on ancestor matrices, compared with definitions in Python's sets of ancestors and descendants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.ancestor.parts import ChainParts
from syclade.fallback.ancestor.stages import STAGES
from syclade.fallback.chain.parts import EXCHANGE_LABELS, EXCHANGE_SUBTREES, NOTHING, REATTACH, TURN_OVER
from syclade.fallback.moves import prune_and_reattach, swap_labels, swap_subtrees
from syclade.fallback.scores.all_attachments import SCORE as ALL
from syclade.fallback.scores.best_attachment import SCORE as BEST
from syclade.host.chains.scores.score import all_attachments
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.tree import initial_parents
from tests.support.backends import Case

N, CELLS, SLOTS, LANES, KINDS = 70, 12, 60, 4, 5
"""Sizes; N is larger than the number of bits per word."""

MOVES = tuple(module.MOVE for module in (prune_and_reattach, swap_labels, swap_subtrees))
PARTS = ChainParts(MOVES, BEST)
EVERY = np.arange(SLOTS)
CASE, RATES = Case(N, CELLS, kind="zygosity"), Rates(0.02, 0.2, 0.25, 0.005)
PROBLEM = make_problem(matrix_from_array(CASE.values), RATES)

Sets = list[set[int]]


def trees() -> list[list[int]]:
    """Return the parents of random trees, a path and a star."""
    random = [initial_parents(N, 5, chain).tolist() for chain in range(SLOTS - 2)]
    return [*random, [*range(1, N + 1), N], [N] * (N + 1)]


def ancestors_of(parents: list[int]) -> Sets:
    """Return the ancestors of every node, including the node itself."""
    found: Sets = []
    for node in range(N + 1):
        above = {node}
        while node != N:
            node = parents[node]
            above.add(node)
        found.append(above)
    return found


def below(above: Sets, node: int) -> set[int]:
    """Return the nodes of the node's subtree."""
    return {other for other in range(N + 1) if node in above[other]}


def matrix_of(above: Sets) -> NDArray[np.uint64]:
    """Return the ancestor matrix, (words, nodes) uint64."""
    words = -(-(N + 1) // 64)
    rows = [[sum(1 << x % 64 for x in one if x // 64 == word) for one in above] for word in range(words)]
    return np.array(rows, dtype=np.uint64)


def sets_of(matrix: NDArray[np.uint64]) -> Sets:
    """Return the ancestors of every node of an ancestor matrix, (words, nodes) uint64."""
    rows = matrix.tolist()
    return [
        {64 * word + bit for word, row in enumerate(rows) for bit in range(64) if row[node] >> bit & 1}
        for node in range(N + 1)
    ]


def move_of(slot: int, above: Sets, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Return (edit, v, w, t); slots take the edits in turn, as far as the tree allows them."""
    v, w = rng.choice(N, 2, replace=False).tolist()
    edit = slot % 5
    if edit == REATTACH:
        return edit, v, v, int(rng.choice(sorted(set(range(N + 1)) - below(above, v))))
    if edit in (EXCHANGE_SUBTREES, TURN_OVER):
        pairs = [(x, y) for x in range(N) for y in range(N) if x != y]
        related = [(x, y) for x, y in pairs if y in above[x]]
        apart = [(x, y) for x, y in pairs if y not in above[x] and x not in above[y]]
        edit = TURN_OVER if (edit == TURN_OVER and related) or not apart else EXCHANGE_SUBTREES
        v, w = (related if edit == TURN_OVER else apart)[
            rng.integers(len(related if edit == TURN_OVER else apart))
        ]
        return edit, v, w, int(rng.choice(sorted(below(above, v)))) if edit == TURN_OVER else v
    return edit, v, w if edit == EXCHANGE_LABELS else v, v


def edited(parents: list[int], move: tuple[int, int, int, int]) -> list[int]:
    """Return the parents after an edit, by its definition."""
    edit, v, w, t = move
    after = list(parents)
    if edit == REATTACH:
        after[v] = t
    elif edit == EXCHANGE_SUBTREES:
        after[v], after[w] = parents[w], parents[v]
    elif edit == TURN_OVER:
        after[v], after[w] = parents[w], t
    elif edit == EXCHANGE_LABELS:
        name = {v: w, w: v}
        after = [
            name.get(parents[name.get(node, node)], parents[name.get(node, node)]) for node in range(N + 1)
        ]
    return after


@pytest.fixture
def moves() -> list[tuple[int, int, int, int]]:
    rng = np.random.default_rng(4)
    return [move_of(slot, ancestors_of(parents), rng) for slot, parents in enumerate(trees())]


@pytest.fixture
def arrays(moves: list[tuple[int, int, int, int]]) -> dict[str, NDArray[Any]]:
    """Return all arrays that stages read, and arrays of arbitrary values for their output."""
    rng = np.random.default_rng(1)
    matrix = np.stack([matrix_of(ancestors_of(parents)) for parents in trees()])
    planes = np.zeros((len(PROBLEM.values), matrix.shape[1], PROBLEM.columns), np.uint64)
    for (gene, column), code in np.ndenumerate(PROBLEM.observed):
        if code < len(PROBLEM.values):
            planes[code, gene // 64, column] |= np.uint64(1 << gene % 64)
    return {
        "parameters": np.array((N, 7, KINDS)),
        "move_below": np.array((20000, 40000, 65536)),
        "log_table": rng.integers(0, 2**20, (SLOTS, 257)),
        "log_sizes": rng.integers(0, 2**40, (SLOTS, N + 2)),
        "chain": np.arange(SLOTS) + 3,
        "step": np.arange(SLOTS) * 11,
        "last_step": np.arange(SLOTS) * 11 + (np.arange(SLOTS) % 4 > 0),
        "planes": planes,
        "multiplicity": 1 + np.arange(PROBLEM.columns),
        "weights": np.tile(np.array(PROBLEM.rates.weights), (SLOTS, 1))
        * (1 + np.arange(SLOTS)[:, None])
        // 64,
        "ancestors": matrix,
        "best_ancestors": np.full_like(matrix, 0xBE57),
        "move": np.array([(move[0], *move) for move in moves]),
        "draws": np.full((SLOTS, 5), -1),
        "threshold": np.full(SLOTS, -1),
        "parent_rows": np.full((SLOTS, 2, matrix.shape[1]), 0xABC, np.uint64),
        "proposal": np.full_like(matrix, 0xABC),
        "worth": np.full((SLOTS, PROBLEM.columns, N + 1), -1, np.int32),
        "shares": np.full((SLOTS, LANES), -1),
        "score": np.zeros(SLOTS, np.int64),
        "best_score": np.zeros(SLOTS, np.int64),
        "tallies": np.zeros((SLOTS, 2 * KINDS), np.int64),
    }


def test_the_inputs_have_all_edits(moves: list[tuple[int, int, int, int]]) -> None:
    assert {move[0] for move in moves} == {REATTACH, EXCHANGE_LABELS, EXCHANGE_SUBTREES, TURN_OVER, NOTHING}


def test_propose(arrays: dict[str, NDArray[Any]]) -> None:
    """Check that nodes are drawn from the sets that the moves allow, in the order of labels."""
    STAGES["propose"](arrays, EVERY, PARTS)
    seen = set()
    for slot, parents in enumerate(trees()):
        above, logs = ancestors_of(parents), arrays["log_sizes"][slot].tolist()
        number, v, second, extra, exponential = arrays["draws"][slot].tolist()
        kind, edit, *nodes = arrays["move"][slot].tolist()
        correction = int(arrays["threshold"][slot]) - exponential
        seen.add((number, edit))
        if number == 0:
            free = sorted(set(range(N + 1)) - below(above, v))
            t = second if second in free else free[extra * len(free) >> 32]
            assert (kind, edit, nodes, correction) == (0, REATTACH, [v, v, t], 0)
        elif number == 1:
            assert (kind, edit, nodes, correction) == (1, EXCHANGE_LABELS, [v, second, v], 0)
        elif second not in above[v] and v not in above[second]:
            assert (kind, edit, nodes, correction) == (2, EXCHANGE_SUBTREES, [v, second, v], 0)
        else:
            low, high = (v, second) if second in above[v] else (second, v)
            c = sorted(below(above, low))
            b = below(above, high) - set(c)
            assert (kind, edit, nodes) == (3, TURN_OVER, [low, high, c[extra * len(c) >> 32]])
            assert correction == logs[len(c)] - logs[len(b)]
    assert seen == {(0, REATTACH), (1, EXCHANGE_LABELS), (2, EXCHANGE_SUBTREES), (2, TURN_OVER)}


def test_find_parent(arrays: dict[str, NDArray[Any]], moves: list[tuple[int, int, int, int]]) -> None:
    STAGES["find_parent"](arrays, EVERY, PARTS)
    for slot, (parents, (_, v, w, _t)) in enumerate(zip(trees(), moves, strict=True)):
        above = ancestors_of(parents)
        expected = matrix_of(above)[:, [parents[v], parents[w]]].T
        np.testing.assert_array_equal(arrays["parent_rows"][slot], expected)


def test_tree_update(arrays: dict[str, NDArray[Any]], moves: list[tuple[int, int, int, int]]) -> None:
    for stage in ("find_parent", "tree_update"):
        STAGES[stage](arrays, EVERY, PARTS)
    for slot, (parents, move) in enumerate(zip(trees(), moves, strict=True)):
        assert sets_of(arrays["proposal"][slot]) == ancestors_of(edited(parents, move)), move


def worth_by_sets(slot: int, arrays: dict[str, NDArray[Any]]) -> list[list[int]]:
    """Return the score of each column at each node of the slot's tree, by definition.

    A score is the sum of the weights of the values observed for the node's ancestors.
    """
    weights, above = arrays["weights"][slot].tolist(), ancestors_of(trees()[slot])
    return [
        [sum(weights[PROBLEM.observed[gene, column]] for gene in one - {N}) for one in above]
        for column in range(PROBLEM.columns)
    ]


def test_score_mapping(arrays: dict[str, NDArray[Any]]) -> None:
    arrays["proposal"][:] = arrays["ancestors"]
    STAGES["score_mapping"](arrays, EVERY, PARTS)
    for slot in EVERY.tolist():
        assert arrays["worth"][slot].tolist() == worth_by_sets(slot, arrays)


def test_reduction(arrays: dict[str, NDArray[Any]]) -> None:
    """A quarter of the slots are at their last step; of the others some accept, and some of these improve."""
    rng = np.random.default_rng(2)
    arrays["proposal"][:] = arrays["ancestors"][::-1]
    arrays["worth"][:] = rng.integers(-1000, 1000, arrays["worth"].shape)
    best = [[max(column) for column in one] for one in arrays["worth"].tolist()]
    count = arrays["multiplicity"].tolist()
    totals = [sum(x * c for x, c in zip(one, count, strict=True)) for one in best]
    arrays["threshold"][:] = rng.integers(0, 1000, SLOTS)
    arrays["score"][:] = np.array(totals) + arrays["threshold"] + rng.integers(-3, 4, SLOTS)
    arrays["best_score"][:] = np.array(totals) + rng.integers(-2, 3, SLOTS)
    before = {name: array.copy() for name, array in arrays.items()}
    STAGES["reduction"](arrays, EVERY, PARTS)
    seen = set()
    for slot, total in enumerate(totals):
        going = before["step"][slot] < before["last_step"][slot]
        accepted = bool(going and total + before["threshold"][slot] >= before["score"][slot])
        better = accepted and total > before["best_score"][slot]
        seen.add((bool(going), accepted, bool(better)))
        tallies, kind = np.zeros(2 * KINDS, np.int64), int(before["move"][slot, 0])
        tallies[kind], tallies[KINDS + kind] = going, accepted
        assert arrays["tallies"][slot].tolist() == tallies.tolist()
        assert arrays["step"][slot] == before["step"][slot] + going
        assert int(arrays["shares"][slot].sum()) == total
        for name, taken in (("score", accepted), ("best_score", better)):
            assert arrays[name][slot] == (total if taken else before[name][slot])
        for name, taken in (("ancestors", accepted), ("best_ancestors", better)):
            np.testing.assert_array_equal(arrays[name][slot], before["proposal" if taken else name][slot])
    assert seen == {(False, False, False), (True, False, False), (True, True, False), (True, True, True)}


def test_reduction_of_all_attachments(arrays: dict[str, NDArray[Any]]) -> None:
    """The sum score takes all nodes and only nodes: padding rows do not count."""
    problem = make_problem(matrix_from_array(CASE.values), RATES, octaves=True)
    score = all_attachments(problem)
    arrays |= {name: np.full(SLOTS, value) for name, value in score.defaults.items()}
    arrays |= {"multiplicity": problem.multiplicity, "proposal": arrays["ancestors"].copy()}
    arrays |= {"weights": np.tile(np.array(problem.rates.weights), (SLOTS, 1))}
    STAGES["score_mapping"](arrays, EVERY, PARTS)
    padded = {name: array.copy() for name, array in arrays.items()}
    padded["worth"] = np.pad(arrays["worth"], ((0, 0), (0, 0), (0, 9)))
    for name in ("ancestors", "best_ancestors", "proposal"):
        padded[name] = np.pad(arrays[name], ((0, 0), (0, 0), (0, 9)))
    for given in (arrays, padded):
        STAGES["reduction"](given, EVERY, ChainParts(MOVES, ALL))
        for slot, parents in enumerate(trees()):
            expected = score.of(problem, np.array(parents, np.int32), problem.rates, score.defaults)
            assert int(given["shares"][slot].sum()) == expected


def test_stages_touch_only_the_slots_they_are_given(arrays: dict[str, NDArray[Any]]) -> None:
    """Compare with running one slot at a time, as a pipeline does."""
    apart = {name: array.copy() for name, array in arrays.items()}
    for stage in STAGES.values():
        stage(arrays, EVERY, PARTS)
        for slot in reversed(EVERY.tolist()):
            before = {name: array.copy() for name, array in apart.items()}
            stage(apart, np.array([slot]), PARTS)
            others = EVERY[slot != EVERY]
            for name in (
                "draws",
                "move",
                "threshold",
                "parent_rows",
                "proposal",
                "worth",
                "score",
                "ancestors",
            ):
                np.testing.assert_array_equal(apart[name][others], before[name][others], err_msg=name)
    for name, array in arrays.items():
        np.testing.assert_array_equal(apart[name], array, err_msg=name)
