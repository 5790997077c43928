"""Single stages from Python: `numba_dpex.call_kernel` on dpnp arrays, in a separate process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import syclade
from syclade.host.chains.backends.stages import access
from syclade.host.ground.errors import DeviceError, OptionError
from tests.support.backends import without_complaints

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "one_stage.py"

LATE = """
import syclade
from syclade.host.device.compile.translate import dpnp_stand_in
from syclade.host.device.workarounds import prepare
prepare()
with dpnp_stand_in():
    import numba_dpex
try:
    syclade.prepare_sycl()
except syclade.SycladeError as error:
    print(type(error).__name__, error.message, error.hint, sep="; ")
"""

PLAIN = """
import os, sys
before = dict(os.environ)
import syclade
print(syclade.prepare_sycl() == syclade.prepare_sycl(), "opencl:cpu:0" in syclade.prepare_sycl())
import dpctl, dpnp, numba_dpex
print(int(dpnp.arange(4, device="cpu").sum()))
print({name for name in before if os.environ.get(name) != before[name]})
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.sycl
@pytest.mark.compiler
@pytest.mark.parametrize("kind", ["cpu", pytest.param("accelerator", marks=pytest.mark.verification)])
def test_the_example_runs(kind: str) -> None:
    """The example compares a stage with the chains' scores, and whole steps with `syclade.infer`."""
    done = run(str(EXAMPLE), kind)
    assert (done.returncode, without_complaints(done.stderr)) == (0, "")
    assert "out   worth     int32 (3, 32, 16)\n" in done.stdout
    assert "40 steps of 3 chains by stages" in done.stdout


@pytest.mark.sycl
@pytest.mark.compiler
def test_the_stack_is_ready_after_one_call() -> None:
    done = run("-c", PLAIN)
    assert (done.returncode, without_complaints(done.stderr)) == (0, "")
    assert done.stdout == "True True\n6\nset()\n"


@pytest.mark.sycl
@pytest.mark.compiler
def test_a_compiler_without_dpnp_is_told_of() -> None:
    done = run("-c", LATE)
    assert done.stdout == (
        "DeviceError; numba_dpex was imported without dpnp in this process; "
        "call syclade.prepare_sycl() before the first inference\n"
    )


def test_no_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise DeviceError("the package intel-sycl-rt is not installed", hint="install the SYCL stack")

    monkeypatch.setattr(access, "prepare", absent)
    with pytest.raises(DeviceError, match="not installed"):
        syclade.prepare_sycl()
    with pytest.raises(DeviceError, match="not installed"):
        syclade.stage_kernel("propose", mutations=5, cells=5)


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("accept", {}, "there is no stage 'accept'"),
        ("propose", {"mutations": 0}, "the number of mutations is 0"),
        ("propose", {"mutations": 2**15}, "the number of mutations is 32768"),
        ("score mapping", {"values": 4}, "the number of values is 4"),
    ],
)
def test_no_such_stage(name: str, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        syclade.stage_kernel(name, **{"mutations": 5, "cells": 5, **sizes})
