"""Fixtures with fake devices."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from syclade.host.device import choice
from syclade.host.device.device import NUMPY
from tests.support.fake_probe import FakeProbe


@pytest.fixture
def only_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide numba's device, so that numpy is the only device besides those of SYCL."""
    monkeypatch.setattr(choice, "own_devices", lambda: [NUMPY])


@pytest.fixture
def probe(own_cache: Path, tmp_path: Path, only_numpy: None, monkeypatch: pytest.MonkeyPatch) -> FakeProbe:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(choice, "stack_versions", lambda: ["some stack"])
    return FakeProbe(tmp_path)
