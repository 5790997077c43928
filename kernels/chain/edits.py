"""What moves do to a state, five edits of its tree and a jump of its rates, and the record in which a move
proposes one. No device code.

Every encoding can do each of them, so that a move that makes one of these is written once for all encodings.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.target import control

REATTACH = control(0)
"""v goes below t, which is no descendant of v."""

EXCHANGE_LABELS = control(1)
"""v and w change places, and all else stays where it is."""

EXCHANGE_SUBTREES = control(2)
"""v goes below w's parent and w below v's; neither is above the other."""

TURN_OVER = control(3)
"""w is above v: v goes below w's parent, and w below t, a descendant of v (or v itself)."""

NOTHING = control(4)
"""The tree stays as it is."""

JUMP_RATE = control(5)
"""Likewise, and a rate goes to place v of its grid: that of false negatives (w = 0) or positives (w = 1)."""

NO_CORRECTION = np.int64(0)
"""Of a proposal that is as probable there as back."""


class Proposal(NamedTuple):
    """What a move proposes; all control integers that lanes share, but for the correction.

    Attributes:
        kind: as what the step is counted.
        edit: one of the above.
        v, w, t: its nodes; those that it has not are v.
        correction: int64: ln of the quotient of the proposal's probabilities there and back, divided by
            gamma, in units of 2^-f nat.
    """

    kind: Any
    edit: Any
    v: Any
    w: Any
    t: Any
    correction: Any


class Draw(NamedTuple):
    """What a move gets of a step's random words.

    Attributes:
        v: control, a node, uniform among the mutations.
        second: control, what the move has made of the third word (`Move.second`).
        extra: uint64 < 2^32, a further random word, from bits that nobody has used.
        log_sizes: (slots, log_sizes) int64, flat: ln(k) / gamma.
        logs: address: where the slot's start.
    """

    v: Any
    second: Any
    extra: Any
    log_sizes: Any
    logs: Any
