"""Check that numba-dpex imports, in a subprocess: the import takes a second and may fail in any way.

Run as `python -m syclade.host.device.compile.compiler_check`: prints why it does not import, or nothing.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from functools import cache

from syclade.host.device.compile.translate import compiler_versions, import_compiler
from syclade.host.device.workarounds import prepare
from syclade.host.ground.cache import read_cached, write_cached
from syclade.host.ground.distributions import version_of
from syclade.host.ground.errors import DeviceError

__all__ = ["sycl_compiler_problem"]

TIMEOUT = 60  # seconds

_IMPORTS = b"imports"


@cache
def sycl_compiler_problem() -> str | None:
    """Return why numba-dpex cannot compile kernels; None if it imports.

    A success is cached for the same versions and the same Python; after a failure, the import is tried again.
    """
    if version_of("numba-dpex") is None:
        return "numba-dpex is not installed"
    name = _name()
    if read_cached(name) == _IMPORTS:
        return None
    problem = _tried()
    if problem is None:
        write_cached(name, _IMPORTS)
    return problem


def _tried() -> str | None:
    """Try to import numba-dpex in a subprocess; return the problem, or None."""
    command = [sys.executable, "-P", "-m", __name__]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"numba-dpex does not import within {TIMEOUT} s"
    except OSError as error:
        return f"{sys.executable or 'Python'} does not start: {error.strerror}"
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        return f"numba-dpex does not import: {said or f'the process ends with {done.returncode}'}"
    return done.stdout.strip() or None


def _name() -> str:
    """Return the name of the cached file, which depends on the versions and on this Python."""
    identity = json.dumps([*compiler_versions(), sys.executable, sys.version])
    return f"compiler-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def _main() -> None:
    try:
        prepare()
        import_compiler()
    except DeviceError as error:
        print(error.message)


if __name__ == "__main__":
    _main()
