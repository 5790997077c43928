"""Edits of the links of a tree, and of the same tree back again.

An edit returns two nodes below which nothing changes: rows change at these and at all nodes above them.
"""

from typing import Any, NamedTuple

from syclade.kernels.chain.edits import EXCHANGE_LABELS, EXCHANGE_SUBTREES, REATTACH, TURN_OVER
from syclade.kernels.sums.links import adopt, attach, detach, first_of, parent_of
from syclade.kernels.target import choose, device_function, equal


class Changed(NamedTuple):
    """Where rows change, and how to go back; control integers, the same in all lanes.

    Attributes:
        one, other: the lowest nodes whose rows change.
        of_v, of_w: the former parents of v and w.
    """

    one: Any
    other: Any
    of_v: Any
    of_w: Any


@device_function
def exchange_labels(
    slot,  # IN OUT the links
    v,  # IN control
    w,  # IN control
):
    """Swap the places of two nodes; doing it twice changes nothing."""
    of_v = detach(slot, v)
    of_w = detach(slot, w)
    below_v, below_w = first_of(slot, v), first_of(slot, w)
    adopt(slot, v, below_w)
    adopt(slot, w, below_v)
    attach(slot, v, choose(equal(of_w, v), w, of_w))
    attach(slot, w, choose(equal(of_v, w), v, of_v))


@device_function
def apply_edit(
    slot,  # IN OUT the links
    proposal,  # IN Proposal
):
    """Change the links as the edit says; return Changed."""
    v, w, t = proposal.v, proposal.w, proposal.t
    of_v, of_w = parent_of(slot, v), parent_of(slot, w)
    one, other = of_v, of_w
    if proposal.edit == REATTACH:
        other = t
        detach(slot, v)
        attach(slot, v, t)
    elif proposal.edit == EXCHANGE_LABELS:
        one, other = v, w
        exchange_labels(slot, v, w)
    elif proposal.edit == EXCHANGE_SUBTREES:
        detach(slot, v)
        detach(slot, w)
        attach(slot, v, of_w)
        attach(slot, w, of_v)
    elif proposal.edit == TURN_OVER:
        other = t
        detach(slot, v)
        detach(slot, w)
        attach(slot, v, of_w)
        attach(slot, w, t)
    return Changed(one, other, of_v, of_w)


@device_function
def undo_edit(
    slot,  # IN OUT the links
    proposal,  # IN Proposal, which was applied
    changed,  # IN Changed
):
    """Change the links back."""
    v, w = proposal.v, proposal.w
    if proposal.edit == EXCHANGE_LABELS:
        exchange_labels(slot, v, w)
    elif proposal.edit == REATTACH:
        detach(slot, v)
        attach(slot, v, changed.of_v)
    elif (proposal.edit == EXCHANGE_SUBTREES) | (proposal.edit == TURN_OVER):
        detach(slot, v)
        detach(slot, w)
        attach(slot, v, changed.of_v)
        attach(slot, w, changed.of_w)
