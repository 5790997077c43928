"""Reduction: the maximum over nodes, the sum over cells, the accept test; current and best tree; counts.

No branch depends on what is found: rows are always written, and masks choose what. A slot whose step has
reached its last stays as it is.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from syclade.kernels.ancestor.capacity import bits_of
from syclade.kernels.ancestor.reduction import make_total
from syclade.kernels.chain.parts import Move, Score
from syclade.kernels.moves.choice import count_kinds
from syclade.kernels.target import address, control, device_function, in_step, maximum, private_array
from syclade.kernels.words import spread

_FIVE = address(5)


def make_reduction_stage(
    capacity: Callable[..., Any], score: Score, moves: Sequence[Move], lanes: int, **sizes: int
) -> Any:
    """The stage; each lane does every `lanes`-th column, then every `lanes`-th row.

    Args:
        capacity: makes the device function () -> Capacity from the sizes.
        score: of the best attachment; it takes no arguments.
        moves: of the chain, for the counts.
        lanes: work-items a slot.
        sizes: as in `Capacity`, where they are known.

    Raises:
        ValueError: the score needs more than the best attachment.
    """
    if score.terms is not None or score.arguments:
        raise ValueError("the reduction knows scores of the best attachment only")
    kinds = count_kinds(moves)
    tally_count, tally_rounds = address(2 * kinds), -(-2 * kinds // lanes)
    capacity_of, lane_bits, lanes_u = capacity(**sizes), bits_of(lanes), address(lanes)
    of_cell, total = score.of_cell, make_total(lanes)

    @device_function
    def share_of(given, number, lane):
        """Sum over the lane's columns of multiplicity * the best score (int64)."""
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
        """The tally that the lane keeps in a round; lanes beyond the last one keep that as well."""
        tally = address(part * lanes) + lane
        return tally - address(tally >= tally_count) * (tally - tally_count + address(1))

    @device_function
    def count(given, before, number, lane, kind, going, accepted):
        """One more step of a kind, and one more accepted. Lanes that keep the same tally write the same."""
        for part in range(tally_rounds):
            tally = own_tally(part, lane)
            own = control(tally)
            more = going * control(own == kind) + accepted * control(own == kind + control(kinds))
            given.tallies[number * tally_count + tally] = before[part] + more

    @device_function
    def take_rows(given, base, lane, accepted, better):
        """The proposed tree becomes the current one, and the best one, where the masks say so."""
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
        number = in_step(number)  # all lanes have read what all lanes will write, and written their shares
        proposed = total(given.shares, number * lanes_u)
        accepted = going * control(proposed - current + threshold >= np.int64(0))
        better = accepted * control(proposed > best)
        count(given, before, number, lane, kind, going, accepted)
        given.score[number] = current + (proposed - current) * accepted
        given.best_score[number] = best + (proposed - best) * better
        given.step[number] = now + going
        # The CPU device's compiler makes no vectors of rows between two barriers where lanes also store what
        # they share.
        capacity = capacity_of()
        base = in_step(number * address(capacity.nodes * capacity.words))
        take_rows(given, base, lane, spread(np.uint64(accepted)), spread(np.uint64(better)))

    return ancestor_reduction
