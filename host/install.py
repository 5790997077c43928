"""How to install what is missing without breaking what is there.

The versions of the SYCL stack are pinned, and pip heeds pins only of what it is told to install: what is
installed beside the stack, without naming it, may replace numpy under it. So a command names the whole.
"""

from __future__ import annotations

from syclade.host.distributions import version_of

__all__ = ["COMPILER_PYTHON", "SYCL_PLATFORM", "install_command", "sycl_hint"]

SYCL_PLATFORM = "Linux x86_64, Python 3.11 to 3.14"
"""Platforms on which the extra `sycl` installs SYCL; on others it installs nothing."""

COMPILER_PYTHON = "Python 3.11"
"""Python for which the extra `sycl` installs numba-dpex, which compiles kernels that are not precompiled."""

_EXTRAS = {
    "sycl": "dpctl",
    "quality": "statsmodels",
    "io": "anndata",
    "report": "jinja2",
    "samples": "h5netcdf",
}
"""Extras of ours, each with a package that is there where it was installed."""


def install_command(*extras: str, anew: bool = False) -> str:
    """The command that installs syclade with extras, and with those that are here already.

    Args:
        extras: those that are missing: sycl, quality, io, report, samples.
        anew: whether packages that are there are broken, so that they must be replaced.
    """
    wanted = [name for name, package in _EXTRAS.items() if name in extras or _is_installed(package)]
    what = f"syclade[{','.join(wanted)}]" if wanted else "syclade"
    return f"pip install {'--force-reinstall ' if anew else ''}'{what}'"


def sycl_hint() -> str:
    """Say how to install the SYCL stack, and where it can be installed."""
    return f"install the SYCL stack: {install_command('sycl')} ({SYCL_PLATFORM})"


def _is_installed(package: str) -> bool:
    return version_of(package) is not None
