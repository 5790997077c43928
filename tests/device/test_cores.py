"""Number of cores: limits of the process, of a container, and of the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from syclade.host.device import device as cores
from syclade.host.device.device import DRIVERS_VARIABLE, THREADS_VARIABLE, limit_drivers, usable_cores
from syclade.host.ground.errors import OptionError


@pytest.fixture(autouse=True)
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_allowed", lambda: 16)
    monkeypatch.setattr(cores, "_quota", lambda: None)
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    monkeypatch.setenv(DRIVERS_VARIABLE, "")  # so that monkeypatch restores the variable at the end
    monkeypatch.delenv(DRIVERS_VARIABLE)


@pytest.mark.parametrize(
    ("said", "quota", "expected"),
    [(None, None, 16), (None, 3, 3), ("4", None, 4), ("2147483647", 2, 16), ("1", 8, 1)],
)
def test_the_users_number_replaces_the_quota_within_the_allowed_cores(
    monkeypatch: pytest.MonkeyPatch, said: str | None, quota: int | None, expected: int
) -> None:
    monkeypatch.setattr(cores, "_quota", lambda: quota)
    if said is not None:
        monkeypatch.setenv(THREADS_VARIABLE, said)
    assert usable_cores() == expected
    limit_drivers()
    assert os.environ.get(DRIVERS_VARIABLE) == (None if expected == 16 else str(expected))


@pytest.mark.parametrize("said", ["0", "-1", "many", "1.5", "9" * 30])
def test_no_number_of_threads(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, said)
    with pytest.raises(OptionError, match=THREADS_VARIABLE):
        usable_cores()


def test_a_users_own_limit_of_drivers_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DRIVERS_VARIABLE, "7")
    monkeypatch.setenv(THREADS_VARIABLE, "2")
    limit_drivers()
    assert os.environ[DRIVERS_VARIABLE] == "7"


GROUPS: list[tuple[str, dict[str, str], int | None]] = [
    (
        "0::/job/step",
        {"cpu.max": "max 100000", "job/cpu.max": "350000 100000", "job/step/cpu.max": "max 100000"},
        4,
    ),
    ("0::/job", {"job/cpu.max": "50000 100000"}, 1),
    ("0::/", {}, None),
    ("4:cpu,cpuacct:/a", {"cpu/a/cpu.cfs_quota_us": "200000", "cpu/a/cpu.cfs_period_us": "100000"}, 2),
    ("4:cpu:/a", {"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, None),
    ("nonsense", {"cpu.max": "what ever"}, None),
    ("0::/../..", {"cpu.max": "\x00"}, None),
]


@pytest.mark.parametrize(("own", "files", "expected"), GROUPS)
def test_quotas_of_control_groups(
    tmp_path: Path, own: str, files: dict[str, str], expected: int | None
) -> None:
    root = tmp_path / "cgroup"
    root.mkdir()
    (tmp_path / "own").write_text(f"9:memory:/x\n{own}\n")
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    assert QUOTA(root, tmp_path / "own") == expected


def test_without_control_groups(tmp_path: Path) -> None:
    assert QUOTA(tmp_path, tmp_path / "none") is None


QUOTA = cores._quota
