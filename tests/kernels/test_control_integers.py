"""Integers that decide are named apart from scores, so that a target may have them narrower."""

from __future__ import annotations

import subprocess
import sys


def test_control_integers_may_have_32_bits() -> None:
    """The same chains, and none of them becomes wider on its way."""
    command = [sys.executable, "-m", "tests.support.narrow_control"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
