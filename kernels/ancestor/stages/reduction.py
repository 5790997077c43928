"""Reduction: maximum over nodes, sum over cells, accept test, update of the current and best tree, counts.

No branch depends on the data: rows are always written, and masks select the values. A slot that has reached
its last step does not change.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of, matrix_start
from syclade.kernels.ancestor.reduction import make_total
from syclade.kernels.chain.parts import Move, Score
from syclade.kernels.moves.choice import count_kinds
from syclade.kernels.target import address, control, device_function, in_step, maximum, private_array
from syclade.kernels.words import spread

_FIVE = address(5)


def make_reduction_stage(
    capacity: Callable[..., Any], score: Score, moves: Sequence[Move], lanes: int, **sizes: int
) -> Any:
    """Return the stage; each lane does every `lanes`-th column, then every `lanes`-th row.

    Args:
        capacity: factory of the device function () -> Capacity, from the sizes.
        score: score of the best attachment, which takes no arguments.
        moves: moves of the chain, for the counts.
        lanes: work-items per slot.
        sizes: as in `Capacity`, if they are known.

    Raises:
        ValueError: the score needs more than the best attachment, or takes arguments.
    """
    if score.terms is not None or score.arguments:
        raise ValueError("the reduction knows scores of the best attachment only")
    kinds = count_kinds(moves)
    tally_count, tally_rounds = address(2 * kinds), -(-2 * kinds // lanes)
    capacity_of, lane_bits, lanes_u = capacity(**sizes), bits_of(lanes), address(lanes)
    of_cell, total = score.of_cell, make_total(lanes)

    @device_function
    def share_of(given, number, lane):
        """Return the sum over the lane's columns of multiplicity * contribution of the cell (int64)."""
        capacity = capacity_of()
        row_stride = address(capacity.nodes)
        worth_size = row_stride * address(capacity.cells)
        share = np.int64(0)
        for part in range(capacity.cells >> lane_bits):
            cell = address(part * lanes) + lane
            row = number * worth_size + cell * row_stride
            best = np.int32(0)  # the score at the root
            for node in range(capacity.nodes):
                best = maximum(best, given.worth[row + address(node)])
            share = share + np.int64(of_cell(given, number, best)) * given.multiplicity[cell]
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
    def ancestor_reduction(number, lane, given):
        """Accept or reject, and count."""
        kind = control(given.move[number * _FIVE])
        current, best, now = given.score[number], given.best_score[number], given.step[number]
        threshold = given.threshold[number]
        going = control(now < given.last_step[number])
        before = private_array(tally_rounds, np.int64)
        for part in range(tally_rounds):
            before[part] = given.tallies[number * tally_count + own_tally(part, lane)]
        given.shares[number * lanes_u + lane] = share_of(given, number, lane)
        number = in_step(number)  # all lanes have read what lanes will write, and written their shares
        proposed = total(given.shares, number * lanes_u)
        accepted = going * control(proposed - current + threshold >= np.int64(0))
        better = accepted * control(proposed > best)
        count(given, before, number, lane, kind, going, accepted)
        given.score[number] = current + (proposed - current) * accepted
        given.best_score[number] = best + (proposed - best) * better
        given.step[number] = now + going
        # The CPU device's compiler does not vectorise over rows between two barriers if lanes also store
        # values there that are the same in all lanes.
        capacity = capacity_of()
        base = in_step(matrix_start(capacity, number))
        take_rows(given, base, lane, spread(np.uint64(accepted)), spread(np.uint64(better)))

    return ancestor_reduction
