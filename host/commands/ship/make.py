"""Compile the precompiled kernels: run `make kernels` after every change of their sources.

Run as `python -m syclade.host.commands.ship.make [--ptx] [--all | --check]`. With `--ptx` it compiles those
for NVIDIA GPUs, with the packages of the extra `cuda` (Python 3.12 or later), otherwise all others, with the
locked stack (Python 3.11). Each kernel is compiled in a subprocess, so that the same sources and versions
always give the same bytes. Existing kernels of the same sources and versions are reused, unless `--all` is
given, and only archives with a changed kernel are written. Each new kernel is stored in the user's cache
until then, so that an interrupted run can go on. `--check` compiles all kernels, compares them with the
existing ones, and reports for which the code differs, for which only names differ, and for which only the key
differs (their sources changed without effect).

An archive has the kernels whose code is alike, compressed together. Kernels of one family differ little, so a
family takes little more space than one kernel. A kernel is reached by decompressing what precedes it, so a
family has at most some 8 MB, which take 30 ms.
"""

from __future__ import annotations

import gc
import hashlib
import json
import lzma
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import metadata
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from llvmlite import binding

from syclade.host.commands.ship.kernels import Shipped, shipped_kernels
from syclade.host.device.compile.machine_code import PTX_COMPILERS, compile_ptx
from syclade.host.device.compile.precompiled import MANIFEST, PTX, SPIRV, Precompiled
from syclade.host.device.compile.translate import translate
from syclade.host.device.device import open_queue, usable_cores
from syclade.host.ground.cache import forget_cached, read_checked, write_checked
from syclade.host.ground.spirv import header, instructions_without_names, is_spirv

__all__ = ["Compiled", "archive_of", "read_archives", "write_archives"]

_VARIANTS = ("zygosity", "guided")
"""Words of a kernel's name that make a family of their own, because its code is different enough."""


@dataclass(frozen=True)
class Compiled:
    """A compiled kernel.

    Attributes:
        name, made_for, key, entry_point: as in `Precompiled`.
        content: SPIR-V, PTX or object file.
    """

    name: str
    made_for: str
    key: str
    entry_point: str
    content: bytes

    @property
    def title(self) -> str:
        """Return name and target, for messages."""
        return f"{self.name}.{self.made_for}"

    @property
    def sha256(self) -> str:
        """Return the digest of the content."""
        return hashlib.sha256(self.content).hexdigest()


def archive_of(name: str, made_for: str) -> str:
    """Return the name of the archive for a kernel: its family and target.

    The family of `learned-fn-4-zygosity-samples` is `learned-fn-zygosity`. That of a name without a number is
    its first word.
    """
    stem, number, rest = re.fullmatch(r"(.*?)(?:-(\d+)(.*))?", name).groups()  # type: ignore[union-attr]
    words = (
        [stem, *(word for word in _VARIANTS if word in rest.split("-"))] if number else [stem.split("-")[0]]
    )
    return f"{'-'.join(words)}.{made_for}.xz"


def read_archives(folder: Path) -> tuple[dict[str, str], list[Compiled]]:
    """Return (versions of the compilers, kernels), without missing and damaged kernels."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        entries = [Precompiled(**entry) for entry in manifest["kernels"]]
    except (OSError, ValueError, KeyError, TypeError):
        return {}, []
    contents = {archive: _content_of(folder / archive) for archive in {entry.archive for entry in entries}}
    found = []
    for entry in entries:
        content = contents[entry.archive][entry.offset : entry.offset + entry.size]
        kernel = Compiled(entry.name, entry.made_for, entry.key, entry.entry_point, content)
        if kernel.sha256 == entry.sha256:
            found.append(kernel)
    return manifest["versions"], found


def write_archives(folder: Path, versions: dict[str, str], kernels: Iterable[Compiled]) -> list[str]:
    """Write archives and manifest, and delete other files of the folder; return the names of new archives.

    An archive with the same content stays as it is, because another version of the compressor may give other
    bytes for it. Each file is replaced in one step, the manifest last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archives: dict[str, list[Compiled]] = {}
    for kernel in kernels:
        archives.setdefault(archive_of(kernel.name, kernel.made_for), []).append(kernel)
    with ThreadPoolExecutor(usable_cores()) as pool:
        changed = list(pool.map(lambda one: _write_archive(folder / one[0], one[1]), archives.items()))
    entries = [entry for archive, members in archives.items() for entry in _entries(archive, members)]
    manifest = {"versions": versions, "kernels": [asdict(entry) for entry in entries]}
    _replace(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    for path in folder.iterdir():
        if path.name not in {MANIFEST, *archives}:
            path.unlink()
    return [archive for archive, is_new in zip(archives, changed, strict=True) if is_new]


def _content_of(path: Path) -> bytes:
    """Return an archive's decompressed content; empty if it is missing or damaged."""
    try:
        return lzma.decompress(path.read_bytes())
    except (OSError, lzma.LZMAError):
        return b""


def _write_archive(path: Path, kernels: Sequence[Compiled]) -> bool:
    """Write an archive unless it has this content already; return whether it was written."""
    content = b"".join(kernel.content for kernel in kernels)
    if path.exists() and _content_of(path) == content:
        return False
    _replace(path, _compressed(content))
    return True


def _compressed(content: bytes) -> bytes:
    """Compress with a dictionary as large as the content, since a reader allocates it."""
    size = 1 << max(12, (len(content) - 1).bit_length())
    method = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": size}
    return lzma.compress(content, format=lzma.FORMAT_XZ, filters=[method])


def _entries(archive: str, kernels: Sequence[Compiled]) -> list[Precompiled]:
    """Return the manifest's entries of an archive."""
    ends = accumulate(len(kernel.content) for kernel in kernels)
    return [
        Precompiled(
            kernel.name,
            kernel.made_for,
            kernel.key,
            kernel.entry_point,
            archive,
            end - len(kernel.content),
            len(kernel.content),
            kernel.sha256,
        )
        for kernel, end in zip(kernels, ends, strict=True)
    ]


def _replace(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that an interruption leaves the old one or the new one."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


FOLDER = Path(__file__).parents[2] / "device" / "compile" / "kernels"

_NUMBA = {
    "x86_64-v4": {"NUMBA_CPU_NAME": "x86-64-v4", "NUMBA_CPU_FEATURES": "-prefer-256-bit"},
    "x86_64-v3": {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""},
    "aarch64": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}
"""Environment variables that make numba compile for a given processor instead of this one."""

_OBJECT_FILE = b"\x7fELF"
_CODE_SECTIONS = (b".text", b".rodata")


def compile_one(name: str, made_for: str) -> tuple[str, bytes]:
    """Compile a kernel in this process; return (entry point, SPIR-V, PTX or object file)."""
    shipped = shipped_kernels()[name]
    kernel = shipped.kernel
    if made_for == PTX:
        return compile_ptx(kernel, shipped.near)
    arguments = [(argument.name, argument.dtype) for argument in kernel.arguments]
    if made_for == SPIRV:
        made = translate(open_queue("cpu"), kernel)
        return made.entry_point, made.module
    from syclade.kernels.target.native.compiler import compile_for, compile_kernel

    if made_for == "aarch64":
        triple = "aarch64-unknown-linux-gnu"
        return compile_for(triple, kernel.body(), kernel.name, arguments, kernel.record_types())
    return compile_kernel(kernel.body(), kernel.name, arguments, kernel.record_types())


def compile_apart(name: str, made_for: str) -> tuple[str, bytes]:
    """Do the same as `compile_one` in a subprocess, for the given target instead of this processor."""
    environment = os.environ | {"PYTHONHASHSEED": "0"} | _NUMBA.get(made_for, {})
    command = [sys.executable, "-P", "-m", "syclade.host.commands.ship.make", "--one", name, made_for]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    entry_point, _, content = done.stdout.partition(b"\n")
    return entry_point.decode(), content


class Group(NamedTuple):
    """Kernels that are compiled in one environment.

    Attributes:
        compilers: names of the packages that compile them.
        for_gpus: whether they are those of NVIDIA GPUs.
    """

    compilers: tuple[str, ...]
    for_gpus: bool

    def has(self, made_for: str) -> bool:
        """Return whether kernels of a target are in the group."""
        return (made_for == PTX) == self.for_gpus

    def versions(self) -> dict[str, str]:
        """Return the installed versions of the compilers."""
        return {name: metadata.version(name) for name in self.compilers}


OF_GPUS = Group(PTX_COMPILERS, for_gpus=True)
OTHERS = Group(("numba", "llvmlite", "numba-dpex", "dpcpp-llvm-spirv"), for_gpus=False)


def group_of(made_for: str) -> Group:
    """Return the group of a target's kernels."""
    return OF_GPUS if OF_GPUS.has(made_for) else OTHERS


def _make_all(existing: Iterable[Compiled], group: Group, *, resume: bool) -> list[Compiled]:
    """Return every kernel of a group. One compiler runs per core.

    Args:
        existing: kernels of the same versions, which are reused where their sources are the same.
        group: OF_GPUS or OTHERS.
        resume: whether to reuse what an interrupted run has compiled, and to store what this one compiles.
    """
    there = {(kernel.name, kernel.made_for): kernel for kernel in existing}
    wanted = [
        (name, shipped, made_for)
        for name, shipped in shipped_kernels().items()
        for made_for in shipped.made_for
        if group.has(made_for)
    ]

    def make(one: tuple[str, Shipped, str]) -> Compiled:
        name, shipped, made_for = one
        key, old = shipped.key(made_for), there.get((name, made_for))
        return old if old is not None and old.key == key else _compile(name, made_for, key, resume=resume)

    with ThreadPoolExecutor(usable_cores()) as pool:
        return list(pool.map(make, wanted))


def _compile(name: str, made_for: str, key: str, *, resume: bool) -> Compiled:
    """Compile a kernel, or take it from the cache."""
    stored = read_checked(_cache_name(name, made_for, key)) if resume else None
    if stored is not None:
        entry_point, _, content = stored.partition(b"\n")
        return Compiled(name, made_for, key, entry_point.decode(), content)
    made = Compiled(name, made_for, key, *compile_apart(name, made_for))
    print(f"{made.title}: {len(made.content)} bytes", flush=True)
    if resume:
        write_checked(_cache_name(name, made_for, key), made.entry_point.encode() + b"\n" + made.content)
    return made


def _cache_name(name: str, made_for: str, key: str) -> str:
    """Return the name in the cache of a kernel whose archive is not written yet: all that determines it."""
    parts = (name, made_for, key, *group_of(made_for).versions().items(), *_NUMBA.get(made_for, {}).items())
    return f"made/{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def differences(
    there: Iterable[Compiled],
    made: Iterable[Compiled],
    versions: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> list[str]:
    """Return the differences between the existing kernels and those compiled now, as messages.

    Args:
        there, made: the existing kernels, and those compiled now.
        versions: of their compilers.
    """
    found = [
        f"{name} is {version}, and was {versions[0].get(name)}"
        for name, version in versions[1].items()
        if version != versions[0].get(name)
    ]
    old = {kernel.title: kernel for kernel in there}
    new = {kernel.title: kernel for kernel in made}
    for title in sorted(old.keys() | new.keys()):
        if title not in new:
            found.append(f"{title}: is not among them any more")
        elif title not in old:
            found.append(f"{title}: is not there")
        elif old[title].content != new[title].content:
            renamed = same_but_for_names(old[title].content, new[title].content)
            found.append(f"{title}: its {'names differ, its code does not' if renamed else 'code differs'}")
        elif old[title] != new[title]:
            found.append(f"{title}: its key differs, its content does not")
    return found


def same_but_for_names(one: bytes, other: bytes) -> bool:
    """Return whether two SPIR-V modules, or two object files, have the same code apart from names.

    Numba names a value after its position in the bytecode, and a function after its module and a counter, so
    names change with the layout of the sources.
    """
    return _code_of(one) == _code_of(other)


def _code_of(content: bytes) -> list[object]:
    """Return instructions and constants, without the names of values, functions and the kernel."""
    if is_spirv(content):
        return [header(content), *instructions_without_names(content)]
    if not content.startswith(_OBJECT_FILE):
        return [content]  # PTX, which has no such names
    found = [(one.name() or b"", one.data()) for one in binding.ObjectFileRef.from_data(content).sections()]
    return [(name, data) for name, data in found if name.startswith(_CODE_SECTIONS)]


def main(arguments: list[str]) -> int:
    """Update FOLDER; with --check, print what differs. Return the exit code."""
    if arguments[:1] == ["--one"]:
        gc.disable()  # a tenth of the time, since numba makes millions of objects that live until the end
        entry_point, content = compile_one(*arguments[1:])
        sys.stdout.buffer.write(entry_point.encode() + b"\n" + content)
        return 0
    group = OF_GPUS if arguments[:1] == ["--ptx"] else OTHERS
    mode = arguments[1:] if group is OF_GPUS else arguments
    if mode not in ([], ["--all"], ["--check"]):
        print("usage: python -m syclade.host.commands.ship.make [--ptx] [--all | --check]", file=sys.stderr)
        return 2
    versions, stored = read_archives(FOLDER)
    there = [one for one in stored if group.has(one.made_for)]
    before = {name: version for name, version in versions.items() if name in group.compilers}
    if mode == ["--check"]:
        found = differences(there, _make_all([], group, resume=False), (before, group.versions()))
        print("\n".join(found) or "all are those of the sources")
        return int(bool(found))
    is_reused = not mode and before == group.versions()
    made = _make_all(there if is_reused else [], group, resume=not mode)
    kept = [one for one in stored if not group.has(one.made_for)]
    ordered = sorted([*made, *kept], key=lambda one: OF_GPUS.has(one.made_for))
    for archive in write_archives(FOLDER, versions | group.versions(), ordered):
        print(f"{archive}: written")
    for kernel in made:
        forget_cached(_cache_name(kernel.name, kernel.made_for, kernel.key))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
