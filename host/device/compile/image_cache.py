"""Images of cards in the user's cache, where later runs find them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from syclade.host.device.compile.image import MANIFEST, Image
from syclade.host.ground.cache import cache_folder, is_own, write_cached

__all__ = ["cached_images", "store_image"]

_FOLDER = "images"


def store_image(image: Image) -> None:
    """Copy an image to the cache, with the manifest if it is a vendor's; only images for cards are copied."""
    if image.kind != "fpga":
        return
    place = f"{_FOLDER}/{image.key.removeprefix('image ')[:32]}"
    if (cache_folder() / place / image.path.name).exists():
        return
    manifest = image.path.parent / MANIFEST
    try:
        if image.identity is None:
            write_cached(f"{place}/{MANIFEST}", manifest.read_bytes())
        write_cached(f"{place}/{image.path.name}", image.path.read_bytes())  # last: it implies the manifest
    except OSError:
        return  # a file was removed meanwhile; the run has already read it


def cached_images() -> list[Path]:
    """Return the paths of the cached images, newest first."""
    ages = []
    for path in (cache_folder() / _FOLDER).glob("*/*"):
        with contextlib.suppress(OSError):  # another process has removed it
            if path.name != MANIFEST and is_own(path):
                ages.append((-path.stat().st_mtime, path))
    return [path for _, path in sorted(ages)]
