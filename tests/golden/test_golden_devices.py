"""Other devices give the same files: a few runs in the normal suite, all with the marker `verification`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.golden.inputs import Inputs
from tests.golden.record import compare, read_digests
from tests.golden.run import DEVICES, Run
from tests.golden.tables import RUNS


def checks() -> list[Any]:
    """Return every run with each device that can run it, except its usual one."""
    return [
        pytest.param(run, device, marks=run.marks(device), id=f"{run.name}-{device}")
        for device in DEVICES
        for run in RUNS.values()
        if device in run.devices and device != run.usual
    ]


@pytest.mark.parametrize(("run", "device"), checks())
def test_device(run: Run, device: str, inputs: Inputs, tmp_path: Path) -> None:
    assert compare(run, device, tmp_path / "run", inputs, read_digests()) == []
