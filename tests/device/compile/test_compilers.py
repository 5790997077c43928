"""The chain does not depend on how the driver compiles a kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.support.backends import WITH_GENERAL, Backend, Case, tallies_of

CASES = (Case(8, 13), Case(1, 6))
"""A small tree and the smallest; `make test` runs the first one."""

STEPS = 150

SYCL = [backend for backend in WITH_GENERAL if backend.device in ("cpu", "fpga-emu")]
"""Backends whose kernels the driver compiles; its environment variables do not affect the others."""

ON_CPU = [backend for backend in SYCL if backend.device == "cpu"]
"""Those of `make test`: the emulator has the same compiler."""

CHAINS = """
import json, sys
from syclade.host.ground.errors import DeviceError
from tests.device.compile.test_compilers import CASES, STEPS, backends_of
count = int(sys.argv[1])
from tests.support.backends import run_alone
for backend in backends_of(count):
    for case in CASES[:count]:
        try:
            seen = run_alone(backend, case, 0, STEPS)
        except DeviceError as error:
            print(json.dumps(str(error)))
            continue
        state = seen.state
        print(json.dumps([state.score, state.best_score, state.parents.tolist(), seen.tallies.tolist()]))
"""


def backends_of(cases: int) -> list[Backend]:
    return ON_CPU if cases == 1 else SYCL


def run_configured(cases: int, **variables: str) -> dict[tuple[Backend, Case], Any]:
    """Run chains in a new process with variables that configure the driver; return their ends or errors."""
    command = [sys.executable, "-c", CHAINS, str(cases)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(
        zip([(backend, case) for backend in backends_of(cases) for case in CASES[:cases]], lines, strict=True)
    )


def end_of(case: Case) -> list[Any]:
    """Return the oracle's result for a chain."""
    traces = case.trace(0, STEPS)
    last = traces[-1]
    return [last.steps[-1].score, last.best_score, list(last.final), tallies_of(traces)]


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("processor", "cases"),
    [
        ("core-avx2", 1),
        pytest.param("core-avx2", 2, marks=pytest.mark.verification),
        pytest.param("corei7", 2, marks=pytest.mark.verification),
    ],
)
def test_the_processor_does_not_matter(processor: str, cases: int) -> None:
    """Compile for processors with vectors of 128 and 256 bits."""
    found = run_configured(cases, CL_CONFIG_CPU_TARGET_ARCH=processor)
    backends = backends_of(cases)
    assert len(found) == len(backends) * cases == (3 if cases == 1 else 12)
    assert found == {(backend, case): end_of(case) for backend in backends for case in CASES[:cases]}


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("width", "cases"),
    [("8", 1), *(pytest.param(width, 2, marks=pytest.mark.verification) for width in ("1", "4", "8"))],
)
def test_the_width_of_vectors_does_not_matter(width: str, cases: int) -> None:
    """Work-items then run in turn. A kernel for sub-groups requires its own width; others are rejected."""
    for (backend, case), end in run_configured(cases, CL_CONFIG_CPU_VECTORIZER_MODE=width).items():
        if backend.encoding == "ancestor":
            assert end == end_of(case), backend
        else:
            assert "intel_reqd_sub_group_size" in end, backend
