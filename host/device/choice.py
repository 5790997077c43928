"""Choice of a device: the requested one, or the best that can run."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from syclade.host.device.cores import limit_drivers
from syclade.host.device.device import KINDS, NUMPY, PYTHON, Device, native_device, own_devices
from syclade.host.device.device_cache import recall, remember, stack_versions
from syclade.host.device.survey import Survey, survey, try_again
from syclade.host.device.workarounds import prepare
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.install import SYCL_PLATFORM, install_command
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import shown

__all__ = ["choose_device", "known_devices", "list_devices"]

logger = logging.getLogger("syclade.devices")

AUTO_ORDER = ("cpu", "gpu", "native", "fpga-emu", "numpy")
"""Kinds of devices, best first.

An FPGA card comes before all of them if an image for it is given or cached (`backends/images.py`). It
cannot be used without an image.
"""

_LOOK_AGAIN = "`syclade devices` tries every device again and reports what is wrong"


def known_devices(*, refresh: bool = False) -> Survey:
    """Return the survey of the SYCL devices, from the cache or made now.

    Args:
        refresh: ignore the cached survey, and make a new one.
    """
    limit_drivers()
    versions = stack_versions()
    if versions is None:
        command = install_command("sycl")
        words = f"the SYCL stack is not installed ({command}; {SYCL_PLATFORM})"
        return Survey((), words, absent=True)
    found = None if refresh else recall(versions)
    if found is None:
        found = survey()
        remember(versions, found)
    return found


def list_devices() -> list[Device]:
    """Return all devices, usable or not: SYCL devices, this processor by numba, and numpy last."""
    return [*known_devices().devices, *own_devices()]


def choose_device(wanted: str = "auto") -> Device:
    """Return the requested device.

    The cause of a cached failure may be gone (a memory limit, a busy machine). If a cached failure would
    affect the choice, the device is tested again first.

    Args:
        wanted: auto, a kind (cpu, fpga-emu, fpga, gpu, native, python, numpy) or a dpctl filter string.

    Raises:
        DeviceError: the explicitly requested device cannot be used, with the reason.
    """
    limit_drivers()
    if not isinstance(wanted, str):
        raise DeviceError(
            f"the device is {shown(wanted)}, which is not a text",
            hint="use auto, or what `syclade devices` lists",
        )
    if wanted in ("numpy", "python"):
        return NUMPY if wanted == "numpy" else PYTHON
    if wanted == "native":
        return _first_usable(wanted, [native_device()])
    found = known_devices()
    return _best(found) if wanted == "auto" else _matching(wanted, found)


def _matching(wanted: str, found: Survey) -> Device:
    """Return the first usable device among those that an explicit request matches."""
    names = {one.filter for one in found.devices if wanted in (one.kind, one.filter)}
    if not names and wanted not in KINDS:
        names = {one.filter for one in found.devices if one.filter == _resolve(wanted)}
    if not names:
        raise DeviceError(
            f"there is no device {wanted!r}" + (f": {found.problem}" if found.problem else ""),
            hint="`syclade devices` tries every device again and lists them; "
            f"{flag_of('device', 'numpy')} always works",
        )
    matching = [one for one in found.devices if one.filter in names]
    if not any(one.usable for one in matching):
        found = _tried_again(found, matching)
        matching = [one for one in found.devices if one.filter in names]
    return _first_usable(wanted, matching)


def _first_usable(wanted: str, matching: list[Device]) -> Device:
    usable = [device for device in matching if device.usable]
    if not usable:
        raise DeviceError(
            f"device {wanted!r} ({matching[0].name}) cannot run: {matching[0].reason}",
            hint=f"{flag_of('device')} auto takes the best that can",
        )
    logger.info("device %s (%s), as requested", usable[0].filter, usable[0].name)
    return usable[0]


def _best(found: Survey) -> Device:
    """Return the first usable device in AUTO_ORDER; log the choice and its reason."""
    device, passed_over = _first_in_order(found)
    if passed_over:
        found = _tried_again(found, passed_over)
        device, passed_over = _first_in_order(found)
    broken = found.problem is not None and not found.absent
    if passed_over or broken or device.kind == "numpy":
        reasons = [f"{one.filter}: {one.reason}" for one in passed_over]
        why = "; ".join([*([found.problem] if found.problem else []), *reasons])
        slower = ", which is slower" if device.kind == "numpy" else ""
        logger.warning("falling back to %s%s: %s (%s)", device.filter, slower, why, _LOOK_AGAIN)
    else:
        logger.info("device %s (%s): the best usable kind is %s", device.filter, device.name, device.kind)
    return device


def _first_in_order(found: Survey) -> tuple[Device, list[Device]]:
    """Return the first usable device, and the unusable ones that come before it."""
    passed_over: list[Device] = []
    every = [*found.devices, *own_devices()]
    for kind in AUTO_ORDER:
        for device in every:
            if device.kind == kind:
                if device.usable:
                    return device, passed_over
                passed_over.append(device)
    raise AssertionError("numpy is always usable")


def _tried_again(found: Survey, devices: Sequence[Device]) -> Survey:
    """Return the survey after testing some SYCL devices again, if it comes from the cache."""
    names = {one.filter for one in devices} & {one.filter for one in found.devices}
    versions = stack_versions()
    if not found.remembered or not names or versions is None:
        return found
    again = try_again(found.devices, names)
    remember(versions, again)
    return again


def _resolve(wanted: str) -> str | None:
    """Return the full filter string for a shorter one, such as `cpu:0` or `opencl:cpu`; None if invalid."""
    try:
        return str(prepare().SyclDevice(wanted).filter_string)
    except Exception:  # dpctl's exceptions differ between versions
        return None
