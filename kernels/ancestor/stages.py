"""The stages as kernels of their own: one launch of each, in order, is one step of every slot's chain.

The pipeline of the thesis (figure 3.1) taken apart, for who builds it in hardware: what the composition
(chain/steps.py) keeps in registers between stages goes through memory here. Find parent has no kernel, since
a parent's row is the node's own row with one bit cleared (`find_parent`).

Every factory returns a kernel's body: a device function of a slot, a lane and a record of the arguments that
`stage_arguments.py` lists.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.ancestor.encoding import Here
from syclade.kernels.ancestor.reduction import make_reduction
from syclade.kernels.ancestor.relations import make_relations
from syclade.kernels.ancestor.score_mapping import make_score_mapping
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.chain.batch import make_batch
from syclade.kernels.chain.edits import NO_CORRECTION, Draw, Proposal
from syclade.kernels.chain.parts import Move, Score
from syclade.kernels.moves.choice import count_kinds, make_propose
from syclade.kernels.target import address, control, device_function, in_step, private_array

_ZERO, _ONE, _TWO, _THREE, _FOUR = (address(number) for number in range(5))
_FIVE = address(5)


class Words(NamedTuple):
    """What `draw_batch` takes, for a batch of one step."""

    parameters: Any
    chain: Any
    move_below: Any
    log_table: Any
    drawn: Any


def make_propose_stage(moves: Sequence[Move], nodes: int, words: int) -> Any:
    """The next step's draws become a proposal and its threshold. Every lane does and stores the same."""
    matrix_size = address(nodes * words)
    propose = make_propose(moves, make_relations(nodes, words))
    draw_batch = make_batch(moves, 1)

    @device_function
    def ancestor_propose(number, lane, given):
        """Draw, propose, and write both down."""
        mutations = control(given.parameters[_ZERO])
        batch = number * _FIVE
        words = Words(given.parameters, given.chain, given.move_below, given.log_table, given.draws)
        draw_batch(words, number, batch, _ZERO, np.uint64(given.step[number]), np.uint64(mutations))
        draw = Draw(
            control(given.draws[batch + _ONE]),
            control(given.draws[batch + _TWO]),
            np.uint64(given.draws[batch + _THREE]),
            given.log_sizes,
            number * address(mutations + control(2)),
        )
        here = Here(number, lane, mutations + control(1))
        proposal = propose(given, here, number * matrix_size, control(given.draws[batch]), draw, mutations)
        at = number * _FIVE
        given.move[at] = proposal.kind
        given.move[at + _ONE] = proposal.edit
        given.move[at + _TWO] = proposal.v
        given.move[at + _THREE] = proposal.w
        given.move[at + _FOUR] = proposal.t
        given.threshold[number] = given.draws[batch + _FOUR] + proposal.correction

    return ancestor_propose


def make_tree_update_stage(nodes: int, words: int, lanes: int) -> Any:
    """The current trees and the proposals become the proposed trees."""
    matrix_size = address(nodes * words)
    tree_update = make_tree_update(nodes, words, lanes)

    @device_function
    def ancestor_tree_update(number, lane, given):
        """Write the proposed tree."""
        at = number * _FIVE
        proposal = Proposal(
            control(given.move[at]),
            control(given.move[at + _ONE]),
            control(given.move[at + _TWO]),
            control(given.move[at + _THREE]),
            control(given.move[at + _FOUR]),
            NO_CORRECTION,
        )
        tree_update(given.ancestors, given.proposal, number * matrix_size, lane, proposal)

    return ancestor_tree_update


def make_score_mapping_stage(
    score: Score, nodes: int, words: int, cells: int, lanes: int, values: int
) -> Any:
    """The proposed trees become each lane's share of their scores."""
    matrix_size, lanes_u = address(nodes * words), address(lanes)
    score_mapping = make_score_mapping(score, nodes, words, cells, lanes, values)

    @device_function
    def ancestor_score_mapping(number, lane, given):
        """Write the lane's share of the proposed tree's score."""
        share = score_mapping(given, number, given.proposal, number * matrix_size, lane)
        given.shares[number * lanes_u + lane] = share

    return ancestor_score_mapping


def make_reduction_stage(moves: Sequence[Move], nodes: int, words: int, lanes: int) -> Any:
    """The shares become scores; the accept test; current and best trees; the step is counted.

    A slot whose step has reached its last does nothing.
    """
    matrix_size, lanes_u = address(nodes * words), address(lanes)
    kinds = count_kinds(moves)
    tallies = address(2 * kinds)
    rounds = -(-2 * kinds // lanes)
    total, copy_rows = make_reduction(nodes, words, lanes)

    @device_function
    def own_tally(part, lane):
        """The tally that the lane keeps in a round; lanes beyond the last one keep that as well."""
        tally = address(part * lanes) + lane
        return tally - address(tally >= tallies) * (tally - tallies + _ONE)

    @device_function
    def count(given, before, number, lane, kind, accepted):
        """One more step of a kind, and one more accepted. Lanes that keep the same tally write the same."""
        for part in range(rounds):
            tally = own_tally(part, lane)
            own = control(tally)
            more = control(own == kind) + accepted * control(own == kind + control(kinds))
            given.tallies[number * tallies + tally] = before[part] + more

    @device_function
    def ancestor_reduction(number, lane, given):
        """Accept or reject, and count."""
        base = number * matrix_size
        kind = control(given.move[number * _FIVE])
        current, best, now = given.score[number], given.best_score[number], given.step[number]
        going = control(now < given.last_step[number])
        proposed = total(given.shares, number * lanes_u)
        accepted = going * control(proposed - current + given.threshold[number] >= np.int64(0))
        better = accepted * control(proposed > best)
        before = private_array(rounds, np.int64)
        for part in range(rounds):
            before[part] = given.tallies[number * tallies + own_tally(part, lane)]
        number = in_step(number)  # all lanes have read what all lanes will write
        if going != control(0):
            count(given, before, number, lane, kind, accepted)
            if accepted != control(0):
                copy_rows(given.proposal, given.ancestors, base, lane)
                given.score[number] = proposed
            if better != control(0):
                copy_rows(given.proposal, given.best_ancestors, base, lane)
                given.best_score[number] = proposed
            given.step[number] = now + np.int64(1)

    return ancestor_reduction
