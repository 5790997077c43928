"""End-to-end results of all designs on all data sets, and what the article says of them, true or false."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from syclade.quality.design.columns.generate import generate_shape
from syclade.quality.design.columns.host import HostRun, cpu_seconds, longest_first, simulate_host
from syclade.quality.design.columns.model import ColumnDesign
from syclade.quality.design.columns.reader import column_designs, datasets, host_model
from syclade.quality.design.columns.statement import Statement

__all__ = ["Evaluation", "Row", "end_to_end_statements", "energy_ratio", "evaluate"]

INNER = ("I/S/32", "I/S/16", "I/S/8", "I/S/4")
NOTABLE = 0.03
"""Part of the time that a bar of a figure could show."""


@dataclass(frozen=True)
class Row:
    """A data set on all designs.

    Attributes:
        dataset: its name.
        hours: published hours of LoFreq in 16 processes.
        cpu_seconds: the model's time for the same.
        runs: the model's runs, by design.
        longest_first: time of the units of O/S/8 alone, with columns longest first.
    """

    dataset: str
    hours: float
    cpu_seconds: float
    runs: Mapping[str, HostRun]
    longest_first: float

    def speedup(self, design: str) -> float:
        """Return the model's CPU time over its time with a design."""
        return self.cpu_seconds / self.runs[design].seconds

    def best_inner(self) -> str:
        """Return the fastest design with inner pipelining."""
        return min(INNER, key=lambda name: self.runs[name].seconds)

    def saved(self, better: str, worse: str) -> float:
        """Return the part of the time that one design saves over another."""
        return 1 - self.runs[better].seconds / self.runs[worse].seconds


@dataclass(frozen=True)
class Evaluation:
    """All data sets on all designs."""

    rows: Mapping[str, Row]

    def large(self) -> list[Row]:
        """Return the data sets with large K, L1 to L25, in this order."""
        return [row for name, row in self.rows.items() if name.startswith("L")]

    def small(self) -> list[Row]:
        """Return the readable data sets with small K."""
        return [row for name, row in self.rows.items() if name.startswith("S")]


def evaluate(names: Sequence[str] | None = None, *, seed: int = 1, columns: int | None = None) -> Evaluation:
    """Return the results for data sets; None for all.

    Args:
        names: data sets.
        seed: of the generated columns.
        columns: columns of each data set; None: 29,903.
    """
    host, rows = host_model(), {}
    designs: Mapping[str, ColumnDesign] = column_designs()
    for name in names or datasets():
        data = datasets()[name]
        shape = generate_shape(data, seed, correlation=host.correlation, columns=columns)
        runs = {key: simulate_host(design, shape, host) for key, design in designs.items()}
        alone = longest_first(designs["O/S/8"], shape)
        rows[name] = Row(name, data.hours, cpu_seconds(shape, host), runs, alone)
    return Evaluation(rows)


def energy_ratio(cpu_seconds_: float, accelerated_seconds: float) -> float:
    """Return the energy of the CPU alone over that of CPU and accelerator, by the powers of section 6.5.2."""
    host = host_model()
    return host.cpu_watts * cpu_seconds_ / (host.accelerated_watts * accelerated_seconds)


def end_to_end_statements(found: Evaluation) -> list[Statement]:
    """Return the statements of the text on Figures 8 to 13; `found` has all data sets."""
    made = [make(found) for make in _STATEMENTS]
    return [replace(one, holds=bool(one.holds)) for one in made]  # numpy's booleans are not JSON's


def _around(numbers: Sequence[float]) -> str:
    return f"{min(numbers):.1f} to {max(numbers):.1f}, median {float(np.median(numbers)):.1f}"


def _percent(numbers: Sequence[float]) -> str:
    low, high, middle = (100 * one for one in (min(numbers), max(numbers), float(np.median(numbers))))
    return f"{low:.1f} to {high:.1f} %, median {middle:.1f} %"


def _large_over_30(found: Evaluation) -> Statement:
    best = [row.speedup(row.best_inner()) for row in found.large()]
    low = [row.dataset for row, one in zip(found.large(), best, strict=True) if one < 27]
    text = "L: the best I/S design is over or around 30 x"
    return Statement("Fig. 8(a)", text, not low, f"{_around(best)}; below 27 x: {', '.join(low) or 'none'}")


def _small_10_to_20(found: Evaluation) -> Statement:
    best = [row.speedup(row.best_inner()) for row in found.small()]
    inside = sum(10 <= one <= 20 for one in best)
    text = "S: the most common speedups are 10 to 20 x"
    return Statement("Fig. 8(b)", text, 2 * inside > len(best), f"{inside} of {len(best)}; {_around(best)}")


def _grows_with_k(found: Evaluation) -> Statement:
    rows = [*found.small(), *found.large()]
    means = np.array([datasets()[row.dataset].k_mean for row in rows])
    best = np.array([row.speedup(row.best_inner()) for row in rows])
    relation = float(np.corrcoef(means.argsort().argsort(), best.argsort().argsort())[0, 1])
    text = "speedups are larger where the mean of K is larger"
    return Statement("Fig. 8", text, relation > 0.5, f"rank correlation {relation:.2f}")


def _i_s_8_best(found: Evaluation) -> Statement:
    others = {row.dataset: row for row in found.rows.values() if row.best_inner() != "I/S/8"}
    clear = {name for name, row in others.items() if row.saved(row.best_inner(), "I/S/8") > NOTABLE}
    text = "I/S/8 is the best I/S design on almost all sets (not L25, S2)"
    note = ", ".join(f"{name}: {row.best_inner()}" for name, row in others.items()) or "on all"
    note = f"others are best on {note}; by more than 3 % on {', '.join(sorted(clear)) or 'none'}"
    return Statement("Fig. 8", text, len(clear) <= len(found.rows) // 8, note)


def _l25_tail(found: Evaluation) -> Statement:
    row = found.rows["L25"]
    minutes = row.runs["I/S/8"].tail_seconds / 60
    text = "L25: I/S/16 is faster than I/S/8, which has one chunk left for the last 7 minutes"
    note = (
        f"I/S/16 {row.speedup('I/S/16'):.1f} x, I/S/8 {row.speedup('I/S/8'):.1f} x with one chunk left for "
        f"{minutes:.1f} min; that depends on which columns are neighbours"
    )
    return Statement("Fig. 8(a)", text, row.speedup("I/S/16") > row.speedup("I/S/8"), note)


def _l25_59(found: Evaluation) -> Statement:
    speedup = found.rows["L25"].speedup("I/S/16")
    text = "the largest speedup is 59 x, I/S/16 on L25 (the abstract says up to 51.7 x)"
    best = max(row.speedup(name) for row in found.rows.values() for name in INNER)
    note = f"{speedup:.1f} x; the largest of all I/S is {best:.1f} x"
    return Statement("Fig. 8(a)", text, abs(speedup - 59) < 6 and best < 1.1 * speedup, note)


def _outer_always_saves(found: Evaluation) -> Statement:
    saved = [row.saved(f"O/S/{pes}", f"I/S/{pes}") for row in found.rows.values() for pes in (8, 4)]
    text = "outer pipelining always improves the end-to-end time"
    return Statement("Fig. 9", text, min(saved) > 0, _percent(saved))


def _outer_l(found: Evaluation) -> Statement:
    saved = [row.saved("O/S/8", "I/S/8") for row in found.large()]
    many = sum(one > 0.07 for one in saved)
    text = "L: O/S/8 saves commonly 10 % or more over I/S/8 (here: over 7 % on most)"
    return Statement("Fig. 9(a)", text, 2 * many > len(saved), _with_host(saved, found.large()))


def _outer_s(found: Evaluation) -> Statement:
    saved = [row.saved("O/S/8", "I/S/8") for row in found.small()]
    middle = float(np.median(saved))
    text = "S: O/S/8 saves about 5 % over I/S/8 (here: a median of 3 to 8 %)"
    return Statement("Fig. 9(a)", text, 0.03 <= middle <= 0.08, _with_host(saved, found.small()))


def _with_host(saved: Sequence[float], rows: Sequence[Row]) -> str:
    bound = sum(row.runs["I/S/8"].core_share > 0.9 for row in rows)
    return f"{_percent(saved)}; on {bound} of {len(rows)} the host's cores are over 90 % busy with I/S/8"


def _less_with_4(found: Evaluation) -> Statement:
    more = [row.saved("O/S/8", "I/S/8") > row.saved("O/S/4", "I/S/4") for row in found.rows.values()]
    text = "O/S/8 saves almost always more over I/S/8 than O/S/4 over I/S/4"
    return Statement("Fig. 9", text, sum(more) > 0.8 * len(more), f"on {sum(more)} of {len(more)} sets")


def _little_on_l25(found: Evaluation) -> Statement:
    saved = found.rows["L25"].saved("O/S/8", "I/S/8")
    text = "L25, where columns with K > 3000 dominate: O/S/8 saves less than 2 %"
    note = f"{100 * saved:.1f} %; even at the mean K, 4766, inner pipelining has 13 % of bubbles"
    return Statement("Fig. 9(a)", text, saved < 0.02, note)


def _o_s_8_over_4(found: Evaluation) -> Statement:
    saved = [row.saved("O/S/8", "O/S/4") for row in found.rows.values()]
    text = "O/S/8 is always faster than O/S/4"
    wrong = found.rows["L25"].runs["O/S/4"].wrong_columns
    note = f"saves {_percent(saved)}; O/S/4 holds 8192 entries, too few for {wrong} columns of L25"
    return Statement("Fig. 10", text, min(saved) > 0, note)


def _dram_slower(found: Evaluation) -> Statement:
    lost = [-row.saved("O/D/8", "O/S/8") for row in found.rows.values()]
    text = "O/D/8 is always slower than O/S/8"
    return Statement("Fig. 11", text, min(lost) > 0, f"by {_percent(lost)}; 13 units instead of 14")


def _dram_near(found: Evaluation) -> Statement:
    large, small = ([-row.saved("O/D/8", "O/S/8") for row in rows] for rows in (found.large(), found.small()))
    text = "the slowdown of O/D/8 is smaller on S, where K is mostly below 4096, than on L"
    note = f"S {_percent(small)}; L {_percent(large)}"
    return Statement("Fig. 11", text, float(np.mean(small)) < float(np.mean(large)), note)


def _dram_like_inner(found: Evaluation) -> Statement:
    rows = [row for row in found.rows.values() if row.dataset != "L25"]
    ratio = [row.runs["O/D/8"].seconds / row.runs["I/S/8"].seconds for row in rows]
    text = "O/D/8 is comparable to I/S/8, except on L25"
    note = f"its time over that of I/S/8: {min(ratio):.2f} to {max(ratio):.2f}"
    return Statement("Fig. 11", text, max(abs(one - 1) for one in ratio) < 0.15, note)


def _dram_beats(found: Evaluation) -> Statement:
    others = ("I/S/4", "I/S/16", "I/S/32")
    won = [row.saved("O/D/8", one) > 0 for row in found.rows.values() for one in others]
    text = "O/D/8 outperforms I/S/4, I/S/16 and I/S/32"
    return Statement("Fig. 11", text, sum(won) > 0.9 * len(won), f"in {sum(won)} of {len(won)} comparisons")


def _l8(found: Evaluation) -> Statement:
    row = found.rows["L8"]
    seconds, speedup = row.runs["O/S/8"].seconds, row.speedup("O/S/8")
    text = "L8: O/S/8 takes 630 s instead of 23,000 s, 36.5 x (here: within 10 %)"
    note = f"{seconds:.0f} s instead of {row.cpu_seconds:.0f} s, {speedup:.1f} x"
    return Statement("Section 6.5.2", text, abs(speedup / 36.5 - 1) < 0.1, note)


def _range(found: Evaluation) -> Statement:
    speedups = [row.speedup("O/S/8") for row in found.rows.values()]
    text = "the best design, O/S/8, gives 10.0 to 51.7 x (here: both within 20 %)"
    good = abs(min(speedups) / 10 - 1) < 0.2 and abs(max(speedups) / 51.7 - 1) < 0.2
    return Statement("Abstract", text, good, _around(speedups))


def _energy(found: Evaluation) -> Statement:
    row = found.rows["L8"]
    ratio = energy_ratio(row.cpu_seconds, row.runs["O/S/8"].seconds)
    published = energy_ratio(23_000, 630)
    text = "L8: the accelerator needs 22 x less energy"
    note = f"{ratio:.1f} x with the model's times, {published:.1f} x with the article's"
    return Statement("Section 6.5.2", text, abs(ratio / 22 - 1) < 0.1, note)


_STATEMENTS: tuple[Callable[[Evaluation], Statement], ...] = (
    _large_over_30,
    _small_10_to_20,
    _grows_with_k,
    _i_s_8_best,
    _l25_tail,
    _l25_59,
    _outer_always_saves,
    _outer_l,
    _outer_s,
    _less_with_4,
    _little_on_l25,
    _o_s_8_over_4,
    _dram_slower,
    _dram_near,
    _dram_like_inner,
    _dram_beats,
    _l8,
    _range,
    _energy,
)
