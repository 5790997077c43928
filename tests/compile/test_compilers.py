"""The same chain however the driver compiles a kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.backends import Backend, Case, on_every_other_backend, tallies_of

VECTORISED = """
import json, sys
from tests.support.backends import Backend, Case, run_alone
for case in (Case(8, 13), Case(1, 6)):
    seen = run_alone(Backend(*sys.argv[1:]), case, 0, 150)
    state = seen.state
    print(json.dumps([state.score, state.best_score, state.parents.tolist(), seen.tallies.tolist()]))
"""


def run_configured(backend: Backend, **variables: str) -> subprocess.CompletedProcess[str]:
    """A chain in a process of its own, with variables that configure the driver."""
    command = [sys.executable, "-c", VECTORISED, backend.device, backend.encoding]
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)


def assert_same_chain(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    for case, line in zip((Case(8, 13), Case(1, 6)), done.stdout.splitlines(), strict=True):
        traces = case.trace(0, 150)
        last = traces[-1]
        expected = [last.steps[-1].score, last.best_score, list(last.final), tallies_of(traces)]
        assert json.loads(line) == expected


@on_every_other_backend
@pytest.mark.parametrize("processor", ["corei7", "core-avx2"])
def test_the_processor_does_not_matter(backend: Backend, processor: str) -> None:
    """As on processors with vectors of 128 and 256 bits."""
    assert_same_chain(run_configured(backend, CL_CONFIG_CPU_TARGET_ARCH=processor))


@on_every_other_backend
@pytest.mark.parametrize("width", ["1", "4", "8"])
def test_the_width_of_vectors_does_not_matter(backend: Backend, width: str) -> None:
    """Work-items then run in turn. A kernel for sub-groups has a width of its own: another one is refused."""
    done = run_configured(backend, CL_CONFIG_CPU_VECTORIZER_MODE=width)
    if backend.encoding != "ancestor" and backend.device != "native":
        assert done.returncode != 0
        assert "intel_reqd_sub_group_size" in done.stderr
    else:
        assert_same_chain(done)
