"""Signals are delayed while files are moved, and not lost."""

from __future__ import annotations

import atexit
import gc
import itertools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syclade.host.ground.files import write_files
from syclade.host.ground.output_folder import output_folder
from syclade.host.ground.signals import uninterrupted

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")


@pytest.fixture(autouse=True)
def _interrupted_by_ctrl_c() -> Iterator[None]:
    """Handle SIGINT as in a terminal: a shell's background job begins with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _no_garbage_of_other_tests() -> Iterator[None]:
    """Collect no garbage meanwhile: its finalizers would be among the lines that a signal is sent at."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def handled() -> Iterator[list[int]]:
    seen: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: seen.append(number)) for number in numbers]
    yield seen
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_each_signal_is_handled_once_at_the_end(handled: list[int]) -> None:
    with uninterrupted():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        assert handled == []
    assert handled == [signal.SIGTERM, signal.SIGINT]


def test_ignored_signals_stay_ignored(handled: list[int]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        os.kill(os.getpid(), signal.SIGINT)
    assert handled == []


def test_other_threads_delay_nothing(handled: list[int]) -> None:
    before = signal.getsignal(signal.SIGINT)
    found: list[Any] = []

    def look() -> None:
        with uninterrupted():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [before]


@pytest.mark.parametrize("moment", range(3))
def test_all_files_are_moved_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int) -> None:
    """Ctrl-C comes before each of three moves."""
    moved, replace = 0, Path.replace

    def interrupt(passing: Path, place: Path) -> Path:
        nonlocal moved
        if moved == moment:
            os.kill(os.getpid(), signal.SIGINT)
        moved += 1
        return replace(passing, place)

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, dict.fromkeys("abc", "new"), force=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys("abc", "new")


def signal_at(moment: int, act: Any) -> bool:
    """Send SIGINT to this process at the given line of its work; return whether there was such a line."""
    left = moment

    def trace(*_: object) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return trace if left > 0 else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return left <= 0


any_line = pytest.mark.parametrize("step", [31, pytest.param(1, marks=pytest.mark.verification)])


@any_line
@pytest.mark.filterwarnings("ignore:unclosed file")
def test_a_signal_at_any_line_of_a_write(tmp_path: Path, step: int) -> None:
    for moment in itertools.count(1, step):
        place = tmp_path / str(moment)
        sent = signal_at(moment, lambda place=place: write_files(place, dict.fromkeys("ab", "new")))
        found = {path.name for path in place.iterdir()} if place.exists() else set()
        assert found in (set(), {"a", "b"}), moment
        if not sent:
            break
    assert moment > 100


@any_line
def test_a_signal_at_any_line_of_opening_a_folder(
    tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_exit: list[Any] = []
    monkeypatch.setattr(atexit, "register", at_exit.append)

    def opens() -> None:
        with output_folder(tmp_path / "new" / "out", ["a"], key="a", protected={}):
            sys.settrace(None)

    for moment in itertools.count(1, step):
        sent = signal_at(moment, opens)
        for close in at_exit:
            close()
        at_exit.clear()
        assert not list(tmp_path.iterdir()), moment
        if not sent:
            break
    assert moment > 100
