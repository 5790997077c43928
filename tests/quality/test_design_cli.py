"""``syclade design``: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from syclade.host.ground.errors import OptionError, OutputError
from syclade.quality.cli.design import command


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


def output(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exception is None, result.exception
    assert result.exit_code == 0
    return result.output


def report(*arguments: str) -> Any:
    return json.loads(output(*arguments, "--json"))


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
def test_json_has_the_published_numbers(preset: str, cells: int, mutations: int, ksteps: float) -> None:
    found = report(preset, "--cells", str(cells), "--mutations", str(mutations))
    assert found["ksteps_per_s"] == pytest.approx(ksteps, rel=1e-3)
    assert (found["cells"], found["mutations"]) == (cells, mutations)


def test_json_of_the_thesis() -> None:
    found = report("ffscite-64")
    assert (found["cycles_per_step"], found["bottleneck"]) == (512, "score mapping")
    stages = {stage["name"]: stage for stage in found["stages"]}
    assert stages["proposer"]["cycles"] == 263
    assert stages["find parent"]["occupancy"] == 0.125
    assert found["capacity"]["chain_states"] == 6
    assert found["resources"]["estimate"] is False
    assert found["parameters"]["clock_mhz"]["source"] == "table 4.1"
    assert found["assumptions"]


def test_without_a_preset_it_lists_them() -> None:
    assert "syclade-preorder" in output()
    assert {"bbscite-64", "ffscite-64"} <= {each["design"] for each in report()}


def test_options_change_the_design() -> None:
    found = report(
        "syclade-ancestor", "--clock-mhz", "200", "--n-max", "96", "--unroll", "96", "--unroll", "rows=2",
        "--rows-per-packet", "2", "--replication", "2", "--proposer-ii", "3", "--capacity", "30",
        "--set", "lanes=2",
    )  # fmt: skip
    values = {name: each["value"] for name, each in found["parameters"].items() if each["kind"] == "set"}
    assert values == {
        "clock_mhz": 200, "n_max": 96, "cells_max": 96, "mapping": 96, "rows": 2, "rows_per_packet": 2,
        "replication": 2, "proposer_ii": 3, "capacity": 30, "lanes": 2,
    }  # fmt: skip
    assert (found["cells"], found["mutations"]) == (96, 95)
    assert found["ksteps_per_s"] == pytest.approx(2 * 200e3 / 49)


def test_table_says_what_is_an_estimate() -> None:
    text = output("ffscite-64", "--unroll", "16", "--without", "find parent")
    assert "estimate" in text
    assert "find parent" not in text
    assert "hard to route" in text
    assert "263 cycles a step (bottleneck: proposer)" in text


def test_table_shows_what_was_published() -> None:
    assert "modelled 577.79, measured 566.72" in output("ffscite-64")


def test_sweep_writes_points_and_figure(tmp_path: Path) -> None:
    points, figure = tmp_path / "points.csv", tmp_path / "front.png"
    text = output(
        "ffscite-64",
        "--over",
        "mapping=4,8,16",
        "--over",
        "replication=1,2",
        "--csv",
        str(points),
        "--plot",
        str(figure),
    )
    assert "ffscite-64 as published is on the front" in text
    assert figure.stat().st_size > 1000
    with points.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 + 3
    assert {row["design"] for row in rows} == {"ffscite-64", "bbscite-64", "bbscite-96"}


def test_sweep_of_a_presets_own_axes() -> None:
    found = report("bbscite-64", "--sweep")
    assert found["published_on_front"] == ["bbscite-64"]
    assert all(point["front"] == "on" for point in found["front"])
    assert found["too_small_for_the_input"] == 0


def test_sweep_at_a_size_that_only_one_published_design_holds() -> None:
    text = output("bbscite-96", "--over", "n_max=64,96", "--cells", "95", "--mutations", "94")
    assert "ffscite-64 cannot hold this input" in text
    assert "1 variant left out" in text


def test_simulation_explains_the_shortfall() -> None:
    found = report("bbscite-96", "--cells", "32", "--mutations", "31", "--simulate", "--steps", "8")
    assert found["run"]["utilisation"] == pytest.approx(1)
    assert "timeline" not in found["run"]
    rows = found["shortfall"]["measurements"]
    assert [round(row["accuracy"], 2) for row in rows] == [0.89, 0.85, 0.51]
    assert any("do not explain" in line for line in found["shortfall"]["verdict"])
    fitted = report(
        "bbscite-96", "--cells", "32", "--mutations", "31", "--simulate", "--fitted", "--steps", "8"
    )
    assert fitted["run"]["ksteps_per_s"] == pytest.approx(4891.25, rel=1e-3)
    by_capacity = {point["capacity"]: point["utilisation"] for point in fitted["utilisation_by_capacity"]}
    assert by_capacity[24] < 0.75 < by_capacity[35] == pytest.approx(1)


def test_simulation_draws_a_timeline(tmp_path: Path) -> None:
    figure = tmp_path / "timeline.svg"
    text = output(
        "ffscite-64", "--simulate", "--capacity", "2", "--chains", "4", "--steps", "8", "--plot", str(figure)
    )
    assert "2 slots, 4 chains of 8 steps" in text
    assert "<svg" in figure.read_text()


def test_the_projects_own_models_simulate_without_measurements() -> None:
    assert "shortfall" not in report("syclade-preorder", "--simulate", "--steps", "4")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("abacus",), "no design preset 'abacus'"),
        (("nowhere.toml",), "nowhere.toml: cannot read"),
        (("ffscite-64", "--mutations", "64"), "cannot hold"),
        (("ffscite-64", "--unroll", "rows=2"), "no unroll factor 'rows'"),
        (("ffscite-64", "--unroll", "many"), "'many' is not a number"),
        (("ffscite-64", "--set", "mapping"), "not of the form NAME=VALUE"),
        (("ffscite-64", "--set", "colour=2"), "no parameter 'colour'"),
        (("ffscite-64", "--clock-mhz", "-1"), "clock_mhz"),
        (("ffscite-64", "--without", "lookup"), "no stage 'lookup'"),
        (("ffscite-64", "--over", "colour=1,2"), "no parameter 'colour'"),
        (("ffscite-64", "--over", "mapping=1,x"), "'x' is not a number"),
        (("ffscite-64", "--sweep", "--simulate"), "do not go together"),
        (("ffscite-64", "--csv", "x.csv"), "--csv needs a sweep"),
        (("ffscite-64", "--device", "abacus"), "no card 'abacus'"),
        (("ffscite-64", "--device", "nowhere.toml"), "nowhere.toml: cannot read the card"),
        (("ffscite-64", "--chains", "3"), "--chains needs"),
        (("syclade-ancestor", "--fitted"), "no measurements"),
    ],
)
def test_what_cannot_be_is_refused_in_words(arguments: tuple[str, ...], word: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, OptionError)
    assert word in str(result.exception)


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "such"
    result = run("ffscite-64", "--over", "mapping=4,8", "--csv", str(nowhere / "points.csv"))
    assert isinstance(result.exception, OutputError)
    result = run("ffscite-64", "--over", "mapping=4,8", "--plot", str(nowhere / "front.png"))
    assert isinstance(result.exception, OutputError)


def test_a_figure_of_an_unknown_format_is_refused(tmp_path: Path) -> None:
    result = run("ffscite-64", "--over", "mapping=4,8", "--plot", str(tmp_path / "front.abc"))
    assert isinstance(result.exception, OptionError)
    assert "front.abc" in str(result.exception)


CARD = """
title = "a small card"
source = "made up"
logic_limit = 0.8
memory_kb = 9000

[available]
luts = 1000000
ffs = 2000000
rams = 5000
mlabs = 0
dsps = 3000

[static_partition]
luts = 100000
ffs = 100000
rams = 0
mlabs = 0
dsps = 0
"""


def test_a_card_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "card.toml").write_text(CARD)
    found = report("ffscite-64", "--device", str(tmp_path / "card.toml"))
    assert found["device"] == "a small card"
    assert found["resources"]["total"]["luts"] == pytest.approx(100_000 + 843_800, abs=30)
    assert (found["resources"]["fits"], found["resources"]["routable"]) == (True, False)
    assert any("one for one" in note for note in found["assumptions"])


def test_a_design_names_a_card_beside_it(tmp_path: Path) -> None:
    (tmp_path / "card.toml").write_text(CARD)
    preset = Path("quality/design/presets/ffscite-64.toml")
    text = (Path(__file__).parents[2] / preset).read_text().replace('"stratix10-gx2800"', '"card.toml"')
    (tmp_path / "mine.toml").write_text(text)
    assert report(str(tmp_path / "mine.toml"))["device"] == "a small card"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("luts = 1000000", "", "card.toml: available.luts: this key is missing"),
        ("luts = 1000000", "luts = 0", "card.toml: available.luts: a card has look-up tables"),
        ("rams = 5000", "rams = -1", "card.toml: available.rams: expected a number of at least 0"),
        ("0.8", "80", "card.toml: logic_limit: 80 is no fraction"),
        ("memory_kb", "memory", "card.toml: memory: unknown key"),
    ],
)
def test_errors_of_a_card_name_file_and_key(tmp_path: Path, old: str, new: str, words: str) -> None:
    (tmp_path / "card.toml").write_text(CARD.replace(old, new, 1))
    result = run("ffscite-64", "--device", str(tmp_path / "card.toml"))
    assert isinstance(result.exception, OptionError)
    assert words in str(result.exception)


def test_stages_are_drawn(tmp_path: Path) -> None:
    figure = tmp_path / "stages.svg"
    output("ffscite-64", "--plot", str(figure))
    assert "<svg" in figure.read_text()
