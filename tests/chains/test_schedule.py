"""Slot schedule: algorithm 3.10 of the thesis, for every number of chains, steps and slots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.chains.schedule import SlotSchedule, Turnover
from syclade.host.ground.errors import OptionError

CHAINS = st.integers(0, 12)
STEPS = st.integers(1, 9)
SLOTS = st.integers(1, 8)


def circulate(schedule: SlotSchedule) -> list[tuple[int, int]]:
    """Return (chain, step) of every send.

    States circulate one step at a time, in the order in which they were sent.
    """
    queue = [slot for slot, chain in enumerate(schedule.occupants) if chain is not None]
    sends = []
    while queue:
        slot = queue.pop(0)
        chain = schedule.occupants[slot]
        assert chain is not None
        sends.append((chain, schedule.step_of(slot)))
        schedule.advance_slot(slot)
        if schedule.occupants[slot] is not None:
            queue.append(slot)
    return sends


def algorithm_3_10(chains: int, steps: int, capacity: int) -> list[tuple[int, int]]:
    """Return (chain, step) of every send, following the printed algorithm line by line.

    The number of chains must be a multiple of the capacity.
    """
    sends: list[tuple[int, int]] = []
    initial = 0
    for i in range(chains * steps + capacity):
        feedback = sends[i - capacity] if i >= capacity else None
        if i < chains * steps:
            if i % (steps * capacity) < capacity:
                sends.append((initial, 0))
                initial += 1
            else:
                assert feedback is not None
                sends.append((feedback[0], feedback[1] + 1))
    return sends


@given(st.integers(1, 4), STEPS, SLOTS)
def test_states_go_round_in_the_order_of_algorithm_3_10(groups: int, steps: int, slots: int) -> None:
    chains = groups * slots
    assert circulate(SlotSchedule(chains, steps, slots)) == algorithm_3_10(chains, steps, slots)


@given(CHAINS, STEPS, SLOTS)
def test_every_chain_gets_exactly_its_steps_in_order(chains: int, steps: int, slots: int) -> None:
    schedule = SlotSchedule(chains, steps, slots)
    sends = circulate(schedule)
    assert schedule.done
    for chain in range(chains):
        assert [step for other, step in sends if other == chain] == list(range(steps))
    assert [chain for chain, step in sends if step == 0] == list(range(chains))


@given(st.lists(STEPS, max_size=12), SLOTS, st.lists(st.integers(0, 12), max_size=40))
def test_launches_of_any_lengths_give_every_chain_its_own_steps(
    counts: list[int], slots: int, launches: list[int]
) -> None:
    schedule = SlotSchedule(len(counts), counts, slots)
    given_steps = [0] * len(counts)
    finished: list[int] = []
    for launch in [*launches, *[1] * sum(counts)]:
        for slot, chain in enumerate(schedule.occupants):
            if chain is not None:
                given_steps[chain] += min(launch, schedule.remaining(slot))
        finished += [change.finished for change in schedule.advance(launch)]
    assert schedule.done
    assert given_steps == counts
    assert sorted(finished) == list(range(len(counts)))


@given(CHAINS, STEPS, SLOTS, st.lists(st.integers(1, 12), max_size=40))
def test_slots_and_turnovers_do_not_depend_on_the_launches(
    chains: int, steps: int, slots: int, launches: list[int]
) -> None:
    whole = SlotSchedule(chains, steps, slots)
    wanted: list[Turnover] = []
    while not whole.done:
        wanted += whole.advance(steps)
    cut = SlotSchedule(chains, steps, slots)
    found: list[Turnover] = []
    for launch in [*launches, *[1] * (chains * steps)]:
        found += cut.advance(launch)
    assert found == wanted


@given(st.lists(STEPS, max_size=12), SLOTS, st.lists(st.integers(1, 12), max_size=60))
def test_no_slot_idles_while_work_is_left(counts: list[int], slots: int, launches: list[int]) -> None:
    schedule = SlotSchedule(len(counts), counts, slots)
    left = len(counts)
    for launch in launches:
        waiting_or_running = min(left, slots)
        assert sum(chain is not None for chain in schedule.occupants) == waiting_or_running
        assert schedule.done == (left == 0)
        left -= len(schedule.advance(launch))


@given(st.lists(STEPS, min_size=1, max_size=12), SLOTS)
def test_launches_until_turnover_always_do_useful_steps_in_every_slot(counts: list[int], slots: int) -> None:
    schedule = SlotSchedule(len(counts), counts, slots)
    launches = 0
    while not schedule.done:
        launch = schedule.until_turnover
        occupied = [slot for slot, chain in enumerate(schedule.occupants) if chain is not None]
        assert launch >= 1
        assert all(schedule.remaining(slot) >= launch for slot in occupied)
        assert schedule.advance(launch)
        launches += 1
    assert launches <= len(counts)
    assert schedule.until_turnover == 0


def test_a_small_schedule_by_hand() -> None:
    schedule = SlotSchedule(3, 5, 2)
    assert schedule.slots == 2
    assert list(schedule.occupants) == [0, 1]
    assert schedule.advance(4) == []
    assert (schedule.step_of(0), schedule.remaining(0)) == (4, 1)
    assert schedule.advance(4) == [Turnover(0, 0, 2), Turnover(1, 1, None)]
    assert list(schedule.occupants) == [2, None]
    assert schedule.advance_slot(1) is None
    assert (schedule.step_of(1), schedule.remaining(1)) == (0, 0)
    assert schedule.advance_slot(0, 5) == Turnover(0, 2, None)
    assert schedule.done


@pytest.mark.parametrize(
    ("chains", "steps", "slots", "word"),
    [
        (-1, 1, 1, "chains"),
        (1, 1, 0, "slots"),
        (1, 0, 1, "steps"),
        (2, [1], 1, "step counts"),
        (2, [1, 0], 1, "less than 1 step"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(
    chains: int, steps: int | list[int], slots: int, word: str
) -> None:
    with pytest.raises(OptionError, match=word):
        SlotSchedule(chains, steps, slots)


def test_going_back_is_refused() -> None:
    with pytest.raises(OptionError, match="advance by -1"):
        SlotSchedule(1, 1, 1).advance(-1)
