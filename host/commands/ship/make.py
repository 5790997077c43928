"""Compile the precompiled kernels: run `make kernels` after every change of their sources.

Run as `python -m syclade.host.commands.ship.make [--all | --check]`. Each kernel is compiled in a subprocess,
so that the same sources and versions always give the same bytes. Existing kernels of the same sources and
versions are reused, unless `--all` is given. Each is written when it is compiled, so that an interrupted run
can go on. `--check` compiles all kernels, compares them with the existing ones, and reports for which the
code differs, for which only names differ, and for which only the key differs (their sources changed without
effect).
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

from llvmlite import binding

from syclade.host.commands.ship.kernels import shipped_kernels
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.precompiled import MANIFEST, SPIRV, ship_key
from syclade.host.device.compile.translate import translate
from syclade.host.device.cores import usable_cores
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


def _make_all(
    kept: dict[str, Any], keep: Callable[[dict[str, Any], bytes], None] | None = None
) -> list[tuple[dict[str, Any], bytes]]:
    """Return (entry of the manifest, content) of every kernel. One compiler runs per core.

    Args:
        kept: a manifest, whose kernels are reused where they are up to date.
        keep: called with each kernel that was compiled.
    """
    here = {entry["file"]: entry for entry in kept.get("kernels", []) if kept["versions"] == _versions()}
    wanted = [
        (name, shipped.kernel, made_for)
        for name, shipped in shipped_kernels().items()
        for made_for in shipped.made_for
    ]
    with ThreadPoolExecutor(usable_cores()) as pool:
        return list(pool.map(lambda one: _make(one[0], one[1], one[2], here, keep), wanted))


def _make(
    name: str,
    kernel: Kernel,
    made_for: str,
    kept: dict[str, dict[str, Any]],
    keep: Callable[[dict[str, Any], bytes], None] | None,
) -> tuple[dict[str, Any], bytes]:
    """Return (entry of the manifest, content) of a kernel; reuse that of `kept` for the same sources."""
    file, key = f"{name}.{made_for}.xz", ship_key(kernel, made_for)
    if file in kept and kept[file]["key"] == key:
        there = FOLDER / file
        content = lzma.decompress(there.read_bytes()) if there.exists() else b""
        if hashlib.sha256(content).hexdigest() == kept[file]["sha256"]:
            return kept[file], content
    entry_point, content = compile_apart(name, made_for)
    entry = {
        "name": name,
        "for": made_for,
        "key": key,
        "entry_point": entry_point,
        "file": file,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    print(f"{entry['file']}: {len(content)} bytes", flush=True)
    if keep is not None:
        keep(entry, content)
    return entry, content


def differences(
    there: dict[str, Any], made: dict[str, Any], renamed: Collection[str] = frozenset()
) -> list[str]:
    """Return the differences between the existing manifest and that of kernels compiled now, as messages.

    Args:
        there, made: the existing manifest and the new one.
        renamed: files whose contents differ in names only.
    """
    found = [
        f"{name} is {version}, and was {there['versions'].get(name)}"
        for name, version in made["versions"].items()
        if version != there["versions"].get(name)
    ]
    old = {entry["file"]: entry for entry in there["kernels"]}
    new = {entry["file"]: entry for entry in made["kernels"]}
    for file in sorted(old.keys() | new.keys()):
        if file not in new:
            found.append(f"{file}: is not among them any more")
        elif file not in old:
            found.append(f"{file}: is not there")
        elif old[file]["sha256"] != new[file]["sha256"]:
            what = "names differ, its code does not" if file in renamed else "code differs"
            found.append(f"{file}: its {what}")
        elif old[file] != new[file]:
            found.append(f"{file}: its key differs, its content does not")
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


def _is_renamed(path: Path, content: bytes) -> bool:
    return path.exists() and same_but_for_names(lzma.decompress(path.read_bytes()), content)


def _versions() -> dict[str, str]:
    names = ("numba", "llvmlite", "numba-dpex", "dpcpp-llvm-spirv")
    return {name: metadata.version(name) for name in names}


def main(arguments: list[str]) -> int:
    """Update FOLDER; with --check, print what differs. Return the exit code."""
    if arguments[:1] == ["--one"]:
        entry_point, content = compile_one(*arguments[1:])
        sys.stdout.buffer.write(entry_point.encode() + b"\n" + content)
        return 0
    if arguments not in ([], ["--all"], ["--check"]):
        print("usage: python -m syclade.host.commands.ship.make [--all | --check]", file=sys.stderr)
        return 2
    path = FOLDER / MANIFEST
    nothing: dict[str, Any] = {"versions": {}, "kernels": []}
    there = json.loads(path.read_text(encoding="utf-8")) if path.exists() else nothing
    made = _make_all(nothing if arguments else there, None if arguments == ["--check"] else _keeper(there))
    manifest = {"versions": _versions(), "kernels": [entry for entry, _ in made]}
    if arguments == ["--check"]:
        renamed = {entry["file"] for entry, content in made if _is_renamed(FOLDER / entry["file"], content)}
        found = differences(there, manifest, renamed)
        print("\n".join(found) or "all are those of the sources")
        return int(bool(found))
    _write(manifest, made)
    return 0


def _keeper(there: dict[str, Any]) -> Callable[[dict[str, Any], bytes], None]:
    """Return a function, for threads, that writes a kernel and adds it to the manifest `there`."""
    entries = {entry["file"]: entry for entry in there["kernels"]} if there["versions"] == _versions() else {}
    one_at_a_time = threading.Lock()

    def keep(entry: dict[str, Any], content: bytes) -> None:
        with one_at_a_time:
            entries[entry["file"]] = entry
            _write_kernel(entry, content)
            _write_manifest({"versions": _versions(), "kernels": list(entries.values())})

    return keep


def _write_kernel(entry: dict[str, Any], content: bytes) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
    _replace(FOLDER / entry["file"], packed)


def _write_manifest(manifest: dict[str, Any]) -> None:
    _replace(FOLDER / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())


def _replace(path: Path, content: bytes) -> None:
    """Replace a file in one step, so that an interruption leaves the old one or the new one."""
    passing = path.with_name(f".{path.name}.tmp")
    passing.write_bytes(content)
    passing.replace(path)


def _write(manifest: dict[str, Any], made: list[tuple[dict[str, Any], bytes]]) -> None:
    """Write the kernels, then the manifest, and delete files that it does not list."""
    for entry, content in made:
        _write_kernel(entry, content)
    _write_manifest(manifest)
    listed = {MANIFEST, *(entry["file"] for entry, _ in made)}
    for path in FOLDER.iterdir():
        if path.name not in listed:
            path.unlink()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
