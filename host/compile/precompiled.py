"""Which device and encoding a run takes when its kernel comes from an image."""

from __future__ import annotations

import os

from syclade.host.chains.kernel import chain_kernel
from syclade.host.chains.plan import Plan
from syclade.host.compile.image import Image, read_image
from syclade.host.devices.choice import choose_device, list_devices
from syclade.host.devices.device import Device
from syclade.host.devices.targets import traits_of
from syclade.host.encodings import Encoding, make_encoding
from syclade.host.errors import DeviceError, OptionError
from syclade.host.values import path_of

__all__ = ["open_image"]


def open_image(
    path: str | os.PathLike[str], device: str, encoding: str, plan: Plan
) -> tuple[Image, Device, Encoding]:
    """Read an image, and choose what goes with it.

    Args:
        path: the file.
        device: as for `choose_device`; auto is the kind that the image is for.
        encoding: auto, or the name of the image's own.
        plan: its problem must fit the image's capacities.

    Returns:
        The image, its device, and its encoding of the problem.

    Raises:
        DeviceError: the image cannot be used for this, with the reason.
        OptionError: another encoding was asked for.
    """
    image = read_image(path_of("image (--image)", path))
    chosen = _choose_device(image, device)
    if encoding not in ("auto", image.encoding):
        raise OptionError(
            f"--encoding is {encoding}, and the image {image.path} is for {image.encoding}",
            hint="leave out --encoding: the image decides",
        )
    made = make_encoding(image.encoding)(plan.problem, traits_of(chosen))
    image.fit(chain_kernel(plan, made), made)
    return image, chosen, made


def _choose_device(image: Image, wanted: str) -> Device:
    """The device that is asked for, if it is of the image's kind.

    A card is taken although it failed the probe, which tries to compile there: that no card can.
    """
    wanted = image.kind if wanted == "auto" else wanted
    cards = [one for one in list_devices() if one.kind == "fpga" and wanted in ("fpga", one.filter)]
    chosen = cards[0] if cards else choose_device(wanted)
    if chosen.kind != image.kind:
        raise DeviceError(
            f"{image.path}: the image is for {image.kind}, not for {chosen.kind} ({chosen.name})",
            hint=f"use --device {image.kind}, or another image",
        )
    return chosen
