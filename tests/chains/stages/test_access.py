"""Single stages from Python: `numba_dpex.call_kernel` on dpnp arrays, in a separate process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

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

LISTED = """
import syclade
try:
    import dpctl
    print("it imports")
except ImportError as error:
    print(error)
found = syclade.devices()
import dpctl
names = {one.filter for one in found}
print(names >= {"opencl:cpu:0", "native", "numpy"}, dpctl.SyclDevice("cpu").filter_string)
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


BLOCKED = ("dpctl", "dpnp", "numba", "numba_dpex", "llvmlite")

DEVICES = """
import numpy as np, syclade
try:
    import dpctl  # fails in a plain environment, before anything has loaded its libraries
except ImportError:
    pass
syclade.prepare_sycl()
import dpctl, dpctl.tensor, dpnp
rates = {"fp_rate": 0.01, "fn_rate": 0.2}
matrix = syclade.simulate(cells=12, mutations=6, missing=0.1, seed=1, **rates).matrix
name = "opencl:cpu:0"
for device in (name, dpctl.SyclDevice(name), dpctl.SyclQueue(name)):
    found = syclade.infer(matrix, chains=2, steps=100, device=device, **rates)
    (many,) = syclade.infer_many([matrix], chains=2, steps=100, device=device, **rates)
    same = (found.parents == many.parents).all()
    print(found.device, many.device, same, found.log_likelihood)
trees = found.parents, dpnp.asarray(found.parents), dpctl.tensor.asarray(found.parents)
print({syclade.score(matrix, tree, **rates) for tree in trees} == {found.log_likelihood})
part = dpctl.SyclDevice(name).create_sub_devices(partition=[1])[0]
try:
    syclade.infer(matrix, chains=2, steps=100, device=part, **rates)
except syclade.SycladeError as error:
    print(type(error).__name__, error.hint)
arrays = dict(syclade.stage_problem(matrix, **rates).arrays)
arrays["step"] = dpnp.asarray(arrays["step"])
try:
    syclade.stage_kernel("propose", mutations=6, cells=12)(arrays)
except syclade.SycladeError as error:
    print(error.message)
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A package of the stack has such warnings, which come when there is no bytecode of it yet.
    command = [sys.executable, "-W", "ignore::SyntaxWarning", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.sycl
@pytest.mark.compiler
@pytest.mark.parametrize("kind", ["cpu", pytest.param("accelerator", marks=pytest.mark.verification)])
def test_the_example_runs_on_devices(kind: str) -> None:
    check_example(run(str(EXAMPLE), kind))


def test_the_example_runs_without_sycl() -> None:
    """Neither SYCL nor a compiler is imported where arrays are numpy's."""
    code = f"import runpy, sys; sys.modules.update(dict.fromkeys({BLOCKED!r})); sys.argv = sys.argv[1:]; "
    check_example(run("-c", f"{code}runpy.run_path(sys.argv[0], run_name='__main__')", str(EXAMPLE), "numpy"))


def check_example(done: subprocess.CompletedProcess[str]) -> None:
    """Check that the example has compared a stage with scores of chains, and steps with `syclade.infer`."""
    few_steps = (
        "the chains do not agree on the best tree: more --chains, or more --steps where they were given, "
    )
    said = without_complaints(done.stderr)
    assert (done.returncode, said) == (0, f"{few_steps}may find a better one\n")
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
def test_dpctl_imports_after_devices_were_listed() -> None:
    """In a plain environment it does not before: its wheel does not find libintlc."""
    done = run("-c", LISTED)
    assert (done.returncode, without_complaints(done.stderr)) == (0, "")
    before, after = done.stdout.splitlines()
    assert before == "it imports" or "libintlc" in before
    assert after == "True opencl:cpu:0"


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
    stage = syclade.stage_kernel("propose", mutations=5, cells=5)
    with pytest.raises(DeviceError, match="not installed"):
        _ = stage.kernel


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


@pytest.mark.sycl
@pytest.mark.compiler
def test_devices_queues_and_arrays_of_the_stack() -> None:
    """A device or a queue counts as its name; a tree may be in its memory. dpctl may be imported first."""
    done = run("-c", DEVICES)
    assert (done.returncode, without_complaints(done.stderr)) == (0, "")
    *runs, scores, part, mixed = done.stdout.splitlines()
    assert len(runs) == 3
    assert len(set(runs)) == 1
    assert runs[0].startswith("opencl:cpu:0 opencl:cpu:0 True -")
    assert scores == "True"
    assert part == "OptionError give a whole device, not a part of one"
    assert mixed.endswith("is an array of numpy, and others are not")


def test_stages_in_numpy_are_an_inference() -> None:
    """With other probabilities of the moves, too; a chain stops at its last step."""
    rates: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2}
    matrix = syclade.simulate(cells=14, mutations=9, missing=0.1, seed=2, **rates).matrix
    for moves in ((0.55, 0.4, 0.05), (0.1, 0.2, 0.7)):
        problem = syclade.stage_problem(matrix, chains=3, steps=30, seed=5, move_probabilities=moves, **rates)
        for _ in range(31):
            for stage in problem.kernels:
                stage(problem.arrays)
        result = syclade.infer(
            matrix, chains=3, steps=30, seed=5, move_probabilities=moves, device="numpy", **rates
        )
        assert problem.arrays["step"].tolist() == [30] * 3
        scores = [problem.log_likelihood(score) for score in problem.arrays["best_score"]]
        assert scores == result.chain_log_likelihoods.tolist()


def test_arrays_that_do_not_fit_a_stage() -> None:
    stage = syclade.stage_kernel("score mapping", mutations=5, cells=5)
    with pytest.raises(OptionError, match="has no array 'planes'"):
        stage({})
    with pytest.raises(OptionError, match="move probabilities"):
        syclade.stage_problem([[1, 0]], fp_rate=0.1, fn_rate=0.1, move_probabilities=(1, 2))
