"""Column units and processing elements: cycles a base, speedup, limits and traffic of a design.

A column unit works on one column of N bases at a time. For each base its P processing elements compute K + 1
entries, one a cycle each, D cycles after their start (the depth of the pipeline). With inner pipelining the
next base waits for all entries; with outer pipelining it starts as soon as its first entry can.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from syclade.host.ground.errors import OptionError
from syclade.quality.design.model import Device

__all__ = ["ColumnDesign", "Share"]

ENTRY_BYTES = 8
ARRAYS = 2
"""Arrays of entries that a column unit keeps: of this base, and of the one before."""

MOST_OUTER_PES = 8
"""With outer pipelining, designs of 16 or 32 processing elements could not be routed (section 6.2)."""


@dataclass(frozen=True)
class Share:
    """Percentages of a card's resources; 0 where the article has none.

    Attributes:
        clbs, ffs, luts, dsps: configurable logic blocks, flip-flops, look-up tables, DSP slices.
    """

    clbs: float = 0.0
    ffs: float = 0.0
    luts: float = 0.0
    dsps: float = 0.0

    def plus(self, other: Share, times: float = 1.0) -> Share:
        """Return the sum with a multiple of other resources."""
        return Share(**{name: mine + times * getattr(other, name) for name, mine in vars(self).items()})

    def on(self, old: Device, new: Device) -> Share:
        """Return the percentages of another card for the same counts; it has no configurable logic blocks."""
        parts = {}
        for name in ("ffs", "luts", "dsps"):
            available = getattr(new.available, name)
            if not available:
                raise OptionError(
                    f"{new.title} has no {name}", hint="column units need them; take another card"
                )
            parts[name] = getattr(self, name) * getattr(old.available, name) / available
        return Share(**parts)


@dataclass(frozen=True)
class ColumnDesign:
    """One design of the accelerator.

    Attributes:
        name: such as I/S/8: pipelining, memory, processing elements.
        outer: True for outer pipelining, False for inner.
        dram: whether entries of a block's edge go to DRAM, so that any K fits.
        pes: processing elements of a column unit, P.
        units: column units.
        clock_mhz: clock.
        sram_kb: memory of a unit for entries.
        pe_depth: depth of a processing element's pipeline, D.
        block: entries of a block, W; used with DRAM only.
        chunks: chunks of columns that the host's processes work on.
        unit, total: resources of one unit, and of the design.
        pe: resources that one more processing element adds to a unit.
        card: the card.
        is_estimate: whether the resources are scaled: those of an article's design are not.
    """

    name: str
    outer: bool
    dram: bool
    pes: int
    units: int
    clock_mhz: float
    sram_kb: int
    pe_depth: int
    block: int
    chunks: int
    unit: Share
    total: Share
    pe: Share
    card: Device
    is_estimate: bool = False

    @property
    def most_entries(self) -> int:
        """Entries that the memory of a unit holds, in two arrays of doubles."""
        return self.sram_kb * 1024 // (ENTRY_BYTES * ARRAYS)

    def fits(self, at_least: int) -> bool:
        """Return whether columns with this K get correct results: K + 1 entries fit, or there is DRAM."""
        return self.dram or at_least + 1 <= self.most_entries

    def blocks_of(self, at_least: int) -> list[int]:
        """Return the numbers of entries of each block; without DRAM there is one."""
        entries = at_least + 1
        if not self.dram:
            return [entries]
        return [min(self.block, entries - low) for low in range(0, entries, self.block)]

    def cycles_per_base(self, at_least: int) -> int:
        """Return the cycles that a base takes, over all blocks."""
        return sum(self._cycles(entries) for entries in self.blocks_of(at_least))

    def _cycles(self, entries: int) -> int:
        rounds = math.ceil(entries / self.pes)
        return max(rounds, self.pe_depth) if self.outer else rounds + self.pe_depth - 1

    def bubbles_per_base(self, at_least: int) -> int:
        """Return the cycles of a base in which no processing element starts an entry."""
        busy = sum(math.ceil(entries / self.pes) for entries in self.blocks_of(at_least))
        return self.cycles_per_base(at_least) - busy

    def seconds(self, bases: int, at_least: int) -> float:
        """Return the time of one unit for a column."""
        return bases * self.cycles_per_base(at_least) / (self.clock_mhz * 1e6)

    def speedup(self, at_least: int, cell_ns: float) -> float:
        """Return how much faster one unit is than a CPU thread that takes `cell_ns` for each (n, k)."""
        return at_least * cell_ns * self.clock_mhz / 1000 / self.cycles_per_base(at_least)

    def dram_bytes_per_base(self, at_least: int) -> int:
        """Return a base's traffic: its probability once a block, and each boundary value both ways."""
        blocks = len(self.blocks_of(at_least))
        return ENTRY_BYTES * (blocks + 2 * (blocks - 1))

    def dram_bytes_per_second(self, at_least: int) -> float:
        """Return the traffic of all units."""
        per_cycle = self.dram_bytes_per_base(at_least) / self.cycles_per_base(at_least)
        return self.units * per_cycle * self.clock_mhz * 1e6

    @property
    def overhead(self) -> Share:
        """Resources of the design besides those of its units: the platform, and what connects the units."""
        return dataclasses.replace(self.total.plus(self.unit, -self.units), clbs=0.0)

    def problem(self) -> str | None:
        """Return why the design cannot be built, or None."""
        if self.pes & (self.pes - 1):
            return "the number of processing elements is no power of 2: their control costs too much"
        if self.outer and self.pes > MOST_OUTER_PES:
            return f"outer pipelining of more than {MOST_OUTER_PES} processing elements cannot be routed"
        if self.dram and self.block > self.most_entries:
            return f"blocks of {self.block} entries do not fit in {self.sram_kb} KB"
        for name, what in _FULL.items():
            share = getattr(self.total, name)
            if share > FULL:
                return (
                    f"{self.units} units of {self.pes} take {share:.1f} % of the {what} of {self.card.title}"
                )
        memory = self.units * self.sram_kb
        if self.card.memory_kb and memory > self.card.memory_kb:
            return (
                f"{memory} KB for entries do not fit in the {self.card.memory_kb:.0f} KB of {self.card.title}"
            )
        return None

    @property
    def is_routable(self) -> bool:
        """Return whether it uses no more look-up tables than designs that route well."""
        return self.total.luts <= FULL * self.card.logic_limit

    def changed(self, values: Mapping[str, int]) -> ColumnDesign:
        """Return the design with other numbers; more units or processing elements take more resources.

        Raises:
            OptionError: there is no such number, it is below 1, or the design cannot be built.
        """
        allowed = ("pes", "units", "clock_mhz", "sram_kb", "pe_depth", "block", "chunks")
        for name, value in values.items():
            if name not in allowed:
                raise OptionError(f"designs have no number {name!r}", hint=f"they have {', '.join(allowed)}")
            if value < 1:
                raise OptionError(f"{name} is {value}", hint="give at least 1")
        made = dataclasses.replace(self, **{name: int(value) for name, value in values.items()})  # type: ignore[arg-type]
        if (made.pes, made.units) != (self.pes, self.units):
            unit = self.unit.plus(self.pe, made.pes - self.pes)
            total = dataclasses.replace(self.overhead.plus(unit, made.units), clbs=0.0)
            made = dataclasses.replace(made, unit=unit, total=total, is_estimate=True)
        return made._checked(f"design {self.name} with {dict(values)}")

    def on(self, card: Device) -> ColumnDesign:
        """Return the design on another card, with as many units as fit there and are likely to route.

        Units take the same counts of flip-flops, look-up tables and DSP blocks as on the first card. Beside
        them there is what connects them, and the new card's static partition.

        Raises:
            OptionError: not even one unit fits.
        """
        unit, pe, others = (share.on(self.card, card) for share in (self.unit, self.pe, self.overhead))
        fixed = card.static_partition.relative_to(card.available)
        others = others.plus(Share(ffs=fixed.ffs, luts=fixed.luts, dsps=fixed.dsps), FULL)

        def with_units(units: int) -> ColumnDesign:
            total = others.plus(unit, units)
            parts = {"unit": unit, "pe": pe, "total": total, "card": card, "units": units}
            return dataclasses.replace(self, **parts, is_estimate=True)  # type: ignore[arg-type]

        most = 1
        while with_units(most + 1).problem() is None and with_units(most + 1).is_routable:
            most += 1
        return with_units(most)._checked(f"design {self.name} on {card.title}")

    def _checked(self, what: str) -> ColumnDesign:
        problem = self.problem()
        if problem is not None:
            raise OptionError(f"{what}: {problem}", hint="give fewer units, or smaller ones")
        return self


FULL = 100.0
_FULL = {"luts": "look-up tables", "ffs": "flip-flops", "dsps": "DSP blocks"}
