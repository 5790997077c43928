"""Wide matrices: tables with sketches and subtree maxima, or of several panels; the order of columns."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.chains.encodings.preorder import MOST_CLUSTERED, PreorderEncoding, like_columns_together
from syclade.host.chains.plan import Plan
from syclade.kernels.preorder.wide.sketches import SKETCH_BITS
from syclade.kernels.target.sycl_traits import TRAITS
from tests.suites.rows.mutation_trees import WIDE, wide_plan, wide_row


@pytest.mark.parametrize("name", WIDE)
def test_the_cases_have_wide_tables_or_several_panels(name: str) -> None:
    encoding = PreorderEncoding(wide_plan(name).problem, TRAITS)
    assert encoding.wide == (name != "several panels")
    assert encoding.constants["cells"] > 128, "several panels"


def test_the_cases_are_what_they_are_called() -> None:
    def sketches(plan: Plan) -> set[int]:
        return {weight >> SKETCH_BITS for weight in plan.problem.rates.weights}

    assert len(sketches(wide_plan("usual"))) == 3
    assert len(sketches(wide_plan("weights with equal sketches"))) < 3
    assert wide_plan("ones without weight").problem.rates.weights[1] == 0
    assert wide_plan("repeated columns").problem.multiplicity.max() > 1
    flat = wide_row("many acceptances").expected.at[300][-1].tallies
    assert (flat[5:9] > 0).all()
    assert flat[5:].sum() > 0.5 * flat[:5].sum()


@pytest.mark.parametrize("width", [1, 2, 3, 40, MOST_CLUSTERED + 10])
def test_the_order_of_columns_is_a_permutation(width: int) -> None:
    drawn = np.random.default_rng(width).random((6, width)) < 0.35
    assert sorted(like_columns_together(drawn).tolist()) == list(range(width))


def test_like_columns_come_together() -> None:
    kinds = np.arange(90) % 3
    columns = np.zeros((12, 90), dtype=np.bool_)
    columns[kinds * 4 + np.random.default_rng(1).integers(0, 4, 90), np.arange(90)] = True
    columns[kinds * 4, np.arange(90)] = True
    ordered = kinds[like_columns_together(columns)]
    assert (np.diff(ordered) != 0).sum() == 2


def test_columns_without_mutations_are_no_trouble() -> None:
    assert sorted(like_columns_together(np.zeros((3, 5), dtype=np.bool_)).tolist()) == list(range(5))
