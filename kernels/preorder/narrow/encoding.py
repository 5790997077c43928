"""Encoding `preorder` with narrow tables: whole rows are read to score a proposal."""

from functools import partial
from typing import Any

from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.chain.slot import Slot
from syclade.kernels.preorder.arguments import NARROW
from syclade.kernels.preorder.evaluation import compose_evaluation
from syclade.kernels.preorder.form import Form, form_of
from syclade.kernels.preorder.here import Here
from syclade.kernels.preorder.narrow.extras import make_extras
from syclade.kernels.preorder.narrow.score_mapping import make_score_mapping
from syclade.kernels.preorder.shape import Shape
from syclade.kernels.preorder.sizes import SIZES, fixed_sizes, read_sizes, specialised_sizes
from syclade.kernels.target import address, control, device_function, lane_sum

_ONE = control(1)
_TWO = address(2)
_NONE = address(0)


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
    wide: int,
    **_others: int,
) -> Evaluation:
    """Return the evaluation of a score, for one shape.

    Args:
        score: contribution of a cell.
        nodes, labels, cells, block, lanes, panels: as in `Shape`.
        classes: number of classes of observed values, the uninformative one included.
        weighted: 1 if columns have multiplicities.
        wide: 1 if a lane's share of a score may not fit in 32 bits.
    """
    shape = Shape(nodes, labels, cells, block, lanes, panels, subtrees=0)
    return _evaluation(score, form_of(shape), fixed_sizes(shape, classes, weighted, wide))


def make_form_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, broad: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for every shape of a form.

    Args:
        sizes_of: device function (given) -> (Sizes, Layout, Variant).
        score: contribution of a cell.
        lanes, rounds, broad: as in `Form`.
    """
    return _evaluation(score, Form(lanes, rounds, 0, broad), sizes_of)


def _evaluation(score: Score, form: Form, sizes_of: Any) -> Evaluation:
    score_mapping = make_score_mapping(form, score)

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
        table = number * address(layout.rows * sizes.cells)
        fresh = base * _TWO
        here = Here(number, lane, mutations + _ONE, fresh, table, _NONE, _NONE, sizes, layout, variant)
        return Slot(given, here, base)

    @device_function
    def score_after(
        slot,  # IN tables, places, multiplicity, and the score's arguments
        proposal,  # IN Proposal (not used)
        moved,  # IN Moved
        current,  # IN int64: score of the tree (not used)
    ):
        """Return the score after the edit: the sum of all lanes' shares (int64)."""
        return lane_sum(score_mapping(slot, moved))

    return compose_evaluation(form, place, score_after, make_extras(form))


ENCODING = Encoding("preorder", "sub-group", NARROW, make_evaluation)

GENERAL = Encoding(
    "preorder_general", "sub-group", (*NARROW, SIZES), partial(make_form_evaluation, read_sizes)
)

SPECIALISED = Encoding("preorder", "sub-group", NARROW, partial(make_form_evaluation, specialised_sizes))
