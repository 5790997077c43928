"""Choice of devices: the requested ones, or the best that can run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from syclade.host.device.device import (
    KINDS,
    NUMPY,
    PYTHON,
    Device,
    is_gpu,
    limit_drivers,
    native_device,
    own_devices,
)
from syclade.host.device.survey import (
    Survey,
    cache_survey,
    cached_survey,
    selection_words,
    stack_versions,
    survey,
    try_again,
)
from syclade.host.device.workarounds import prepare
from syclade.host.ground.errors import DeviceError, DeviceMemoryError, OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.packages import SYCL_PLATFORM, install_command
from syclade.host.ground.values import device_name, shown

if TYPE_CHECKING:
    from dpctl import SyclDevice, SyclQueue

__all__ = [
    "Devices",
    "Several",
    "choose_device",
    "devices",
    "first_of",
    "known_devices",
    "list_devices",
    "open_first",
    "split_devices",
]


logger = logging.getLogger("syclade.devices")

AUTO_ORDER = ("cpu", "gpu", "native", "fpga-emu", "numpy")
"""Kinds of devices, best first.

An FPGA card comes before all of them if an image for it is given or cached (`backends/opening.py`). It
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
    found = None if refresh else cached_survey(versions)
    if found is None:
        found = survey()
        cache_survey(versions, found)
    return found


def list_devices() -> list[Device]:
    """Return all devices, usable or not: SYCL devices, this processor by numba, and numpy last."""
    return [*known_devices().devices, *own_devices()]


def devices(*, refresh: bool = False) -> list[Device]:
    """Return all devices, usable or not: SYCL devices, NVIDIA GPUs, this processor by numba, and numpy last.

    In a plain environment, dpctl does not import before its libraries are loaded (libintlc.so.5). This
    function loads them, so that ``import dpctl`` works after it, also where it failed before.

    Args:
        refresh: whether to test every device again, as `syclade devices` does, in place of cached results.
    """
    from syclade.host.device.cuda import listed_gpus

    with suppress(DeviceError):  # without the stack there are other devices
        prepare()
    return [*known_devices(refresh=refresh).devices, *listed_gpus(), *own_devices()]


def choose_device(wanted: str | SyclDevice | SyclQueue = "auto") -> Device:
    """Return the requested device.

    The cause of a cached failure may be gone (a memory limit, a busy machine). If a cached failure would
    affect the choice, the device is tested again first; if the cache does not list it, all are listed again.

    Args:
        wanted: auto, a kind (cpu, fpga-emu, fpga, gpu, cuda, native, python, numpy), a dpctl filter string,
            an NVIDIA GPU by its number, such as cuda:1, or a SyclDevice or SyclQueue of dpctl.

    Raises:
        DeviceError: the explicitly requested device cannot be used, with the reason.
    """
    limit_drivers()
    wanted = device_name(wanted)
    if not isinstance(wanted, str):
        raise DeviceError(
            f"the device is {shown(wanted)}, which is not a text",
            hint="use auto, or what `syclade devices` lists",
        )
    if wanted in ("numpy", "python"):
        return NUMPY if wanted == "numpy" else PYTHON
    if wanted == "native":
        return _first_usable(wanted, [native_device()])
    if is_gpu(wanted):
        return _nvidia(wanted)
    found = known_devices()
    return _best(found) if wanted == "auto" else _matching(wanted, found)


def _nvidia(wanted: str) -> Device:
    """Return the first usable NVIDIA GPU, or the one with a number."""
    from syclade.host.device.cuda import cuda_devices

    found = cuda_devices()
    matching = [one for one in found if wanted in (one.kind, one.filter)]
    if not matching and found[0].usable:
        raise DeviceError(
            f"there is no device {wanted!r}: the GPUs are {', '.join(one.filter for one in found)}"
        )
    return _first_usable(wanted, matching or found)


def _matching(wanted: str, found: Survey) -> Device:
    """Return the first usable device that matches an explicit request."""
    names = _filters(wanted, found)
    if not names and found.is_cached:
        found = known_devices(refresh=True)
        names = _filters(wanted, found)
    if "," in wanted:
        raise DeviceError(f"{wanted!r} are several devices", hint="here one is taken: give one of them")
    if not names:
        reason = found.problem or selection_words()
        raise DeviceError(
            f"there is no device {wanted!r}" + (f": {reason}" if reason else ""),
            hint="`syclade devices` tries every device again and lists them; "
            f"{flag_of('device', 'numpy')} always works",
        )
    matching = [one for one in found.devices if one.filter in names]
    if not any(one.usable for one in matching):
        found = _tried_again(found, matching)
        matching = [one for one in found.devices if one.filter in names]
    return _first_usable(wanted, matching)


def _filters(wanted: str, found: Survey) -> set[str]:
    """Return the filter strings of the devices that an explicit request matches."""
    names = {one.filter for one in found.devices if wanted in (one.kind, one.filter)}
    if not names and wanted not in KINDS:
        names = {one.filter for one in found.devices if one.filter == _resolve(wanted)}
    return names


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
    if not found.is_cached or not names or versions is None:
        return found
    again = try_again(found.devices, names)
    cache_survey(versions, again)
    return again


def _resolve(wanted: str) -> str | None:
    """Return the full filter string for a shorter one, such as `cpu:0` or `opencl:cpu`; None if invalid."""
    try:
        return str(prepare().SyclDevice(wanted).filter_string)
    except Exception:  # dpctl's exceptions differ between versions
        return None


W = TypeVar("W")


class Several:
    """Places that share a run: devices of this machine, or workers (`Workers`)."""

    def close(self) -> None:
        """Free what the run has started for itself."""


class Devices(Several):
    """Devices of this machine.

    Attributes:
        names: each as for `choose_device`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)


def split_devices(wanted: W) -> W | Several:
    """Return several devices for a text with commas, such as `cpu,fpga-emu`; all else as it is.

    Raises:
        OptionError: a name between the commas is missing, or occurs twice.
    """
    if not isinstance(wanted, str) or "," not in wanted:
        return wanted
    names = [name.strip() for name in wanted.split(",")]
    if not all(names) or len(set(names)) < len(names) or "auto" in names:
        raise OptionError(
            f"{flag_of('device')} is {shown(wanted)}",
            hint="give different devices with commas between, such as cpu,fpga-emu",
        )
    return Devices(names)


def first_of(wanted: str | Several) -> str:
    """Return the device for work of one place only, as for `choose_device`; numpy if there is no other."""
    where = split_devices(wanted)
    if isinstance(where, Devices):
        return min(where.names, key=lambda name: name in ("numpy", "python"))
    return where if isinstance(where, str) else "auto"


T = TypeVar("T")


def open_first(device: Device, opener: Callable[[Device], T], *, explicit: bool) -> T:
    """Open something on a device; if `auto` chose a device that fails, on the next one.

    A device that passed its test may still fail here: a missing or broken compiler is detected only when
    there is something to compile.

    Args:
        device: the first device to try.
        opener: opens something on a device.
        explicit: whether the user requested this device, so that no other device is tried.

    Raises:
        DeviceError: no device opens, or there is too little memory.
    """
    others = [one for one in own_devices() if one.usable]
    while True:
        try:
            return opener(device)
        except DeviceMemoryError:
            raise  # use fewer slots instead of another device
        except DeviceError as error:
            others = others[others.index(device) + 1 :] if device in others else others
            if explicit or not others:
                raise
            slower = ", which is slower" if others[0].kind == "numpy" else ""
            logger.warning("falling back to %s%s: %s: %s", others[0].filter, slower, device.filter, error)
            device = others[0]
