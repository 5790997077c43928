"""Commands that install missing packages without breaking installed ones.

The versions of the SYCL stack are pinned, but pip respects the pins only of packages that its command line
names. Installing another package without naming the stack may replace the stack's numpy. So every command
names everything.
"""

from __future__ import annotations

from syclade.host.ground.distributions import version_of

__all__ = ["COMPILER_PYTHON", "SYCL_PLATFORM", "install_command", "sycl_hint"]

SYCL_PLATFORM = "Linux x86_64, Python 3.11 to 3.14"
"""Platforms on which the extra `sycl` installs SYCL; on others it installs nothing."""

COMPILER_PYTHON = "Python 3.11"
"""Python for which the extra `sycl` installs numba-dpex, which compiles kernels that are not precompiled."""

WHERE = "in the folder of syclade's clone"
"""Where install commands are to be run."""

_EXTRAS = {
    "sycl": "dpctl",
    "quality": "statsmodels",
    "io": "anndata",
    "report": "jinja2",
    "samples": "h5netcdf",
    "calls": "pysam",
    "cluster": "dask-jobqueue",
}
"""Extras of syclade, each with a package that is present if the extra is installed."""


def install_command(*extras: str, anew: bool = False) -> str:
    """Return the command that installs syclade with missing extras and with those already installed.

    It is for the folder of a clone, from which syclade is installed: no registry has the package.

    Args:
        extras: the missing extras: sycl, quality, io, report, samples, calls, cluster.
        anew: whether installed packages are broken and must be replaced.
    """
    wanted = [name for name, package in _EXTRAS.items() if name in extras or _is_installed(package)]
    what = f"'.[{','.join(wanted)}]'" if wanted else "."
    return f"pip install {'--force-reinstall ' if anew else ''}{what} {WHERE}"


def sycl_hint() -> str:
    """Return how to install the SYCL stack, and where it can be installed."""
    return f"install the SYCL stack ({SYCL_PLATFORM}): {install_command('sycl')}"


def _is_installed(package: str) -> bool:
    return version_of(package) is not None
