"""Throughput and resource model: the published numbers, and unusable files."""

from __future__ import annotations

from pathlib import Path

import pytest

from syclade.host.ground.errors import OptionError
from syclade.quality.design.model import RESOURCES, Design, Resources
from syclade.quality.design.reader import load_design, preset_names
from syclade.quality.design.resources import estimate
from syclade.quality.design.shortfall import describe_shortfall, explain_shortfall
from syclade.quality.design.sweep import run_sweep, write_csv
from syclade.quality.design.table import DesignFileError
from syclade.quality.design.throughput import predict

PRESETS = Path(__file__).parents[2] / "quality" / "design" / "presets"


@pytest.mark.parametrize(
    ("preset", "cells", "mutations", "ksteps"),
    [
        ("ffscite-64", 64, 63, 577.79),
        ("bbscite-64", 32, 31, 9318.18),
        ("bbscite-64", 64, 63, 4730.77),
        ("bbscite-96", 32, 31, 9596.06),
        ("bbscite-96", 64, 63, 4871.85),
        ("bbscite-96", 95, 94, 3298.65),
    ],
)
def test_published_predictions(preset: str, cells: int, mutations: int, ksteps: float) -> None:
    assert predict(load_design(preset), cells, mutations).ksteps_per_s == pytest.approx(ksteps, rel=1e-3)


@pytest.mark.parametrize("preset", preset_names())
def test_every_benchmark_of_a_preset_is_reproduced(preset: str) -> None:
    design = load_design(preset)
    for each in design.benchmarks:
        assert each.modelled is not None
        prediction = predict(design, each.cells, each.mutations)
        assert prediction.ksteps_per_s == pytest.approx(each.modelled, rel=1e-3)


def test_thesis_stages() -> None:
    prediction = predict(load_design("ffscite-64"))
    stages = {stage.name: stage for stage in prediction.stages}
    assert (prediction.cycles_per_step, prediction.bottleneck) == (512, "score mapping")
    assert stages["proposer"].cycles == 263
    others = [stage for name, stage in stages.items() if name not in ("proposer", "score mapping")]
    assert {stage.cycles for stage in others} == {64}
    assert {stage.occupancy for stage in others} == {0.125}


def test_thesis_prints_the_same_percentages() -> None:
    """Table 4.3, of what table 4.2 counts: kernels, and the tree scorer."""
    design = load_design("ffscite-64")
    rows = {row.name: row.resources.relative_to(design.device.available) for row in estimate(design).rows}
    kernels = sum((each for name, each in rows.items() if name != "static partition"), Resources())
    assert [round(100 * kernels.as_dict()[name]) for name in RESOURCES] == [45, 32, 20, 3, 7]
    scorer = sum((each.mlabs for name, each in rows.items() if name.startswith(("tree", "find"))), 0.0)
    assert round(100 * scorer) == 2


def test_bbscite_sends_one_packet_more_than_the_tree_has_nodes() -> None:
    prediction = predict(load_design("bbscite-96"), 32, 31)
    assert prediction.cycles_per_step == 33
    assert prediction.bottleneck == "io send"
    assert {stage.cycles for stage in prediction.stages} == {32, 33}


def test_published_utilisation() -> None:
    thesis = estimate(load_design("ffscite-64")).utilisation
    assert thesis.luts == pytest.approx(0.69, abs=0.01)
    for preset, totals in {
        "bbscite-64": (42.7, 36.2, 30.7, 1.0, 28.0),
        "bbscite-96": (53.9, 39.4, 34.9, 0.6, 30.8),
    }.items():
        used = estimate(load_design(preset)).utilisation.as_dict()
        # The published rows are rounded: the RAM blocks sum to 0.2 less than the published total.
        assert [used[name] * 100 for name in RESOURCES] == pytest.approx(totals, abs=0.21)


def test_nothing_published_is_called_an_estimate() -> None:
    assert not estimate(load_design("ffscite-64")).estimated
    assert estimate(load_design("ffscite-64").changed({"mapping": 16})).estimated
    assert estimate(load_design("syclade-ancestor")).estimated


def test_scaling_leads_from_one_bbscite_instance_to_the_other() -> None:
    scaled = estimate(load_design("bbscite-64").changed({"n_max": 96})).utilisation
    published = estimate(load_design("bbscite-96")).utilisation
    assert scaled.luts == pytest.approx(published.luts, abs=0.005)
    assert scaled.dsps == pytest.approx(published.dsps, abs=0.005)


def test_what_the_thesis_says_of_larger_designs() -> None:
    design = load_design("ffscite-64")
    doubled = estimate(design.changed({"mapping": 16}))
    assert doubled.fits
    assert not doubled.routable  # section 4.1: above 75 % of the logic
    assert not estimate(design.changed({"replication": 2})).fits  # section 4.1: impossible to replicate
    # Doubling the mapping's throughput does not double the design's: the proposer's 263 cycles are the limit.
    assert predict(design.changed({"mapping": 16})).bottleneck == "proposer"


def test_throughput_grows_with_clock_and_replication() -> None:
    design = load_design("syclade-ancestor")
    base = predict(design).ksteps_per_s
    assert predict(design.changed({"clock_mhz": 150})).ksteps_per_s == pytest.approx(base / 2)
    assert predict(design.changed({"replication": 3})).ksteps_per_s == pytest.approx(base * 3)


def test_fixed_trip_counts_do_not_depend_on_the_input() -> None:
    design = load_design("ffscite-64")
    assert predict(design, 16, 15).cycles_per_step == predict(design).cycles_per_step


def test_counter_based_draws_take_the_proposer_out_of_the_way() -> None:
    wide = load_design("ffscite-64").changed({"mapping": 64})
    assert (predict(wide).bottleneck, predict(wide).cycles_per_step) == ("proposer", 263)
    assert predict(wide.changed({"proposer_ii": 1})).cycles_per_step == 64


def test_preorder_step_does_not_depend_on_the_tree_until_rebuilds_dominate() -> None:
    design = load_design("syclade-preorder").changed({"acceptance": 0.0})
    assert (
        predict(design).cycles_per_step
        == predict(design.changed({"n_max": 32, "cells_max": 64})).cycles_per_step
    )
    busy = design.changed({"acceptance": 0.5})
    assert (predict(busy).bottleneck, predict(busy).cycles_per_step) == ("rebuild", 32)


def test_shortfall_of_bbscite() -> None:
    narrow, wide = (explain_shortfall(load_design(name)) for name in ("bbscite-64", "bbscite-96"))
    assert [round(row.accuracy, 3) for row in narrow.rows] == [0.919, 0.803]
    assert [round(row.accuracy, 3) for row in wide.rows] == [0.891, 0.846, 0.510]
    test = next(row for row in wide.rows if row.role == "test")
    assert (test.cells, test.mutations) == (64, 63)
    assert test.fitted == pytest.approx(test.measured, rel=1e-3)
    assert (narrow.rows[-1].capacity_needed, wide.rows[-1].capacity_needed) == (26, 35)
    words = " ".join(describe_shortfall(load_design("bbscite-64"), narrow))
    assert "do not explain" in words
    assert "No measurement is left to test" in words


def test_shortfall_of_the_thesis_needs_no_latency() -> None:
    design = load_design("ffscite-64")
    shortfall = explain_shortfall(design)
    assert shortfall.ring_depth is None
    assert shortfall.loop_overhead == pytest.approx(10.0, abs=0.01)
    assert any("no latency shows" in line for line in describe_shortfall(design, shortfall))


def test_a_model_has_no_shortfall() -> None:
    with pytest.raises(OptionError, match="no measurements"):
        explain_shortfall(load_design("syclade-ancestor"))


def test_sweep_of_the_thesis(tmp_path: Path) -> None:
    design = load_design("ffscite-64")
    sweep = run_sweep(design, {"mapping": (4, 8, 16), "n_max": (32, 64)})
    assert sweep.too_small == 3
    assert [point.settings["mapping"] for point in sweep.front] == [4, 8]
    verdicts = {point.design: point.verdict for point in sweep.published}
    assert verdicts == {"ffscite-64": "on", "bbscite-64": "beyond", "bbscite-96": "beyond"}
    assert [point.verdict for point in sweep.points] == ["on", "on", "not routable"]
    write_csv(sweep, tmp_path / "sweep.csv")
    lines = (tmp_path / "sweep.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 + 3
    assert lines[0].startswith("design,mapping,n_max,cells,mutations,capacity,bottleneck,cycles_per_step")


def test_front_is_what_nothing_beats() -> None:
    design = load_design("syclade-ancestor")
    sweep = run_sweep(
        design, {"mapping": (8, 64), "lanes": (1, 2), "rows": (1, 2), "rows_per_packet": (1, 2)}
    )
    routable = [point for point in sweep.points if point.resources.routable]
    for point in routable:
        beaten = any(
            other.logic <= point.logic
            and other.ksteps_per_s >= point.ksteps_per_s
            and (other.logic, other.ksteps_per_s) != (point.logic, point.ksteps_per_s)
            for other in routable
        )
        assert (point.verdict == "on") != beaten


@pytest.mark.parametrize(
    ("axes", "word"),
    [({}, "nothing to sweep"), ({"mapping": range(1, 30000)}, "too many"), ({"colour": (1, 2)}, "colour")],
)
def test_sweeps_that_cannot_be(axes: dict[str, tuple[float, ...]], word: str) -> None:
    with pytest.raises(OptionError, match=word):
        run_sweep(load_design("ffscite-64"), axes)


@pytest.mark.parametrize(
    "change",
    [{"colour": 1}, {"clock_mhz": 0}, {"capacity": 1.5}, {"n_max": -4}, {"rows_per_packet": float("nan")}],
)
def test_impossible_parameters(change: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(change))):
        load_design("ffscite-64").changed(change)


@pytest.mark.parametrize(("cells", "mutations"), [(64, 64), (65, 63), (0, 5)])
def test_inputs_that_do_not_fit(cells: int, mutations: int) -> None:
    with pytest.raises(OptionError, match="cannot hold"):
        predict(load_design("ffscite-64"), cells, mutations)


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(OptionError, match="bbscite-64"):
        load_design("bbscite")


def test_a_stage_can_be_left_out_with_its_resources() -> None:
    design = load_design("ffscite-64")
    less = design.without("find parent")
    saved = estimate(design).total.luts - estimate(less).total.luts
    assert saved == 34_100
    assert predict(less).round_trip == predict(design).round_trip - 64
    with pytest.raises(OptionError, match="no stage 'lookup'"):
        design.without("lookup")


def edited(tmp_path: Path, old: str, new: str) -> Design:
    text = (PRESETS / "ffscite-64.toml").read_text()
    assert old in text
    file = tmp_path / "edited.toml"
    file.write_text(text.replace(old, new, 1))
    return load_design(str(file))


def test_a_file_of_the_users(tmp_path: Path) -> None:
    design = edited(tmp_path, "value = 295.83", "value = 150")
    assert design.name == "edited"
    assert predict(design).ksteps_per_s == pytest.approx(150e3 / 512)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('device = "stratix10-gx2800"', 'device = "abacus"', "device"),
        ('trips = "capacity"', 'trips = "sometimes"', "trips"),
        ('trips = "capacity"', 'trips = "capacity"\ncolour = 1', "colour"),
        ("clock_mhz = { value = 295.83", 'clock_mhz = { value = "fast"', "parameters.clock_mhz.value"),
        ("capacity = { value = 6", "capacity = { value = 6.5", "parameters.capacity.value"),
        ("rows_per_packet = { value", "rows_a_packet = { value", "parameters.rows_per_packet"),
        ('295.83, kind = "published"', '295.83, kind = "heard"', "parameters.clock_mhz.kind"),
        ('name = "io send"', 'name = "io send"\nspeed = 1', "stage[0].speed"),
        ("loops = { packets = 1 }", "loops = { parcels = 1 }", "stage[0].loops.parcels"),
        ("loops = { packets = 1 }", "loops = { packets = 0 }", "stage[0].loops.packets"),
        ('ii = "proposer_ii"', 'ii = "proposer"', "stage[2].ii"),
        ("luts = 90", "luts = -90", "component[0].luts"),
        ('stage = "reduction"', 'stage = "sum"', "component[5].stage"),
        ("scale = { n_max = 1, rows_per_packet = 1 }", "scale = { rows = 1 }", "component[0].scale.rows"),
        ("cells = 64\nmutations", "cells = 0.5\nmutations", "benchmark[0].cells"),
        ("mapping = [1, 2,", "mapping = [-1, 2,", "sweep.mapping"),
        ('notes = [', 'notes = [ 1,', "notes"),
    ],
)  # fmt: skip
def test_malformed_files_name_file_and_key(tmp_path: Path, old: str, new: str, key: str) -> None:
    with pytest.raises(DesignFileError) as caught:
        edited(tmp_path, old, new)
    assert str(caught.value).startswith(f"{tmp_path / 'edited.toml'}: {key}: ")


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    file = tmp_path / "broken.toml"
    file.write_text("title = \n")
    with pytest.raises(DesignFileError, match=r"broken\.toml: this is not TOML: .*line 1"):
        load_design(str(file))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DesignFileError, match=r"nowhere\.toml: cannot read"):
        load_design(str(tmp_path / "nowhere.toml"))
