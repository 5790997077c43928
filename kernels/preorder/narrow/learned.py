"""Encoding `preorder` with narrow tables and learned error rates."""

from typing import Any

from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.preorder.arguments import LEARNED
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow import encoding as fixed
from syclade.kernels.preorder.narrow.anew import make_anew
from syclade.kernels.preorder.narrow.reweigh import make_reweigh
from syclade.kernels.preorder.sizes import encodings_of
from syclade.kernels.rates.evaluation import make_learned


def make_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, broad: int, classes: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for every shape of a form; arguments as in `encodings_of`."""
    form = Form(lanes, rounds, 0, broad)
    inner = fixed.make_evaluation(sizes_of, score, lanes=lanes, rounds=rounds, broad=broad)
    return make_learned(inner, make_anew(form, score, classes), *make_reweigh(form, classes), classes)


ENCODING, GENERAL, SPECIALISED = encodings_of("preorder_learned", LEARNED, make_evaluation, subtrees=0)
