"""Which files a kernel is made of: those of its parts and all that they import, and no others."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from syclade.host.compile.cache import read_checked, write_checked

__all__ = ["digest_of", "digest_of_files", "modules_of"]

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.MULTILINE
)


@cache
def digest_of(modules: tuple[str, ...]) -> str:
    """The same as `digest_of_files`, remembered in the user's cache for as long as the files are untouched.

    To read and search the files takes as long as a tenth of a warm start.
    """
    place = f"sources/{hashlib.sha256(' '.join((*modules, __file__)).encode()).hexdigest()[:32]}"
    try:
        known = json.loads(read_checked(place) or b"")
        if all(_state_of(path) == state for path, state in known["files"]):
            return str(known["digest"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass  # not there, damaged, or of files that have gone
    files = [str(path) for _, path in sorted(modules_of(modules).items())]
    states = [(path, _state_of(path)) for path in files]  # before they are read
    digest = digest_of_files(modules)
    write_checked(place, json.dumps({"files": states, "digest": digest}).encode())
    return digest


def _state_of(path: str) -> list[int]:
    """What no edit of a file leaves as it is: not even one that sets back the time of the last edit."""
    there = Path(path).stat()
    return [there.st_size, there.st_ino, there.st_mtime_ns, there.st_ctime_ns]


def digest_of_files(modules: tuple[str, ...]) -> str:
    """Digest of the sources of modules and of all that they import of their own packages.

    What stands at the top of these packages does not count: it tells users what to import, and edits of it
    would make every kernel anew.

    Args:
        modules: full names.
    """
    digest = hashlib.sha256()
    for name, path in sorted(modules_of(modules).items()):
        if "." not in name:
            continue
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def modules_of(modules: Iterable[str]) -> dict[str, Path]:
    """The modules and all that they import, directly or not, of the top-level packages they are in.

    Imports inside functions count. Numba, numpy and the like have versions, which are told apart elsewhere.

    Args:
        modules: full names.

    Returns:
        The file of each, by its name.
    """
    pending = set(modules)
    tops = frozenset(name.partition(".")[0] for name in pending)
    found: dict[str, Path] = {}
    while pending:
        name = pending.pop()
        path = _file_of(name)
        if name not in found and path is not None:
            found[name] = path
            pending |= _imports(path, tops)
    for name in tuple(found):  # what packages do on import counts too, but not whom else they know
        parts = name.split(".")
        packages = (".".join(parts[:depth]) for depth in range(1, len(parts)))
        found |= {package: path for package in packages if (path := _file_of(package)) is not None}
    return found


@cache
def _file_of(name: str) -> Path | None:
    """The source of a module; None if there is no such module: a name of something in a module."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def _imports(path: Path, tops: frozenset[str]) -> set[str]:
    """Names of modules that a file imports, and of what it imports from packages, module or not."""
    found: set[str] = set()
    for package, names, module in _IMPORT.findall(path.read_text(encoding="utf-8")):
        # The spec of a module is found by importing its package, which here must be one of ours.
        if (package or module).partition(".")[0] not in tops:
            continue
        found.add(package or module)
        if package and _is_package(package):
            found |= {f"{package}.{name.split()[0]}" for name in names.strip("()").split(",") if name.split()}
    return found


def _is_package(name: str) -> bool:
    """Is the module a package, so that what is imported from it may be a module?"""
    path = _file_of(name)
    return path is not None and path.name == "__init__.py"
