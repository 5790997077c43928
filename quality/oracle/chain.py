"""A whole chain, step by step: draws, proposal, score, acceptance, best tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.quality.oracle.acceptance import Tables, accepts
from syclade.quality.oracle.draws import step_words
from syclade.quality.oracle.proposal import Cuts, Kind, apply, correction_sizes, propose
from syclade.quality.oracle.score import tree_score
from syclade.quality.oracle.trees import ParentsLike, ParentVector, parent_vector


class Step(NamedTuple):
    """Outcome of a step: the score after it, whether the move was accepted, and the kind of move.

    A null move changes nothing and counts as accepted.
    """

    score: int
    accepted: bool
    kind: Kind


@dataclass(frozen=True)
class Trace:
    """Steps of a chain, its last tree, and the first tree with its best score."""

    steps: list[Step]
    final: ParentVector
    best: ParentVector
    best_score: int


def run(
    parents0: ParentsLike,
    matrix: NDArray[np.integer[Any]],
    weights: Sequence[int],
    seed: int,
    chain: int,
    steps: int,
    cuts: Cuts,
    tables: Tables,
    first_step: int = 0,
) -> Trace:
    """Run `steps` steps of chain number `chain` from the tree `parents0`, which is the initial best tree.

    `matrix` has shape (n, m). `weights` holds four integers, one per observed value (see `score.tree_score`).
    Scores are relative to the root and in units of 2^-f nat.
    """
    tree = parent_vector(parents0)
    score = tree_score(tree, matrix, weights)
    best, best_score = tree, score
    trace = []
    for step in range(first_step, first_step + steps):
        words = step_words(seed, chain, step)
        move = propose(words, tree, cuts)
        proposed = apply(move, tree)
        proposed_score = tree_score(proposed, matrix, weights)
        accepted = accepts(proposed_score - score, correction_sizes(move, tree), words[3], tables)
        if accepted:
            tree, score = proposed, proposed_score
        if score > best_score:
            best, best_score = tree, score
        trace.append(Step(score, accepted, move.kind))
    return Trace(trace, tree, best, best_score)
