"""Khronos validator of SPIR-V, from the Debian package spirv-tools; CI requires it."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


def complaint(module: bytes) -> str | None:
    """Return the errors that spirv-val finds in a module, or None."""
    program = shutil.which("spirv-val")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("spirv-val is missing: apt-get install spirv-tools")
        pytest.skip("no spirv-val here (apt-get install spirv-tools)")
    done = subprocess.run([program, "-"], input=module, capture_output=True, check=False)
    if done.returncode == 0:
        return None
    return (done.stdout + done.stderr).decode(errors="replace") or "it failed without a word"
