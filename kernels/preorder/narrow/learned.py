"""Encoding `preorder` with narrow tables and learned error rates."""

from functools import partial
from typing import Any

from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.preorder.arguments import LEARNED
from syclade.kernels.preorder.form import Form, form_of
from syclade.kernels.preorder.narrow import encoding as fixed
from syclade.kernels.preorder.narrow.anew import make_anew
from syclade.kernels.preorder.narrow.reweigh import make_reweigh
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.sizes import SIZES, read_sizes, specialised_sizes
from syclade.kernels.rates.evaluation import make_learned


def make_evaluation(
    score: Score,
    *,
    nodes: int,
    labels: int,
    cells: int,
    block: int,
    lanes: int,
    panels: int,
    classes: int,
    **others: int,
) -> Evaluation:
    """Return the evaluation of a score, for one shape.

    Args:
        score: contribution of a cell.
        nodes, labels, cells, block, lanes, panels, classes: as for fixed rates (encoding.py).
        others: as for fixed rates.
    """
    sizes = {"nodes": nodes, "labels": labels, "cells": cells, "block": block, "lanes": lanes}
    inner = fixed.make_evaluation(score, **sizes, panels=panels, classes=classes, **others)
    form = form_of(Shape(nodes, labels, cells, block, lanes, panels, subtrees=0))
    return _learned(inner, form, score, classes)


def make_form_evaluation(
    sizes_of: Any,
    score: Score,
    *,
    lanes: int,
    rounds: int,
    broad: int,
    classes: int,
    **_others: int,
) -> Evaluation:
    """Return the evaluation of a score, for every shape of a form.

    Args:
        sizes_of: device function (given) -> (Sizes, Layout, Variant).
        score: contribution of a cell.
        lanes, rounds, broad: as in `Form`.
        classes: number of classes of observed values, the uninformative one included.
    """
    inner = fixed.make_form_evaluation(sizes_of, score, lanes=lanes, rounds=rounds, broad=broad)
    return _learned(inner, Form(lanes, rounds, 0, broad), score, classes)


def _learned(inner: Evaluation, form: Form, score: Score, classes: int) -> Evaluation:
    return make_learned(inner, make_anew(form, score, classes), *make_reweigh(form, classes), classes)


ENCODING = Encoding("preorder_learned", "sub-group", LEARNED, make_evaluation)

GENERAL = Encoding(
    "preorder_learned_general",
    "sub-group",
    (*LEARNED, SIZES),
    partial(make_form_evaluation, read_sizes),
)

SPECIALISED = Encoding(
    "preorder_learned", "sub-group", LEARNED, partial(make_form_evaluation, specialised_sizes)
)
