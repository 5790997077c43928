"""Opening of runners on the requested device; the choice of a run's kernel, which an image may have.

A run uses the same kernel from its first step to its last.

SYCL devices run kernels with specialisation constants. Their driver translates such a kernel for every new
size, which takes up to two seconds. A short run that would have to wait for the translation uses the general
kernel instead, if that one is precompiled or cached.

This processor and NVIDIA GPUs run the kernel for the size if that one is precompiled or cached; otherwise
the general kernel, if that one is. numba or numba-cuda compile a kernel for the size, which takes about ten
seconds, only if the run is long enough to gain by it or the general kernel would have to be compiled, too.
On GPUs, runs until the chains agree count as long. Without numba-cuda, GPUs run general kernels only.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.backends.runner import Slots
from syclade.host.chains.encodings import Encoding, choose_encoding, make_encoding
from syclade.host.chains.plan import Plan, chain_kernel, chain_sizes
from syclade.host.device.choice import Several, choose_device, list_devices, open_first, split_devices
from syclade.host.device.compile import machine_code, program
from syclade.host.device.compile.image import STAGES, TAILS, Image, cached_images
from syclade.host.device.compile.image_files import read_image
from syclade.host.device.device import NUMPY, Device, native_device, open_queue
from syclade.host.device.engines import traits_of
from syclade.host.device.engines.cuda import near_arguments
from syclade.host.device.work import GENERAL, SPECIALISED
from syclade.host.ground.errors import DeviceError, OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import path_of
from syclade.kernels.target.sycl_traits import TRAITS

__all__ = [
    "ChainsToOpen",
    "Choice",
    "Opened",
    "choose_kernel",
    "estimated_seconds",
    "fast_start_device",
    "has_gpu_kernel",
    "image_device",
    "open_cached_image",
    "open_image",
    "open_on",
    "open_one",
    "open_runner",
]


R = TypeVar("R", bound=Slots, covariant=True)


SHORT_SECONDS = 3.0
"""Shorter runs use the general kernel: it is a third slower, but it needs no translation by the driver."""

LONG_SECONDS = 80.0
"""Longer runs save more time by a kernel for their size than numba takes to compile it."""

GPU_LONG_SECONDS = 20.0
"""The same of GPUs: a general kernel takes 1.1 to 1.8 times as long, and numba-cuda about ten seconds."""

UNITS_A_CORE = 2.4
"""Multiprocessors of a GPU that are together as fast as one core (docs/performance.md)."""

_STEP_NANOSECONDS, _CELL_NANOSECONDS = 30.0, 1.4
"""Approximate time of a chain step on one core, and the additional time per distinct column."""


class Choice(NamedTuple):
    """Kernel of a run.

    Attributes:
        encoding: how trees are stored for the kernel.
        kernel: SPECIALISED, GENERAL, or numpy.
    """

    encoding: Encoding
    kernel: str


def choose_kernel(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """Choose the kernel of a run.

    Args:
        device: a usable device.
        plan: the parts of the chains.
        encoding: from `choose_encoding`.
        steps: steps of all chains together; None if the chains run until they agree.
    """
    if device.kind == NUMPY.kind:
        return Choice(encoding, NUMPY.kind)
    if device.kind in _MADE:
        return _compiled_choice(device, plan, encoding, steps)
    if device.takes_spirv:
        return _sycl_choice(device, plan, encoding, steps)
    return Choice(encoding, SPECIALISED)


def _sycl_choice(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """Choose the kernel of a run on a SYCL device; see `choose_kernel`."""
    general = encoding.general()
    seconds = estimated_seconds(device, plan, steps)
    if general is None or seconds is None or seconds >= SHORT_SECONDS:
        return Choice(encoding, SPECIALISED)
    if program.is_translated(open_queue(device.filter), chain_kernel(plan, encoding)):
        return Choice(encoding, SPECIALISED)
    if not program.is_compiled(chain_kernel(plan, general)):
        return Choice(encoding, SPECIALISED)
    return Choice(general, GENERAL)


def _compiled_choice(device: Device, plan: Plan, encoding: Encoding, steps: int | None) -> Choice:
    """Choose the kernel of a run on this processor or a GPU; see `choose_kernel`."""
    general, is_made = encoding.general(), _MADE[device.kind]
    if general is None or not is_made(plan, general) or is_made(plan, encoding):
        return Choice(encoding, SPECIALISED)
    seconds = estimated_seconds(device, plan, steps)
    if device.kind == "cuda":
        is_long = seconds is None or seconds > GPU_LONG_SECONDS
        compiles = is_long and machine_code.ptx_compiler_problem() is None
    else:
        compiles = seconds is not None and seconds > LONG_SECONDS
    return Choice(encoding, SPECIALISED) if compiles else Choice(general, GENERAL)


def _is_compiled(plan: Plan, encoding: Encoding) -> bool:
    """Return whether the machine code of this processor is precompiled or cached."""
    return machine_code.is_compiled(chain_kernel(plan, encoding))


def _is_ptx_made(plan: Plan, encoding: Encoding) -> bool:
    """Return whether the PTX is precompiled or cached."""
    kernel = chain_kernel(plan, encoding)
    near, _ = near_arguments(kernel, chain_sizes(plan, encoding, 1))
    return machine_code.is_ptx_made(kernel, [one.name for one in near])


_MADE: dict[str, Callable[[Plan, Encoding], bool]] = {"native": _is_compiled, "cuda": _is_ptx_made}
"""Check that a kernel can be loaded without its compiler, by kind of device."""


def has_gpu_kernel(gpu: Device, plan: Plan) -> bool:
    """Return whether a GPU can run chains of a plan: its kernel is made already, or can be compiled."""
    if machine_code.ptx_compiler_problem() is None:
        return True
    encoding = choose_encoding("auto", gpu, plan.problem, plan.space.encoding, shares=plan.score.shares)
    return _is_ptx_made(plan, choose_kernel(gpu, plan, encoding, None).encoding)


def estimated_seconds(device: Device, plan: Plan, steps: int | None) -> float | None:
    """Estimate how long a run takes, in seconds; None if it ends when the chains agree.

    Args:
        device: where it runs.
        plan: the parts of the chains.
        steps: steps of all chains together, or None.
    """
    if steps is None:
        return None
    step = _STEP_NANOSECONDS + _CELL_NANOSECONDS * plan.problem.columns
    cores = device.units / UNITS_A_CORE if device.kind == "cuda" else max(device.units, 1)
    return steps * step * 1e-9 / cores


@dataclass(frozen=True)
class Opened(Generic[R]):
    """An open runner and the choices made for it.

    Attributes:
        runner: the runner; the caller must close it.
        device: the chosen device; None for several. `Slots.work` reports which device does the steps.
        encoding: how trees are stored in the device's memory.
        slots: number of chain states that the runner holds at once.
    """

    runner: R
    device: Device | None
    encoding: Encoding
    slots: int


@dataclass(frozen=True, eq=False)
class ChainsToOpen:
    """Chains for which a runner is opened.

    Attributes:
        plan: the parts of the chains.
        encoding: as for `choose_encoding`.
        count: number of chains of the run.
        steps: steps of each chain; None if the chains run until they agree.
        slots: number of chain states at once; None for the default of the device.
        seed: seed of the random numbers.
    """

    plan: Plan
    encoding: str
    count: int
    steps: int | None
    slots: int | None
    seed: int

    def encoding_on(self, device: Device) -> Encoding:
        """Return the selected encoding on a device; see `choose_encoding`."""
        plan = self.plan
        return choose_encoding(
            self.encoding, device, plan.problem, plan.space.encoding, shares=plan.score.shares
        )


def open_runner(wanted: str | Device | Several, chains: ChainsToOpen) -> Opened[Slots]:
    """Open a runner on the requested device.

    Args:
        wanted: as for `choose_device`; or a device, which others replace if it does not open; or several
            places, which share the chains.
        chains: the chains.

    Raises:
        DeviceError: the explicitly requested device cannot be used, no device opens, or there is too little
            memory for the slots.
        OptionError: the encoding cannot hold the problem.
    """
    where = split_devices(wanted)
    if isinstance(where, Several):
        from syclade.host.chains.backends.shared.runner import open_shared

        return open_shared(where, chains)
    return open_one(where, chains)


def open_one(wanted: str | Device, chains: ChainsToOpen) -> Opened[Runner]:
    """Open a runner on one device; see `open_runner`."""
    first = wanted if isinstance(wanted, Device) else choose_device(wanted)
    explicit = not isinstance(wanted, Device) and wanted != "auto"
    return open_first(first, lambda device: open_on(device, chains), explicit=explicit)


def open_on(device: Device, chains: ChainsToOpen) -> Opened[Runner]:
    """Open a runner on a device that is already chosen; see `open_runner`."""
    plan, slots = chains.plan, chains.slots
    total = None if chains.steps is None else chains.count * chains.steps
    made, kernel = choose_kernel(device, plan, chains.encoding_on(device), total)
    count = slots if slots is not None else default_slots(device, plan, made, chains.count)
    return Opened(make_runner(device, plan, made, count, chains.seed, kernel=kernel), device, made, count)


def fast_start_device(plan: Plan) -> Device | None:
    """Return this processor if `auto` would choose a CPU device and the machine code is there; else None.

    The driver of a CPU device would have to translate the kernel for the sizes of the matrix first.
    """
    if choose_device().kind != "cpu":
        return None
    native = native_device()
    general = choose_encoding(
        "auto", native, plan.problem, plan.space.encoding, shares=plan.score.shares
    ).general()
    ready = general is not None and machine_code.is_compiled(chain_kernel(plan, general))
    return native if ready else None


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
    """Return device and encoding for an image, see `open_image`."""
    if image.encoding == TAILS:
        raise DeviceError(
            f"{image.path}: the image is of a kernel of tails, not of chains", hint="use chain_steps.*.image"
        )
    if image.encoding == STAGES:
        raise DeviceError(
            f"{image.path}: the image is of the stages, not of the kernel of whole steps",
            hint=f"use {flag_of('stages', 'separate')}, or chain_steps.*.image",
        )
    chosen = image_device(image.path, image.kind, device)
    if encoding not in ("auto", image.encoding):
        raise OptionError(
            f"{flag_of('encoding')} is {encoding}, and the image {image.path} is for {image.encoding}",
            hint=f"leave out {flag_of('encoding')}: the image decides",
        )
    made = make_encoding(image.encoding)(plan.problem, traits_of(chosen))
    image.fit(chain_kernel(plan, made), made)
    return image, chosen, made


def image_device(path: Path, kind: str, wanted: str) -> Device:
    """Return the requested device if it is of an image's kind.

    A card is accepted even if it failed the probe: the probe compiles on the device, which no card can do.

    Args:
        path: the image.
        kind: kind of device that it is for.
        wanted: as for `choose_device`; auto is that kind.

    Raises:
        DeviceError: the device is of another kind, or cannot be used.
    """
    wanted = kind if wanted == "auto" else wanted
    cards = [one for one in list_devices() if one.kind == "fpga" and wanted in ("fpga", one.filter)]
    chosen = cards[0] if cards else choose_device(wanted)
    if chosen.kind != kind:
        raise DeviceError(
            f"{path}: the image is for {kind}, not for {chosen.kind} ({chosen.name})",
            hint=f"use {flag_of('device')} {kind}, or another image",
        )
    return chosen
