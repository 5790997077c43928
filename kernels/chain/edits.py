"""Edits: the changes that moves make to a state, five of the tree and a jump of a rate. No device code.

A move proposes an edit in a `Proposal`. Every encoding implements every edit, so a move that makes one of
these is written once for all encodings.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.target import control

REATTACH = control(0)
"""Move v below t, which is not a descendant of v."""

EXCHANGE_LABELS = control(1)
"""Swap the places of v and w; all other nodes stay."""

EXCHANGE_SUBTREES = control(2)
"""Move v below w's parent and w below v's parent; neither is an ancestor of the other."""

TURN_OVER = control(3)
"""Move v below w's parent, and w below t; w is an ancestor of v, and t is v or a descendant of v."""

NOTHING = control(4)
"""Leave the tree as it is."""

JUMP_RATE = control(5)
"""Leave the tree as it is, and move a rate to point v of its grid.

The rate is that of false negatives (w = 0) or of false positives (w = 1).
"""

NO_CORRECTION = np.int64(0)
"""Correction of a symmetric proposal."""


class Proposal(NamedTuple):
    """Proposal of a move; all control integers, the same in all lanes, except for the correction.

    Attributes:
        kind: the kind that the step is counted as.
        edit: one of the edits above.
        v, w, t: nodes of the edit; unused ones equal v. For a rate, see `JUMP_RATE`.
        correction: int64: ln(reverse probability / forward probability) of the proposal, divided by gamma, in
            units of 2^-f nat.
    """

    kind: Any
    edit: Any
    v: Any
    w: Any
    t: Any
    correction: Any


class Draw(NamedTuple):
    """Random numbers of a step that a move gets.

    Attributes:
        v: control, a node, uniform among the mutations.
        second: control, computed by the move from the third word (`Move.second`).
        extra: uint64 < 2^32, a further random word, from bits that are used for nothing else.
        log_sizes: (slots, log_sizes) int64, flat: ln(k) / gamma.
        logs: address: where the slot's part of `log_sizes` starts.
    """

    v: Any
    second: Any
    extra: Any
    log_sizes: Any
    logs: Any
