"""Compile the precompiled kernels: run `make kernels` after every change of their sources.

Run as `python -m syclade.host.commands.ship.make [--all | --check]`. Each kernel is compiled in a subprocess,
so that the same sources and versions always give the same bytes. Existing kernels of the same sources and
versions are reused, unless `--all` is given, and only archives with a changed kernel are written. Each new
kernel is stored in the user's cache until then, so that an interrupted run can go on. `--check` compiles all
kernels, compares them with the existing ones, and reports for which the code differs, for which only names
differ, and for which only the key differs (their sources changed without effect).
"""

from __future__ import annotations

import gc
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

from llvmlite import binding

from syclade.host.commands.ship.archives import Compiled, read_archives, write_archives
from syclade.host.commands.ship.kernels import shipped_kernels
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.precompiled import SPIRV, ship_key
from syclade.host.device.compile.translate import translate
from syclade.host.device.cores import usable_cores
from syclade.host.ground.cache import forget_cached, read_checked, write_checked
from syclade.host.ground.spirv import header, instructions_without_names, is_spirv

FOLDER = Path(__file__).parents[2] / "device" / "compile" / "kernels"

_NUMBA = {
    "x86_64-v4": {"NUMBA_CPU_NAME": "x86-64-v4", "NUMBA_CPU_FEATURES": "-prefer-256-bit"},
    "x86_64-v3": {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""},
    "aarch64": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}
"""Environment variables that make numba compile for a given processor instead of this one."""

_CODE_SECTIONS = (b".text", b".rodata")


def compile_one(name: str, made_for: str) -> tuple[str, bytes]:
    """Compile a kernel in this process; return (entry point, SPIR-V or object file)."""
    kernel = shipped_kernels()[name].kernel
    arguments = [(argument.name, argument.dtype) for argument in kernel.arguments]
    if made_for == SPIRV:
        from syclade.host.device.queue import open_queue

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


def _make_all(existing: Iterable[Compiled], *, resume: bool) -> list[Compiled]:
    """Return every kernel of the package. One compiler runs per core.

    Args:
        existing: kernels of the same versions, which are reused where their sources are the same.
        resume: whether to reuse what an interrupted run has compiled, and to store what this one compiles.
    """
    there = {(kernel.name, kernel.made_for): kernel for kernel in existing}
    wanted = [
        (name, shipped.kernel, made_for)
        for name, shipped in shipped_kernels().items()
        for made_for in shipped.made_for
    ]

    def make(one: tuple[str, Kernel, str]) -> Compiled:
        name, kernel, made_for = one
        key, old = ship_key(kernel, made_for), there.get((name, made_for))
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
    parts = (name, made_for, key, *_versions().items(), *_NUMBA.get(made_for, {}).items())
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


def _code_of(content: bytes) -> list[Any]:
    """Return instructions and constants, without the names of values, functions and the kernel."""
    if is_spirv(content):
        return [header(content), *instructions_without_names(content)]
    found = [(one.name() or b"", one.data()) for one in binding.ObjectFileRef.from_data(content).sections()]
    return [(name, data) for name, data in found if name.startswith(_CODE_SECTIONS)]


def _versions() -> dict[str, str]:
    names = ("numba", "llvmlite", "numba-dpex", "dpcpp-llvm-spirv")
    return {name: metadata.version(name) for name in names}


def main(arguments: list[str]) -> int:
    """Update FOLDER; with --check, print what differs. Return the exit code."""
    if arguments[:1] == ["--one"]:
        gc.disable()  # a tenth of the time, since numba makes millions of objects that live until the end
        entry_point, content = compile_one(*arguments[1:])
        sys.stdout.buffer.write(entry_point.encode() + b"\n" + content)
        return 0
    if arguments not in ([], ["--all"], ["--check"]):
        print("usage: python -m syclade.host.commands.ship.make [--all | --check]", file=sys.stderr)
        return 2
    versions, there = read_archives(FOLDER)
    if arguments == ["--check"]:
        found = differences(there, _make_all([], resume=False), (versions, _versions()))
        print("\n".join(found) or "all are those of the sources")
        return int(bool(found))
    is_reused = not arguments and versions == _versions()
    made = _make_all(there if is_reused else [], resume=not arguments)
    for archive in write_archives(FOLDER, _versions(), made):
        print(f"{archive}: written")
    for kernel in made:
        forget_cached(_cache_name(kernel.name, kernel.made_for, kernel.key))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
