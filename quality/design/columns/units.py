"""One column unit: the values of Figure 7, and what the text says of units, true or false for the model."""

from __future__ import annotations

from dataclasses import dataclass

from syclade.quality.design.columns.model import ColumnDesign
from syclade.quality.design.columns.reader import column_designs, datasets, host_model, published
from syclade.quality.design.columns.statement import Statement

__all__ = ["Speedup", "figure_7", "k_for_speedup", "unit_statements"]


@dataclass(frozen=True)
class Speedup:
    """Speedup of one unit at one K.

    Attributes:
        design: its name.
        at_least: K.
        published: as the article prints it.
        modelled: the model's.
    """

    design: str
    at_least: int
    published: float
    modelled: float

    @property
    def deviation(self) -> float:
        """The model's relative deviation."""
        return self.modelled / self.published - 1


def figure_7() -> list[Speedup]:
    """Return the eight values of Figure 7(a) that the text prints, with the model's."""
    designs, printed, cell_ns = column_designs(), published(), host_model().cell_ns
    return [
        Speedup(name, k, value, designs[name].speedup(k, cell_ns))
        for k, values in ((1000, printed.at_1000), (3000, printed.at_3000))
        for name, value in values.items()
    ]


def k_for_speedup(design: ColumnDesign, speedup: float, most: int = 200_000) -> int | None:
    """Return the least K at which a unit reaches a speedup; None if it is above `most`."""
    cell_ns = host_model().cell_ns
    low, high = 1, most
    if design.speedup(most, cell_ns) < speedup:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if design.speedup(middle, cell_ns) >= speedup else (middle + 1, high)
    return low


def unit_statements() -> list[Statement]:
    """Return the statements on single units and on their limits."""
    designs, cell_ns = column_designs(), host_model().cell_ns
    gain_8 = _largest_gain(designs["O/S/8"], designs["I/S/8"])
    gain_4 = _largest_gain(designs["O/S/4"], designs["I/S/4"])
    largest, k_120 = published().largest, k_for_speedup(designs["I/S/32"], published().largest)
    deviations = [abs(one.deviation) for one in figure_7()]
    too_large = [name for name, data in datasets().items() if not designs["I/S/8"].fits(data.k_max)]
    after_block = [designs[name].speedup(4200, cell_ns) for name in ("O/S/8", "O/D/8")]
    return [
        Statement(
            "Fig. 7(a)", "35, 28, 20, 13 x at K = 1000; 69, 46, 27, 15 x at 3000 (I/S/32, 16, 8, 4)",
            max(deviations) < 0.05, f"all within {100 * max(deviations):.1f} %",
        ),
        Statement(
            "Abstract", "a unit of 32 processing elements gives up to 120 x", k_120 is not None,
            f"{largest:g} x at K = {k_120}",
        ),
        Statement(
            "Fig. 7(b)", "O/S/8 gains most over I/S/8 at K from 700 to 3000", 700 <= gain_8 <= 3000,
            f"most at K = {gain_8}, where a base takes as many cycles as the pipeline is deep",
        ),
        Statement(
            "Fig. 7(b)", "O/S/4 gains most over I/S/4 at K from 300 to 700", 300 <= gain_4 <= 700,
            f"most at K = {gain_4}",
        ),
        Statement(
            "Fig. 7(b)", "speedups grow linearly with K where outer pipelining needs bubbles",
            abs(designs["O/S/8"].speedup(600, cell_ns) / designs["O/S/8"].speedup(300, cell_ns) - 2) < 1e-9,
            "a base takes D cycles for any K below P·D",
        ),
        Statement(
            "Eq. 6", "outer pipelining saves min(K, D - 1) cycles a base (P = 1)", _saves_bubbles(),
            "exactly, for all K up to 300",
        ),
        Statement(
            "Fig. 7(c)", "O/D/8 is as fast as O/S/8 below K = 4096, and slower above",
            after_block[1] < after_block[0],
            f"at K = 4200 {after_block[1]:.1f} instead of {after_block[0]:.1f} x: the last block is short; "
            f"all units move {designs['O/D/8'].dram_bytes_per_second(8191) / 1e6:.0f} MB/s at K = 8191",
        ),
        Statement(
            "Section 6.2", "designs with 1024 KB hold K < 65,536; O/D/8 any K",
            designs["I/S/8"].most_entries == 65_536 and bool(too_large),
            f"{designs['I/S/8'].most_entries} entries; only O/D/8 is right on {', '.join(too_large)}",
        ),
        Statement(
            "Section 6.6.1", "all designs are right for K < 65,536", designs["O/S/4"].fits(65_535),
            f"O/S/4 has 128 KB: {designs['O/S/4'].most_entries} entries (Table 4)",
        ),
        Statement(
            "Fig. 8(a), abstract", "59 x with I/S/16 on L25, and up to 51.7 x in all", False,
            "the article contradicts itself, unless 51.7 x is meant for the best overall design only",
        ),
        Statement(
            "Fig. 12", "designs with fewer processing elements a unit need more power: they use more CLBs",
            _clbs_rise(),
            "CLBs of I/S/32 to I/S/4: 78.15, 89.03, 91.13, 91.87 %; powers are in the figure only",
        ),
        Statement(
            "Fig. 12", "outer pipelining needs more power",
            designs["O/S/8"].total.dsps > designs["I/S/8"].total.dsps,
            "it uses fewer CLBs (86.10 against 91.13 %), but more DSP slices (73.90 against 50.86 %)",
        ),
    ]  # fmt: skip


def _largest_gain(outer: ColumnDesign, inner: ColumnDesign) -> int:
    """Return the K at which a unit of one design gains most over one of the other."""
    cell_ns = host_model().cell_ns
    return max(range(1, 8000), key=lambda k: outer.speedup(k, cell_ns) - inner.speedup(k, cell_ns))


def _saves_bubbles() -> bool:
    inner, outer = (column_designs()[f"{kind}/S/4"].changed({"pes": 1}) for kind in "IO")
    return all(
        inner.cycles_per_base(k) - outer.cycles_per_base(k) == min(k, inner.pe_depth - 1) for k in range(301)
    )


def _clbs_rise() -> bool:
    shares = [column_designs()[f"I/S/{pes}"].total.clbs for pes in (32, 16, 8, 4)]
    return shares == sorted(shares)
