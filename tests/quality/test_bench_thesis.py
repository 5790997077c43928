"""`syclade bench --suite thesis`: the thesis's parameters, our runs alternating with SCITE's, and reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from syclade.host.chains.runs.pipeline import run_chains
from syclade.host.commands.main import cli
from syclade.host.device.device import NUMPY
from syclade.host.ground.errors import OptionError, SycladeError
from syclade.quality.bench import thesis
from syclade.quality.bench.stored import FFSCITE_KSTEPS, SCITE_KSTEPS
from syclade.quality.bench.thesis import Point, Run, ThesisBench, mean_joules, run_thesis
from syclade.quality.bench.thesis_report import thesis_figure, thesis_table
from syclade.quality.reference.scite_program import SciteError, find_scite
from tests.support.scite_stand_in import make_stand_in

stand_in_runs = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the steps and chains; keep the thesis's sizes."""
    monkeypatch.setattr(thesis, "STEPS", (20, 40))
    monkeypatch.setattr(thesis, "CHAINS", (2, 3))
    monkeypatch.setattr(thesis, "WARM_UP_STEPS", 1)


def point(size: tuple[int, int], ours: Iterator[float] | list[float], scite: list[float]) -> Point:
    runs = tuple(Run(seconds) for seconds in ours)
    return Point(*size, 6, 1_000_000, runs, tuple(Run(seconds) for seconds in scite), "cpu")


def bench(*points: Point, scite: dict[str, str] | None = None) -> ThesisBench:
    return ThesisBench(points, "cpu", "a processor", "preorder", 2, 1, scite, "")


def test_the_parameters_are_the_thesiss() -> None:
    """Parameters of section 4.3."""
    assert thesis.SIZES == ((16, 15), (32, 31), (64, 63))
    assert thesis.CHAINS == (6, 12)
    assert thesis.STEPS == (500_000, 1_000_000, 1_500_000, 2_000_000)
    assert thesis.RUNS == 10
    assert FFSCITE_KSTEPS == 566.72


@pytest.mark.usefixtures("small")
def test_every_combination_is_measured() -> None:
    written: list[Point] = []
    measured = run_thesis(NUMPY, runs=2, done=written.append)
    assert list(measured.points) == written
    assert [(p.cells, p.mutations, p.chains, p.steps) for p in written] == [
        (cells, mutations, chains, steps)
        for cells, mutations in thesis.SIZES
        for chains in (2, 3)
        for steps in (20, 40)
    ]
    assert all(len(p.ours) == 2 and not p.scite and p.seconds > 0 for p in written)
    assert measured.work == {"numpy": 1.0}
    report = json.loads(json.dumps(measured.to_dict()))
    assert len(report["points"]) == 12
    assert report["points"][0]["scite_seconds"] is None  # no figure is stored for 16 x 15
    assert report["points"][-1]["scite_is_stored"] is True
    assert {"processor", "cores", "usable_cores", "system"} == set(report["machine"])
    assert {"python", "syclade", "numpy"} <= set(report["versions"])
    assert report["rates"] == {"fp_rate": 1e-6, "fn_rate": 0.25, "missing": 0.25}


def test_figures_by_hand() -> None:
    one = point((64, 63), [1.0, 3.0], [100.0, 140.0])
    assert (one.seconds, one.scite_seconds, one.speedup) == (2.0, 120.0, 60.0)
    report = one.to_dict()
    assert (report["steps_per_second"], report["scite_steps_per_second"]) == (3e6, 5e4)
    assert report["scite_is_stored"] is False
    stored = point((64, 63), [2.0], [])
    assert stored.scite_seconds == pytest.approx(6_000_000 / (1e3 * SCITE_KSTEPS[64, 63]))
    assert stored.scite_is_stored
    unknown = point((16, 15), [2.0], [])
    assert (unknown.scite_seconds, unknown.speedup) == (None, None)


def test_energy_is_the_mean_of_all_runs_or_nothing() -> None:
    assert mean_joules((Run(1, 2.0), Run(1, 4.0))) == 3.0
    assert mean_joules((Run(1, 2.0), Run(1))) is None
    assert mean_joules(()) is None


def test_stored_figures_are_labelled_and_unknown_ones_are_not_made_up() -> None:
    table = thesis_table(bench(point((16, 15), [1.0], []), point((64, 63), [1.0], [])))
    first, second = (line.split("|") for line in table.splitlines()[2:4])
    assert (first[6].strip(), first[7].strip()) == ("not known", "")
    assert second[6].strip().endswith("(stored)")
    assert "give --scite PATH to measure SCITE here" in table
    measured = thesis_table(bench(point((64, 63), [1.0], [90.0]), scite={"program": "scite"}))
    assert "stored" not in measured
    assert measured.splitlines()[2].split("|")[6].strip() == "90"


@pytest.mark.parametrize("scite", [[], [90.0]])
def test_the_figure_has_the_thesiss_panels(scite: list[float]) -> None:
    sizes = thesis.SIZES
    figure = thesis_figure(bench(*(point(size, [1.0], scite) for size in sizes), scite={} if scite else None))
    assert len(figure.axes) == 3
    makespan, throughput, speedup = figure.axes
    assert "makespan [s]" in makespan.get_ylabel()
    assert throughput.get_ylabel() == "throughput [ksteps/s]"
    assert speedup.get_ylabel() == "speedup over SCITE"
    assert speedup.get_xlabel() == "steps of each chain [millions]"
    styles = [line.get_linestyle() for line in makespan.lines]
    assert styles.count("--") == 3
    assert styles.count("-" if scite else ":") == (3 if scite else 2)
    words = " ".join(text.get_text() for text in figure.legends[0].get_texts())
    assert ("SCITE, stored (another machine)" in words) == (not scite)


@stand_in_runs
@pytest.mark.usefixtures("small")
def test_scite_is_measured_in_turns_on_the_same_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = find_scite(make_stand_in(tmp_path / "bin"))
    order: list[str] = []

    def ours(*given: Any, steps: int, **more: Any) -> Any:
        if steps > 1:  # not the warm-up
            order.append("ours")
        return run_chains(*given, steps=steps, **more)

    scites = type(program).run

    def theirs(*given: Any) -> None:
        order.append("scite")
        scites(*given)

    monkeypatch.setattr(thesis, "run_chains", ours)
    monkeypatch.setattr(type(program), "run", theirs)
    monkeypatch.setattr(thesis, "SIZES", ((8, 5),))
    monkeypatch.setattr(thesis, "CHAINS", (2,))
    measured = run_thesis(NUMPY, runs=2, seed=7, scite=program)
    assert order == ["ours", "scite"] * 4
    assert all(len(p.scite) == 2 and not p.scite_is_stored for p in measured.points)
    assert measured.to_dict()["scite"] == {"program": "scite", "sha256": program.digest}
    calls = (tmp_path / "bin" / "scite.calls").read_text().splitlines()
    assert ["-n 5 -m 8 -r 2 -l 20 -fd 1e-06 -ad 0.25" in call for call in calls] == [True, True, False, False]
    assert [call.partition("-seed ")[2].split()[0] for call in calls] == ["7", "8", "7", "8"]


@stand_in_runs
@pytest.mark.usefixtures("small")
def test_a_scite_that_fails_ends_the_measurement(tmp_path: Path) -> None:
    program = make_stand_in(tmp_path / "bin")
    program.with_name("scite.wrong").write_text("no score")
    with pytest.raises(SciteError, match="printed no score"):
        run_thesis(NUMPY, runs=1, scite=find_scite(program))


@pytest.mark.usefixtures("small")
def test_the_command(tmp_path: Path) -> None:
    quick = ["bench", "--suite", "thesis", "--device", "numpy", "--runs", "1"]
    plot = tmp_path / "thesis.png"
    done = CliRunner().invoke(cli, [*quick, "--plot", str(plot)])
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n| ") == 12
    assert "work done by: numpy 100 %" in done.stdout
    assert plot.read_bytes().startswith(b"\x89PNG")
    report = json.loads(CliRunner().invoke(cli, [*quick, "--json"]).stdout)
    assert (report["suite"], report["runs"], report["energy"]) == ("thesis", 1, "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--runs", "2"], "--runs is for --suite thesis"),
        (["--suite", "--runs", "2"], "--runs is for --suite thesis"),
        (["--scite", "x"], "--scite is for --suite thesis"),
        (["--suite", "thesis", "--scite", "nothing/there"], "there is no program"),
        (["--suite", "thesis", "--scaling"], "one at a time"),
        (["--suite", "--energy"], "--energy is for one size"),
        (["--suite", "thesis", "--score", "sum"], "leave out --score"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], words: str) -> None:
    done = CliRunner().invoke(cli, ["bench", "--device", "numpy", *options])
    assert isinstance(done.exception, SycladeError)
    assert words in str(done.exception)


def test_runs_are_a_positive_number() -> None:
    with pytest.raises(OptionError, match="runs"):
        run_thesis(NUMPY, runs=0)
