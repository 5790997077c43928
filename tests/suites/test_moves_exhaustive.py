"""Every stage on ancestor matrices does what the oracle does on parent vectors.

All moves of all trees of up to four mutations (five nodes), and many of large trees: in the fallback and, by
a test kernel with one tree a work-group, on the devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.ancestor.propose import Moves
from syclade.fallback.ancestor.propose import propose as fallback_propose
from syclade.fallback.ancestor.score_mapping import ScoreMapping
from syclade.fallback.ancestor.tree_update import tree_update
from syclade.host.chains.initial import initial_parents
from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.host.model.problem import Problem
from syclade.quality.oracle import proposal
from syclade.quality.oracle.moves import neighbourhood_sizes
from syclade.quality.oracle.proposal import Cuts, Kind, Move, apply, correction_sizes
from syclade.quality.oracle.score import tree_score
from syclade.quality.oracle.trees import ParentVector, all_trees, descendants, is_ancestor, non_descendants
from tests.support.backends import Case, run_kernel

CUTS = Cuts(20000, 40000)
LARGE = 199
SIZES = [1, 2, 3, 4, LARGE]
WHERE = ["numpy", *(pytest.param(device, marks=pytest.mark.sycl) for device in ("cpu", "fpga-emu"))]


@dataclass(frozen=True)
class Outcome:
    """What came out for all trees: rows (trees, words, nodes), moves (trees, 6), scores (trees,)."""

    updated: NDArray[np.uint64]
    proposed: NDArray[np.int64]
    score: NDArray[np.int64]


def all_moves(tree: ParentVector) -> Iterator[Move]:
    """Every move of a tree, with nodes of the tree where a move has no use for them."""
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
    """Random trees, a path, a star, and paths with shuffled labels."""
    for chain in range(12):
        yield tuple(initial_parents(LARGE, 3, chain).tolist())
    yield (*range(1, LARGE + 1), LARGE)
    yield (LARGE,) * (LARGE + 1)
    for _ in range(3):
        path = [*rng.permutation(LARGE).tolist(), LARGE]
        above = dict(pairwise(path))
        yield tuple(above.get(node, LARGE) for node in range(LARGE + 1))


def large_moves(tree: ParentVector, rng: np.random.Generator) -> Iterator[Move]:
    """Some of every kind, many of them at the borders of words."""
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
    """A problem whose columns count differently, so that their scores cannot be exchanged unseen."""
    problem = case_of(n).problem()
    problem.multiplicity[:] = 1000 + 37 * np.arange(len(problem.multiplicity))
    return problem


def rows_of(n: int, trees: list[ParentVector]) -> NDArray[np.uint64]:
    """(trees, words, nodes)."""
    encoding = AncestorEncoding(problem_of(n))
    known = {tree: encoding.encode(np.array(tree, np.int32))["ancestors"] for tree in set(trees)}
    return np.stack([known[tree] for tree in trees])


def random_words(n: int) -> NDArray[np.uint64]:
    """(trees, 3)."""
    return np.random.default_rng(n).integers(0, 2**32, (len(inputs(n)), 3), dtype=np.uint64)


@cache
def outcome(where: str, n: int) -> Outcome:
    trees, moves = (list(part) for part in zip(*inputs(n), strict=True))
    ancestors, given, random = rows_of(n, trees), np.array(moves), random_words(n)
    problem = problem_of(n)
    if where == "numpy":
        columns = np.append(given, np.ones((len(given), 2), np.int64), axis=1).T
        drawn = fallback_propose(ancestors, tuple(random.T), n, CUTS.labels, CUTS.subtrees)
        mapping = ScoreMapping(problem.columns, problem.gain_one, problem.loss_zero, problem.multiplicity)
        return Outcome(tree_update(ancestors, Moves(*columns)), np.stack(drawn, axis=1), mapping(ancestors))
    encoding = AncestorEncoding(problem)
    parts = encoding.problem_arrays(1)
    parameters = (n, CUTS.labels, CUTS.subtrees, problem.gain_one, problem.loss_zero)
    arrays: dict[str, NDArray[Any]] = {
        **{name: parts[name] for name in ("ones", "zeros", "multiplicity")},
        "parameters": np.array(parameters, np.uint64),
        "ancestors": ancestors,
        "given": given.astype(np.uint64),
        "random": random,
        "updated": np.full_like(ancestors, 0xABCDEF),
        "proposed": np.zeros((len(given), 6), np.uint64),
        "shares": np.zeros((len(given), encoding.lanes), np.int64),
        "score": np.zeros(len(given), np.int64),
    }
    after = run_kernel(where, "make_ancestor_check", encoding.constants, arrays, encoding.lanes)
    return Outcome(after["updated"], after["proposed"].astype(np.int64), after["score"])


@cache
def moved_rows(n: int) -> NDArray[np.uint64]:
    """(trees, words, nodes): after the oracle's moves."""
    return rows_of(n, [apply(move, tree) for tree, move in inputs(n)])


@cache
def drawn_moves(n: int) -> list[tuple[Move, tuple[int, int]]]:
    """What the oracle proposes with the random words, and its sizes |C| and |B|."""
    words = random_words(n).tolist()
    moves = [proposal.propose((*w, 0), tree, CUTS) for (tree, _), w in zip(inputs(n), words, strict=True)]
    return [(move, correction_sizes(move, tree)) for (tree, _), move in zip(inputs(n), moves, strict=True)]


@cache
def oracle_scores(n: int) -> list[int]:
    """Of every input's tree."""
    problem = problem_of(n)

    def weighted(tree: ParentVector) -> int:
        scores = [
            tree_score(tree, problem.columns[:, [c]], problem.weights)
            for c in range(problem.columns.shape[1])
        ]
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
    """The move and its correction; nodes that a move has no use for may be any."""
    drawn = outcome(where, n).proposed.tolist()
    for (kind, v, w, t, *sizes), (move, expected_sizes) in zip(drawn, drawn_moves(n), strict=True):
        ours = Move(
            Kind(kind),
            v if move.v != proposal.UNUSED else move.v,
            w if move.w != proposal.UNUSED else move.w,
            t if move.t != proposal.UNUSED else move.t,
        )
        assert (ours, tuple(sizes)) == (move, expected_sizes)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("n", SIZES)
def test_scores(where: str, n: int) -> None:
    assert outcome(where, n).score.tolist() == oracle_scores(n)


@pytest.mark.parametrize("n", SIZES)
def test_scores_of_the_problem(n: int) -> None:
    problem = problem_of(n)
    scores = {tree: score for (tree, _), score in zip(inputs(n), oracle_scores(n), strict=True)}
    assert all(problem.score(np.array(tree, np.int32)) == score for tree, score in scores.items())


def test_the_inputs_are_all_there_are() -> None:
    trees = [tree for tree, _ in inputs(4)]
    assert len(set(trees)) == 125
    assert {move.kind for _, move in inputs(4)} == set(Kind)
    # Of every pair of distinct mutations one label swap, and one unrelated swap or |C| related ones.
    swaps = [(tree, move) for tree, move in inputs(4) if move.kind is Kind.SWAP_RELATED]
    assert sum(move.kind is Kind.SWAP_LABELS for _, move in inputs(4)) == 125 * 12
    assert all(neighbourhood_sizes(tree, move.v, move.w)[1] > 0 for tree, move in swaps)
    assert {move.kind for _, move in inputs(LARGE)} == set(Kind) - {Kind.NULL}
