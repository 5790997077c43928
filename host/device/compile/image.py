"""Images: precompiled kernels in files, for cards whose compiler takes hours and machines without a compiler.

An *image* is one line of JSON, which describes the kernel and the device that it runs on, followed by the
driver's binary. Drivers check little of their input: damaged machine code, or arrays larger than those that
the kernel was made for, would crash the process. Therefore the line has a digest of the whole content. For
cards, a vendor's own file (.aocx) is accepted, with the export's manifest.json beside it. That is untested,
because no card was available.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.native_binary import device_identity
from syclade.host.device.workarounds import opencl
from syclade.host.device.workarounds.opencl import opened_place, sycl_program
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.limits import read_bounded
from syclade.host.ground.spirv import is_spirv

if TYPE_CHECKING:
    from dpctl import SyclQueue
    from dpctl.program import SyclKernel

    from syclade.host.chains.encodings import Encoding

__all__ = [
    "ELF",
    "EXPORT_HINT",
    "IMAGE_KINDS",
    "MANIFEST",
    "STAGES",
    "TAILS",
    "UNREADABLE",
    "Image",
    "compiled_on",
    "content_of",
    "damaged",
    "described",
    "image_of",
    "make_image",
    "packed",
    "parts_of",
    "read_image",
    "read_manifest",
    "vendor_parts",
    "without_manifest",
]


logger = logging.getLogger("syclade.image")

IMAGE_KINDS = ("cpu", "fpga-emu")
"""Kinds of device that this machine can make an image for."""

TAILS = "tails"
"""In place of the name of an encoding: a kernel of tails, which has no sizes of trees."""

STAGES = "stages"
"""In place of the name of an encoding: the five stages of the macro-pipeline (stages_image.py)."""

_MAGIC = b'{"syclade_image": 1'
ELF = b"\x7fELF"

MANIFEST = "manifest.json"
"""Manifest of the export that a vendor's image was made from; it must be in the image's folder."""

MOST_BYTES = 2**31
"""Size limit, 2 GiB: larger than the configuration of any card."""
_CAPACITIES = ("nodes", "words", "cells")
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Exceptions raised for descriptions that are not JSON, are nested too deeply, or have unexpected types."""
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
    parts: Mapping[str, Any]
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
        if self.sources != kernel.sources:
            logger.warning("%s was not made from this syclade's kernels: results may differ", self.path)
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
        if any(self.constants[name] < needed[name] for name in _CAPACITIES):
            raise DeviceError(
                f"{self.path}: the image is for {_capacity(self.constants)}, the matrix needs "
                f"{_capacity(needed)}",
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
        if self.sources != kernel.sources:
            logger.warning("%s was not made from this syclade's kernels: results may differ", self.path)

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
    identity, binary = compiled_on(queue, module)
    line = {
        "syclade_image": 1,
        "kind": kind,
        "entry_point": kernel.name,
        "encoding": encoding,
        "constants": dict(kernel.constants),
        "arguments": [[argument.name, argument.dtype] for argument in kernel.arguments],
        "sources": kernel.sources,
        "parts": parts_of(kernel),
        "identity": identity,
    }
    return packed(line, binary)


def compiled_on(queue: SyclQueue, module: bytes) -> tuple[Mapping[str, str], bytes]:
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


def parts_of(kernel: Kernel) -> dict[str, Any]:
    """Return the parts of a kernel by name, as in JSON."""
    return {name: part if isinstance(part, str) else list(part) for name, part in kernel.parts.items()}


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
    content = content_of(path)
    if content.startswith(ELF):
        return _vendor_image(path, content)
    description, identity, binary = described(path, content)
    try:
        return image_of(path, description, description["kind"], description["sources"], identity, binary)
    except UNREADABLE as error:
        raise damaged(path, error) from error


def content_of(path: Path) -> bytes:
    """Return the content of an image or of a vendor's file.

    Raises:
        DeviceError: the file cannot be read, or is neither.
    """
    try:
        content = read_bounded(path, MOST_BYTES, begins=(ELF, _MAGIC))
    except OSError as error:
        raise DeviceError(f"{path}: the image cannot be read: {error.strerror or error}") from error
    if is_spirv(content):
        raise DeviceError(
            f"{path}: this is SPIR-V, not an image",
            hint="devices compile SPIR-V by themselves; " + EXPORT_HINT,
        )
    if not content.startswith((ELF, _MAGIC)):
        raise DeviceError(f"{path}: this is not an image", hint=EXPORT_HINT)
    return content


def described(path: Path, content: bytes) -> tuple[dict[str, Any], dict[str, str], bytes]:
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
    except UNREADABLE as error:
        raise damaged(path, error) from error
    return description, identity, binary


def damaged(path: Path, error: Exception) -> DeviceError:
    """Return the error for a damaged image."""
    return DeviceError(f"{path}: the image is damaged: {_reason(error)}", hint=EXPORT_HINT)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of the export that a vendor's image was made from."""
    manifest: dict[str, Any] = json.loads((path.parent / MANIFEST).read_text(encoding="utf-8"))
    return manifest


def vendor_parts(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the description of a kernel in a vendor's image, by the manifest."""
    (kernel,) = (one for one in manifest["kernels"] if one["name"] == name)
    arguments = [[argument["name"], argument["type"]] for argument in kernel["arguments"]]
    constants = {**kernel.get("constants", {}), **manifest["constants"]}
    own = {"encoding": manifest["encoding"], "constants": constants, "arguments": arguments}
    return {**kernel, **own}


def without_manifest(path: Path, error: Exception) -> DeviceError:
    """Return the error for a vendor's image without a manifest that describes it."""
    return DeviceError(
        f"{path}: a vendor's image needs the manifest.json of its export beside it: {_reason(error)}",
        hint="copy it there from the folder that `syclade export` wrote",
    )


def _vendor_image(path: Path, content: bytes) -> Image:
    """Return the image in a vendor's file, described by the manifest of the export that it was made from."""
    try:
        manifest = read_manifest(path)
        parts = vendor_parts(manifest, "chain_steps")
        return image_of(path, parts, "fpga", manifest["sources"], None, content)
    except (OSError, *UNREADABLE) as error:
        raise without_manifest(path, error) from error


def _reason(error: Exception) -> str:
    """Return what is wrong with a description."""
    return f"it lacks {error.args[0]}" if isinstance(error, KeyError) else str(error)


def image_of(
    path: Path,
    description: dict[str, Any],
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
        ValueError, and the other errors of UNREADABLE: the description is not one.
    """
    constants = {str(name): int(value) for name, value in description["constants"].items()}
    needed = set() if description["encoding"] == TAILS else {*_CAPACITIES, "lanes", "values"}
    missing = needed - set(constants)
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    arguments = tuple((str(name), str(dtype)) for name, dtype in description["arguments"])
    entry_point, encoding = str(description["entry_point"]), str(description["encoding"])
    parts = dict(description.get("parts", {}))
    return Image(
        path, str(kind), entry_point, encoding, constants, arguments, str(sources), parts, identity, binary
    )
