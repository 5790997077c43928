"""Energy by RAPL, with a folder that looks like Linux's powercap: counters, wrap-around, refusals."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from syclade.quality.bench import energy
from syclade.quality.bench.energy import EnergyError, EnergyMeter, find_domains, open_meter

RANGE = 262_143_328_850

ZONES = {
    "intel-rapl": None,
    "intel-rapl:0": "package-0",
    "intel-rapl:0:0": "core",
    "intel-rapl:0:1": "dram",
    "intel-rapl:1": "package-1",
    "intel-rapl:1:0": "dram",
    "intel-rapl:2": "psys",
    "intel-rapl-mmio:0": "package-0",
}
"""Zones of a machine with two sockets; only packages and their memory count, once each."""


class Powercap:
    """Powercap folder with counters that a test sets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for zone, name in ZONES.items():
            (folder / zone).mkdir(parents=True)
            if name is not None:
                (folder / zone / "name").write_text(name + "\n")
                (folder / zone / "max_energy_range_uj").write_text(f"{RANGE}\n")
                self.set(zone, 1000)

    def set(self, zone: str, microjoules: int) -> None:
        (self.folder / zone / "energy_uj").write_text(f"{microjoules}\n")


@pytest.fixture
def powercap(tmp_path: Path) -> Powercap:
    return Powercap(tmp_path / "powercap")


def test_packages_and_their_memory_are_counted_once(powercap: Powercap) -> None:
    domains = find_domains(powercap.folder)
    assert [domain.name for domain in domains] == [
        "package-0", "package-0 dram", "package-1", "package-1 dram"
    ]  # fmt: skip


def test_joules_are_differences(powercap: Powercap) -> None:
    meter = EnergyMeter(find_domains(powercap.folder))
    assert meter.joules() == 0
    powercap.set("intel-rapl:0", 1000 + 2_500_000)
    powercap.set("intel-rapl:1:0", 1000 + 500_000)
    powercap.set("intel-rapl:0:0", 10**9)  # the cores are part of the package
    powercap.set("intel-rapl:2", 10**9)  # the platform includes the packages
    assert meter.joules() == pytest.approx(3.0)
    assert meter.by_domain() == {
        "package-0": 2.5, "package-0 dram": 0.0, "package-1": 0.0, "package-1 dram": 0.5
    }  # fmt: skip


def test_a_counter_that_wraps_around_goes_on(powercap: Powercap) -> None:
    powercap.set("intel-rapl:0", RANGE - 1_000_000)
    meter = EnergyMeter(find_domains(powercap.folder))
    powercap.set("intel-rapl:0", 500_000)
    assert meter.joules() == pytest.approx(1.5)
    powercap.set("intel-rapl:0", RANGE - 500_000)
    powercap.set("intel-rapl:0", RANGE - 500_000)
    assert meter.joules() == pytest.approx(0.5 + RANGE * 1e-6)
    powercap.set("intel-rapl:0", 0)
    assert meter.joules() == pytest.approx(1.0 + RANGE * 1e-6)


def test_an_open_meter_looks_by_itself_so_that_no_wrap_around_is_missed(powercap: Powercap) -> None:
    """The counter wraps around twice between two readings: without sampling, that energy would be lost."""
    powercap.set("intel-rapl:0", 0)
    with open_meter(powercap.folder, sample_seconds=0.01) as meter:
        for value in (RANGE // 2, RANGE - 1, RANGE // 4, RANGE // 2, RANGE - 1, 0):
            powercap.set("intel-rapl:0", value)
            wait_until_seen(meter, value)
        assert meter.joules() == pytest.approx(2 * RANGE * 1e-6, rel=1e-6)
    last = meter._last[0]
    powercap.set("intel-rapl:0", 77)
    time.sleep(0.05)
    assert meter._last[0] == last  # sampling has stopped


def wait_until_seen(meter: EnergyMeter, value: int) -> None:
    ends = time.monotonic() + 10
    while meter._last[0] != value:
        assert time.monotonic() < ends, "the meter does not look"
        time.sleep(0.002)


# ---- unreadable counters


def test_no_counters_are_reported_with_what_to_do(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(EnergyError, match="no energy counters") as caught:
            find_domains(folder)
        assert caught.value.hint is not None
        assert "measure on the machine itself" in caught.value.hint


def test_counters_for_root_only_are_reported_with_what_to_do(
    powercap: Powercap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters are as in Linux since 2020. Root may read anything, so the test raises the error itself."""
    right = Path.read_text

    def refusing(path: Path, *given: Any, **more: Any) -> str:
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return right(path, *given, **more)

    monkeypatch.setattr(Path, "read_text", refusing)
    with pytest.raises(EnergyError, match="only root may read") as caught:
        find_domains(powercap.folder)
    assert caught.value.hint is not None
    assert "chmod a+r" in caught.value.hint


@pytest.mark.parametrize("damage", ["text", "absent"])
def test_a_counter_without_a_number_is_no_counter(powercap: Powercap, damage: str) -> None:
    counter = powercap.folder / "intel-rapl:0" / "energy_uj"
    if damage == "text":
        counter.write_text("lots\n")
    else:
        counter.unlink()
    with pytest.raises(EnergyError, match=r"energy counter .*energy_uj"):
        find_domains(powercap.folder)


# ---- the command

QUICK = ["bench", "--device", "numpy", "--slots", "2", "--cells", "8", "--mutations", "5",
         "--seconds", "0.01", "--repeats", "2", "--energy"]  # fmt: skip


def bench(monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> Any:
    monkeypatch.setattr(energy, "open_meter", partial(open_meter, folder))
    done = CliRunner().invoke(cli, [*QUICK, *more])
    assert done.exit_code == 0, done.output
    return done


def test_the_command_measures_without_energy_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = bench(monkeypatch, tmp_path, "--json")
    assert done.stderr.count("energy is not measured: this machine has no energy counters") == 1
    report = json.loads(done.stdout)
    assert report["energy"].startswith("energy is not measured")
    assert report["joules_per_step"] is None
    assert [timing["joules"] for timing in report["timings"]] == [None, None]


def test_the_command_reports_what_it_read(powercap: Powercap, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter(range(1000, 10**9, 250_000))

    def counting(domain: energy.Domain) -> int:
        return next(counts) if domain.name == "package-0" else 1000

    monkeypatch.setattr(energy.Domain, "read", counting)
    report = json.loads(bench(monkeypatch, powercap.folder, "--json").stdout)
    assert [timing["joules"] for timing in report["timings"]] == pytest.approx([0.25, 0.25])
    assert report["joules_per_step"] > 0
    assert "package-0 dram" in report["energy"]
    assert "µJ a step" in bench(monkeypatch, powercap.folder).stdout
