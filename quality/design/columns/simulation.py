"""Cycle-by-cycle simulation of a column unit, without the model's formulas.

In each cycle every processing element can start one entry. An entry (n, k) needs (n − 1, k) and (n − 1, k −
1), each D cycles after its start. With inner pipelining it also waits for all entries of base n − 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from syclade.quality.design.columns.model import ColumnDesign

__all__ = ["Entry", "UnitRun", "draw_timeline", "simulate_unit"]


@dataclass(frozen=True)
class Entry:
    """Work of a processing element on an entry.

    Attributes:
        base: n, from 0.
        k: its number.
        start, end: cycles; the result is there at `end`.
    """

    base: int
    k: int
    start: int
    end: int


@dataclass(frozen=True)
class UnitRun:
    """Simulated run of a column unit.

    Attributes:
        cycles: from the first start to the last result.
        cycles_per_base: cycles between the starts of the last two bases.
        bubbles_per_base: those of them in which no entry was started.
        entries: all entries, in order of their start.
        stored, fetched: boundary values that went to DRAM and came from there.
    """

    cycles: int
    cycles_per_base: int
    bubbles_per_base: int
    entries: tuple[Entry, ...]
    stored: int
    fetched: int


def simulate_unit(design: ColumnDesign, at_least: int, bases: int) -> UnitRun:
    """Simulate a column of `bases` ≥ 2 bases, block after block.

    `cycles_per_base` and `bubbles_per_base` are summed over the blocks.
    """
    entries: list[Entry] = []
    begin, per_base, bubbles = 0, 0, 0
    sizes = design.blocks_of(at_least)
    for size in sizes:
        done = _block(design, size, bases, begin)
        starts = [min(one.start for one in done if one.base == base) for base in (bases - 2, bases - 1)]
        busy = {one.start for one in done if one.base == bases - 2}
        per_base += starts[1] - starts[0]
        bubbles += starts[1] - starts[0] - len(busy)
        entries += done
        begin = max(one.end for one in done)
    moved = bases * (len(sizes) - 1)
    return UnitRun(begin, per_base, bubbles, tuple(entries), moved, moved)


def _block(design: ColumnDesign, size: int, bases: int, begin: int) -> list[Entry]:
    """Return the entries of one block; entry k of a base goes to processing element k mod P, in order."""
    done: list[Entry] = []
    before: list[Entry] = []
    free = begin  # the first cycle in which the processing elements can start entries
    for base in range(bases):
        all_before = max((one.end for one in before), default=begin)
        now: list[Entry] = []
        for k in range(size):
            if k % design.pes == 0:
                group = range(k, min(k + design.pes, size))
                needed = [before[j].end for i in group for j in (i - 1, i) if before and j >= 0]
                ready = max(needed, default=begin) if design.outer else all_before
                start = max(free, ready)
                free = start + 1
            now.append(Entry(base, k, start, start + design.pe_depth))
        done += now
        before = now
    return done


def draw_timeline(run: UnitRun, width: int = 100) -> str:
    """Return Figures 4 and 5 as text: a line an entry, `=` while it is worked on; the first cycles."""
    lines = []
    for one in run.entries:
        if one.start < width:
            bar = "=" * (min(one.end, width) - one.start)
            lines.append(f"iter({one.base + 1}, {one.k})".ljust(14) + " " * one.start + bar)
    return "\n".join(lines)
