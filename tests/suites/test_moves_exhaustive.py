"""Every stage equals the oracle on parent vectors: in the fallback, and on ancestor matrices.

The inputs are all moves of all trees of up to four mutations (five nodes), and many of large trees. Devices
run a test kernel with one tree per work-group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.ancestor.find_parent import find_parent
from syclade.fallback.ancestor.parts import ChainParts
from syclade.fallback.ancestor.rows import MatrixRelations, parents_from
from syclade.fallback.ancestor.score_mapping import score_mapping
from syclade.fallback.ancestor.tree_update import tree_update
from syclade.fallback.chain.parts import NOTHING, Proposals
from syclade.fallback.chain.propose import propose
from syclade.fallback.chain.tables import Tables
from syclade.fallback.moves import prune_and_reattach, swap_labels, swap_subtrees
from syclade.fallback.moves.words import extra_word, first_node
from syclade.fallback.scores.best_attachment import SCORE as BEST
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import chain_kernel, make_plan
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import initial_parents
from syclade.kernels.target.sycl_traits import TRAITS
from syclade.quality.oracle import proposal
from syclade.quality.oracle.moves import neighbourhood_sizes
from syclade.quality.oracle.proposal import Cuts, Kind, Move, apply, correction_sizes
from syclade.quality.oracle.score import tree_score
from syclade.quality.oracle.trees import ParentVector, all_trees, descendants, is_ancestor, non_descendants
from tests.support.backends import Case, four_weights, run_kernel

CUTS = Cuts(20000, 40000)
LARGE = 199
SIZES = [1, 2, 3, 4, LARGE]
WHERE = [
    "numpy",
    "numpy stages",
    *(pytest.param(device, marks=pytest.mark.sycl) for device in ("cpu", "fpga-emu")),
]


@dataclass(frozen=True)
class Outcome:
    """Outcome for all trees: rows (trees, words, nodes), moves (trees, 5), scores (trees,)."""

    updated: NDArray[np.uint64]
    proposed: NDArray[np.int64]
    score: NDArray[np.int64]
    parents: NDArray[np.int32]


def all_moves(tree: ParentVector) -> Iterator[Move]:
    """Generate every move of a tree; arguments that a move does not use are nodes of the tree, too."""
    n = len(tree) - 1
    yield Move(Kind.NULL, 0, 0, 0)
    for v in range(n):
        yield from (Move(Kind.PRUNE, v, v, t) for t in non_descendants(tree, v))
        for w in range(n):
            if v == w:
                continue
            yield Move(Kind.SWAP_LABELS, v, w, v)
            if is_ancestor(tree, w, v):
                yield from (Move(Kind.SWAP_RELATED, v, w, t) for t in descendants(tree, v))
            elif not is_ancestor(tree, v, w):
                yield Move(Kind.SWAP_UNRELATED, v, w, v)


def large_trees(rng: np.random.Generator) -> Iterator[ParentVector]:
    """Generate random trees, a path, a star, and paths with shuffled labels."""
    for chain in range(4):
        yield tuple(initial_parents(LARGE, 3, chain).tolist())
    yield (*range(1, LARGE + 1), LARGE)
    yield (LARGE,) * (LARGE + 1)
    for _ in range(3):
        path = [*rng.permutation(LARGE).tolist(), LARGE]
        above = dict(pairwise(path))
        yield tuple(above.get(node, LARGE) for node in range(LARGE + 1))


def large_moves(tree: ParentVector, rng: np.random.Generator) -> Iterator[Move]:
    """Generate moves of every kind, many of them at word boundaries."""
    borders = [0, 62, 63, 64, 65, 127, 128, 191, 192, LARGE - 1]
    for turn in range(12):
        pair = rng.choice(borders, 2, replace=False) if turn % 2 else rng.choice(LARGE, 2, replace=False)
        v, w = map(int, pair)
        yield Move(Kind.PRUNE, v, v, int(rng.choice(non_descendants(tree, v))))
        yield Move(Kind.SWAP_LABELS, v, w, v)
        if is_ancestor(tree, v, w):
            v, w = w, v
        if is_ancestor(tree, w, v):
            yield Move(Kind.SWAP_RELATED, v, w, int(rng.choice(descendants(tree, v))))
        else:
            yield Move(Kind.SWAP_UNRELATED, v, w, v)
        above = [x for x in range(LARGE) if x != v and is_ancestor(tree, x, v)]
        if above:
            yield Move(Kind.SWAP_RELATED, v, int(rng.choice(above)), int(rng.choice(descendants(tree, v))))


@cache
def inputs(n: int) -> list[tuple[ParentVector, Move]]:
    if n < LARGE:
        return [(tree, move) for tree in all_trees(n) for move in all_moves(tree)]
    rng = np.random.default_rng(8)
    return [(tree, move) for tree in large_trees(rng) for move in large_moves(tree, rng)]


def case_of(n: int) -> Case:
    return Case(n, 16)


def problem_of(n: int) -> Problem:
    """Return a problem whose columns have different multiplicities, so that swapped scores are detected."""
    problem = case_of(n).problem()
    return replace(problem, multiplicity=1000 + 37 * np.arange(len(problem.multiplicity)))


def rows_of(n: int, trees: list[ParentVector]) -> NDArray[np.uint64]:
    """Return the ancestor matrices of the trees, shape (trees, words, nodes), uint64."""
    encoding = AncestorEncoding(problem_of(n), TRAITS)
    known = {tree: encoding.encode(np.array(tree, np.int32))["ancestors"] for tree in set(trees)}
    return np.stack([known[tree] for tree in trees])


def random_words(n: int) -> NDArray[np.uint64]:
    """Return random words, shape (trees, 3), uint64."""
    return np.random.default_rng(n).integers(0, 2**32, (len(inputs(n)), 3), dtype=np.uint64)


def numbers(n: int) -> NDArray[np.int64]:
    """Return which move the words select, shape (trees,), int64."""
    chance = (random_words(n)[:, 0] >> np.uint64(16)).astype(np.int64)
    return (chance >= CUTS.labels).astype(np.int64) + (chance >= CUTS.subtrees)


def log_sizes(n: int) -> NDArray[np.int64]:
    """Return random numbers in place of logarithms, (n + 2,) int64: differences identify their operands."""
    return np.random.default_rng(99).integers(0, 2**40, n + 2)


def draws_of(n: int) -> NDArray[np.int64]:
    """Return the draws from the words, shape (5, trees), int64, with an exponential of 0."""
    words, number = random_words(n), numbers(n)
    v = first_node(words[:, 1], n)
    ways = [move.MOVE.second(words[:, 2], v, n) for move in (prune_and_reattach, swap_labels, swap_subtrees)]
    extra = extra_word(words[:, 0], words[:, 1], n).astype(np.int64)
    return np.stack((number, v, np.choose(number, ways), extra, np.zeros_like(v)))


def proposed_by(n: int, relations: Any) -> NDArray[np.int64]:
    """Return kind, v, w, t and correction of the moves that the words make, shape (trees, 5), int64."""
    order = np.argsort(numbers(n), kind="stable")
    moves = [move.MOVE for move in (prune_and_reattach, swap_labels, swap_subtrees)]
    logs = np.broadcast_to(log_sizes(n), (len(order), n + 2))
    made = propose(moves, relations.of(order), draws_of(n)[:, order], order, logs, n)
    drawn = np.zeros((len(order), 5), np.int64)
    drawn[order] = np.stack((made.kind, made.v, made.w, made.t, made.correction), axis=1)
    return drawn


def in_numpy(n: int, trees: list[ParentVector], moves: list[Move]) -> Outcome:
    """Run all stages by the plain form of the fallback."""
    problem, parent, slots = problem_of(n), np.array(trees, np.int32), np.arange(len(trees))
    rows = np.concatenate((problem.weight_rows(), np.zeros((1, problem.columns), np.int32)))
    kind, v, w, t = np.array(moves).T
    given = Proposals(kind, kind, v, w, t, np.zeros_like(v))
    after, score = [], []
    for some in np.array_split(slots, max(1, len(slots) // 1000)):
        tables, here = (
            Tables(parent[some], np.broadcast_to(rows, (len(some), *rows.shape))),
            np.arange(len(some)),
        )
        lanes, still = tables.lanes(here), given.of(some)._replace(edit=np.full(len(some), NOTHING))
        score.append(tables.best_after(lanes, tables.prepare(lanes, still)) @ problem.multiplicity)
        tables.follow(here, tables.prepare(lanes, given.of(some)))
        after += [tuple(tree) for tree in tables.parents(here).tolist()]
    seen = Tables(parent, np.zeros((len(trees), n + 1, 1), np.int32))
    drawn = proposed_by(n, seen.lanes(slots))
    return Outcome(rows_of(n, after), drawn, np.concatenate(score), seen.parents(slots))


def in_numpy_stages(n: int, trees: list[ParentVector], moves: list[Move]) -> Outcome:
    """Run all stages on ancestor matrices in numpy."""
    problem, slots, parts = problem_of(n), np.arange(len(trees)), ChainParts((), BEST)
    encoding = AncestorEncoding(problem, TRAITS)
    matrix, move = rows_of(n, trees), np.array(moves, np.int64)
    count, words, nodes = matrix.shape
    arrays = {
        **encoding.problem_arrays(),
        "weights": np.tile(np.array(problem.rates.weights, np.int64), (count, 1)),
        "ancestors": matrix,
        "move": np.concatenate((move[:, :1], move), axis=1),
        "parent_rows": np.zeros((count, 2, words), np.uint64),
        "proposal": np.full_like(matrix, 0xABCDEF),
        "worth": np.zeros((1, encoding.constants["cells"], nodes), np.int32),
    }
    find_parent(arrays, slots, parts)
    tree_update(arrays, slots, parts)
    score = np.zeros(count, np.int64)
    for slot in slots.tolist():
        one = {**arrays, "proposal": matrix[slot : slot + 1], "weights": arrays["weights"][:1]}
        score_mapping(one, np.array([0]), parts)
        score[slot] = one["worth"][0].max(axis=1) @ arrays["multiplicity"]
    drawn = proposed_by(n, MatrixRelations(matrix, slots, n + 1))
    return Outcome(arrays["proposal"], drawn, score, parents_from(matrix, n + 1).astype(np.int32))


IN_NUMPY = {"numpy": in_numpy, "numpy stages": in_numpy_stages}


@cache
def outcome(where: str, n: int) -> Outcome:
    trees, moves = (list(part) for part in zip(*inputs(n), strict=True))
    if where in IN_NUMPY:
        return IN_NUMPY[where](n, trees, moves)
    problem, ancestors = problem_of(n), rows_of(n, trees)
    encoding = AncestorEncoding(problem, TRAITS)
    parts = encoding.problem_arrays()
    count, lanes = len(trees), encoding.lanes
    arrays: dict[str, NDArray[Any]] = {
        **{name: parts[name] for name in ("planes", "multiplicity")},
        "mutations": np.array([n], np.int64),
        "log_sizes": np.tile(log_sizes(n), (count, 1)),
        "weights": np.tile(np.array(problem.rates.weights, np.int64), (count, 1)),
        "ancestors": ancestors,
        "edit": np.array(moves, np.int64),
        "random": np.column_stack((random_words(n), numbers(n).astype(np.uint64))),
        "updated": np.full_like(ancestors, 0xABCDEF),
        "proposed": np.zeros((count, 5), np.int64),
        "parents": np.zeros((count, encoding.constants["nodes"]), np.int32),
        "shares": np.zeros((count, lanes), np.int64),
        "score": np.zeros(count, np.int64),
    }
    chain = chain_kernel(make_plan(problem), encoding).parts
    kept: dict[str, Any] = {name: chain[name] for name in ("moves", "score")}
    after = run_kernel(where, "make_ancestor_check", encoding.constants, arrays, lanes, **kept)
    return Outcome(after["updated"], after["proposed"], after["score"], after["parents"][:, : n + 1])


@cache
def moved_rows(n: int) -> NDArray[np.uint64]:
    """Return the ancestor matrices after the oracle's moves, shape (trees, words, nodes), uint64."""
    return rows_of(n, [apply(move, tree) for tree, move in inputs(n)])


@cache
def drawn_moves(n: int) -> list[tuple[Move, int]]:
    """Return the oracle's proposals for the random words, each with its correction log |C| - log |B|."""
    words, logs = random_words(n).tolist(), log_sizes(n).tolist()
    moves = [proposal.propose((*w, 0), tree, CUTS) for (tree, _), w in zip(inputs(n), words, strict=True)]
    sizes = [correction_sizes(move, tree) for (tree, _), move in zip(inputs(n), moves, strict=True)]
    return [(move, logs[c] - logs[b]) for move, (c, b) in zip(moves, sizes, strict=True)]


@cache
def oracle_scores(n: int) -> list[int]:
    """Return the oracle's score of every input's tree."""
    problem = problem_of(n)
    columns = np.where(problem.observed == problem.classes - 1, 3, problem.observed).astype(np.uint8)

    def weighted(tree: ParentVector) -> int:
        scores = [tree_score(tree, columns[:, [c]], four_weights(problem)) for c in range(problem.columns)]
        return sum(int(count) * score for count, score in zip(problem.multiplicity, scores, strict=True))

    known = {tree: weighted(tree) for tree in {tree for tree, _ in inputs(n)}}
    return [known[tree] for tree, _ in inputs(n)]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("n", SIZES)
def test_moves(where: str, n: int) -> None:
    wrong = np.flatnonzero((outcome(where, n).updated != moved_rows(n)).any(axis=(1, 2)))
    assert [inputs(n)[index] for index in wrong] == []


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("n", SIZES)
def test_proposals(where: str, n: int) -> None:
    """Compare the moves and their corrections; nodes that a move does not use may have any value."""
    drawn = outcome(where, n).proposed.tolist()
    for (kind, v, w, t, correction), (move, expected) in zip(drawn, drawn_moves(n), strict=True):
        ours = Move(
            Kind(kind),
            v if move.v != proposal.UNUSED else move.v,
            w if move.w != proposal.UNUSED else move.w,
            t if move.t != proposal.UNUSED else move.t,
        )
        assert (ours, correction) == (move, expected)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("n", SIZES)
def test_scores(where: str, n: int) -> None:
    assert outcome(where, n).score.tolist() == oracle_scores(n)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("n", SIZES)
def test_parents(where: str, n: int) -> None:
    assert outcome(where, n).parents.tolist() == [list(tree) for tree, _ in inputs(n)]


@pytest.mark.parametrize("n", SIZES)
def test_scores_of_the_problem(n: int) -> None:
    problem = problem_of(n)
    scores = {tree: score for (tree, _), score in zip(inputs(n), oracle_scores(n), strict=True)}
    assert all(
        (problem.best_attachments(np.array(tree, np.int32)) * problem.multiplicity).sum() == score
        for tree, score in scores.items()
    )


def test_the_inputs_are_all_there_are() -> None:
    trees = [tree for tree, _ in inputs(4)]
    assert len(set(trees)) == 125
    assert {move.kind for _, move in inputs(4)} == set(Kind)
    # Every ordered pair (v, w) has a label swap; unrelated ones have one swap, and v below w has |C| swaps.
    swaps = [(tree, move) for tree, move in inputs(4) if move.kind is Kind.SWAP_RELATED]
    assert sum(move.kind is Kind.SWAP_LABELS for _, move in inputs(4)) == 125 * 12
    assert all(neighbourhood_sizes(tree, move.v, move.w)[1] > 0 for tree, move in swaps)
    assert {move.kind for _, move in inputs(LARGE)} == set(Kind) - {Kind.NULL}
