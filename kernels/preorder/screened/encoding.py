"""Encoding `preorder` with narrow tables for scores of all attachments, which are screened.

`evaluate` uses the threshold of acceptance. Where an upper bound of the score is too low for it, that
decides. Where it is not, the score is exact. So chains are the same, bit for bit, as if every proposal were
scored in full.
"""

from typing import Any

import numpy as np

from syclade.kernels.chain.parts import Evaluation, Score
from syclade.kernels.chain.slot import after_writes
from syclade.kernels.preorder.edits.edit import make_moved
from syclade.kernels.preorder.edits.nothing import moved_by_nothing
from syclade.kernels.preorder.evaluation import EDITS
from syclade.kernels.preorder.form import Form
from syclade.kernels.preorder.narrow import encoding as unscreened
from syclade.kernels.preorder.screened.arguments import SCREENED
from syclade.kernels.preorder.screened.bound import make_bound
from syclade.kernels.preorder.screened.exact import make_exact
from syclade.kernels.preorder.screened.parts import shifted_by
from syclade.kernels.preorder.screened.shares import (
    by_scores_alone,
    make_extras_with_shares,
    make_put_shares,
)
from syclade.kernels.preorder.screened.sums import make_sums
from syclade.kernels.preorder.sizes import encodings_of
from syclade.kernels.preorder.tables.follow import make_follow
from syclade.kernels.preorder.tables.start import make_start
from syclade.kernels.preorder.tree.blocks import make_blocks
from syclade.kernels.target import control, device_function, in_step, lane_sum

_ZERO = control(0)
_ONE = control(1)
_WIDE_ZERO = np.int64(0)

FEW = control(3)
"""Number of shifted nodes up to which their terms are added up at once: the fastest in measurements."""


def make_evaluation(
    sizes_of: Any, score: Score, *, lanes: int, rounds: int, broad: int, **_others: int
) -> Evaluation:
    """Return the evaluation of a score, for every shape of a form; arguments as in `encodings_of`.

    The score's terms are powers of two relative to the octave of the best.
    """
    assert score.terms is not None
    form = Form(lanes, rounds, 0, broad)
    inner = unscreened.make_evaluation(sizes_of, score, lanes=lanes, rounds=rounds, broad=broad)
    blocks, extras = make_blocks(form), make_extras_with_shares(form)
    edits = [by_scores_alone(make_edit(form, blocks)) for make_edit in EDITS]
    moved_by = make_moved(edits, moved_by_nothing)
    start_tables, follow_tree = make_start(form, blocks, extras), make_follow(form, edits, blocks, extras)
    put_shares = make_put_shares(form)
    bound_share, exact_share = make_bound(form, score.terms), make_exact(form, score.terms)
    fill_sums, take_away, bring = make_sums(form, score.terms)
    finish_tree = inner.finish

    @device_function
    def start(slot):
        """Make the tables and sums if they are not those of the tree; return `base`."""
        base = slot.base
        if slot.given.tables_made[slot.here.number] == _WIDE_ZERO:
            start_tables(slot)
            fill_sums(after_writes(slot))
            base = in_step(base)
        return base

    @device_function
    def score_or_bound(
        slot,  # IN tables, places, subtree_sums, multiplicity, the score's arguments; OUT proposed
        moved,  # IN Moved
        threshold,  # IN int64
    ):
        """Return the score after the edit, or an upper bound of it that is below minus the threshold."""
        shifted = shifted_by(slot, moved)
        exact = control(shifted.count_1 + shifted.count_2 <= FEW)
        proposed, going = -threshold, _ONE
        while going != _ZERO:  # one call, since a second copy would double the compile time of the code
            proposed = lane_sum(bound_share(slot, moved, shifted, exact))
            going = control(proposed + threshold >= _WIDE_ZERO) & (_ONE - exact)
            exact = _ONE
        if proposed + threshold >= _WIDE_ZERO:
            proposed = lane_sum(exact_share(slot, moved))
        return proposed

    @device_function
    def evaluate(
        slot,  # IN the tree and its tables; OUT proposed
        proposal,  # IN Proposal
        current,  # IN int64: score of the tree
        threshold,  # IN int64: the edit is accepted if its score plus this is at least 0
    ):
        """Return (the score after the edit, or less than minus the threshold if it is rejected; Moved)."""
        moved = moved_by(slot, proposal)
        proposed = current
        if (moved.plus_1 ^ moved.minus_1) | (moved.plus_2 ^ moved.minus_2) != _ZERO:
            proposed = score_or_bound(slot, moved, threshold)
        return proposed, moved

    @device_function
    def follow(
        slot,  # IN OUT the tree, the tables and sums; IN proposed
        proposal,  # IN Proposal
        moved,  # IN Moved
    ):
        """Change the tree, the tables and the sums; all lanes come here together."""
        if (moved.plus_1 ^ moved.minus_1) | (moved.plus_2 ^ moved.minus_2) != _ZERO:
            take_away(slot, moved)
            follow_tree(slot, proposal, moved)
            bring(after_writes(slot), moved)

    @device_function
    def finish(slot):
        """Store what the host needs of the tree and the shares."""
        finish_tree(slot)
        put_shares(slot)

    return inner._replace(start=start, evaluate=evaluate, follow=follow, finish=finish)


ENCODING, GENERAL, SPECIALISED = encodings_of("preorder_screened", SCREENED, make_evaluation, subtrees=1)
