"""Archives of precompiled kernels: kernels whose code is alike, compressed together.

Kernels of one family differ little, so a family takes little more space than one kernel. A kernel is reached
by decompressing what precedes it, so a family has at most some 8 MB, which take 30 ms.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path

from syclade.host.device.compile.precompiled import MANIFEST, Precompiled
from syclade.host.device.cores import usable_cores

__all__ = ["Compiled", "archive_of", "read_archives", "write_archives"]

_VARIANTS = ("zygosity", "guided")
"""Words of a kernel's name that make a family of their own, because its code is different enough."""


@dataclass(frozen=True)
class Compiled:
    """A compiled kernel.

    Attributes:
        name, made_for, key, entry_point: as in `Precompiled`.
        content: SPIR-V or object file.
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
    """Return (versions of the compilers, kernels); without those that are missing or damaged."""
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
