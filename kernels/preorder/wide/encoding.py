"""Encoding `preorder` with wide tables: only cells whose best score an edit may change are scored."""

from typing import Any

from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.preorder.arguments import WIDE
from syclade.kernels.preorder.evaluation import compose_evaluation
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.sizes import encodings_of
from syclade.kernels.preorder.wide.extras import make_extras
from syclade.kernels.preorder.wide.score_change import make_score_change
from syclade.kernels.target import device_function, lane_sum


def make_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, broad: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for every shape of a form; arguments as in `encodings_of`."""
    form = Form(lanes, rounds, 1, broad)
    score_change = make_score_change(form, score)

    @device_function
    def score_after(
        slot,  # IN tables, sketch, places, multiplicity, weights, the score's arguments; OUT flagged
        proposal,  # IN Proposal
        moved,  # IN Moved
        current,  # IN int64: score of the tree
    ):
        """Return the score after the edit: the current one plus all lanes' shares of its change (int64)."""
        return current + lane_sum(score_change(slot, proposal, moved))

    return compose_evaluation(form, sizes_of, score_after, make_extras(form))


ENCODING, GENERAL, SPECIALISED = encodings_of("preorder", WIDE, make_evaluation, subtrees=1)
