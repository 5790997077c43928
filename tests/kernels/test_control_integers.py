"""Control integers have a type apart from scores, so that a target may make them narrower."""

from __future__ import annotations

import subprocess
import sys


def test_control_integers_may_have_32_bits() -> None:
    """Check that the chains stay the same, and that no control integer becomes wider on its way."""
    command = [sys.executable, "-m", "tests.support.narrow_control"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
