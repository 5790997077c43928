"""Hot arguments: those that steps read most, which a target may keep in faster memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.plan import chain_kernel, chain_sizes, make_plan
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.kernels.target.sycl_traits import TRAITS
from syclade.kernels.target.traits import Traits

SHARED_BYTES = 12_000
"""Limit in bytes per slot: four slots share the 48 KiB that a block has on a GPU."""


@pytest.mark.parametrize("traits", [TRAITS, TRAITS._replace(lanes=32)])
def test_the_hot_part_of_a_slot_is_small(traits: Traits) -> None:
    """At 128 cells and 127 mutations, the tree and the draws are hot, but no table and no best tree."""
    problem = make_problem(simulate(128, 127, 0.01, 0.2, 0.1, seed=1).matrix, Rates(0.01, 0.2))
    plan, encoding = make_plan(problem), PreorderEncoding(problem, traits)
    hot = [one for one in chain_kernel(plan, encoding).arguments if one.hot]
    assert {one.name for one in hot} == {
        "drawn", "parent", "position", "size", "places", "row_of", "block_start", "fresh",
    }  # fmt: skip
    sizes = chain_sizes(plan, encoding, 1)
    assert all(one.shape[0] == "slots" for one in hot)
    assert sum(one.nbytes(sizes) for one in hot) <= SHARED_BYTES


def test_compiled_kernels_do_not_depend_on_it() -> None:
    """Check that the hint changes no key of the cache."""
    problem = make_problem(simulate(8, 7, 0.01, 0.2, 0.1, seed=1).matrix, Rates(0.01, 0.2))
    kernel = chain_kernel(make_plan(problem), PreorderEncoding(problem, TRAITS))
    records = tuple(
        replace(record, arguments=tuple(one._replace(hot=not one.hot) for one in record.arguments))
        for record in kernel.records
    )
    assert replace(kernel, records=records).key([]) == kernel.key([])
