"""The pipeline in SYCL with pipes, with stand-ins for SYCL: the bits of an ordinary run, and no standstill.

The stand-in's pipes hold exactly as much as they are declared to hold.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from syclade.host.commands.export.command import HLS
from syclade.host.commands.export.hls.flavours import FLAVOURS
from tests.commands.export.hls.projects import (
    Simulation,
    assert_counts,
    export,
    needs_compiler,
    replace,
    zygosity,
)

pytestmark = needs_compiler

STUBS = Path(__file__).parent / "stubs" / "oneapi"
SMALL = ("--mutations", "5", "--cells", "6", "--unroll", "2", "--states", "64", "--chains", "66")


def test_two_words_and_three_values_with_room_for_more(tmp_path: Path) -> None:
    given = (*zygosity(tmp_path, 70, 20), "--mutations", "75", "--cells", "33")
    export(tmp_path / "p", "--hls", "oneapi", *given, "--states", "24", "--steps", "10", "--chains", "30")
    status, report = Simulation(tmp_path / "p", "pipeline.cpp", STUBS).run("1", "6", "24")
    assert status == 0
    assert [run["states"] for run in report["runs"]] == [1, 6, 24]
    assert (report["chains"], report["steps"], report["as_expected"]) == (30, 10, True)


@pytest.mark.parametrize(
    "states",
    [
        pytest.param(range(1, 65), marks=pytest.mark.verification, id="all"),
        pytest.param((*range(1, 10), 15, 16, 17, 31, 32, 33, 63, 64), id="some"),
    ],
)
def test_no_standstill_with_any_number_of_states(states: Sequence[int], tmp_path: Path) -> None:
    export(tmp_path / "p", "--hls", "oneapi", *SMALL, "--steps", "5")
    simulation = Simulation(tmp_path / "p", "pipeline.cpp", STUBS, "-DCOUNT")
    status, report = simulation.run(*map(str, states))
    assert status == 0
    one, *others = report["runs"]
    assert len(others) == len(states) - 1
    assert one["most_stages_at_once"] == 1
    assert list(one["trips"].values()) == [30, 1, 7, 186, 70]
    assert all((run["trips"], run["loops"]) == (one["trips"], one["loops"]) for run in others)
    assert_counts(one, nodes=6, cells=6, unroll=2)
    lines = (tmp_path / "p" / "stages.h").read_text("utf-8").splitlines()
    assert all(f"ITERATION({name}," in lines[line - 1] for name, line in report["lines"].items())


def test_too_short_a_pipe_is_a_standstill(tmp_path: Path) -> None:
    """Pipes that lead back must hold all states: with room for one, io and the stages wait for each other."""
    export(tmp_path / "p", "--hls", "oneapi", *SMALL, "--steps", "5")
    name = "ancestors_reduction_to_io"
    source = tmp_path / "p" / "pipeline.cpp"
    replace(
        source,
        f"using {name} = Stream<{name}_id, u64, (STATES * (WORDS * NODES))>",
        f"using {name} = Stream<{name}_id, u64, (WORDS * NODES)>",
    )
    simulation = Simulation(tmp_path / "p", "pipeline.cpp", STUBS)
    assert simulation.run("3")[0] == 0
    with pytest.raises(subprocess.TimeoutExpired):
        simulation.run("64", timeout=3)


def test_the_command_knows_all_flavours() -> None:
    assert tuple(FLAVOURS) == HLS
