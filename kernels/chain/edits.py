"""What moves do to a tree: five edits, and the record in which a move proposes one. No device code.

Every encoding can do each of them, so that a move that makes one of these is written once for all encodings.
"""

from typing import Any, NamedTuple

import numpy as np

REATTACH = np.int64(0)
"""v goes below t, which is no descendant of v."""

EXCHANGE_LABELS = np.int64(1)
"""v and w change places, and all else stays where it is."""

EXCHANGE_SUBTREES = np.int64(2)
"""v goes below w's parent and w below v's; neither is above the other."""

TURN_OVER = np.int64(3)
"""w is above v: v goes below w's parent, and w below t, a descendant of v (or v itself)."""

NOTHING = np.int64(4)
"""The tree stays as it is."""


class Proposal(NamedTuple):
    """What a move proposes; all int64 that lanes share.

    Attributes:
        kind: as what the step is counted.
        edit: one of the above.
        v, w, t: its nodes; those that it has not are v.
        correction: ln of the quotient of the proposal's probabilities there and back, divided by gamma, in
            units of 2^-f nat.
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
        v: int64, a node, uniform among the mutations.
        second: int64, what the move has made of the third word (`Move.second`).
        extra: uint64 < 2^32, a further random word, from bits that nobody has used.
        log_sizes: (slots, log_sizes) int64, flat: ln(k) / gamma.
        logs: uint64: where the slot's start.
    """

    v: Any
    second: Any
    extra: Any
    log_sizes: Any
    logs: Any
