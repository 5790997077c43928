"""Processes forked from one that has used SYCL: they report an error instead of waiting for ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import HAS_PINNED_STACK

pytestmark = [
    pytest.mark.sycl,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here"),
]

# Infers on a device, forks, and infers on another device in the child, which also uses an inherited runner.
PROGRAM = """
import json, os, sys
import syclade
from syclade.host.device.choice import choose_device
from tests.support.backends import BACKENDS, Case, runs_here
before, after = sys.argv[1:]
def said(device):
    try:
        settings = {"fp_rate": 0.01, "fn_rate": 0.1, "chains": 2, "steps": 5, "device": device}
        return syclade.infer([[0, 1], [1, 1]], **settings).device
    except syclade.SycladeError as error:
        return f"{type(error).__name__}: {error}"
first = said(before)
backend = next(one for one in BACKENDS if one.device == before and runs_here(one))
opened = backend.runner(Case(3, 4).plan(), 1, 1)
runner = opened.__enter__()
to_read, to_write = os.pipe()
child = os.fork()
if child == 0:
    try:
        runner.read_all("step")
        going_on = "it reads"
    except syclade.SycladeError as error:
        going_on = type(error).__name__
    os.write(to_write, json.dumps([said(after), going_on]).encode())
    os._exit(0)
os.close(to_write)
print(json.dumps([first, *json.loads(open(to_read).read()), said(before)]))
os.waitpid(child, 0)
opened.__exit__(None, None, None)
"""


def forked(before: str, after: str) -> list[Any]:
    """Return the answers before the fork, in the child, of its inherited runner, and after the fork."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, before, after],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,  # a child without the check would wait for ever
    )
    assert done.returncode == 0, done.stderr
    written: list[Any] = json.loads(done.stdout)
    return written


@pytest.mark.parametrize("before", ["cpu", "fpga-emu"])
@pytest.mark.parametrize("after", ["cpu", "fpga-emu"])
def test_a_forked_process_is_refused(before: str, after: str) -> None:
    first, child, going_on, last = forked(before, after)
    assert first == last == {"cpu": "opencl:cpu:0", "fpga-emu": "opencl:accelerator:0"}[before]
    assert child.startswith("DeviceError: this process was forked from one that had used a SYCL device")
    assert "'spawn'" in child
    assert going_on == "DeviceError"


@pytest.mark.parametrize("after", ["native", "numpy"])
def test_what_is_not_sycl_runs_in_a_forked_process(after: str) -> None:
    assert forked("fpga-emu" if HAS_PINNED_STACK else "cpu", after)[1] == after
