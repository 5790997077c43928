"""Images: precompiled kernels for cards, whose compilers take hours, and for machines without a compiler.

An image is checked before it replaces a kernel: drivers check little of their input, and arrays larger than
those that the kernel was made for would crash the process. Images of cards that a run has used are copied to
the user's cache, where later runs find them. `image_files` makes and reads the files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.program import device_identity
from syclade.host.device.workarounds import opencl
from syclade.host.device.workarounds.opencl import opened_place, sycl_program
from syclade.host.ground.cache import cache_folder, is_own, write_cached
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.values import Json, JsonObject

if TYPE_CHECKING:
    from dpctl import SyclQueue
    from dpctl.program import SyclKernel

    from syclade.host.chains.encodings import Encoding

__all__ = [
    "CAPACITIES", "EXPORT_HINT", "MANIFEST", "STAGES", "TAILS", "Image", "StagesImage", "cached_images",
    "parts_of", "store_image",
]  # fmt: skip

logger = logging.getLogger("syclade.image")

TAILS = "tails"
"""In place of the name of an encoding: a kernel of tails, which has no sizes of trees."""

STAGES = "stages"
"""In place of the name of an encoding: the five stages of the macro-pipeline."""

MANIFEST = "manifest.json"
"""Manifest of the export that a vendor's image was made from; it must be in the image's folder."""

CAPACITIES = ("nodes", "words", "cells")
"""Constants of a kernel that are most sizes, which a problem may stay below."""

EXPORT_HINT = "`syclade export` makes one for cpu or fpga-emu"


@dataclass(frozen=True)
class Image:
    """Precompiled kernel of chain steps, or of tails.

    Attributes:
        path: the file.
        kind: kind of device that it is for.
        entry_point: name of the kernel.
        encoding: name of the kernel's encoding of trees; or TAILS.
        constants: constants that the kernel is specialised for.
        arguments: name and type of each of its arguments.
        sources: digest of the device code that it was made from; empty if unknown.
        parts: the parts of its kernel by name, such as moves and score; empty if unknown.
        identity: device, driver and processor that it was made on; None for a vendor's own file.
        binary: the driver's binary, for clCreateProgramWithBinary.
    """

    path: Path
    kind: str
    entry_point: str
    encoding: str
    constants: Mapping[str, int]
    arguments: tuple[tuple[str, str], ...]
    sources: str
    parts: Mapping[str, Json]
    identity: Mapping[str, str] | None
    binary: bytes

    @property
    def key(self) -> str:
        """Key of the kernel that is loaded from the image."""
        origin = sorted((self.identity or {}).items())
        content = json.dumps([self.entry_point, self.sources, origin]).encode() + self.binary
        return f"image {hashlib.sha256(content).hexdigest()}"

    def fit(self, kernel: Kernel, encoding: Encoding) -> None:
        """Check that the image can replace a kernel, and give its constants to the encoding.

        The image's capacities may be larger than the problem needs.

        Args:
            kernel: the kernel that would be compiled without the image.
            encoding: the kernel's encoding; its `constants` are replaced.

        Raises:
            DeviceError: the image's kernel is a different one, or too small for the problem.
        """
        self.require_made_as(kernel, encoding)
        self.require_room(encoding.constants)
        _warn_of_others(self.path, self.sources != kernel.sources)
        encoding.constants = dict(self.constants)

    def require_made_as(self, kernel: Kernel, encoding: Encoding) -> None:
        """Check that the image's kernel has the parts and arguments of a kernel; its sizes may differ.

        Raises:
            DeviceError: it has not.
        """
        declared = tuple((argument.name, argument.dtype) for argument in kernel.arguments)
        same_make = (self.encoding, self.arguments) == (encoding.name, declared)
        same_make = same_make and self.parts in ({}, parts_of(kernel))
        if not same_make or self.constants["lanes"] != encoding.constants["lanes"]:
            raise DeviceError(
                f"{self.path}: the image's kernel is not the one that this syclade runs for these options",
                hint=EXPORT_HINT,
            )

    def require_room(self, needed: Mapping[str, int]) -> None:
        """Check that a problem fits.

        Args:
            needed: the constants of the problem's own kernel.

        Raises:
            DeviceError: the image is for other values, or too small.
        """
        if self.constants["values"] != needed["values"]:
            raise DeviceError(
                f"{self.path}: the image is for {_kinds(self.constants)}, the matrix has {_kinds(needed)}",
                hint="export with a matrix that has homozygous mutations as this one has, or has not",
            )
        if any(self.constants[name] < needed[name] for name in CAPACITIES):
            raise DeviceError(
                f"{self.path}: the image is for {_capacity(self.constants)}, the matrix needs one for "
                f"{_capacity(needed)} (sizes are in steps)",
                hint="export for more cells and mutations",
            )

    def fit_tails(self, kernel: Kernel) -> None:
        """Check that the image can replace a kernel of tails.

        Raises:
            DeviceError: the image's kernel is a different one.
        """
        declared = tuple((argument.name, argument.dtype) for argument in kernel.arguments)
        if (self.encoding, self.entry_point, self.arguments) != (TAILS, kernel.name, declared):
            raise DeviceError(f"{self.path}: the image's kernel is not {kernel.name}", hint=EXPORT_HINT)
        _warn_of_others(self.path, self.sources != kernel.sources)

    def kernel(self, queue: SyclQueue) -> SyclKernel:
        """Return a `dpctl.program.SyclKernel` of the image on a queue's device.

        Raises:
            DeviceError: the image was made for another device, driver or processor, or the driver refuses it.
        """
        device = queue.sycl_device
        self._check_identity(device_identity(device))
        with opened_place(queue) as place:
            if place is None:
                raise DeviceError(f"{device.name.strip()} takes no images: it is no OpenCL device")
            try:
                program = opencl.program_from_binary(place, self.binary)
            except opencl.OpenCLError as error:
                raise DeviceError(
                    f"{self.path}: {device.name.strip()} refuses the image: {error}", hint=EXPORT_HINT
                ) from error
            try:
                names = opencl.kernel_names(program)
                if self.entry_point not in names:
                    raise DeviceError(
                        f"{self.path}: the image has no kernel {self.entry_point}, but {', '.join(names)}"
                    )
                return sycl_program(queue, program).get_sycl_kernel(self.entry_point)
            finally:
                opencl.release(program)

    def _check_identity(self, found: Mapping[str, str] | None) -> None:
        if self.identity is None:
            logger.warning("%s is a vendor's image, which was never tested with syclade", self.path)
            return
        for part, made_for in self.identity.items():
            if found is None or found.get(part) != made_for:
                here = "unknown" if found is None else found.get(part)
                raise DeviceError(
                    f"{self.path}: the image is for the {part} {made_for}, and here it is {here}",
                    hint=EXPORT_HINT,
                )


def _kinds(constants: Mapping[str, int]) -> str:
    return f"{constants['values']} kinds of observed values"


def _capacity(constants: Mapping[str, int]) -> str:
    return f"up to {constants['nodes'] - 1} mutations and {constants['cells']} distinct columns"


@dataclass(frozen=True)
class StagesImage:
    """Precompiled stages.

    Attributes:
        path: the file.
        kind: kind of device that it is for.
        constants: sizes that the stages are specialised for.
        images: an image of each stage, by the name of its kernel, in order.
    """

    path: Path
    kind: str
    constants: Mapping[str, int]
    images: Mapping[str, Image]

    def fit(self, kernels: Sequence[Kernel], encoding: Encoding) -> None:
        """Check that the image can replace all stages, and give its constants to the encoding.

        Args:
            kernels: the stages that would be compiled without the image.
            encoding: their encoding; its `constants` are replaced. Those of the image may be larger.

        Raises:
            DeviceError: a stage is missing or is a different one, or the image is too small for the problem.
        """
        for kernel in kernels:
            image = self.images.get(kernel.name)
            if image is None:
                raise DeviceError(f"{self.path}: the image has no {kernel.name}", hint=EXPORT_HINT)
            image.require_made_as(kernel, encoding)
            counted = {
                name: kernel.constants[name] for name in ("kinds", "learned") if name in kernel.constants
            }
            if any(image.constants.get(name) != number for name, number in counted.items()):
                raise DeviceError(
                    f"{self.path}: the image is for other moves or rates than this run has", hint=EXPORT_HINT
                )
            image.require_room(encoding.constants)
        others = any(self.images[kernel.name].sources != kernel.sources for kernel in kernels)
        _warn_of_others(self.path, others)
        encoding.constants = dict(self.constants)


def _warn_of_others(path: Path, are_others: bool) -> None:
    """Warn if an image was made from other sources than those of the kernels."""
    if are_others:
        logger.warning("%s was not made from this syclade's kernels: results may differ", path)


def parts_of(kernel: Kernel) -> JsonObject:
    """Return the parts of a kernel by name, as in JSON."""
    return {name: part if isinstance(part, str) else list(part) for name, part in kernel.parts.items()}


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
