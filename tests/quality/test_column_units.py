"""Model of the accelerator for columns: the article's numbers, and a simulation that knows no formula."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from syclade.host.ground.errors import OptionError
from syclade.quality.cli.design import command
from syclade.quality.design.columns.evaluation import end_to_end_statements, energy_ratio, evaluate
from syclade.quality.design.columns.generate import generate_shape, group_errors
from syclade.quality.design.columns.host import chunks_of, cpu_seconds, longest_first, simulate_host
from syclade.quality.design.columns.model import ColumnDesign
from syclade.quality.design.columns.reader import card, column_designs, datasets, host_model
from syclade.quality.design.columns.simulation import Entry, draw_timeline, simulate_unit
from syclade.quality.design.columns.units import figure_7, k_for_speedup, unit_statements
from syclade.quality.design.reader import load_device

DESIGNS = column_designs()


@st.composite
def designs(draw: st.DrawFn) -> ColumnDesign:
    """Draw a small design of any kind."""
    base = DESIGNS[draw(st.sampled_from(["I/S/8", "O/S/8", "O/D/8"]))]
    pes = draw(st.sampled_from([1, 2, 4, 8]))
    return base.changed({"pes": pes, "pe_depth": draw(st.integers(1, 30)), "block": draw(st.integers(1, 60))})


@settings(max_examples=200, deadline=None)
@given(design=designs(), at_least=st.integers(1, 200))
def test_simulation_agrees_with_model(design: ColumnDesign, at_least: int) -> None:
    run = simulate_unit(design, at_least, 4)
    assert run.cycles_per_base == design.cycles_per_base(at_least)
    assert run.bubbles_per_base == design.bubbles_per_base(at_least)
    blocks = len(design.blocks_of(at_least))
    assert run.stored == run.fetched == 4 * (blocks - 1)
    assert len(run.entries) == 4 * (at_least + 1)


@settings(deadline=None)
@given(design=designs(), at_least=st.integers(1, 100))
def test_simulation_keeps_to_the_hardware(design: ColumnDesign, at_least: int) -> None:
    """At most P entries start in a cycle, and none before what it needs."""
    entries = simulate_unit(design, at_least, 3).entries
    ends = {(one.base, one.k, one.start): one.end for one in entries}
    starts = np.array([one.start for one in entries])
    assert np.bincount(starts).max() <= design.pes
    assert len(ends) == len(entries)
    for size, group in zip(design.blocks_of(at_least), _by_block(design, at_least, entries), strict=True):
        there = {(one.base, one.k): one for one in group}
        for one in group:
            needed = [there[one.base - 1, k] for k in (one.k - 1, one.k) if one.base and 0 <= k < size]
            assert all(other.end <= one.start for other in needed)


def _by_block(design: ColumnDesign, at_least: int, entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    at = 0
    for size in design.blocks_of(at_least):
        yield entries[at : at + 3 * size]
        at += 3 * size


def test_a_wrong_depth_is_found() -> None:
    """Negative control: a simulation of another pipeline does not agree."""
    design = DESIGNS["I/S/4"]
    assert simulate_unit(design.changed({"pe_depth": 89}), 500, 3).cycles_per_base != design.cycles_per_base(
        500
    )


def test_figure_7() -> None:
    assert len(figure_7()) == 8
    assert all(abs(one.deviation) < 0.05 for one in figure_7())
    k = k_for_speedup(DESIGNS["I/S/32"], 120)
    assert k == pytest.approx(21_000, rel=0.02)
    assert k_for_speedup(DESIGNS["I/S/4"], 120) is None


@pytest.mark.parametrize("k", [1, 40, 89, 90, 500])
def test_bubbles_saved_by_outer_pipelining(k: int) -> None:
    """Equation 6, at P = 1."""
    inner, outer = (DESIGNS[name].changed({"pes": 1}) for name in ("I/S/4", "O/S/4"))
    assert inner.cycles_per_base(k) - outer.cycles_per_base(k) == min(k, 89)


def test_limits_and_traffic() -> None:
    assert {name: design.most_entries for name, design in DESIGNS.items()} == {
        "I/S/32": 65_536, "I/S/16": 65_536, "I/S/8": 65_536, "I/S/4": 65_536,
        "O/S/8": 65_536, "O/S/4": 8192, "O/D/8": 4096,
    }  # fmt: skip
    assert DESIGNS["I/S/8"].fits(65_535)
    assert not DESIGNS["I/S/8"].fits(65_536)
    assert DESIGNS["O/D/8"].fits(10**7)
    assert DESIGNS["O/S/8"].dram_bytes_per_base(10_000) == 8
    assert DESIGNS["O/D/8"].dram_bytes_per_base(4095) == 8
    assert DESIGNS["O/D/8"].dram_bytes_per_base(4096) == 8 * 2 + 2 * 8


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("O/S/8", {"pes": 16}, "cannot be routed"),
        ("I/S/8", {"pes": 12}, "no power of 2"),
        ("O/D/8", {"sram_kb": 32}, "do not fit"),
        ("I/S/8", {"cores": 3}, "no number 'cores'"),
        ("I/S/8", {"units": 0}, "units is 0"),
        ("I/S/8", {"units": 40}, r"40 units of 8 take 230.4 % of the look-up tables"),
        ("I/S/8", {"pes": 32}, r"14 units of 32 take 287.4 % of the look-up tables"),
        ("O/S/8", {"units": 20}, r"20 units of 8 take 101.3 % of the DSP blocks"),
        ("I/S/8", {"sram_kb": 8192}, "114688 KB for entries do not fit in the 58176 KB"),
    ],
)
def test_designs_that_cannot_be_built(name: str, values: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        DESIGNS[name].changed(values)


def test_every_design_can_be_built() -> None:
    assert all(design.problem() is None for design in DESIGNS.values())
    assert card().available.dsps == 12_288
    assert all(design.overhead.luts > 5 for design in DESIGNS.values())


def test_other_numbers_take_other_resources() -> None:
    """A unit with other processing elements is that of the article with as many, nearly."""
    made = DESIGNS["I/S/8"].changed({"pes": 16, "units": 7})
    assert made.is_estimate
    assert made.unit.luts == pytest.approx(DESIGNS["I/S/16"].unit.luts, rel=0.02)
    assert made.total.luts == pytest.approx(DESIGNS["I/S/16"].total.luts, rel=0.02)
    fuller = DESIGNS["I/S/8"].changed({"units": 15})
    assert fuller.total.luts == pytest.approx(84.57 + 5.61)
    assert DESIGNS["I/S/8"].is_routable
    assert not fuller.is_routable
    same = DESIGNS["I/S/8"].changed({"pe_depth": 80})
    assert (same.total, same.is_estimate) == (DESIGNS["I/S/8"].total, False)


@pytest.mark.parametrize(("name", "units"), [("I/S/32", 2), ("I/S/8", 8), ("O/S/8", 6)])
def test_another_card(name: str, units: int) -> None:
    """As many units as fit: one more takes too much of something."""
    there = load_device("stratix10-gx2800")
    design = DESIGNS[name].on(there)
    assert (design.units, design.is_estimate, design.problem()) == (units, True, None)
    counts = design.unit.luts * there.available.luts
    assert counts == pytest.approx(DESIGNS[name].unit.luts * card().available.luts)
    more = dataclasses.replace(design, units=units + 1, total=design.total.plus(design.unit))
    assert more.problem() is not None or not more.is_routable


def test_a_card_that_is_too_small() -> None:
    small = dataclasses.replace(load_device("stratix10-gx2800"), memory_kb=1000)
    with pytest.raises(OptionError, match="1024 KB for entries do not fit in the 1000 KB"):
        DESIGNS["I/S/8"].on(small)


def test_data_sets() -> None:
    assert len(datasets()) == 36
    for data in datasets().values():
        assert data.k_median < data.k_p75 < data.k_p90 < data.k_p99 < data.k_max < data.n_mean * 2
    assert datasets()["L2"].k_max == 200_863


@pytest.mark.parametrize("name", ["S6", "L1", "L8", "L25"])
def test_generated_columns_are_like_table_1(name: str) -> None:
    data = datasets()[name]
    shape = generate_shape(data)
    assert len(shape.depths) == data.columns
    assert shape.depths.mean() == pytest.approx(data.n_mean, rel=0.01)
    assert shape.depths.std() == pytest.approx(data.n_sd, rel=0.1)
    assert (shape.at_least <= shape.depths).all()
    for part, k in ((0.5, data.k_median), (0.75, data.k_p75), (0.9, data.k_p90), (0.99, data.k_p99)):
        assert np.quantile(shape.at_least, part) == pytest.approx(k, rel=0.02)
    assert shape.at_least.mean() == pytest.approx(data.k_mean, rel=0.1)
    again = generate_shape(data)
    assert (again.depths == shape.depths).all()
    assert (again.at_least == shape.at_least).all()


def test_groups_of_errors() -> None:
    p, counts = group_errors(10_000, 20, 12, np.random.default_rng(1))
    assert counts.sum() == 10_000
    assert p @ counts == pytest.approx(20)


def test_modelled_hours_of_lofreq_are_near_the_published_ones() -> None:
    host = host_model()
    for name in ("S7", "L1", "L10", "L20"):
        shape = generate_shape(datasets()[name], correlation=host.correlation)
        assert cpu_seconds(shape, host) / 3600 == pytest.approx(datasets()[name].hours, rel=0.25)


def test_host_with_one_chunk_and_one_unit_adds_all_times() -> None:
    host, shape = host_model(), generate_shape(datasets()["L1"], columns=50)
    design = DESIGNS["O/S/8"].changed({"units": 1, "chunks": 1})
    prepare = (shape.depths * host.base_ns * 1e-9 * 8 / host.cores).sum()
    compute = sum(
        design.seconds(n, k) for n, k in zip(shape.depths.tolist(), shape.at_least.tolist(), strict=True)
    )
    run = simulate_host(design, shape, host)
    assert run.seconds == pytest.approx(prepare + compute)
    assert longest_first(design, shape) == pytest.approx(compute)
    assert run.unit_share == pytest.approx(compute / run.seconds)


def test_host_is_bound_by_cores_or_units() -> None:
    host, shape = host_model(), generate_shape(datasets()["L24"], columns=2000)
    for design in DESIGNS.values():
        run = simulate_host(design, shape, host)
        assert 0 < run.core_share <= 1
        assert 0 < run.unit_share <= 1
        assert run.seconds >= longest_first(design, shape) * run.unit_share


def test_chunks_are_neighbours_and_complete() -> None:
    chunks = chunks_of(29_903, 112)
    assert [column for chunk in chunks for column in chunk] == list(range(29_903))
    assert {len(chunk) for chunk in chunks} == {266, 267}


def test_energy() -> None:
    assert energy_ratio(23_000, 630) == pytest.approx(22, rel=0.02)


def test_statements_on_units() -> None:
    """The article contradicts itself twice; everything else that it says of units holds."""
    false = [one.where for one in unit_statements() if not one.holds]
    assert false == ["Section 6.6.1", "Fig. 8(a), abstract"]


FALSE_AT_ALL_SIZES = {
    "L25, where columns with K > 30",
    "O/D/8 is always slower than O/",
    "O/D/8 is comparable to I/S/8, ",
}


def false_statements(columns: int | None) -> set[str]:
    """Return the beginnings of the statements that do not hold for data sets of so many columns."""
    found = end_to_end_statements(evaluate(columns=columns))
    assert len(found) == 19
    json.dumps([asdict(one) for one in found])
    return {one.text[:30] for one in found if not one.holds}


def test_statements_on_small_data_sets() -> None:
    """Speedups need many columns, so other statements are false here, too."""
    found = false_statements(1000)
    assert found > FALSE_AT_ALL_SIZES
    assert len(found) == 11


@pytest.mark.slow
@pytest.mark.verification
def test_statements_on_data_sets() -> None:
    more = {"I/S/8 is the best I/S design o", "O/S/8 saves almost always more"}
    assert false_statements(None) == FALSE_AT_ALL_SIZES | more


# ---- the command


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_command_prints_designs_figures_and_statements() -> None:
    text = run("column-units")
    assert "I/S/32: 3 units of 32, 65536 entries each" in text
    assert "Fig. 7, I/S/32 at K = 1000: 35.2 x, published 35 x (+0.5 %)" in text
    assert "false  Section 6.6.1" in text
    report = json.loads(run("column-units", "--json"))
    assert len(report["designs"]) == 7
    assert "84.57 % of the look-up tables" in text
    assert len(report["figure_7"]) == 8


def test_command_simulates_and_changes_a_design() -> None:
    text = run("O/D/8", "--simulate", "--set", "pe_depth=80")
    assert "simulated 80 and 15, modelled 80 and 15" in text
    assert "iter(2, 0)" in text
    assert json.loads(run("O/S/8", "--set", "pes=4", "--json"))["designs"][0]["pes"] == 4


@pytest.mark.parametrize(
    "arguments",
    [("O/S/8", "--cells", "3"), ("O/S/16",), ("O/S/8", "--set", "pes"), ("O/S/8", "--set", "pes=16")],
)
def test_command_refuses(arguments: tuple[str, ...]) -> None:
    with pytest.raises(OptionError):
        CliRunner().invoke(command, list(arguments), catch_exceptions=False)


def test_command_draws_and_takes_a_card(tmp_path: Path) -> None:
    figure = tmp_path / "units.svg"
    text = run("column-units", "--device", "stratix10-gx2800", "--plot", str(figure))
    assert "I/S/8: 8 units of 8" in text
    assert "71.53 % of the look-up tables" in text
    assert "Figure 7" not in text
    assert "<svg" in figure.read_text()


def test_timeline() -> None:
    design = DESIGNS["O/S/4"].changed({"pes": 1, "pe_depth": 3})
    assert draw_timeline(simulate_unit(design, 1, 2)).splitlines() == [
        "iter(1, 0)    ===",
        "iter(1, 1)     ===",
        "iter(2, 0)       ===",
        "iter(2, 1)        ===",
    ]
