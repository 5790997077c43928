"""Kernels as values: parts, arguments, and a cache key by their source files. Nothing here depends on chains.

The source files of a kernel are those of its parts and everything that they import, and no others. Only
their code counts. Comments, docstrings and layout do not affect a compiled kernel, so they do not affect the
digest. The digest does not depend on the version of Python either.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from syclade.host.ground.cache import read_checked, write_checked
from syclade.kernels.arguments import Argument, record_of

__all__ = ["Kernel", "Record", "code_of", "digest_of", "digest_of_files", "load_part", "modules_of"]


@cache
def digest_of(modules: tuple[str, ...]) -> str:
    """Return the same as `digest_of_files`; cached on disk for as long as the files are unchanged.

    Parsing the files takes as long as a warm start.
    """
    place = f"sources/{hashlib.sha256(' '.join((*modules, __file__)).encode()).hexdigest()[:32]}"
    try:
        known = json.loads(read_checked(place) or b"")
        if all(_state_of(path) == state for path, state in known["files"]):
            return str(known["digest"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass  # not cached, damaged, or some files no longer exist
    files = [__file__, *(str(path) for _, path in sorted(modules_of(modules).items()))]
    states = [(path, _state_of(path)) for path in files]  # taken before the files are read
    digest = digest_of_files(modules)
    write_checked(place, json.dumps({"files": states, "digest": digest}).encode())
    return digest


def _state_of(path: str) -> list[int]:
    """Return size, inode, and times of modification and change of a file.

    Every edit changes one of them, even if it resets the modification time.
    """
    there = Path(path).stat()
    return [there.st_size, there.st_ino, there.st_mtime_ns, there.st_ctime_ns]


def digest_of_files(modules: tuple[str, ...]) -> str:
    """Return the digest of the code of modules and of everything that they import from their own packages.

    The `__init__.py` of a top-level package does not count: it lists what users can import, and edits of it
    would recompile every kernel.

    Args:
        modules: full names of the modules.
    """
    digest = hashlib.sha256()
    for name, path in sorted(modules_of(modules).items()):
        if "." not in name:
            continue
        digest.update(f"{name}\0{_parsed(path).digest}\0".encode())
    return digest.hexdigest()


def modules_of(modules: Iterable[str]) -> dict[str, Path]:
    """Return the modules and everything that they import, directly or not, from their top-level packages.

    Imports inside functions count. Numba, numpy and other packages do not: the cache keys contain the
    versions of the compilers.

    Args:
        modules: full names of the modules.

    Returns:
        The file of each module, by its name.
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
    for name in tuple(found):  # the code of parent packages counts too, but not their imports
        parts = name.split(".")
        packages = (".".join(parts[:depth]) for depth in range(1, len(parts)))
        found |= {package: path for package in packages if (path := _file_of(package)) is not None}
    return found


@cache
def _file_of(name: str) -> Path | None:
    """Return the source file of a module; None if the name is not a module, such as that of a function."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def _imported(importer: str, path: Path, tops: frozenset[str]) -> set[str]:
    """Return the names of the modules that a module imports, and of what it imports from packages."""
    found: set[str] = set()
    package = importer if path.name == "__init__.py" else importer.rpartition(".")[0]
    for module, names in _parsed(path).imports:
        if module.startswith("."):
            module = importlib.util.resolve_name(module, package)
        # To find the spec of a module, its package is imported; so the package must be one of ours.
        if module.partition(".")[0] not in tops:
            continue
        found.add(module)
        if names and _is_package(module):
            found |= {f"{module}.{name}" for name in names}
    return found


def _is_package(name: str) -> bool:
    """Return whether a module is a package, so that names imported from it may be modules."""
    path = _file_of(name)
    return path is not None and path.name == "__init__.py"


class _Parsed(NamedTuple):
    """Parsed source file.

    Attributes:
        digest: digest of its code.
        imports: (module, names imported from it); relative modules begin with dots.
    """

    digest: str
    imports: tuple[tuple[str, tuple[str, ...]], ...]


def _parsed(path: Path) -> _Parsed:
    """Parse a file; the result is cached for the same content."""
    return _parse(path.read_bytes())


@cache
def _parse(content: bytes) -> _Parsed:
    try:
        tree = _tree_of(content)
    except (SyntaxError, ValueError):  # an extension module: use its bytes
        return _Parsed(hashlib.sha256(content).hexdigest(), ())
    return _Parsed(hashlib.sha256(_text_of(tree).encode()).hexdigest(), tuple(_imports(tree)))


def code_of(source: str | bytes) -> str:
    """Return the code of a Python source as text that is equal for equal code.

    Comments, docstrings, line numbers and layout are left out. `ast.dump` is not suitable: its output depends
    on the version of Python.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    return _text_of(_tree_of(source))


_parsing = threading.Lock()


def _tree_of(source: str | bytes) -> ast.Module:
    """Return a syntax tree; one at a time.

    CPython 3.11 counts the depth of all trees together, so that a collection of garbage in one thread's parse
    can end that of another with a SystemError.
    """
    with _parsing:
        return ast.parse(source)


def _text_of(tree: ast.AST) -> str:
    """Return a syntax tree as text: for each node its class, its non-empty fields and an end mark."""
    words: list[str] = []
    _write(tree, words.append)
    return " ".join(words)


def _write(value: Any, write: Callable[[str], None]) -> None:
    if isinstance(value, ast.AST):
        write(type(value).__name__)
        for name in value._fields:
            field: Any = getattr(value, name, None)
            if isinstance(value, ast.JoinedStr):  # Python 3.12 has empty parts where other versions have none
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
    """Return whether a node is a docstring or another string that is a statement by itself."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of statements, and of their parts, that have statements: only there are imports."""


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            for one in node.names:
                yield one.name, ()
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), tuple(one.name for one in node.names)
        elif isinstance(node, (ast.mod, ast.stmt, ast.ExceptHandler, ast.match_case)):
            for name in _BLOCKS:
                pending += getattr(node, name, ())


Parts = str | tuple[str, ...]
"""`module:NAME` of an object that a factory takes, or a tuple of several."""


@dataclass(frozen=True)
class Record:
    """Arguments that a kernel's body gets as one record.

    Attributes:
        name: name of the record.
        arguments: its arguments, in order.
    """

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Kernel:
    """Description of a kernel, from which it is compiled.

    Attributes:
        name: prefix of the entry point's name.
        factory: `module:function` that makes the body: a device function of a slot, a lane and the records.
        parts: keyword arguments of the factory besides the constants, by name.
        constants: the factory's other keyword arguments.
        records: the kernel's arguments; each becomes a flat array.
        group: the group that a slot's lanes form: "sub-group" or "work-group".
        lanes: number of lanes per slot.
        size: sizes that the kernel is for, as text for messages; not part of the key.
        specialisation: values of its specialisation constants, in order, written into the compiled module;
            not part of the key.
    """

    name: str
    factory: str
    parts: Mapping[str, Parts]
    constants: Mapping[str, int]
    records: tuple[Record, ...]
    group: str
    lanes: int
    size: str = ""
    specialisation: tuple[int, ...] = ()

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments, in the order in which the kernel takes them."""
        return tuple(argument for record in self.records for argument in record.arguments)

    @property
    def reads_sizes(self) -> bool:
        """True for a general kernel, which serves many sizes, and reads them from an argument."""
        return any(one.shape == ("sizes",) for one in self.arguments)

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of the modules that define the factory and the parts; they import others."""
        named = [self.factory]
        for part in self.parts.values():
            named += [part] if isinstance(part, str) else part
        return tuple(sorted({name.partition(":")[0] for name in named}))

    @property
    def sources(self) -> str:
        """Digest of `modules` and of everything that they import."""
        return digest_of(self.modules)

    def body(self) -> Any:
        """Return the body, made by the factory: a `kernels.target.DeviceFunction`."""
        parts = {
            name: load_part(part) if isinstance(part, str) else [load_part(one) for one in part]
            for name, part in self.parts.items()
        }
        return load_part(self.factory)(**parts, **self.constants)

    def record_types(self) -> list[tuple[type, tuple[str, ...]]]:
        """Return the records that the body takes, each with the names of its arguments."""
        return [
            (record_of(record.name, record.arguments), tuple(one.name for one in record.arguments))
            for record in self.records
        ]

    def key(self, compiler: list[str]) -> str:
        """Return the key of the compiled kernel in the cache.

        Args:
            compiler: everything else that determines the result: versions, and sources of the translation.
        """
        content = json.dumps(
            [
                self.sources,
                compiler,
                self.name,
                self.factory,
                sorted(self.parts.items()),
                sorted(self.constants.items()),
                [
                    [record.name, [(one.name, one.dtype) for one in record.arguments]]
                    for record in self.records
                ],
                [self.group, self.lanes],
            ]
        )
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def load_part(place: str) -> Any:
    """Return the object that `module:NAME` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
