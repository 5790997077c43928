"""Reduction: maximum over nodes, sum over cells, accept test, update of the current and best tree, counts.

No branch depends on the data: rows are always written, and masks select the values. A slot that has reached
its last step does not change.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of, matrix_start
from syclade.kernels.ancestor.reduction import make_total
from syclade.kernels.ancestor.score_mapping import make_of_attachments
from syclade.kernels.chain.parts import Score
from syclade.kernels.target import address, control, device_function, in_step, maximum, private_array
from syclade.kernels.words import spread

_FIVE = address(5)


class Decision(NamedTuple):
    """Outcome of a step.

    Attributes:
        base: address, where the slot's matrices start, after a barrier of the lanes.
        step: int64, number of the step.
        score: int64, of the state after it.
        best: int64, the best score before it.
        going, accepted, better: control, 1 if the slot does a step, accepts it, and has a new best tree.
    """

    base: Any
    step: Any
    score: Any
    best: Any
    going: Any
    accepted: Any
    better: Any


def make_worth_in_memory(capacity_of: Any) -> Any:
    """Return a device function that reads the score of a column at a node, for matrices of a capacity."""

    @device_function
    def worth_in_memory(
        given,  # IN worth (slots, cells, nodes) int32, flat
        number,  # IN address: the slot
        tree,  # IN address: not used
        base,  # IN address: not used
        cell,  # IN address
        node,  # IN integer
    ):
        """Return the score of the cell at a node (int32)."""
        capacity = capacity_of()
        row_stride = address(capacity.nodes)
        row = number * row_stride * address(capacity.cells) + cell * row_stride
        return given.worth[row + address(node)]

    return worth_in_memory


def make_parts(
    capacity: Callable[..., Any], score: Score, *, kinds: int, lanes: int, **sizes: int
) -> tuple[Any, Any]:
    """Return the device functions decide and take_rows, which the stage consists of.

    Args:
        capacity: factory of the device function () -> Capacity, from the sizes.
        score: contribution of a cell.
        kinds: number of kinds that steps are counted as.
        lanes: work-items per slot.
        sizes: as in `Capacity`, if they are known.
    """
    tally_count, tally_rounds = address(2 * kinds), -(-2 * kinds // lanes)
    capacity_of, lane_bits, lanes_u = capacity(**sizes), bits_of(lanes), address(lanes)
    worth_at, total = make_worth_in_memory(capacity_of), make_total(lanes)
    of_attachments = make_of_attachments(score, capacity_of, worth_at)

    @device_function
    def share_of(given, number, lane):
        """Return the sum over the lane's columns of multiplicity * contribution of the cell (int64)."""
        capacity = capacity_of()
        base = matrix_start(capacity, number)
        share = np.int64(0)
        for part in range(capacity.cells >> lane_bits):
            cell = address(part * lanes) + lane
            best = np.int32(0)  # the score at the root
            for node in range(capacity.nodes):
                best = maximum(best, worth_at(given, number, given.proposal, base, cell, node))
            worth = of_attachments(given, number, given.proposal, base, cell, best)
            share = share + worth * given.multiplicity[cell]
        return share

    @device_function
    def own_tally(part, lane):
        """Return the lane's tally in a round (address); for lanes beyond the last tally, the last one."""
        tally = address(part * lanes) + lane
        return tally - address(tally >= tally_count) * (tally - tally_count + address(1))

    @device_function
    def count(
        given,  # OUT tallies (slots, 2 * kinds) int64, flat
        before,  # IN (rounds,) int64, private: the lane's tallies before the step
        number,  # IN address: the slot
        lane,  # IN address
        kind,  # IN control: kind of the step
        going,  # IN control: 1 if the slot does a step, else 0
        accepted,  # IN control: 1 if the step is accepted, else 0
    ):
        """Count a step of a kind, and its acceptance. Lanes with the same tally write the same value."""
        for part in range(tally_rounds):
            tally = own_tally(part, lane)
            own = control(tally)
            more = going * control(own == kind) + accepted * control(own == kind + control(kinds))
            given.tallies[number * tally_count + tally] = before[part] + more

    @device_function
    def take_rows(
        given,  # IN proposal; IN OUT ancestors, best_ancestors: (slots, words, nodes) uint64, flat
        base,  # IN address: where the slot's matrices start
        lane,  # IN address
        accepted,  # IN uint64: mask, all ones if the proposed tree becomes the current one
        better,  # IN uint64: mask, all ones if it becomes the best one
    ):
        """Copy the lane's rows of the proposed tree to the current and the best one, as the masks say."""
        capacity = capacity_of()
        for index in range(capacity.words):
            start = base + address(index) * address(capacity.nodes)
            for part in range(capacity.nodes >> lane_bits):
                at = start + address(part * lanes) + lane
                new, old, best = given.proposal[at], given.ancestors[at], given.best_ancestors[at]
                given.ancestors[at] = old ^ ((old ^ new) & accepted)
                given.best_ancestors[at] = best ^ ((best ^ new) & better)

    @device_function
    def decide(
        number,  # IN address: the slot
        lane,  # IN address
        given,  # IN worth, proposal, move, threshold, last_step; IN OUT step, score, best_score, tallies
        own,  # IN int64: what the score of the proposed state gets in addition
        room,  # IN control: 1 if the slot may do a step, else 0
    ):
        """Accept or reject, and count (Decision)."""
        kind = control(given.move[number * _FIVE])
        current, best, now = given.score[number], given.best_score[number], given.step[number]
        threshold = given.threshold[number]
        going = room * control(now < given.last_step[number])
        before = private_array(tally_rounds, np.int64)
        for part in range(tally_rounds):
            before[part] = given.tallies[number * tally_count + own_tally(part, lane)]
        given.shares[number * lanes_u + lane] = share_of(given, number, lane)
        number = in_step(number)  # all lanes have read what lanes will write, and written their shares
        proposed = total(given.shares, number * lanes_u) + own
        accepted = going * control(proposed - current + threshold >= np.int64(0))
        better = accepted * control(proposed > best)
        count(given, before, number, lane, kind, going, accepted)
        after = current + (proposed - current) * accepted
        given.score[number] = after
        given.best_score[number] = best + (proposed - best) * better
        given.step[number] = now + going
        # The CPU device's compiler does not vectorise over rows between two barriers if lanes also store
        # values there that are the same in all lanes.
        base = in_step(matrix_start(capacity_of(), number))
        return Decision(base, now, after, best, going, accepted, better)

    return decide, take_rows


def make_reduction_stage(
    capacity: Callable[..., Any], score: Score, *, kinds: int, lanes: int, **sizes: int
) -> Any:
    """Return the stage; each lane does every `lanes`-th column, then every `lanes`-th row.

    Args:
        capacity, score, kinds, lanes, sizes: as for `make_parts`.
    """
    decide, take_rows = make_parts(capacity, score, kinds=kinds, lanes=lanes, **sizes)

    @device_function
    def ancestor_reduction(number, lane, given):
        """Accept or reject, and count."""
        decided = decide(number, lane, given, np.int64(0), control(1))
        accepted, better = spread(np.uint64(decided.accepted)), spread(np.uint64(decided.better))
        take_rows(given, decided.base, lane, accepted, better)

    return ancestor_reduction
