"""Installed packages, commands that install missing ones without breaking them, and the import of pysam.

Packages are found by their folders: loading `importlib.metadata` takes a tenth of a warm start. The
versions of the SYCL stack are pinned, but pip respects the pins only of packages that its command line
names. Installing another package without naming the stack may replace the stack's numpy. So every command
names everything.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from syclade.host.ground.errors import ReadsError

__all__ = [
    "COMPILER_PYTHON",
    "CUDA_PLATFORM",
    "SYCL_PLATFORM",
    "cuda_hint",
    "files_of",
    "install_command",
    "pysam_of",
    "quiet_finalizers",
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


CUDA_PLATFORM = "Linux; to compile kernels, which few runs do, Python 3.12 or newer"
"""Platforms on which the extra `cuda` installs what NVIDIA GPUs need."""


def cuda_hint() -> str:
    """Return how to install what runs on NVIDIA GPUs, and where it can be installed."""
    return f"install it ({CUDA_PLATFORM}): {install_command('cuda')}"


def sycl_hint() -> str:
    """Return how to install the SYCL stack, and where it can be installed."""
    return f"install the SYCL stack ({SYCL_PLATFORM}): {install_command('sycl')}"


def _is_installed(package: str) -> bool:
    return version_of(package) is not None


_entering = threading.Lock()
_inside: list[int] = []
"""Threads that are inside `quiet_finalizers`."""

_hooks: tuple[Callable[..., object], Callable[..., object]] = (sys.unraisablehook, sys.excepthook)
"""The hooks outside of it."""


def pysam_of() -> ModuleType:
    """Return the module pysam, which reads BAM, CRAM and their indexes, with its own messages switched off.

    Raises:
        ReadsError: pysam is not installed, or does not import.
    """
    try:
        import pysam
    except ImportError as error:
        missing = getattr(error, "name", None) == "pysam"
        what = "reading BAM and CRAM needs pysam" if missing else f"pysam does not import: {error}"
        raise ReadsError(what, hint=install_command("calls", reinstall=not missing)) from error
    pysam.set_verbosity(0)
    module: ModuleType = pysam
    return module


@contextmanager
def quiet_finalizers() -> Iterator[None]:
    """Drop the tracebacks that pysam prints where a file that could not be opened cannot be closed either.

    Files are opened in several threads. Hooks are of the whole process, so they drop only what comes from
    threads in here, and stay until the last of these has left.
    """
    global _hooks
    with _entering:
        if not _inside:
            _hooks = (sys.unraisablehook, sys.excepthook)  # pysam calls both for one problem
            sys.unraisablehook, sys.excepthook = _unless_quiet(_hooks[0]), _unless_quiet(_hooks[1])
        _inside.append(threading.get_ident())
    try:
        yield
    finally:
        with _entering:
            _inside.remove(threading.get_ident())
            if not _inside:
                sys.unraisablehook, sys.excepthook = _hooks


def _unless_quiet(hook: Callable[..., object]) -> Callable[..., None]:
    """Return a hook that does nothing in threads that are inside `quiet_finalizers`."""

    def called(*problem: object) -> None:
        if threading.get_ident() not in _inside:
            hook(*problem)

    return called
