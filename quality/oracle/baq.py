"""Base alignment quality by its definition, slowly: forward and backward probabilities of every cell of the
band.

Source: Li, "Improving SNP discovery by base alignment quality", Bioinformatics 27 (2011). Matches, insertions
and deletions; a begin state that leads to a match or an insertion at any place; an end state that follows any
match or insertion of the last base; no deletion after the first base, as in samtools. Place k and base i are
in the band if |i − k| ≤ band.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["base_states"]

M, I, D = range(3)  # noqa: E741
OPEN, EXTEND = 0.00001, 0.4
INSERTED, OTHER = 0.25, 0.33333333333
UNKNOWN = 4


def base_states(
    bases: Sequence[int], errors: Sequence[float], window: Sequence[int], band: int
) -> list[tuple[int, bool, float]]:
    """Return the most likely state of each base.

    Args:
        bases: bases of the read, 0 to 3; 4 is unknown.
        errors: error probability of each base.
        window: bases of the reference.
        band: half width of the band.

    Returns:
        For each base its place in the window, whether it is inserted there, and the probability that this is
        wrong.
    """
    n, places = len(bases), len(window)
    end = 1.0 / (2 * n + 2)
    step = {
        (M, M): (1 - 2 * OPEN) * (1 - end), (M, I): OPEN * (1 - end), (M, D): OPEN * (1 - end),
        (I, M): (1 - EXTEND) * (1 - end), (I, I): EXTEND * (1 - end), (I, D): 0.0,
        (D, M): 1 - EXTEND, (D, I): 0.0, (D, D): EXTEND,
    }  # fmt: skip

    def emitted(i: int, k: int, state: int) -> float:
        if state == I:
            return INSERTED
        if UNKNOWN in (bases[i - 1], window[k - 1]):
            return 1.0
        return 1 - errors[i - 1] if bases[i - 1] == window[k - 1] else errors[i - 1] * OTHER

    def inside(i: int, k: int) -> bool:
        return 1 <= i <= n and 1 <= k <= places and abs(i - k) <= band

    forward: dict[tuple[int, int, int], float] = {}
    scale = [1.0] * (n + 1)
    for i in range(1, n + 1):
        for k in range(max(1, i - band), min(places, i + band) + 1):
            for state in (M, I, D):
                before = {M: (i - 1, k - 1), I: (i - 1, k), D: (i, k - 1)}[state]
                if i == 1:
                    begin = {M: (1 - OPEN) / places, I: OPEN / places, D: 0.0}[state]
                    total = begin
                else:
                    total = sum(forward.get((*before, old), 0.0) * step[old, state] for old in (M, I, D))
                forward[i, k, state] = total * (1.0 if state == D else emitted(i, k, state))
        row = [place for place in forward if place[0] == i]
        scale[i] = sum(forward[place] for place in row)
        for place in row:
            forward[place] /= scale[i]
    backward: dict[tuple[int, int, int], float] = {}
    for i in range(n, 0, -1):
        for k in range(min(places, i + band), max(1, i - band) - 1, -1):
            for state in (D, M, I):
                if i == n:
                    backward[i, k, state] = 0.0 if state == D else end
                    continue
                total = 0.0
                for new, (base, there) in ((M, (i + 1, k + 1)), (I, (i + 1, k)), (D, (i, k + 1))):
                    if inside(base, there) and not (new == D and i == 1):
                        chance = 1.0 if new == D else emitted(base, there, new) / scale[i + 1]
                        total += step[state, new] * chance * backward[base, there, new]
                backward[i, k, state] = total
    found = []
    for i in range(1, n + 1):
        weights = {
            (k, state): forward[i, k, state] * backward[i, k, state]
            for k in range(max(1, i - band), min(places, i + band) + 1)
            for state in (M, I)
        }
        best = max(weights, key=lambda place: weights[place])
        others = math.fsum(weight for place, weight in weights.items() if place != best)
        found.append((best[0] - 1, best[1] == I, others / math.fsum(weights.values())))
    return found
