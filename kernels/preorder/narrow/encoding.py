"""Encoding `preorder` with narrow tables: whole rows are read to score a proposal."""

from typing import Any

from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.preorder.arguments import NARROW
from syclade.kernels.preorder.evaluation import compose_evaluation
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow.extras import make_extras
from syclade.kernels.preorder.narrow.score_mapping import make_score_mapping
from syclade.kernels.preorder.sizes import encodings_of
from syclade.kernels.target import device_function, lane_sum


def make_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, broad: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for every shape of a form; arguments as in `encodings_of`."""
    form = Form(lanes, rounds, 0, broad)
    score_mapping = make_score_mapping(form, score)

    @device_function
    def score_after(
        slot,  # IN tables, places, multiplicity, and the score's arguments
        proposal,  # IN Proposal (not used)
        moved,  # IN Moved
        current,  # IN int64: score of the tree (not used)
    ):
        """Return the score after the edit: the sum of all lanes' shares (int64)."""
        return lane_sum(score_mapping(slot, moved))

    return compose_evaluation(form, sizes_of, score_after, make_extras(form))


ENCODING, GENERAL, SPECIALISED = encodings_of("preorder", NARROW, make_evaluation, subtrees=0)
