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

__all__ = ["base_states", "gap_error", "posteriors"]

M, I, D = range(3)  # noqa: E741
OPEN, EXTEND = 0.00001, 0.4
INSERTED, OTHER = 0.25, 0.33333333333
UNKNOWN = 4


Cell = tuple[int, int, int]
"""Base and place, both from 1, and state."""


def posteriors(
    bases: Sequence[int], errors: Sequence[float], window: Sequence[int], band: int
) -> dict[Cell, float]:
    """Return the posterior probability of each state, of each cell of the band.

    Those of matches and insertions add up to 1 for each base; a deletion belongs to the base before it.

    Args:
        bases: bases of the read, 0 to 3; 4 is unknown.
        errors: error probability of each base.
        window: bases of the reference.
        band: half width of the band.
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
    posterior: dict[Cell, float] = {}
    for i in range(1, n + 1):
        weights = {place: forward[place] * backward[place] for place in forward if place[0] == i}
        total = math.fsum(weight for place, weight in weights.items() if place[2] != D)
        posterior |= {place: weight / total for place, weight in weights.items()}
    return posterior


def base_states(
    bases: Sequence[int], errors: Sequence[float], window: Sequence[int], band: int
) -> list[tuple[int, bool, float]]:
    """Return the most likely state of each base.

    Args:
        bases, errors, window, band: as for `posteriors`.

    Returns:
        For each base its place in the window, whether it is inserted there, and the probability that this is
        wrong.
    """
    rows: list[dict[tuple[int, int], float]] = [{} for _ in bases]
    for (i, k, state), weight in posteriors(bases, errors, window, band).items():
        if state != D:
            rows[i - 1][k, state] = weight
    found = []
    for weights in rows:
        best = max(weights, key=lambda place: weights[place])
        others = math.fsum(weight for place, weight in weights.items() if place != best)
        found.append((best[0] - 1, best[1] == I, others / math.fsum(weights.values())))
    return found


def gap_error(
    posterior: dict[Cell, float],
    before: int,
    place: int,
    length: int,
    inserted: Sequence[int],
    window: Sequence[int],
) -> float:
    """Return the error probability of a gap: that it is at none of the places that give the same sequence.

    Args:
        posterior: those of the read, by `posteriors`.
        before: bases of the read before the gap.
        place: places of the window before the gap.
        length: number of inserted places; negative, of deleted ones.
        inserted: inserted bases; empty for a deletion.
        window: bases of the reference.
    """

    def sequence(shift: int) -> list[int]:
        at, turn = place + shift, shift % max(1, len(inserted))
        return [*window[:at], *inserted[turn:], *inserted[:turn], *window[at - min(length, 0) :]]

    total, shift = 0.0, 0
    while place + shift - min(length, 0) <= len(window) and sequence(shift) == sequence(0):
        row, there = before + shift + (length > 0), place + shift + (length < 0)
        total += posterior.get((row, there, I if length > 0 else D), 0.0)
        shift += 1
    return 1.0 - total
