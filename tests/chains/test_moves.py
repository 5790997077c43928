"""Guides: what their tables hold, by counting; and the guide that sampled trees give."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.moves import MOVES, cumulative, guide_entries, guide_from, make_guide, uniform_guide
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.state import Event
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.support.plan import learned_guide, make_support_plan
from syclade.kernels.moves.guide import LONGER_ABOVE, NEVER, UPPER_BITS, index_bits

UNIT, GAMMA = 2.0**-12, 0.5
EDGES = np.array([[9, 1, 0, 6], [2, 0, 5, 1], [0, 0, 3, 8]])
ALIKE = np.full(4, 4)
SWAPS = np.array([[7, 3, 0], [9, 9, 1], [9, 9, 9]])


def unpacked(table: NDArray[np.int32]) -> Counter[tuple[int, int]]:
    """Return how often each pair of nodes is in a table of entries."""
    return Counter(zip((table >> UPPER_BITS).tolist(), (table & 0xFFFF).tolist(), strict=True))


def test_entries_are_as_frequent_as_their_weights() -> None:
    tables = make_guide(EDGES, SWAPS, UNIT, GAMMA)
    edges, swaps = unpacked(tables["guide_edges"]), unpacked(tables["guide_swaps"])
    weights = {(v, t): EDGES[v, t] for v in range(3) for t in range(4) if EDGES[v, t] and v != t}
    assert edges.keys() == weights.keys(), "a mutation is not its own parent"
    assert swaps.keys() == {(0, 1), (1, 2)}, "pairs count once, and those without weight do not"
    for found, wanted in ((edges, weights), (swaps, {(0, 1): 3, (1, 2): 1})):
        assert sum(found.values()) == guide_entries(3)
        total = sum(wanted.values())
        for pair, weight in wanted.items():
            assert abs(found[pair] - guide_entries(3) * weight / total) <= 1


def test_logarithms_are_those_of_the_entries() -> None:
    tables = make_guide(EDGES, SWAPS, UNIT, GAMMA)
    logs, edges = tables["guide_logs"].reshape(3, 4), unpacked(tables["guide_edges"])
    for v in range(3):
        for t in range(4):
            number = edges[v, t]
            assert logs[v, t] == (round(math.log(number) / UNIT / GAMMA) if number else NEVER)


@pytest.mark.parametrize("mutations", [1, 2, 7, 300])
def test_a_uniform_guide_prefers_nothing(mutations: int) -> None:
    tables = uniform_guide(mutations, UNIT, GAMMA)
    assert all(table.dtype == np.int32 for table in tables.values())
    edges = unpacked(tables["guide_edges"])
    assert len(edges) == mutations * mutations
    assert max(edges.values()) - min(edges.values()) <= 1
    each = Counter(v for v, _ in edges.elements())
    assert max(each.values()) - min(each.values()) <= 2
    if mutations > 1:
        assert len(unpacked(tables["guide_swaps"])) == mutations * (mutations - 1) // 2


@pytest.mark.parametrize("mutations", [1, 1024, *LONGER_ABOVE, *(above + 1 for above in LONGER_ABOVE)])
def test_a_table_has_at_least_four_entries_for_each_pair(mutations: int) -> None:
    """Kernels compute its length by themselves."""
    assert guide_entries(mutations) == 1 << int(index_bits(mutations))
    assert guide_entries(mutations) >= 4 * mutations * mutations


def test_a_tenth_of_the_entries_of_a_mutation_are_uniform() -> None:
    edges = np.array([[0, 0, 0, 40], [10, 0, 30, 0], [0, 40, 0, 0]])
    found = unpacked(guide_from(edges, ALIKE[: len(edges)], UNIT, GAMMA)["guide_edges"])
    for v in range(3):
        weights = {t: 0.9 * edges[v, t] / 40 + 0.1 / 4 for t in range(4) if t != v}
        total = sum(found[v, t] for t in weights)
        for t, weight in weights.items():
            assert found[v, t] / total == pytest.approx(weight / sum(weights.values()), rel=1e-3)
    assert (
        guide_from(edges, ALIKE[: len(edges)], UNIT, GAMMA)["guide_logs"].reshape(3, 4) != NEVER
    ).sum() == 9


def test_mutations_are_proposed_as_often_as_asked() -> None:
    edges, often = np.array([[0, 2, 2, 4], [4, 0, 0, 4], [4, 4, 0, 0]]), np.array([4, 16, 4])
    tables = guide_from(edges, often, UNIT, GAMMA)
    each = Counter(v for v, _ in unpacked(tables["guide_edges"]).elements())
    assert each[1] / each[0] == pytest.approx(4, rel=0.01)
    assert each[2] / each[0] == pytest.approx(1, rel=0.01)
    swaps = unpacked(tables["guide_swaps"])
    alike = unpacked(guide_from(edges, ALIKE[:3], UNIT, GAMMA)["guide_swaps"])
    assert swaps[0, 1] / swaps[0, 2] == pytest.approx(2 * alike[0, 1] / alike[0, 2], rel=0.2)


def test_swaps_are_of_mutations_in_like_places() -> None:
    """Mutations 0 and 1 have one parent in every tree, 2 and 3 are parent and child, 0 and 3 nothing."""
    edges = np.zeros((4, 5), dtype=np.int64)
    edges[[0, 1], 4] = edges[3, 2] = 8
    edges[2, [0, 1]] = 4
    swaps = unpacked(guide_from(edges, ALIKE[: len(edges)], UNIT, GAMMA)["guide_swaps"])
    assert abs(swaps[0, 1] - swaps[2, 3]) <= 1
    assert swaps[0, 2] == pytest.approx(swaps[0, 1] * math.sqrt(32 / 64), rel=0.3)
    assert (0, 3) not in swaps


def test_a_guide_is_learned_from_the_later_half_of_each_chain() -> None:
    made = make_support_plan("quick", simulate(6, 3, 0.05, 0.3, 0.2, 3).matrix, Rates(0.05, 0.3), None)
    early, late = np.array([3, 3, 3, 3], np.int32), np.array([1, 2, 3, 3], np.int32)
    with_early, only_late = SampleStore(4), SampleStore(4)
    for chain, length in enumerate((9000, 10)):  # one chain has several blocks of samples
        events = [Event(chain, at, 0, 1, 0, early if at < length // 2 else late) for at in range(length)]
        with_early.take(events)
        only_late.take(events[length // 2 :] * 2)
    found = learned_guide(made.plan, made.silent, with_early)
    expected = guide_from(np.eye(4, dtype=np.int64)[late[:3]] * 4505, ALIKE[:3], made.plan.problem.unit, 1.0)
    for name, table in expected.items():
        np.testing.assert_array_equal(found[name], table)
    of_late = unpacked(learned_guide(made.plan, made.silent, only_late)["guide_edges"])
    assert {pair for pair, _ in of_late.most_common(3)} == {(0, 1), (1, 2), (2, 3)}


def test_no_weight_becomes_a_probability_of_0() -> None:
    """Probabilities are in 1/65536."""
    assert cumulative(MOVES, (1.0, 0.0, 5e-6)) == (65535, 65535, 65536)
    assert cumulative(MOVES, (0.0, 1e-9, 1.0)) == (0, 1, 65536)
    assert cumulative(MOVES, (0.5, 0.5, 0.0)) == (32768, 65536, 65536)
