"""Composition of a chain: one kernel that does many steps, whatever its parts are.

All lanes run the same control flow. On a CPU device that is cheaper than a broadcast, and it avoids branches
that differ between lanes, which would stop its compiler from vectorising.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syclade.kernels.chain.batch import make_batch
from syclade.kernels.chain.edits import Draw, Proposal
from syclade.kernels.chain.parts import Encoding, Move, Recorder, Score
from syclade.kernels.chain.slot import with_base
from syclade.kernels.chain.tallies import make_tallies
from syclade.kernels.moves.choice import count_kinds, make_propose
from syclade.kernels.recorders.ring import make_ring
from syclade.kernels.target import address, apart_from, control, device_function, in_step, private_array

_ONE = control(1)
_TWO = control(2)
_ZERO = control(0)
_WIDE_ZERO = np.int64(0)  # for scores, steps and packed counts


@device_function
def kept_apart(proposal):
    """Return the same proposal, kept apart from code for lanes and from what is known of its values.

    Since there are few edits, LLVM would otherwise make a switch over a three-bit number, which no reader of
    SPIR-V accepts, or specialise all the code that follows for each edit, which takes longer.
    """
    return Proposal(
        apart_from(proposal.kind),
        apart_from(proposal.edit),
        apart_from(proposal.v),
        apart_from(proposal.w),
        apart_from(proposal.t),
        apart_from(proposal.correction),
    )


def make_chain_steps(
    encoding: Encoding, moves: Sequence[Move], score: Score, recorders: Sequence[Recorder], **sizes: int
) -> Any:
    """Return the kernel's body: a device function of a slot, a lane and the parts' arguments.

    Args:
        encoding, moves, score, recorders: the parts.
        sizes: sizes that the encoding is specialised for; `lanes` is one of them.
    """
    lanes = sizes["lanes"]
    evaluation = encoding.make_evaluation(score, **sizes)
    place, start, evaluate = evaluation.place, evaluation.start, evaluation.evaluate
    follow, keep, finish = evaluation.follow, evaluation.keep, evaluation.finish
    propose = make_propose(moves, evaluation.relations)
    draw_batch = make_batch(moves, lanes)
    tally = make_tallies(count_kinds(moves), lanes)
    load, counted, take_over, store = tally.load, tally.counted, tally.take_over, tally.store
    rounds = tally.rounds
    recording = int(bool(recorders))
    is_full, record = make_ring(recorders, evaluation, **sizes)
    lanes_u = address(lanes)
    batch_mask = control(lanes - 1)
    batch_size = address(5 * lanes)

    @device_function
    def chain_steps(
        number,  # IN address: the slot
        lane,  # IN address
        chain,  # IN OUT record of chain/arguments.py
        given,  # IN OUT record of the encoding's and the score's arguments
        events,  # IN OUT record of the recorders' arguments
    ):
        """Advance the slot's chain from `step` to `last_step`, or until its ring of events is full."""
        mutations = control(chain.parameters[address(0)])
        logs = number * address(mutations + _TWO)
        batch = number * batch_size
        current = chain.score[number]
        best = chain.best_score[number]
        first_step = chain.step[number]
        steps = max(chain.last_step[number] - first_step, _WIDE_ZERO)
        counts = private_array(rounds, np.int64)
        load(counts, chain, lane, number)
        proposed_tally, accepted_tally = _WIDE_ZERO, _WIDE_ZERO
        placed = place(given, number, lane, mutations)
        base = placed.base
        if steps > _WIDE_ZERO:
            base = start(placed)
        for done in range(steps):
            now = control(done) & batch_mask
            if recording:
                if is_full(events, number):
                    steps = np.int64(done)
                    break
            if now == _ZERO:
                take_over(counts, chain, lane, proposed_tally, accepted_tally)
                proposed_tally, accepted_tally = _WIDE_ZERO, _WIDE_ZERO
                batch = in_step(batch)
                draw_batch(
                    chain, number, batch, lane, np.uint64(first_step + np.int64(done)), np.uint64(mutations)
                )
                batch = in_step(batch)
            at = batch + address(now)
            slot = with_base(placed, base)
            draw = Draw(
                control(chain.drawn[at + lanes_u]),
                control(chain.drawn[at + address(2) * lanes_u]),
                np.uint64(chain.drawn[at + address(3) * lanes_u]),
                chain.log_sizes,
                logs,
            )
            proposal = kept_apart(propose(slot, control(chain.drawn[at]), draw, mutations))
            threshold = chain.drawn[at + address(4) * lanes_u] + proposal.correction - current
            proposed_tally = counted(proposed_tally, proposal.kind)
            proposed, change = evaluate(slot, proposal, current, threshold)
            before, accepted = best, _ZERO
            if proposed + threshold >= _WIDE_ZERO:
                current, accepted = proposed, _ONE
                accepted_tally = counted(accepted_tally, proposal.kind)
                follow(slot, proposal, change)
                base = in_step(base)
                if proposed > best:
                    best = proposed
                    keep(with_base(placed, base))
            if recording:
                after = with_base(placed, base)
                record(events, after, mutations, first_step + np.int64(done), current, before, accepted)
        if steps > _WIDE_ZERO:
            finish(with_base(placed, base))
        take_over(counts, chain, lane, proposed_tally, accepted_tally)
        store(counts, chain, lane, number)
        chain.score[number] = current
        chain.best_score[number] = best
        chain.step[number] = first_step + steps

    return chain_steps
