"""The CPU device's compiler vectorises every kernel; otherwise a step takes ten times as long.

The compiler only warns on standard error, so the kernels are built in a separate process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WARNING = "loop not vectorized"
ROOT = Path(__file__).parents[3]


def build(*arguments: str) -> str:
    """Build a kernel and return the compiler's standard error."""
    command = [sys.executable, "-m", "tests.support.build_kernel", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("encoding", "cells", "mutations", "score"),
    [
        ("ancestor", 64, 63, "max"),
        pytest.param("ancestor", 96, 95, "max", marks=pytest.mark.verification),
        pytest.param("preorder", 64, 63, "max", marks=pytest.mark.verification),
        ("preorder", 64, 63, "sum"),
        ("clade", 64, 63, "max"),
        pytest.param("preorder", 96, 95, "max", marks=pytest.mark.verification),
        pytest.param("preorder", 500, 10, "max", id="preorder-with-equal-columns"),
        pytest.param("preorder", 600, 200, "max", id="preorder-with-wide-sums"),
    ],
)
def test_every_kernel_is_vectorised(encoding: str, cells: int, mutations: int, score: str) -> None:
    assert WARNING not in build(encoding, str(cells), str(mutations), score)


@pytest.mark.sycl
def test_the_compiler_says_so_when_it_is_not() -> None:
    assert WARNING in build("control")
