"""`--stages` and `--trace`: their results, files and refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.answer import request
from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.backends.stages.launcher import TIMED_STEPS
from syclade.host.chains.backends.stages.opening import check_plan
from syclade.host.chains.convergence import StoppingRule
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.moves import MOVES
from syclade.host.commands.export.manifest import exported_kernels
from syclade.host.commands.main import main
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.ground.errors import OptionError, OutputError
from syclade.host.ground.signals import Stop
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.additions.with_parent import WITH_PARENT
from tests.support.backends import Case

MATRIX = simulate(cells=16, mutations=9, fp_rate=0.01, fn_rate=0.3, missing=0.2, seed=4).matrix
OPTIONS: dict[str, Any] = {"chains": 3, "steps": 500, "seed": 8}


def infer(**options: Any) -> syclade.Result:
    return syclade.infer(MATRIX, fp_rate=0.01, fn_rate=0.3, **{"device": "native", **OPTIONS, **options})


@pytest.fixture(scope="module")
def fused() -> syclade.Result:
    return infer(device="numpy")


def assert_equal(one: syclade.Result, other: syclade.Result) -> None:
    np.testing.assert_array_equal(one.parents, other.parents)
    np.testing.assert_array_equal(one.chain_log_likelihoods, other.chain_log_likelihoods)
    assert (one.moves, one.steps, one.log_likelihood) == (other.moves, other.steps, other.log_likelihood)


# ---- results


def test_files_of_a_run(fused: syclade.Result, tmp_path: Path) -> None:
    """The summary.json files are equal; run.json reports how full the pipeline was."""
    result = infer(stages="separate", trace=tmp_path / "trace.json")
    assert_equal(result, fused)
    result.write(tmp_path / "separate")
    fused.write(tmp_path / "fused")
    for name in set(MUTATION.file_names) - {"run.json"}:
        assert (tmp_path / "separate" / name).read_bytes() == (tmp_path / "fused" / name).read_bytes()
    run = json.loads((tmp_path / "separate" / "run.json").read_text())
    assert run["encoding"] == "ancestor"
    assert run["options"]["stages"] == "separate"
    assert run["options"]["trace"] == str(tmp_path / "trace.json")
    pipeline = run["pipeline"]
    assert pipeline["slots"] == 3
    assert pipeline["steps"] == 1500
    assert pipeline["fill_by_tick"] == pytest.approx(3 / 5, rel=0.05)
    assert pipeline["timed_steps"] == TIMED_STEPS
    assert set(pipeline["busy"]) == set(pipeline["stages"])
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert sum(one["ph"] == "X" for one in trace["traceEvents"]) == 2 * 5 * TIMED_STEPS
    assert trace["otherData"] == {**pipeline}
    assert json.loads((tmp_path / "fused" / "run.json").read_text())["pipeline"] is None


def test_more_chains_than_states_in_flight(fused: syclade.Result) -> None:
    result = infer(stages="separate", slots=2, encoding="ancestor")
    assert_equal(result, fused)
    assert result.slots == 2


def test_chains_may_stop_by_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    short = partial(StoppingRule, round_steps=1000, least_steps=2000, most_steps=40_000)
    monkeypatch.setattr(request, "StoppingRule", short)
    separate, fused = (
        infer(stages=stages, steps=None, chains=4, method="chain") for stages in ("separate", "fused")
    )
    assert separate.converged
    assert_equal(separate, fused)


@pytest.mark.parametrize("stages", [("fused", "separate"), ("separate", "fused")])
def test_a_resumed_run_may_have_other_stages(
    fused: syclade.Result, tmp_path: Path, stages: tuple[str, str]
) -> None:
    stop = Stop()

    def halt(_: object) -> None:
        stop.wanted = True

    kept = tmp_path / "run"
    first = infer(stages=stages[0], checkpoint=kept, checkpoint_every=0, stop=stop, progress=halt)
    assert first.interrupted
    assert_equal(infer(stages=stages[1], resume=kept), fused)


# ---- refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "preorder"}, "--encoding preorder does not go with --stages separate"),
        ({"encoding": "clade"}, "--encoding clade does not go with --stages separate"),
        ({"device": "fpga"}, "--device fpga without --image"),
        ({"score": "shares"}, "--score shares does not go with --stages separate"),
        ({"stages": "both"}, "--stages is 'both'"),
        ({"stages": "fused", "trace": "x.json"}, "--trace without --stages separate"),
        (
            {"chains": None, "steps": None, "method": "search"},
            "--stages separate does not go with --method search",
        ),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as error:
        infer(**{"stages": "separate", **options})
    assert error.value.message == message
    assert error.value.hint


def test_other_moves_are_refused() -> None:
    """A move's selections are deferred only if the move uses them in its proposal and nowhere else."""
    case, weights = Case(5, 6), (0.3, 0.1, 0.2, 0.4)
    check_plan(case.plan())
    with pytest.raises(OptionError, match=f"do not know the move {WITH_PARENT.name}"):
        check_plan(case.plan(moves=(*MOVES, WITH_PARENT), move_probabilities=weights))


def test_a_trace_replaces_no_file(tmp_path: Path) -> None:
    place = tmp_path / "trace.json"
    place.write_text("old")
    with pytest.raises(OutputError, match=r"already has trace\.json"):
        infer(stages="separate", trace=place)
    assert place.read_text() == "old"
    infer(stages="separate", trace=place, force=True, steps=5)
    assert json.loads(place.read_text())["otherData"]["steps"] == 15


def test_a_trace_that_cannot_be_written_loses_no_result(
    fused: syclade.Result, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "trace.json"

    def block(_: object) -> None:
        place.mkdir(exist_ok=True)

    result = infer(stages="separate", trace=place, force=True, progress=block)
    assert_equal(result, fused)
    assert "no trace: " in caplog.text


# ---- the command


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    matrix = tmp_path / "matrix.csv"
    matrix.write_text("\n".join(" ".join(map(str, row)) for row in MATRIX.values.tolist()) + "\n")
    arguments = ["infer", str(matrix), "--fp-rate", "0.01", "--fn-rate", "0.3", "--device", "native"]
    arguments += ["--chains", "6", "--steps", "50", "--stages", "separate"]
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--trace", str(tmp_path / "trace.json")])
    assert end.value.code == 0
    line = next(one for one in capsys.readouterr().out.splitlines() if "separate stages" in one)
    assert re.fullmatch(
        r"5 separate stages, 6 chain states: stages had a state in 98\.7% of 304 ticks of the schedule, and "
        r"worked \d+\.\d% of the time, 1\.00 at once and 1 at most \(host clock, first 300 steps\)",
        line,
    )
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--trace", str(tmp_path / "trace.json")])
    assert end.value.code == 2
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--tree", "leaf"])
    assert end.value.code == 2
    assert "--stages separate does not go with --tree leaf" in capsys.readouterr().err


@pytest.mark.parametrize("kernels_of", [stage_kernels, exported_kernels])
def test_more_nodes_than_the_stages_can_tell_apart_are_refused(kernels_of: Callable[..., Any]) -> None:
    """Exports have the same bound as runs."""
    plan = Case(3, 4).plan()
    most, more = (
        AncestorEncoding(plan.problem, TRAITS, AncestorEncoding.capacity(TRAITS, nodes, 4, 2))
        for nodes in (2**15, 2**15 + 1)
    )
    assert len(kernels_of(plan, most)) >= 5
    with pytest.raises(OptionError, match="stages take 32768 nodes, and this capacity has 32784"):
        kernels_of(plan, more)
