"""The CPU device's compiler vectorises every kernel; otherwise a step takes ten times as long.

The compiler only warns on standard error, so the kernels are built in a separate process: one for all of
them, since it takes a second to start.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.build_kernel import END

WARNING = "loop not vectorized"
ROOT = Path(__file__).parents[3]


def build(*kernels: str) -> list[str]:
    """Build kernels, each given by its arguments; return the compiler's standard error for each."""
    command = [sys.executable, "-m", "tests.support.build_kernel", *kernels]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    *each, last = done.stderr.split(f"{END}\n")
    assert (len(each), last) == (len(kernels), "")
    return each


@pytest.mark.sycl
@pytest.mark.parametrize(
    "kernels",
    [
        (
            "ancestor 64 63 max",
            "preorder 64 63 sum",
            "clade 64 63 max",
            "preorder 500 10 max",  # equal columns
            "preorder 600 200 max",  # wide sums
        ),
        pytest.param(
            ("ancestor 96 95 max", "preorder 64 63 max", "preorder 96 95 max"), marks=pytest.mark.verification
        ),
    ],
    ids=["forms", "sizes"],
)
def test_every_kernel_is_vectorised_but_the_control(kernels: tuple[str, ...]) -> None:
    *built, control = build(*kernels, "control")
    assert [kernel for kernel, said in zip(kernels, built, strict=True) if WARNING in said] == []
    assert WARNING in control
