"""Precompiled kernels: part of the package, so that even the first run does not wait for a compiler.

They serve many sizes (`host/chains/encodings/preorder.py`). Each is looked up by a digest of its
sources, so a kernel whose sources have changed since is never used. `host/commands/ship/` compiles them, and
packs those whose code is alike into one archive. An archive is decompressed only as far as a kernel needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import lzma
import platform
import sys
import threading
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from syclade.host.device.compile.kernel import Kernel, digest_of
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import install_command

__all__ = [
    "MAKERS",
    "MANIFEST",
    "PROCESSORS",
    "PTX",
    "SPIRV",
    "Precompiled",
    "find_shipped",
    "is_shipped",
    "own_processor",
    "ship_key",
    "shipped",
]

MANIFEST = "manifest.json"

SPIRV = "spirv"
"""Target SPIR-V, which drivers of SYCL devices translate."""

PTX = "ptx"
"""Target PTX, which drivers of NVIDIA GPUs translate."""

PROCESSORS = {
    "x86_64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "bmi", "bmi2", "fma"},
    "x86_64-v3": {"avx2", "bmi", "bmi2", "fma", "lzcnt", "movbe", "f16c"},
    "aarch64": set(),
}
"""Processors with precompiled machine code (Linux only), with the features that each must have."""

MAKERS = {
    SPIRV: "syclade.kernels.target.sycl",
    PTX: "syclade.kernels.target.cuda.compiler",
} | dict.fromkeys(PROCESSORS, "syclade.kernels.target.native.compiler")
"""Module that compiles the kernels, by target."""


_OPEN_ARCHIVES = 2
"""Archives kept open: kernels of searches come from one, those of chains from another."""

_reading = threading.Lock()


@dataclass(frozen=True)
class Precompiled:
    """Entry of the manifest: a precompiled kernel, and where it is stored.

    Attributes:
        name: its name in the list of precompiled kernels.
        made_for: SPIRV, PTX or one of PROCESSORS.
        key: digest of its sources (`ship_key`).
        entry_point: name of its function.
        archive: name of the file that has it, among others.
        offset, size: position and length in the decompressed archive, in bytes.
        sha256: digest of its SPIR-V, PTX or object file.
    """

    name: str
    made_for: str
    key: str
    entry_point: str
    archive: str
    offset: int
    size: int
    sha256: str


def find_shipped(kernel: Kernel, made_for: str, near: Collection[str] = ()) -> tuple[str, bytes] | None:
    """Return (entry point, SPIR-V, PTX or object file); None if no precompiled kernel has these sources.

    Args:
        kernel: the kernel.
        made_for: SPIRV, PTX or one of PROCESSORS.
        near: for PTX, as for `load_ptx`.

    Raises:
        DeviceError: the archive is missing or damaged.
    """
    entry = _by_key().get((ship_key(kernel, made_for, near), made_for))
    if entry is None:
        return None
    path = _folder() / entry.archive
    try:
        with _reading:
            content = _archive(path).part(entry.offset, entry.size)
    except OSError as error:
        raise _unreadable(path, str(error)) from error
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise _unreadable(path, "it is damaged")
    return entry.entry_point, content


def is_shipped(kernel: Kernel, made_for: str, near: Collection[str] = ()) -> bool:
    """Return whether `find_shipped` finds the kernel."""
    return (ship_key(kernel, made_for, near), made_for) in _by_key()


def shipped() -> list[Precompiled]:
    """Return the manifest's entries of all precompiled kernels; empty if there is no readable manifest."""
    try:
        manifest = json.loads((_folder() / MANIFEST).read_text(encoding="utf-8"))
        return [Precompiled(**entry) for entry in manifest["kernels"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def ship_key(kernel: Kernel, made_for: str, near: Collection[str] = ()) -> str:
    """Return the key of a precompiled kernel, which depends on its sources and on those of the target."""
    return kernel.key([digest_of((MAKERS[made_for],)), *(f"near {name}" for name in near)])


@cache
def own_processor() -> str | None:
    """Return the best of PROCESSORS whose code this machine can run; None if there is none."""
    if sys.platform != "linux":
        return None
    if platform.machine() == "aarch64":
        return "aarch64"
    if platform.machine() != "x86_64":
        return None
    try:
        from llvmlite import binding
    except Exception:  # any problem with it is reported where it is needed
        return None
    features = {name for name, there in binding.get_host_cpu_features().items() if there}
    return next((name for name, needed in PROCESSORS.items() if needed and needed <= features), None)


@cache
def _by_key() -> dict[tuple[str, str], Precompiled]:
    return {(entry.key, entry.made_for): entry for entry in shipped()}


def _folder() -> Path:
    return Path(__file__).resolve().parent / "kernels"


@lru_cache(maxsize=_OPEN_ARCHIVES)
def _archive(path: Path) -> _Archive:
    return _Archive(path.read_bytes())


class _Archive:
    """An archive, decompressed as far as its kernels have been needed."""

    def __init__(self, packed: bytes) -> None:
        self._decompressor = lzma.LZMADecompressor()
        self._waiting = packed
        self._content = bytearray()

    def part(self, offset: int, size: int) -> bytes:
        """Return bytes of the decompressed content; fewer if the archive is damaged before their end."""
        missing = offset + size - len(self._content)
        with contextlib.suppress(lzma.LZMAError):
            while missing > 0 and not self._decompressor.eof:
                found = self._decompressor.decompress(self._waiting, max_length=missing)
                self._waiting = b""
                if not found and self._decompressor.needs_input:
                    break
                self._content += found
                missing -= len(found)
        return bytes(self._content[offset : offset + size])


def _unreadable(path: Path, reason: str) -> DeviceError:
    return DeviceError(
        f"{path}: the precompiled kernels in it cannot be read: {reason}",
        hint=f"install it again: {install_command(reinstall=True)}",
    )
