"""Encoding `preorder` with wide tables: only cells whose best score an edit may change are scored."""

from functools import partial
from typing import Any

from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.chain.slot import Slot
from syclade.kernels.preorder.arguments import WIDE
from syclade.kernels.preorder.evaluation import compose_evaluation
from syclade.kernels.preorder.form import Form, form_of
from syclade.kernels.preorder.here import Here
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.sizes import SIZES, fixed_sizes, read_sizes, specialised_sizes
from syclade.kernels.preorder.wide.extras import make_extras
from syclade.kernels.preorder.wide.score_change import make_score_change
from syclade.kernels.target import address, control, device_function, lane_sum

_ONE = control(1)
_TWO = address(2)


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
    weighted: int,
    **_others: int,
) -> Evaluation:
    """Return the evaluation of a score, for one shape.

    Args:
        score: contribution of a cell.
        nodes, labels, cells, block, lanes, panels: as in `Shape`.
        classes: number of classes of observed values, the uninformative one included.
        weighted: 1 if columns have multiplicities.
    """
    shape = Shape(nodes, labels, cells, block, lanes, panels, subtrees=1)
    return _evaluation(score, form_of(shape), fixed_sizes(shape, classes, weighted, wide=1))


def make_form_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, broad: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for every shape of a form.

    Args:
        sizes_of: device function (given) -> (Sizes, Layout, Variant).
        score: contribution of a cell.
        lanes, rounds, broad: as in `Form`.
    """
    return _evaluation(score, Form(lanes, rounds, 1, broad), sizes_of)


def _evaluation(score: Score, form: Form, sizes_of: Any) -> Evaluation:
    score_change = make_score_change(form, score)

    @device_function
    def place(
        given,  # IN the kernel's arguments
        number,  # IN address: the slot
        lane,  # IN address
        mutations,  # IN control
    ):
        """Return the Slot."""
        sizes, layout, variant = sizes_of(given)
        base = number * address(sizes.nodes)
        here = Here(
            number, lane, mutations + _ONE, base * _TWO,
            number * address(layout.rows * sizes.cells),
            number * address(layout.sketched * sizes.cells),
            number * address(sizes.cells),
            sizes, layout, variant,
        )  # fmt: skip
        return Slot(given, here, base)

    @device_function
    def score_after(
        slot,  # IN tables, sketch, places, multiplicity, weights, the score's arguments; OUT flagged
        proposal,  # IN Proposal
        moved,  # IN Moved
        current,  # IN int64: score of the tree
    ):
        """Return the score after the edit: the current one plus all lanes' shares of its change (int64)."""
        return current + lane_sum(score_change(slot, proposal, moved))

    return compose_evaluation(form, place, score_after, make_extras(form))


ENCODING = Encoding("preorder", "sub-group", WIDE, make_evaluation)

GENERAL = Encoding("preorder_general", "sub-group", (*WIDE, SIZES), partial(make_form_evaluation, read_sizes))

SPECIALISED = Encoding("preorder", "sub-group", WIDE, partial(make_form_evaluation, specialised_sizes))
