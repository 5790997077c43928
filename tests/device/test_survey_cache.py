"""Cached device list: where it is valid, and that a failure is never cached for good."""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from syclade.host.device import choice as module
from syclade.host.device import survey as survey_module
from syclade.host.device.choice import choose_device, known_devices, list_devices
from syclade.host.device.device import NUMPY, Device, native_device
from syclade.host.ground.errors import DeviceError
from tests.support.fake_probe import BOTH_WORK, CPU, CPU_STARTS, CPU_WORKS, GPU_WORKS, LISTING, FakeProbe

CPU_IS_KILLED = LISTING + f"if [ $# = 0 ]; then {CPU_STARTS}kill -KILL $$; fi\n" + GPU_WORKS
KILLED = "its runtime crashes the process (signal 9)"


def test_what_works_is_asked_once(probe: FakeProbe) -> None:
    probe.does(BOTH_WORK)
    assert choose_device().filter == choose_device("cpu").filter == "opencl:cpu:0"
    assert list_devices() == list_devices()
    assert probe.calls == [[]]


# ---- failures


@pytest.mark.parametrize("wanted", ["auto", "cpu", "opencl:cpu:0"])
def test_a_failure_that_has_passed_is_forgotten(probe: FakeProbe, wanted: str) -> None:
    probe.does(CPU_IS_KILLED)
    assert list_devices()[0].reason == KILLED
    probe.does(BOTH_WORK)
    assert choose_device(wanted).filter == "opencl:cpu:0"
    assert all(device.usable for device in list_devices())
    assert probe.calls[2:] == [["opencl:cpu:0"]], "only the one that failed, and once"


def test_a_failure_that_lasts_is_told_each_time(probe: FakeProbe, caplog: pytest.LogCaptureFixture) -> None:
    cpu_killed = f'case "$*" in ""|*cpu*) {CPU_STARTS}kill -KILL $$;; esac\n'
    probe.does(LISTING + cpu_killed + GPU_WORKS)
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "syclade"):
            assert choose_device().filter == "opencl:gpu:0"
        assert f"falling back to opencl:gpu:0: opencl:cpu:0: {KILLED}" in caplog.text
        assert "`syclade devices` tries every device again" in caplog.text
        with pytest.raises(DeviceError, match=r"signal 9") as caught:
            choose_device("cpu")
        assert caught.value.hint


def test_failures_that_decide_nothing_are_let_be(probe: FakeProbe) -> None:
    gpu_fails = """echo '{"trying": "opencl:gpu:0"}'; echo '{"tried": "opencl:gpu:0", "reason": "tired"}'\n"""
    probe.does(LISTING + CPU_WORKS + gpu_fails)
    for _ in range(3):
        assert choose_device().kind == choose_device("cpu").kind == "cpu"
    assert probe.calls == [[]]


def test_a_device_that_is_gone(probe: FakeProbe) -> None:
    probe.does(CPU_IS_KILLED)
    list_devices()
    probe.does("""echo '{"devices": []}'""")
    with pytest.raises(DeviceError, match="could not be tried: it is not listed any more"):
        choose_device("cpu")


def test_a_device_that_was_not_listed_is_looked_for_again(probe: FakeProbe) -> None:
    """A listing may have been incomplete: a driver that did not load, a card that was busy."""
    probe.does(f"echo '{json.dumps({'devices': [CPU]})}'\n{CPU_WORKS}")
    assert choose_device().kind == "cpu"
    with pytest.raises(DeviceError, match="there is no device 'gpu'"):
        choose_device("gpu")
    probe.does(BOTH_WORK)
    assert choose_device("gpu").kind == choose_device("opencl:gpu:0").kind == "gpu"
    assert probe.calls == [[], [], []], "one that is listed is not looked for again"


def test_looking_again_forgets_what_is_not_there_any_more(probe: FakeProbe) -> None:
    """Otherwise the hint to run `syclade devices` would not help."""
    probe.does(BOTH_WORK)
    assert choose_device().kind == "cpu"
    probe.does("""echo '{"devices": []}'""")
    assert known_devices(refresh=True).problem == "the SYCL runtime lists no device"
    assert choose_device() is NUMPY
    with pytest.raises(DeviceError, match="there is no device 'cpu': the SYCL runtime lists no device"):
        choose_device("cpu")


def test_a_stack_that_does_not_start_is_warned_of(
    probe: FakeProbe, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "own_devices", lambda: [native_device(), NUMPY])
    probe.does("echo 'ImportError: no libfoo' >&2; exit 1")
    with caplog.at_level(logging.WARNING, "syclade"):
        assert choose_device().kind == "native"
    assert "falling back to native: listing the SYCL devices failed: ImportError: no libfoo" in caplog.text
    assert "`syclade devices`" in caplog.text


# Too little memory for the drivers, but enough for the native device (numba): how much that is (kB of
# addresses) differs between stacks and machines, so those in the middle are tried first.
LIMITS = sorted(range(350_000, 1_050_000, 50_000), key=lambda limit: abs(limit - 650_000))


@pytest.mark.sycl
def test_a_memory_limit_holds_for_its_own_process_only(own_cache: Path) -> None:
    matrix = own_cache.parent / "matrix"
    matrix.write_text("0 1\n1 1\n")
    options = "--fp-rate 0.01 --fn-rate 0.1 --chains 2 --steps 5 --quiet"
    command = f"'{sys.executable}' -m syclade infer '{matrix}' {options}"

    def falls_back(limit: int) -> bool:
        shutil.rmtree(own_cache, ignore_errors=True)
        try:
            limited = subprocess.run(
                ["bash", "-c", f"ulimit -v {limit}; exec {command}"],
                capture_output=True, text=True, check=False, timeout=60.0,
            )  # fmt: skip
        except subprocess.TimeoutExpired:  # a library that waits for memory
            return False
        return "falling back to " in limited.stderr

    assert any(falls_back(limit) for limit in LIMITS), "no limit lets only the native device work"
    assert choose_device().kind == "cpu"


# ---- validity of the cache


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"devices": ' + b"[" * 100_000,
        b'{"devices": null}',
        b'{"devices": []}',
        b'{"devices": [null]}',
        b'{"devices": [{"x": 1}]}',
        json.dumps({"devices": [{**CPU, "units": None}]}).encode(),
        json.dumps({"devices": [{**CPU, "units": 0}]}).encode(),
        json.dumps({"devices": [{**CPU, "name": None}]}).encode(),
        json.dumps({"devices": [{**CPU, "reason": 5}]}).encode(),
        b"\xff\x00",
    ],
    ids=range(15),
)
def test_a_damaged_cache_is_no_cache(probe: FakeProbe, own_cache: Path, content: bytes) -> None:
    probe.does(BOTH_WORK)
    expected = list_devices()
    (file,) = own_cache.glob("devices-*.json")
    file.write_bytes(content)
    assert list_devices() == expected
    assert len(probe.calls) == 2
    assert list_devices() == expected
    assert len(probe.calls) == 2


def test_a_cache_that_cannot_be_written(probe: FakeProbe, own_cache: Path) -> None:
    own_cache.write_text("a file, no folder")
    probe.does(BOTH_WORK)
    assert len(list_devices()) == len(list_devices()) == 3
    assert len(probe.calls) == 2


@pytest.mark.parametrize("variable", survey_module.SELECTING)
def test_users_selections_are_kept_apart(
    probe: FakeProbe, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    probe.does(BOTH_WORK)
    assert len(list_devices()) == 3
    monkeypatch.setenv(variable, "something")
    probe.does(f"echo '{json.dumps({'devices': [CPU]})}'\n{CPU_WORKS}")
    assert list_devices() == [Device(**CPU), NUMPY]
    monkeypatch.delenv(variable)
    assert len(list_devices()) == 3


def test_hosts_and_cores_are_kept_apart(probe: FakeProbe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts may share a home folder, and a batch system may give each job other cores."""
    probe.does(BOTH_WORK)
    assert list_devices()[0].units == 2
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    probe.does(BOTH_WORK.replace('"units": 2', '"units": 64'))
    assert list_devices()[0].units == 64
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    probe.does(BOTH_WORK.replace('"units": 2', '"units": 3'))
    assert list_devices()[0].units == 3
