"""Devices: listed, tried in a separate process, chosen, and reported if they cannot run."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from syclade.host.device import choice as module
from syclade.host.device import device as device_module
from syclade.host.device import survey
from syclade.host.device.choice import choose_device, known_devices, list_devices
from syclade.host.device.device import NUMPY, native_device
from syclade.host.ground import packages
from syclade.host.ground.errors import DeviceError
from tests.conftest import HAS_PINNED_STACK, HAS_SYCL_WHEELS
from tests.support.fake_probe import BOTH_WORK, CPU_STARTS, CPU_WORKS, GPU_WORKS, LISTING, FakeProbe

# ---- real devices


@pytest.mark.sycl
def test_the_cpu_and_the_emulator_are_there() -> None:
    found = list_devices()
    assert [device.kind for device in found] == ["cpu", "fpga-emu", "native", "numpy"]
    assert [device.kind for device in found if not device.usable] == (
        [] if HAS_PINNED_STACK else ["fpga-emu"]
    )
    assert found[-1] == NUMPY
    assert all(device.units >= 1 and device.name for device in found)
    assert all(device.driver for device in found[:-1] if device.usable)
    assert known_devices().problem is None
    assert json.loads(json.dumps(found[0].as_dict()))["usable"] is True


@pytest.mark.sycl
@pytest.mark.parametrize("wanted", ["cpu", "opencl:cpu:0", "cpu:0", "opencl:cpu", "auto"])
def test_ways_to_say_cpu(wanted: str) -> None:
    assert choose_device(wanted).filter == "opencl:cpu:0"


@pytest.mark.sycl
@pytest.mark.skipif(HAS_PINNED_STACK, reason="the emulator runs beside this stack")
def test_why_the_emulator_is_missing() -> None:
    """Ask twice: the second answer comes from the cache."""
    for _ in range(2):
        with pytest.raises(
            DeviceError, match=r"'fpga-emu' \(FPGA emulator\) cannot run: needs Python 3.11: SYCL 2026"
        ):
            choose_device("fpga-emu")


@pytest.mark.sycl
@pytest.mark.emulator
@pytest.mark.parametrize("wanted", ["fpga-emu", "opencl:accelerator:0", "accelerator"])
def test_ways_to_say_emulator(wanted: str) -> None:
    assert choose_device(wanted).kind == "fpga-emu"


@pytest.mark.sycl
@pytest.mark.parametrize("wanted", ["fpga", "gpu", "cuda:gpu:0", "nonsense", "", "opencl:cpu:7"])
def test_devices_that_are_not_there(wanted: str) -> None:
    with pytest.raises(DeviceError, match=f"there is no device '{wanted}'") as caught:
        choose_device(wanted)
    assert "syclade devices" in str(caught.value.hint)


@pytest.mark.sycl
def test_a_device_that_the_environment_hides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "opencl:fpga")
    hidden = "there is no device 'cpu': the environment selects devices by ONEAPI_DEVICE_SELECTOR=opencl:fpga"
    with pytest.raises(DeviceError, match=hidden):
        choose_device("cpu")


def test_several_devices_where_one_is_taken() -> None:
    with pytest.raises(DeviceError, match="'cpu,native' are several devices"):
        choose_device("cpu,native")


def test_numpy_needs_no_probe(probe: FakeProbe) -> None:
    probe.does("exit 1")
    assert choose_device("numpy") is NUMPY
    assert probe.calls == []


# ---- choice


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
    for one in (survey, device_module, packages):
        monkeypatch.setattr(one, "version_of", lambda _name: None)
    assert choose_device() is NUMPY
    assert "falling back to numpy, which is slower: the SYCL stack is not installed" in caplog.text
    native, last = list_devices()
    assert last is NUMPY
    assert native.reason == "numba is not installed (pip install . in the folder of syclade's clone)"
    with pytest.raises(DeviceError, match="no device 'cpu': the SYCL stack is not installed"):
        choose_device("cpu")


def test_auto_falls_back_when_nothing_runs(probe: FakeProbe, caplog: pytest.LogCaptureFixture) -> None:
    probe.does(
        LISTING + 'for one in "${@:-opencl:cpu:0}"; do echo "{\\"trying\\": \\"$one\\"}"; kill -SEGV $$; done'
    )
    assert choose_device() is NUMPY
    assert "falling back to numpy" in caplog.text
    assert "opencl:gpu:0: its runtime crashes the process (signal 11)" in caplog.text
    assert probe.calls == [[], ["opencl:gpu:0"]]


def test_auto_takes_this_processor_before_numpy(
    probe: FakeProbe, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Check that the log gives the reason if there are SYCL devices that cannot run."""
    monkeypatch.setattr(module, "own_devices", lambda: [native_device(), NUMPY])
    probe.does(
        LISTING + 'for one in "${@:-opencl:cpu:0}"; do echo "{\\"trying\\": \\"$one\\"}"; exit 3; done'
    )
    with caplog.at_level(logging.WARNING, "syclade"):
        assert choose_device().kind == "native"
    assert "falling back to native: opencl:cpu:0: its runtime exits with 3" in caplog.text
    caplog.clear()
    monkeypatch.setattr(module, "stack_versions", lambda: None)
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
    survey._run_probe(["opencl:cpu:0"])
    assert not (tmp_path / "executed").exists()


# ---- runtimes that fail


def test_a_crash_is_survived(probe: FakeProbe) -> None:
    probe.does(LISTING + f"if [ $# = 0 ]; then {CPU_STARTS}kill -SEGV $$; fi\n" + GPU_WORKS)
    cpu, gpu, _ = list_devices()
    assert cpu.reason == "its runtime crashes the process (signal 11)"
    assert (cpu.usable, gpu.usable) == (False, True)
    assert len(probe.calls) == 2


def test_a_runtime_that_hangs(probe: FakeProbe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "PROBE_TIMEOUT", 0.5)
    probe.does(LISTING + f"if [ $# = 0 ]; then {CPU_STARTS}exec sleep 60; fi\n" + GPU_WORKS)
    cpu, gpu, _ = list_devices()
    assert cpu.reason == "its runtime does not answer within 0.5 s"
    assert gpu.usable


def test_a_listing_that_fails_is_told_and_not_remembered(probe: FakeProbe) -> None:
    probe.does("echo 'Traceback' >&2; echo 'ImportError: no libfoo' >&2; exit 1")
    assert list_devices() == [NUMPY]
    assert known_devices().problem == "listing the SYCL devices failed: ImportError: no libfoo"
    with pytest.raises(DeviceError, match=r"no device 'cpu': listing .* ImportError: no libfoo"):
        choose_device("cpu")
    probe.does(BOTH_WORK)
    assert len(list_devices()) == 3


def test_a_probe_that_tells_a_problem(probe: FakeProbe) -> None:
    probe.does("""echo '{"problem": "the package intel-sycl-rt has no libsycl.so.7"}'""")
    assert list_devices() == [NUMPY]
    reason = "listing the SYCL devices failed: the package intel-sycl-rt has no libsycl.so.7"
    assert known_devices().problem == reason
    probe.does("exit 0")
    assert known_devices().problem == "listing the SYCL devices failed: the probe printed nothing"


@pytest.mark.parametrize(
    ("stderr", "expected"),
    [
        ("Traceback\n  File\nImportError: no libfoo\n", "ImportError: no libfoo"),
        ("Traceback\npkg.errors.DeviceError: broken\nhint: install it\n", "pkg.errors.DeviceError: broken"),
        ("Segmentation fault\n\n", "Segmentation fault"),
        ("", ""),
    ],
)
def test_the_error_in_what_a_process_prints(stderr: str, expected: str) -> None:
    assert survey._last_error(stderr) == expected


BROKEN_DPCTL = """raise RuntimeError("it has lost\\na library")"""


def test_a_dpctl_that_does_not_import_is_told(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use the real probe; the message has the reason, but not the hint that follows it."""
    (tmp_path / "dpctl.py").write_text(BROKEN_DPCTL)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(module, "stack_versions", lambda: ["dpctl 9"])
    problem = str(known_devices().problem)
    assert problem.startswith("listing the SYCL devices failed: ")
    if HAS_SYCL_WHEELS:
        assert problem.endswith("dpctl does not import: it has lost\na library")


def test_a_driver_that_prints(probe: FakeProbe) -> None:
    probe.does(
        f"printf 'Welcome\\377\\n'\n{LISTING}echo '{{'\necho 7\necho null\n{CPU_WORKS}echo bye\n{GPU_WORKS}"
    )
    assert [device.usable for device in list_devices()] == [True] * 3


def test_a_python_that_does_not_start(
    own_cache: Path, only_numpy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "stack_versions", lambda: ["some stack"])
    monkeypatch.setattr(sys, "executable", str(own_cache / "absent"))
    assert choose_device() is NUMPY
    assert "absent does not start: No such file" in str(known_devices().problem)


def test_no_device_at_all(probe: FakeProbe, monkeypatch: pytest.MonkeyPatch) -> None:
    probe.does("""echo '{"devices": []}'""")
    monkeypatch.setattr(survey, "version_of", lambda name: "1")
    assert list_devices() == [NUMPY]
    assert known_devices().problem == "the SYCL runtime lists no device"
    monkeypatch.setattr(survey, "version_of", lambda name: None)
    assert str(known_devices().problem).endswith(
        ": its driver for processors, intel-opencl-rt, is not installed"
    )
    monkeypatch.setattr(survey, "version_of", lambda name: "1")
    monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", "level_zero:gpu")
    assert str(known_devices().problem).endswith(
        ": the environment selects devices by ONEAPI_DEVICE_SELECTOR=level_zero:gpu"
    )
