"""Precompiled kernels: part of the package, so that even the first run does not wait for a compiler.

They serve many sizes (`host/chains/encodings/preorder_forms.py`). Each is looked up by a digest of its
sources, so a kernel whose sources have changed since is never used. `host/commands/ship/` compiles them.
"""

from __future__ import annotations

import json
import lzma
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.kernel_sources import digest_of

__all__ = [
    "MAKERS",
    "MANIFEST",
    "PROCESSORS",
    "SPIRV",
    "find_shipped",
    "is_shipped",
    "own_processor",
    "ship_key",
    "shipped",
]

MANIFEST = "manifest.json"

SPIRV = "spirv"
"""Target SPIR-V, which drivers of SYCL devices translate."""

PROCESSORS = {
    "x86_64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "bmi", "bmi2", "fma"},
    "x86_64-v3": {"avx2", "bmi", "bmi2", "fma", "lzcnt", "movbe", "f16c"},
    "aarch64": set(),
}
"""Processors with precompiled machine code (Linux only), with the features that each must have."""

MAKERS = {SPIRV: "syclade.kernels.target.sycl"} | dict.fromkeys(
    PROCESSORS, "syclade.kernels.target.native.compiler"
)
"""Module that compiles the kernels, by target."""


def find_shipped(kernel: Kernel, made_for: str) -> tuple[str, bytes] | None:
    """Return (entry point, SPIR-V or object file); None if no precompiled kernel has these sources.

    Args:
        kernel: the kernel.
        made_for: SPIRV or one of PROCESSORS.
    """
    entry = _by_key().get((ship_key(kernel, made_for), made_for))
    if entry is None:
        return None
    content = (_folder() / entry["file"]).read_bytes()
    return entry["entry_point"], lzma.decompress(content)


def is_shipped(kernel: Kernel, made_for: str) -> bool:
    """Return whether `find_shipped` finds the kernel."""
    return (ship_key(kernel, made_for), made_for) in _by_key()


def shipped() -> list[dict[str, Any]]:
    """Return the manifest's entries of all precompiled kernels; empty if there is no readable manifest."""
    try:
        told = json.loads((_folder() / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    found: list[dict[str, Any]] = told["kernels"]
    return found


def ship_key(kernel: Kernel, made_for: str) -> str:
    """Return the key of a precompiled kernel, which depends on its sources and on those of the target."""
    return kernel.key([digest_of((MAKERS[made_for],))])


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
def _by_key() -> dict[tuple[str, str], dict[str, Any]]:
    return {(entry["key"], entry["for"]): entry for entry in shipped()}


def _folder() -> Path:
    return Path(__file__).resolve().parent / "kernels"
