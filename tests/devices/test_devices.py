"""The devices: listed, tried in a process of their own, chosen, and what is said of those that cannot run.

Runtimes that fail are scripts that take the place of the Python that probes.
"""

from __future__ import annotations

import json
import logging
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from syclade.host.devices import choice as module
from syclade.host.devices.choice import (
    NUMPY,
    Device,
    choose_device,
    list_devices,
    native_device,
    stack_problem,
)
from syclade.host.errors import DeviceError

CPU: dict[str, Any] = {"filter": "opencl:cpu:0", "name": "Some CPU", "kind": "cpu", "driver": "1", "units": 2}
GPU: dict[str, Any] = {**CPU, "filter": "opencl:gpu:0", "name": "Some GPU", "kind": "gpu"}
LISTING = f"echo '{json.dumps({'devices': [CPU, GPU]})}'\n"
CPU_STARTS = """echo '{"trying": "opencl:cpu:0"}'\n"""
CPU_WORKS = CPU_STARTS + """echo '{"tried": "opencl:cpu:0", "reason": null}'\n"""
GPU_WORKS = """echo '{"trying": "opencl:gpu:0"}'; echo '{"tried": "opencl:gpu:0", "reason": null}'\n"""
BOTH_WORK = LISTING + CPU_WORKS + GPU_WORKS


class FakeProbe:
    """Stands in for the Python that probes; the script's arguments are the filters."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "python"
        self.count = folder / "count"

    def does(self, body: str) -> None:
        self.script.write_text(f'#!/bin/sh\necho "$*" >> {self.count}\nshift 3\n{body}')
        self.script.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return self.count.read_text().splitlines() if self.count.exists() else []


@pytest.fixture
def only_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No numba."""
    monkeypatch.setattr(module, "own_devices", lambda: [NUMPY])


@pytest.fixture
def probe(own_cache: Path, tmp_path: Path, only_numpy: None, monkeypatch: pytest.MonkeyPatch) -> FakeProbe:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(module, "_stack_versions", lambda: ["some stack"])
    return FakeProbe(tmp_path)


# ---- the real ones


@pytest.mark.sycl
def test_the_cpu_and_the_emulator_are_there() -> None:
    found = list_devices()
    assert [device.kind for device in found if device.usable] == ["cpu", "fpga-emu", "native", "numpy"]
    assert found[-1] == NUMPY
    assert all(device.units >= 1 and device.name for device in found)
    assert all(device.driver for device in found[:-1])
    assert stack_problem() is None
    assert json.loads(json.dumps(found[0].as_dict()))["usable"] is True


@pytest.mark.sycl
@pytest.mark.parametrize("wanted", ["cpu", "opencl:cpu:0", "cpu:0", "opencl:cpu", "auto"])
def test_ways_to_say_cpu(wanted: str) -> None:
    assert choose_device(wanted).filter == "opencl:cpu:0"


@pytest.mark.sycl
@pytest.mark.parametrize("wanted", ["fpga-emu", "opencl:accelerator:0", "accelerator"])
def test_ways_to_say_emulator(wanted: str) -> None:
    assert choose_device(wanted).kind == "fpga-emu"


@pytest.mark.sycl
@pytest.mark.parametrize("wanted", ["fpga", "gpu", "cuda:gpu:0", "nonsense", "", "opencl:cpu:7"])
def test_devices_that_are_not_there(wanted: str) -> None:
    with pytest.raises(DeviceError, match=f"there is no device '{wanted}'") as caught:
        choose_device(wanted)
    assert "syclade devices" in str(caught.value.hint)


def test_numpy_needs_no_probe(probe: FakeProbe) -> None:
    probe.does("exit 1")
    assert choose_device("numpy") is NUMPY
    assert probe.calls == []


# ---- the choice


def test_auto_takes_the_cpu_and_says_why(probe: FakeProbe, caplog: pytest.LogCaptureFixture) -> None:
    probe.does(BOTH_WORK)
    with caplog.at_level(logging.INFO, "syclade"):
        assert choose_device().filter == "opencl:cpu:0"
    assert "the best usable kind is cpu" in caplog.text


def test_auto_takes_the_next_kind(probe: FakeProbe) -> None:
    broken = """echo '{"tried": "opencl:cpu:0", "reason": "it is tired"}'\n"""
    probe.does(LISTING + CPU_STARTS + broken + GPU_WORKS)
    assert choose_device().filter == "opencl:gpu:0"
    with pytest.raises(DeviceError, match=r"device 'cpu' \(Some CPU\) cannot run: it is tired"):
        choose_device("cpu")


def test_auto_falls_back_to_numpy_without_the_stack(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    assert choose_device() is NUMPY
    assert "falling back to numpy, which is slower: the SYCL stack is not installed" in caplog.text
    native, last = list_devices()
    assert last is NUMPY
    assert native.reason == "numba is not installed (pip install 'numba')"
    with pytest.raises(DeviceError, match="no device 'cpu': the SYCL stack is not installed"):
        choose_device("cpu")


def test_auto_falls_back_when_nothing_runs(probe: FakeProbe, caplog: pytest.LogCaptureFixture) -> None:
    probe.does(
        LISTING + 'for one in "${@:-opencl:cpu:0}"; do echo "{\\"trying\\": \\"$one\\"}"; kill -SEGV $$; done'
    )
    assert choose_device() is NUMPY
    assert "falling back to numpy" in caplog.text
    assert "opencl:gpu:0: its runtime crashes the process (signal 11)" in caplog.text
    assert [call.split()[3:] for call in probe.calls] == [[], ["opencl:gpu:0"]]


def test_auto_takes_this_processor_before_numpy(
    probe: FakeProbe, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And says why, if there are SYCL devices that cannot run."""
    monkeypatch.setattr(module, "own_devices", lambda: [native_device(), NUMPY])
    probe.does(
        LISTING + 'for one in "${@:-opencl:cpu:0}"; do echo "{\\"trying\\": \\"$one\\"}"; exit 3; done'
    )
    with caplog.at_level(logging.WARNING, "syclade"):
        assert choose_device().kind == "native"
    assert "going on by numba, for no SYCL device can run: opencl:cpu:0" in caplog.text
    caplog.clear()
    monkeypatch.setattr(module, "_stack_versions", lambda: None)
    with caplog.at_level(logging.WARNING, "syclade"):
        assert choose_device().kind == "native"
    assert caplog.text == ""


def test_ways_to_say_native_and_python() -> None:
    assert choose_device("native").driver.startswith("numba ")
    assert choose_device("python").kind == "python"
    assert "python" not in [device.kind for device in list_devices()]


def test_files_of_the_current_folder_are_no_modules_of_the_probe(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("random", "json", "dpctl", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    module._run_probe(["opencl:cpu:0"])
    assert not (tmp_path / "executed").exists()


# ---- runtimes that fail


def test_a_crash_is_survived_and_remembered(probe: FakeProbe) -> None:
    probe.does(LISTING + f"if [ $# = 0 ]; then {CPU_STARTS}kill -SEGV $$; fi\n" + GPU_WORKS)
    cpu, gpu, _ = list_devices()
    assert cpu.reason == "its runtime crashes the process (signal 11)"
    assert (cpu.usable, gpu.usable) == (False, True)
    assert len(probe.calls) == 2
    assert list_devices() == [cpu, gpu, NUMPY]
    assert choose_device().filter == "opencl:gpu:0"
    assert len(probe.calls) == 2
    probe.does(BOTH_WORK)
    assert all(device.usable for device in list_devices(refresh=True))
    assert all(device.usable for device in list_devices())


def test_a_runtime_that_hangs(probe: FakeProbe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PROBE_TIMEOUT", 0.5)
    probe.does(LISTING + f"if [ $# = 0 ]; then {CPU_STARTS}exec sleep 60; fi\n" + GPU_WORKS)
    cpu, gpu, _ = list_devices()
    assert cpu.reason == "its runtime does not answer within 0.5 s"
    assert gpu.usable


def test_a_listing_that_fails_is_told_and_not_remembered(probe: FakeProbe) -> None:
    probe.does("echo 'Traceback' >&2; echo 'ImportError: no libfoo' >&2; exit 1")
    assert list_devices() == [NUMPY]
    assert stack_problem() == "listing the SYCL devices failed: ImportError: no libfoo"
    with pytest.raises(DeviceError, match=r"no device 'cpu': listing .* ImportError: no libfoo"):
        choose_device("cpu")
    probe.does(BOTH_WORK)
    assert len(list_devices()) == 3


def test_a_driver_that_prints(probe: FakeProbe) -> None:
    probe.does(
        f"printf 'Welcome\\377\\n'\n{LISTING}echo '{{'\necho 7\necho null\n{CPU_WORKS}echo bye\n{GPU_WORKS}"
    )
    assert [device.usable for device in list_devices()] == [True] * 3


def test_a_python_that_does_not_start(
    own_cache: Path, only_numpy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_stack_versions", lambda: ["some stack"])
    monkeypatch.setattr(sys, "executable", str(own_cache / "absent"))
    assert choose_device() is NUMPY
    assert "absent does not start: No such file" in str(stack_problem())


def test_no_device_at_all(probe: FakeProbe) -> None:
    probe.does("""echo '{"devices": []}'""")
    assert list_devices() == [NUMPY]
    assert stack_problem() == "the SYCL runtime lists no device"


# ---- what is remembered


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"devices": [{"x": 1}]}', b"\xff\x00"])
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


@pytest.mark.parametrize("variable", ["ONEAPI_DEVICE_SELECTOR", "OCL_ICD_FILENAMES"])
def test_users_selections_are_kept_apart(
    probe: FakeProbe, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    probe.does(BOTH_WORK)
    assert len(list_devices()) == 3
    monkeypatch.setenv(variable, "something")
    probe.does(f"echo '{json.dumps({'devices': [CPU]})}'\n{CPU_WORKS}")
    assert list_devices() == [Device(**CPU), NUMPY]
    monkeypatch.delenv(variable)
    assert len(list_devices()) == 3
