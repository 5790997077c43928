"""Installed packages, and commands that install missing ones without breaking them.

Packages are found by their folders: loading `importlib.metadata` takes a tenth of a warm start. The
versions of the SYCL stack are pinned, but pip respects the pins only of packages that its command line
names. Installing another package without naming the stack may replace the stack's numpy. So every command
names everything.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

__all__ = [
    "COMPILER_PYTHON",
    "CUDA_PLATFORM",
    "SYCL_PLATFORM",
    "cuda_hint",
    "files_of",
    "install_command",
    "sycl_hint",
    "version_of",
]


_SUFFIX = ".dist-info"


def version_of(name: str) -> str | None:
    """Return the version of an installed package; None if it is not installed."""
    folder = _folder_of(name)
    if folder is not None:
        return folder.name[: -len(_SUFFIX)].partition("-")[2]
    from importlib import metadata  # also finds eggs and archives

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@cache
def files_of(name: str) -> tuple[Path, ...]:
    """Return the files of a package; none if it is not installed or has no list of them."""
    folder = _folder_of(name)
    if folder is None:
        return ()
    try:
        lines = (folder / "RECORD").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ()
    names = (line.rsplit(",", 2)[0].strip('"') for line in lines)
    return tuple(Path(os.path.normpath(folder.parent / name)) for name in names if name)


def _folder_of(name: str) -> Path | None:
    return _folders(tuple(sys.path)).get(_plain(name))


@cache
def _folders(places: tuple[str, ...]) -> dict[str, Path]:
    """Return the folder of each package by its plain name; of several, the first wins, as in Python."""
    found: dict[str, Path] = {}
    for place in places:
        try:
            names = [one.name for one in Path(place).iterdir()]
        except OSError:
            continue
        for name in sorted(names):
            if name.endswith(_SUFFIX) and "-" in name[: -len(_SUFFIX)]:
                found.setdefault(_plain(name.partition("-")[0]), Path(place, name))
    return found


def _plain(name: str) -> str:
    """Normalise a name as PEP 503 does."""
    return re.sub(r"[-_.]+", "-", name).lower()


SYCL_PLATFORM = "Linux x86_64, Python 3.11 to 3.14"
"""Platforms on which the extra `sycl` installs SYCL; on others it installs nothing."""

COMPILER_PYTHON = "Python 3.11"
"""Python for which the extra `sycl` installs numba-dpex, which compiles kernels that are not precompiled."""

WHERE = "in the folder of syclade's clone"
"""Where install commands are to be run."""

_EXTRAS = {
    "sycl": "dpctl",
    "cuda": "cuda-bindings",
    "quality": "statsmodels",
    "io": "anndata",
    "report": "jinja2",
    "samples": "h5netcdf",
    "calls": "pysam",
    "cluster": "dask-jobqueue",
}
"""Extras of syclade, each with a package that is present if the extra is installed."""


def install_command(*extras: str, reinstall: bool = False) -> str:
    """Return the command that installs syclade with missing extras and with those already installed.

    It is for the folder of a clone, from which syclade is installed: no registry has the package.

    Args:
        extras: the missing extras: sycl, cuda, quality, io, report, samples, calls, cluster.
        reinstall: whether installed packages are broken and must be replaced.
    """
    wanted = [name for name, package in _EXTRAS.items() if name in extras or _is_installed(package)]
    what = f"'.[{','.join(wanted)}]'" if wanted else "."
    return f"pip install {'--force-reinstall ' if reinstall else ''}{what} {WHERE}"


CUDA_PLATFORM = "Linux; for other kernels than those of searches Python 3.12 or newer"
"""Platforms on which the extra `cuda` installs what NVIDIA GPUs need."""


def cuda_hint() -> str:
    """Return how to install what runs on NVIDIA GPUs, and where it can be installed."""
    return f"install it ({CUDA_PLATFORM}): {install_command('cuda')}"


def sycl_hint() -> str:
    """Return how to install the SYCL stack, and where it can be installed."""
    return f"install the SYCL stack ({SYCL_PLATFORM}): {install_command('sycl')}"


def _is_installed(package: str) -> bool:
    return version_of(package) is not None
