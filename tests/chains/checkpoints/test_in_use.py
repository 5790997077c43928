"""A checkpoint that a run writes: any other run with it is refused at its start."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from syclade.host.chains.checkpoints.checkpoint_writer import locked_checkpoint
from syclade.host.chains.sample_store import store_of
from syclade.host.ground.atomic import has_locks
from syclade.host.ground.errors import CheckpointError, OutputError
from tests.chains.checkpoints.test_resume import KINDS, assert_equal, infer, stopped
from tests.kills.runs import EXAMPLE

pytestmark = pytest.mark.skipif(not has_locks(), reason="there are no locks here")

BUSY = "run: another run is writing this checkpoint"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def began(_: object) -> None:
    pytest.fail("the run has begun")


def during(run: dict[str, Any], act: Any) -> Any:
    """Run another thread's `act` once a run has begun, in the middle of it; return the run's result."""
    begun, errors = threading.Event(), list[BaseException]()

    def progress(_: object) -> None:
        if not begun.is_set():
            begun.set()
            thread = threading.Thread(target=guarded)
            thread.start()
            thread.join()

    def guarded() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    result = infer("native", progress=progress, checkpoint_every=0, **run)
    assert begun.is_set()
    if errors:
        raise errors[0]
    return result


@pytest.mark.parametrize("kind", ["steps", "samples", "search"])
@pytest.mark.parametrize("force", [False, True])
def test_a_second_run_with_the_same_new_checkpoint(tmp_path: Path, kind: str, force: bool) -> None:
    place, options = tmp_path / "run", KINDS[kind]

    def second() -> None:
        before = contents(tmp_path)
        with pytest.raises(CheckpointError, match=BUSY) as caught:
            infer("native", checkpoint=place, force=force, progress=began, **options)
        assert caught.value.hint == "wait for its end, or choose another --checkpoint"
        assert contents(tmp_path) == before

    first = during({**options, "checkpoint": place}, second)
    assert_equal(first, infer("native", resume=place, **options))
    assert {path.name for path in tmp_path.iterdir()} <= {"run", "run.events"}


@pytest.mark.parametrize("more", [{}, {"checkpoint": "run"}, {"checkpoint": "other"}])
def test_a_locked_checkpoint_is_not_resumed(tmp_path: Path, more: dict[str, str]) -> None:
    place, options = tmp_path / "run", KINDS["samples"]
    stopped("native", 3, checkpoint=place, checkpoint_every=0, **options)
    others = {name: tmp_path / value for name, value in more.items()}

    def second() -> None:
        with pytest.raises(CheckpointError, match=BUSY):
            infer("native", resume=place, progress=began, **others, **options)

    first = during({**options, "resume": place, "checkpoint": place}, second)
    assert_equal(first, infer("native", **options))
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.events"}


def test_two_runs_may_resume_one_checkpoint_elsewhere(tmp_path: Path) -> None:
    place, options = tmp_path / "run", KINDS["steps"]
    stopped("native", 3, checkpoint=place, checkpoint_every=0, **options)
    results = list[Any]()
    first = during(
        {**options, "resume": place, "checkpoint": tmp_path / "one"},
        lambda: results.append(infer("native", resume=place, checkpoint=tmp_path / "other", **options)),
    )
    assert_equal(first, results[0])


def test_samples_without_a_checkpoint_are_refused_at_the_start(tmp_path: Path) -> None:
    store_of(tmp_path / "run").write_bytes(b"of a killed run")
    with pytest.raises(OutputError, match="events already exists"):
        infer("native", checkpoint=tmp_path / "run", progress=began, **KINDS["samples"])
    infer("native", checkpoint=tmp_path / "run", **KINDS["steps"])  # which has no samples
    assert store_of(tmp_path / "run").read_bytes() == b"of a killed run"


def test_a_context_within_the_same_one_does_nothing(tmp_path: Path) -> None:
    place = tmp_path / "run"
    with locked_checkpoint(place, None):
        with locked_checkpoint(place, None):
            pass
        assert [path.name for path in tmp_path.iterdir()] == [".run.lock"]
        with pytest.raises(CheckpointError, match=BUSY), locked_checkpoint(tmp_path / "other", place):
            pass
    with locked_checkpoint(tmp_path / "other", place):
        pass
    assert not list(tmp_path.iterdir())


def test_the_program_says_it_once(tmp_path: Path) -> None:
    """A real process has the checkpoint; the program ends with one message, and leaves no folder."""
    holder = (
        "import sys, time\n"
        "from syclade.host.chains.checkpoints.checkpoint_writer import locked_checkpoint\n"
        "with locked_checkpoint(sys.argv[1], None):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)\n"
    )
    place, out = tmp_path / "run", tmp_path / "out"
    given = f"infer {EXAMPLE} --fp-rate 0.01 --fn-rate 0.2 --chains 2 --steps 3000 --support none --quiet"
    command = [sys.executable, "-m", "syclade", *given.split(), "--checkpoint", str(place), "--out", str(out)]
    with subprocess.Popen([sys.executable, "-c", holder, str(place)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        finally:
            process.kill()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"syclade: error: {place}: another run is writing this checkpoint",
        "hint: wait for its end, or choose another --checkpoint",
    ]
    assert not out.exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # the killed process left its lock
    assert {path.name for path in tmp_path.iterdir()} == {"run", "out"}
