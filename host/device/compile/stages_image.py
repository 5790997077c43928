"""Images of the five stages: one file with all of them, for `--stages separate`.

An image of stages is one line of JSON, as that of a single kernel (image.py), with a list of the stages,
followed by their binaries in this order. A vendor's file has all kernels of an export, the stages included.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.device.compile.image import (
    ELF,
    EXPORT_HINT,
    STAGES,
    UNREADABLE,
    Image,
    compiled_on,
    content_of,
    damaged,
    described,
    image_of,
    packed,
    parts_of,
    read_manifest,
    vendor_parts,
    without_manifest,
)
from syclade.host.device.compile.kernel import Kernel
from syclade.host.ground.errors import DeviceError

if TYPE_CHECKING:
    from dpctl import SyclQueue

    from syclade.host.chains.encodings import Encoding

__all__ = ["StagesImage", "make_stages_image", "read_stages_image"]

logger = logging.getLogger("syclade.image")


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
        if any(self.images[kernel.name].sources != kernel.sources for kernel in kernels):
            logger.warning("%s was not made from this syclade's kernels: results may differ", self.path)
        encoding.constants = dict(self.constants)


def make_stages_image(
    queue: SyclQueue,
    kind: str,
    encoding: str,
    constants: Mapping[str, int],
    stages: Sequence[tuple[Kernel, bytes]],
) -> bytes:
    """Compile the SPIR-V modules of the stages with a device's own driver into one image.

    Args:
        queue: queue of the device.
        kind: kind of the device.
        encoding: name of the encoding.
        constants: sizes that the stages are specialised for.
        stages: each stage with its module, whose one entry point has the kernel's name.

    Returns:
        The content of the image.

    Raises:
        DeviceError: no image can be made on the device, or its driver cannot compile a module.
    """
    compiled = [compiled_on(queue, module) for _, module in stages]
    binaries = [binary for _, binary in compiled]
    described_stages = [
        {
            "entry_point": kernel.name,
            "encoding": encoding,
            "constants": {**constants, **kernel.constants},
            "arguments": [[argument.name, argument.dtype] for argument in kernel.arguments],
            "sources": kernel.sources,
            "parts": parts_of(kernel),
            "bytes": len(binary),
        }
        for (kernel, _), binary in zip(stages, binaries, strict=True)
    ]
    line = {
        "syclade_image": 1,
        "kind": kind,
        "entry_point": "",
        "encoding": STAGES,
        "constants": dict(constants),
        "arguments": [],
        "sources": "",
        "stages": described_stages,
        "identity": compiled[0][0],
    }
    return packed(line, b"".join(binaries))


def read_stages_image(path: Path, names: Sequence[str]) -> StagesImage:
    """Read an image of stages, or a vendor's file with an export's manifest.json beside it.

    Args:
        path: the file.
        names: names of the stages in a manifest.

    Raises:
        DeviceError: the file cannot be read, is not an image of stages, or is damaged.
    """
    content = content_of(path)
    if content.startswith(ELF):
        return _vendor_stages(path, content, names)
    description, identity, binary = described(path, content)
    if description.get("encoding") != STAGES:
        raise DeviceError(
            f"{path}: the image is of one kernel, not of the stages", hint="use stages.*.image of an export"
        )
    try:
        images = _split(path, description, identity, binary)
        constants = {str(name): int(value) for name, value in description["constants"].items()}
        return StagesImage(path, str(description["kind"]), constants, images)
    except UNREADABLE as error:
        raise damaged(path, error) from error


def _split(
    path: Path, description: Mapping[str, Any], identity: Mapping[str, str], binary: bytes
) -> dict[str, Image]:
    """Return the images of the stages, by the name of the kernel."""
    described_stages = list(description["stages"])
    ends = list(accumulate(int(one["bytes"]) for one in described_stages))
    if any(int(one["bytes"]) < 0 for one in described_stages) or ends[-1:] != [len(binary)]:
        raise ValueError("its stages do not fill it")
    found = [
        image_of(
            path, one, description["kind"], one["sources"], identity, binary[end - int(one["bytes"]) : end]
        )
        for one, end in zip(described_stages, ends, strict=True)
    ]
    return {image.entry_point: image for image in found}


def _vendor_stages(path: Path, content: bytes, names: Sequence[str]) -> StagesImage:
    """Return the stages in a vendor's file, described by the manifest of the export that it was made from."""
    try:
        manifest = read_manifest(path)
        parts = [vendor_parts(manifest, name) for name in names]
        images = [image_of(path, one, "fpga", manifest["sources"], None, content) for one in parts]
        constants = {str(name): int(value) for name, value in manifest["constants"].items()}
        return StagesImage(path, "fpga", constants, {image.entry_point: image for image in images})
    except (OSError, *UNREADABLE) as error:
        raise without_manifest(path, error) from error
