"""Image files: made on a device, and read.

An *image* is one line of JSON, which describes the kernel and the device that it runs on, followed by the
driver's binary. Damaged machine code would crash the process; therefore the line has a digest of the whole
content. An image of the five stages of the macro-pipeline (`--stages separate`) has a list of them in its
line, followed by their binaries in this order. For cards, a vendor's own file (.aocx) is accepted, with the
export's manifest.json beside it; it has all kernels of the export. That is untested, because no card was
available.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.device.compile.image import (
    CAPACITIES,
    EXPORT_HINT,
    MANIFEST,
    STAGES,
    TAILS,
    Image,
    StagesImage,
    parts_of,
)
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.program import device_identity
from syclade.host.device.workarounds import opencl
from syclade.host.device.workarounds.opencl import opened_place
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.limits import read_bounded
from syclade.host.ground.spirv import is_spirv
from syclade.host.ground.values import ParsedJson

if TYPE_CHECKING:
    from dpctl import SyclQueue

__all__ = ["IMAGE_KINDS", "make_image", "make_stages_image", "packed", "read_image", "read_stages_image"]

IMAGE_KINDS = ("cpu", "fpga-emu")
"""Kinds of device that this machine can make an image for."""

_MAGIC = b'{"syclade_image": 1'
_ELF = b"\x7fELF"

_MOST_BYTES = 2**31
"""Size limit, 2 GiB: larger than the configuration of any card."""

_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions raised for descriptions that are not JSON, are nested too deeply, or have unexpected types."""


def make_image(queue: SyclQueue, kind: str, encoding: str, kernel: Kernel, module: bytes) -> bytes:
    """Compile a SPIR-V module with a device's own driver into an image.

    Args:
        queue: queue of the device.
        kind: kind of the device.
        encoding: name of the kernel's encoding; or TAILS.
        kernel: kernel of the module; the module's one entry point has the kernel's name.
        module: the SPIR-V module.

    Returns:
        The content of the image.

    Raises:
        DeviceError: no image can be made on the device, or its driver cannot compile the module.
    """
    identity, binary = _compiled_on(queue, module)
    described = _description_of(kernel, encoding, kernel.constants)
    return packed({"syclade_image": 1, "kind": kind, **described, "identity": identity}, binary)


def _description_of(kernel: Kernel, encoding: str, constants: Mapping[str, int]) -> dict[str, object]:
    """Return the fields that describe a kernel, as in JSON."""
    return {
        "entry_point": kernel.name,
        "encoding": encoding,
        "constants": dict(constants),
        "arguments": [[argument.name, argument.dtype] for argument in kernel.arguments],
        "sources": kernel.sources,
        "parts": parts_of(kernel),
    }


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
    compiled = [_compiled_on(queue, module) for _, module in stages]
    binaries = [binary for _, binary in compiled]
    described = [
        {**_description_of(kernel, encoding, {**constants, **kernel.constants}), "bytes": len(binary)}
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
        "stages": described,
        "identity": compiled[0][0],
    }
    return packed(line, b"".join(binaries))


def _compiled_on(queue: SyclQueue, module: bytes) -> tuple[Mapping[str, str], bytes]:
    """Return the identity of a queue's device, and its driver's binary of a SPIR-V module.

    Raises:
        DeviceError: no image can be made on the device, or its driver cannot compile the module.
    """
    identity = device_identity(queue.sycl_device)
    with opened_place(queue) as place:
        if place is None or identity is None:
            raise DeviceError(f"no image can be made on {queue.sycl_device.name.strip()}")
        try:
            program = opencl.program_from_spirv(place, module)
        except opencl.OpenCLError as error:
            raise DeviceError(
                f"{queue.sycl_device.name.strip()} cannot compile the kernel: {error}"
            ) from error
        binary = opencl.binary_of(program)
        opencl.release(program)
    if not binary:
        raise DeviceError(
            f"the driver of {queue.sycl_device.name.strip()} does not return the compiled kernel"
        )
    return identity, binary


def packed(description: Mapping[str, object], binary: bytes) -> bytes:
    """Return the content of an image.

    Args:
        description: the fields of its JSON line, without the digest.
        binary: the driver's binary.
    """
    return json.dumps({**description, "sha256": _digest(description, binary)}).encode() + b"\n" + binary


def _digest(description: Mapping[str, object], binary: bytes) -> str:
    """Return the digest of an image's binary and of the fields of its line, without the digest itself."""
    described = {name: value for name, value in description.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode() + b"\n" + binary).hexdigest()


def read_image(path: Path) -> Image:
    """Read an image, or a vendor's file with an export's manifest.json beside it.

    Raises:
        DeviceError: the file cannot be read, is not an image, or is damaged.
    """
    content = _content_of(path)
    if content.startswith(_ELF):
        return _vendor_image(path, content)
    description, identity, binary = _described(path, content)
    try:
        return _image_of(path, description, description["kind"], description["sources"], identity, binary)
    except _UNREADABLE as error:
        raise _damaged(path, error) from error


def _content_of(path: Path) -> bytes:
    """Return the content of an image or of a vendor's file.

    Raises:
        DeviceError: the file cannot be read, or is neither.
    """
    try:
        content = read_bounded(path, _MOST_BYTES, begins=(_ELF, _MAGIC))
    except OSError as error:
        raise DeviceError(f"{path}: the image cannot be read: {error.strerror or error}") from error
    if is_spirv(content):
        raise DeviceError(
            f"{path}: this is SPIR-V, not an image",
            hint="devices compile SPIR-V by themselves; " + EXPORT_HINT,
        )
    if not content.startswith((_ELF, _MAGIC)):
        raise DeviceError(f"{path}: this is not an image", hint=EXPORT_HINT)
    return content


def _described(path: Path, content: bytes) -> tuple[dict[str, ParsedJson], dict[str, str], bytes]:
    """Return an image's description, the identity of its device, and its binary.

    Raises:
        DeviceError: the image is damaged.
    """
    line, _, binary = content.partition(b"\n")
    try:
        description = json.loads(line)
        if description["sha256"] != _digest(description, binary):
            raise ValueError("its content is not what it was")
        identity = {str(part): str(value) for part, value in description["identity"].items()}
    except _UNREADABLE as error:
        raise _damaged(path, error) from error
    return description, identity, binary


def _damaged(path: Path, error: Exception) -> DeviceError:
    """Return the error for a damaged image."""
    return DeviceError(f"{path}: the image is damaged: {_reason(error)}", hint=EXPORT_HINT)


def _read_manifest(path: Path) -> dict[str, ParsedJson]:
    """Return the manifest of the export that a vendor's image was made from."""
    manifest: dict[str, ParsedJson] = json.loads((path.parent / MANIFEST).read_text(encoding="utf-8"))
    return manifest


def _vendor_parts(manifest: Mapping[str, ParsedJson], name: str) -> dict[str, ParsedJson]:
    """Return the description of a kernel in a vendor's image, by the manifest."""
    (kernel,) = (one for one in manifest["kernels"] if one["name"] == name)
    arguments = [[argument["name"], argument["type"]] for argument in kernel["arguments"]]
    constants = {**kernel.get("constants", {}), **manifest["constants"]}
    own = {"encoding": manifest["encoding"], "constants": constants, "arguments": arguments}
    return {**kernel, **own}


def _without_manifest(path: Path, error: Exception) -> DeviceError:
    """Return the error for a vendor's image without a manifest that describes it."""
    return DeviceError(
        f"{path}: a vendor's image needs the manifest.json of its export beside it: {_reason(error)}",
        hint="copy it there from the folder that `syclade export` wrote",
    )


def _vendor_image(path: Path, content: bytes) -> Image:
    """Return the image in a vendor's file, described by the manifest of the export that it was made from."""
    try:
        manifest = _read_manifest(path)
        parts = _vendor_parts(manifest, "chain_steps")
        return _image_of(path, parts, "fpga", manifest["sources"], None, content)
    except (OSError, *_UNREADABLE) as error:
        raise _without_manifest(path, error) from error


def _reason(error: Exception) -> str:
    """Return what is wrong with a description."""
    return f"it lacks {error.args[0]}" if isinstance(error, KeyError) else str(error)


def _image_of(
    path: Path,
    description: dict[str, ParsedJson],
    kind: str,
    sources: str,
    identity: Mapping[str, str] | None,
    binary: bytes,
) -> Image:
    """Return an image by its description.

    Args:
        path, kind, sources, identity, binary: as in `Image`.
        description: the other fields, as in JSON.

    Raises:
        ValueError, and the other errors of _UNREADABLE: the description is not one.
    """
    constants = {str(name): int(value) for name, value in description["constants"].items()}
    needed = set() if description["encoding"] == TAILS else {*CAPACITIES, "lanes", "values"}
    missing = needed - set(constants)
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    arguments = tuple((str(name), str(dtype)) for name, dtype in description["arguments"])
    entry_point, encoding = str(description["entry_point"]), str(description["encoding"])
    parts = dict(description.get("parts", {}))
    return Image(
        path, str(kind), entry_point, encoding, constants, arguments, str(sources), parts, identity, binary
    )


def read_stages_image(path: Path, names: Sequence[str]) -> StagesImage:
    """Read an image of stages, or a vendor's file with an export's manifest.json beside it.

    Args:
        path: the file.
        names: names of the stages in a manifest.

    Raises:
        DeviceError: the file cannot be read, is not an image of stages, or is damaged.
    """
    content = _content_of(path)
    if content.startswith(_ELF):
        return _vendor_stages(path, content, names)
    description, identity, binary = _described(path, content)
    if description.get("encoding") != STAGES:
        raise DeviceError(
            f"{path}: the image is of one kernel, not of the stages", hint="use stages.*.image of an export"
        )
    try:
        images = _split(path, description, identity, binary)
        constants = {str(name): int(value) for name, value in description["constants"].items()}
        return StagesImage(path, str(description["kind"]), constants, images)
    except _UNREADABLE as error:
        raise _damaged(path, error) from error


def _split(
    path: Path, description: Mapping[str, ParsedJson], identity: Mapping[str, str], binary: bytes
) -> dict[str, Image]:
    """Return the images of the stages, by the name of the kernel."""
    stages = list(description["stages"])
    sizes = [int(one["bytes"]) for one in stages]
    if not sizes or min(sizes) < 0 or sum(sizes) != len(binary):
        raise ValueError("its stages do not fill it")
    found, kind = {}, description["kind"]
    for one, size, end in zip(stages, sizes, accumulate(sizes), strict=True):
        image = _image_of(path, one, kind, one["sources"], identity, binary[end - size : end])
        found[image.entry_point] = image
    return found


def _vendor_stages(path: Path, content: bytes, names: Sequence[str]) -> StagesImage:
    """Return the stages in a vendor's file, described by the manifest of the export that it was made from."""
    try:
        manifest = _read_manifest(path)
        parts = [_vendor_parts(manifest, name) for name in names]
        images = [_image_of(path, one, "fpga", manifest["sources"], None, content) for one in parts]
        constants = {str(name): int(value) for name, value in manifest["constants"].items()}
        return StagesImage(path, "fpga", constants, {image.entry_point: image for image in images})
    except (OSError, *_UNREADABLE) as error:
        raise _without_manifest(path, error) from error
