"""Choice of device and encoding for a run whose kernel comes from an image."""

from __future__ import annotations

import logging
import os

from syclade.host.chains.encodings import Encoding, make_encoding
from syclade.host.chains.kernel import chain_kernel
from syclade.host.chains.plan import Plan
from syclade.host.device.choice import choose_device, list_devices
from syclade.host.device.compile.image import TAILS, Image, cached_images, read_image
from syclade.host.device.device import Device
from syclade.host.device.engines import traits_of
from syclade.host.ground.errors import DeviceError, OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import path_of
from syclade.kernels.target.sycl_traits import TRAITS

__all__ = ["open_cached_image", "open_image"]

logger = logging.getLogger("syclade.devices")


def open_image(
    path: str | os.PathLike[str], device: str, encoding: str, plan: Plan
) -> tuple[Image, Device, Encoding]:
    """Read an image, and choose its device and encoding.

    Args:
        path: the file.
        device: as for `choose_device`; auto is the kind that the image is for.
        encoding: auto, or the name of the image's encoding.
        plan: plan of the chains; its problem must fit the image's capacities.

    Returns:
        The image, its device, and its encoding of the problem.

    Raises:
        DeviceError: the image cannot be used for this run, with the reason.
        OptionError: `encoding` is not the image's.
    """
    return _opened(read_image(path_of(f"image ({flag_of('image')})", path)), device, encoding, plan)


def open_cached_image(device: str, encoding: str, plan: Plan) -> tuple[Image, Device, Encoding] | None:
    """Look for a cached image that an FPGA card can run these chains with; see `open_image`.

    Args:
        device: auto, fpga, or a card's filter string; for any other device the result is None.
        encoding, plan: as for `open_image`.

    Returns:
        As `open_image`; None if no card is listed, or if no image both fits the plan and was made from its
        kernel.
    """
    paths = cached_images()
    cards = [one.filter for one in list_devices() if one.kind == "fpga"] if paths else []
    if not cards or device not in ("auto", "fpga", *cards):
        return None
    for path in paths:
        try:
            image = read_image(path)
            kernel = chain_kernel(plan, make_encoding(image.encoding)(plan.problem, TRAITS))
            if image.sources != kernel.sources:
                raise DeviceError(f"{path}: the image was not made from this syclade's kernels")
            found = _opened(image, device, encoding, plan)
        except (DeviceError, OptionError) as error:
            logger.debug("passing over a cached image: %s", error)
            continue
        logger.info("device %s (%s): an image for it is cached", found[1].filter, found[1].name)
        return found
    return None


def _opened(image: Image, device: str, encoding: str, plan: Plan) -> tuple[Image, Device, Encoding]:
    """See `open_image`."""
    if image.encoding == TAILS:
        raise DeviceError(
            f"{image.path}: the image is of a kernel of tails, not of chains", hint="use chain_steps.*.image"
        )
    chosen = _choose_device(image, device)
    if encoding not in ("auto", image.encoding):
        raise OptionError(
            f"{flag_of('encoding')} is {encoding}, and the image {image.path} is for {image.encoding}",
            hint=f"leave out {flag_of('encoding')}: the image decides",
        )
    made = make_encoding(image.encoding)(plan.problem, traits_of(chosen))
    image.fit(chain_kernel(plan, made), made)
    return image, chosen, made


def _choose_device(image: Image, wanted: str) -> Device:
    """Return the requested device if it is of the image's kind.

    A card is accepted even if it failed the probe: the probe compiles on the device, which no card can do.
    """
    wanted = image.kind if wanted == "auto" else wanted
    cards = [one for one in list_devices() if one.kind == "fpga" and wanted in ("fpga", one.filter)]
    chosen = cards[0] if cards else choose_device(wanted)
    if chosen.kind != image.kind:
        raise DeviceError(
            f"{image.path}: the image is for {image.kind}, not for {chosen.kind} ({chosen.name})",
            hint=f"use {flag_of('device')} {image.kind}, or another image",
        )
    return chosen
