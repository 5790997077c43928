"""Which files a kernel is made of: those of its parts and all that they import, and no others.

Only the code in them counts. Comments, docstrings and the layout change nothing in a compiled kernel, so they
change no digest either, whatever version of Python reads them.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.compile.cache import read_checked, write_checked

__all__ = ["code_of", "digest_of", "digest_of_files", "modules_of"]


@cache
def digest_of(modules: tuple[str, ...]) -> str:
    """The same as `digest_of_files`, remembered in the user's cache for as long as the files are untouched.

    To parse the files takes as long as a warm start.
    """
    place = f"sources/{hashlib.sha256(' '.join((*modules, __file__)).encode()).hexdigest()[:32]}"
    try:
        known = json.loads(read_checked(place) or b"")
        if all(_state_of(path) == state for path, state in known["files"]):
            return str(known["digest"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass  # not there, damaged, or of files that have gone
    files = [__file__, *(str(path) for _, path in sorted(modules_of(modules).items()))]
    states = [(path, _state_of(path)) for path in files]  # before they are read
    digest = digest_of_files(modules)
    write_checked(place, json.dumps({"files": states, "digest": digest}).encode())
    return digest


def _state_of(path: str) -> list[int]:
    """What no edit of a file leaves as it is: not even one that sets back the time of the last edit."""
    there = Path(path).stat()
    return [there.st_size, there.st_ino, there.st_mtime_ns, there.st_ctime_ns]


def digest_of_files(modules: tuple[str, ...]) -> str:
    """Return the digest of the code of modules and of all that they import of their own packages.

    What stands at the top of these packages does not count: it tells users what to import, and edits of it
    would make every kernel anew.

    Args:
        modules: full names.
    """
    digest = hashlib.sha256()
    for name, path in sorted(modules_of(modules).items()):
        if "." not in name:
            continue
        digest.update(f"{name}\0{_parsed(path).digest}\0".encode())
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
            pending |= _imported(name, path, tops)
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


def _imported(importer: str, path: Path, tops: frozenset[str]) -> set[str]:
    """Names of modules that a module imports, and of what it imports from packages, module or not."""
    found: set[str] = set()
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
    for module, names in _parsed(path).imports:
        if module.startswith("."):
            module = importlib.util.resolve_name(module, package)
        # The spec of a module is found by importing its package, which here must be one of ours.
        if module.partition(".")[0] not in tops:
            continue
        found.add(module)
        if names and _is_package(module):
            found |= {f"{module}.{name}" for name in names}
    return found


def _is_package(name: str) -> bool:
    """Is the module a package, so that what is imported from it may be a module?"""
    path = _file_of(name)
    return path is not None and path.name == "__init__.py"


class _Parsed(NamedTuple):
    """Parsed source file.

    Attributes:
        digest: of its code.
        imports: (module, names imported from it); relative modules begin with dots.
    """

    digest: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]


def _parsed(path: Path) -> _Parsed:
    """The file's code, parsed once for as long as its content stays the same."""
    return _parse(path.read_bytes())


@cache
def _parse(content: bytes) -> _Parsed:
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # an extension module: its bytes are what there is
        return _Parsed(hashlib.sha256(content).hexdigest(), ())
    return _Parsed(hashlib.sha256(_text_of(tree).encode()).hexdigest(), tuple(_imports(tree)))


def code_of(source: str | bytes) -> str:
    """Return the code of a Python source as text that is equal for equal code.

    Comments, docstrings, line numbers and layout are left out. `ast.dump` would not do: what it writes
    depends on the version of Python.

    Raises:
        SyntaxError: the source is no Python.
    """
    return _text_of(ast.parse(source))


def _text_of(tree: ast.AST) -> str:
    """A syntax tree as text: of a node its class, its fields that are not empty, and an end mark."""
    words: list[str] = []
    _write(tree, words.append)
    return " ".join(words)


def _write(value: Any, write: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        write(type(value).__name__)
        for name in value._fields:
            field: Any = getattr(value, name, None)
            if isinstance(value, ast.JoinedStr):  # Python 3.12 has empty parts where others have none
                field = [one for one in field if getattr(one, "value", None) != ""]
            if field is not None and field != []:
                write(f".{name}")
                _write(field, write)
        write(")")
    elif isinstance(value, list):
        for one in value:
            if not _says_nothing(one):
                _write(one, write)
        write("]")
    else:
        write(ascii(value))


def _says_nothing(node: Any) -> bool:
    """Is it a docstring, or another string that is a statement by itself?"""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield one.name, ()
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), tuple(one.name for one in node.names)
