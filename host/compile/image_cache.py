"""Images of FPGA cards in the user's cache: a later run takes the card without naming the file again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.compile.cache import cache_folder, write_cached

if TYPE_CHECKING:
    from syclade.host.compile.image import Image

__all__ = ["MANIFEST", "cached_images", "keep_image"]

MANIFEST = "manifest.json"
"""Of the export that a vendor's image was made from; it has to be in the same folder."""

_FOLDER = "images"


def keep_image(image: Image) -> None:
    """Copy an image to the cache, and the manifest beside a vendor's; only those of cards are kept."""
    if image.kind != "fpga":
        return
    place = f"{_FOLDER}/{image.key.removeprefix('image ')[:32]}"
    if (cache_folder() / place / image.path.name).exists():
        return
    manifest = image.path.parent / MANIFEST
    try:
        if image.identity is None:
            write_cached(f"{place}/{MANIFEST}", manifest.read_bytes())
        write_cached(f"{place}/{image.path.name}", image.path.read_bytes())  # last: nothing is half there
    except OSError:
        return  # a file that was replaced meanwhile: the run has what it needs


def cached_images() -> list[Path]:
    """The images that were kept, the newest first."""
    files = [path for path in (cache_folder() / _FOLDER).glob("*/*") if path.name != MANIFEST]
    return sorted(files, key=lambda path: (-path.stat().st_mtime, path))
