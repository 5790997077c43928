"""Encoding `clade` of cell trees, with learned error rates."""

from typing import Any

from syclade.kernels.chain.edits import JUMP_RATE, NOTHING, Proposal
from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.clade import encoding as fixed
from syclade.kernels.clade.anew import make_anew
from syclade.kernels.clade.arguments import LEARNED
from syclade.kernels.clade.rows import make_rows
from syclade.kernels.clade.sizes import encodings_of
from syclade.kernels.rates.evaluation import make_learned
from syclade.kernels.target import choose, control, device_function, equal

_ZERO = control(0)


def make_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, classes: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score; arguments as in `encodings_of`."""
    inner = fixed.make_evaluation(sizes_of, score, lanes=lanes, rounds=rounds)
    share_anew = make_anew(score, lanes, rounds, classes)
    inner = inner._replace(evaluate=_of_trees(inner.evaluate))
    return make_learned(inner, share_anew, make_rows(lanes).reweigh, _put_no_weights, classes)


def _of_trees(evaluate_edit: Any) -> Any:
    """Return `evaluate` for jumps as well, whose v is no node: they leave the tree as it is."""

    @device_function
    def evaluate(
        slot,  # IN the tree and its rows, and the score's arguments
        proposal,  # IN Proposal
        current,  # IN int64: score of the tree
        threshold,  # IN int64 (not used)
    ):
        """Return (the score after the edit (int64), 0)."""
        jump = equal(proposal.edit, control(JUMP_RATE))
        edit = choose(jump, control(NOTHING), proposal.edit)
        v, w = choose(jump, _ZERO, proposal.v), choose(jump, _ZERO, proposal.w)
        t = choose(jump, _ZERO, proposal.t)
        still = Proposal(proposal.kind, edit, v, w, t, proposal.correction)
        return evaluate_edit(slot, still, current, threshold)

    return evaluate


@device_function
def _put_no_weights(slot, label):
    """Do nothing: if leaves swap places, each keeps its own row of weights."""


ENCODING, GENERAL, SPECIALISED = encodings_of("clade_learned", LEARNED, make_evaluation)
