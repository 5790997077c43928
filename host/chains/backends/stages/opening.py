"""Macro-pipeline on the requested device: its kernels, options, the plans that it can run, and its runner."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.opening import image_device
from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.described import (
    DescribedKernel,
    all_arguments,
    numpy_stages,
    stage_kernels,
)
from syclade.host.chains.backends.stages.launcher import (
    InStage,
    Launcher,
    PipelineReport,
    Recorded,
    StagesAtWork,
    Timeline,
    run_pipeline,
)
from syclade.host.chains.encodings import Encoding, choose_encoding
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.moves import JUMPS, MOVES
from syclade.host.chains.plan import Plan, chain_allocation
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.image import Image
from syclade.host.device.compile.image_files import read_image, read_stages_image
from syclade.host.device.device import NUMPY, Device
from syclade.host.device.engines import Engine, open_engine, traits_of
from syclade.host.device.engines.local import NumpyEngine
from syclade.host.device.work import STAGES as STAGES_KERNEL
from syclade.host.ground.errors import DeviceError, OptionError, OutputError
from syclade.host.ground.files import check_file, write_file
from syclade.host.ground.options import checked, flag_of
from syclade.host.ground.values import path_of
from syclade.kernels.ancestor.stage_arguments import STAGES

__all__ = [
    "DEFAULT_SLOTS",
    "PipelineRunner",
    "Separate",
    "StagedRunner",
    "check_plan",
    "device_with_image",
    "make_launcher",
    "open_stages",
    "separate_stages",
    "stage_arrays",
]


logger = logging.getLogger("syclade.stages")


class PipelineRunner(Runner):
    """A runner that keeps the pipeline full: each stage works on one of c states at a time.

    Attributes:
        timeline: when stages worked in the first steps.
    """

    timeline: Recorded

    def __init__(self, plan: Plan, encoding: Encoding, seed: int, engine: Engine, loaded: int) -> None:
        super().__init__(plan, encoding, seed, engine, loaded, STAGES_KERNEL)
        self._ticks = self._steps = 0

    def _launch(self) -> None:
        first, wanted = self._pending()
        self._ticks += self._run(first, wanted)
        self._steps += int((self._engine.read("step") - first).sum())

    def _run(self, first: NDArray[np.int64], wanted: NDArray[np.int64]) -> int:
        """Let each slot, whose step is in `first`, do the wanted steps; return the ticks of the schedule."""
        raise NotImplementedError

    def _at_work(self) -> StagesAtWork:
        """Return how busy the stages were."""
        raise NotImplementedError

    def report(self) -> PipelineReport:
        """Return how full the pipeline was, as plain values."""
        return {
            "stages": list(STAGES),
            "slots": self.slots,
            "ticks": self._ticks,
            "steps": self._steps,
            "fill_by_tick": self._steps / self._ticks if self._ticks else 0.0,
            **self._at_work(),
        }

    def trace(self) -> str:
        """Return the first steps in Chrome's trace format."""
        return self.timeline.chrome_trace(self.report())

    def _pending(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return each slot's step, and how many steps it can do until its ring of events is full."""
        first = self._engine.read("step")
        wanted = self._engine.read("last_step") - first
        if "event_count" in self._engine:
            free = self.plan.events - self._engine.read("event_count")
            only_samples = len(self.plan.recorders) == 1 and "every" in self._engine
            wanted = np.minimum(wanted, free * self._engine.read("every") if only_samples else free)
        return first, wanted.clip(0)


class StagedRunner(PipelineRunner):
    """A runner whose stages are kernels of their own, launched one by one."""

    timeline: Timeline

    def __init__(self, plan: Plan, encoding: Encoding, seed: int, launcher: Launcher) -> None:
        super().__init__(plan, encoding, seed, launcher.engine, launcher.kernels[0])
        self._launcher = launcher
        self.timeline = Timeline(launcher)

    def _run(self, first: NDArray[np.int64], wanted: NDArray[np.int64]) -> int:
        started = first.tolist()

        def seen(stage: int, state: InStage, token: object) -> None:
            chain = self._put[state.slot].chain
            self.timeline.see(stage, state, chain, started[state.slot] + state.step, token)

        ticks = run_pipeline(self._launcher, wanted.tolist(), seen)
        self.timeline.settle()
        return ticks

    def _at_work(self) -> StagesAtWork:
        busy, at_once = self.timeline.busy(), self.timeline.at_once()
        return {
            "fill_by_time": sum(busy.values()) / len(busy) if busy else None,
            "busy": busy,
            "stages_at_once": sum(at_once) / len(at_once) if at_once else None,
            "most_stages_at_once": max(at_once, default=None),
            "timed_steps": self.timeline.steps,
            "clock": self._engine.clock,
        }


DEFAULT_SLOTS = 24
"""Default limit of chain states in flight: more than there are stages, and as many as in bbSCITE."""


def open_stages(
    device: str,
    plan: Plan,
    *,
    chains: int,
    slots: int | None,
    seed: int,
    image: str | os.PathLike[str] | None = None,
) -> tuple[StagedRunner, Device, int]:
    """Open a runner of separate stages; return it with its device and its number of slots.

    Args:
        device: as for `choose_device`.
        plan: the parts of the chains; it must have passed `check_plan`.
        chains: number of chains of the run.
        slots: number of chain states in flight; None for DEFAULT_SLOTS, or one per chain if that is fewer.
        seed: seed of the random numbers.
        image: file with the precompiled stages; None to compile them.

    Raises:
        DeviceError: the device does not open, cannot build a kernel, or has too little memory; or the image
            cannot be used for this run.
        OptionError: separate stages cannot hold the problem.
    """
    images: Mapping[str, Image] = {}
    if image is None:
        chosen = choose_device(device)
        if chosen.kind == "fpga":
            hint = "give an image of the stages, made from an export"
            raise DeviceError(f"{chosen.name} compiles no kernels", hint=hint)
        encoding = choose_encoding(AncestorEncoding.name, chosen, plan.problem)
        assert isinstance(encoding, AncestorEncoding)
    else:
        chosen, encoding, images = _open_image(image, device, plan)
    count = min(chains, DEFAULT_SLOTS) if slots is None else slots
    launcher = make_launcher(chosen, plan, encoding, count, seed, images)
    return StagedRunner(plan, encoding, seed, launcher), chosen, count


def _open_image(
    image: str | os.PathLike[str], device: str, plan: Plan
) -> tuple[Device, AncestorEncoding, Mapping[str, Image]]:
    """Read an image of the stages; return its device, its encoding of the problem, and its kernels."""
    found = read_stages_image(path_of(f"image ({flag_of('image')})", image), tuple(STAGES))
    chosen = image_device(found.path, found.kind, device)
    encoding = AncestorEncoding(plan.problem, traits_of(chosen))
    found.fit([one.kernel for one in stage_kernels(plan, encoding)], encoding)
    return chosen, encoding, found.images


def device_with_image(
    image: str | os.PathLike[str], wanted: str, *, separate: bool = False
) -> tuple[Device, str]:
    """Return the device of runs with an image, and the name of the image's encoding.

    Args:
        image: the file.
        wanted: as for `choose_device`; auto is the kind that the image is for.
        separate: whether it is an image of separate stages.

    Raises:
        DeviceError: the image cannot be read; or the device is of another kind, or cannot be used.
    """
    path = path_of(f"image ({flag_of('image')})", image)
    if separate:
        return image_device(path, read_stages_image(path, tuple(STAGES)).kind, wanted), AncestorEncoding.name
    found = read_image(path)
    return image_device(path, found.kind, wanted), found.encoding


def make_launcher(
    device: Device,
    plan: Plan,
    encoding: AncestorEncoding,
    slots: int,
    seed: int,
    images: Mapping[str, Image] = MappingProxyType({}),
) -> Launcher:
    """Make a launcher on a device, with arrays for `slots` slots, and with precompiled stages if given."""
    kernels = stage_kernels(plan, encoding)
    if device.kind == "numpy":
        engine = stage_arrays(kernels, plan, encoding, slots, seed)
        codes = numpy_stages(plan.moves, plan.score, plan.recorders).values()
        return Launcher(engine, tuple(STAGES), [engine.load(code) for code in codes])
    allocation = chain_allocation(plan, encoding, slots, seed, all_arguments(kernels))
    on_device = open_engine(device, allocation, images=images, timed=True)
    described = [one.kernel for one in kernels]
    if device.kind == "native":  # in a stage of one lane, all lanes do the same
        described = [replace(one, lanes=traits_of(device).lanes) for one in described]
    return Launcher(on_device, tuple(STAGES), [on_device.load(one) for one in described])


def stage_arrays(
    kernels: Sequence[DescribedKernel], plan: Plan, encoding: AncestorEncoding, slots: int, seed: int
) -> NumpyEngine:
    """Allocate all arrays of the stages in this process, filled with the problem but without chains."""
    return NumpyEngine(NUMPY, chain_allocation(plan, encoding, slots, seed, all_arguments(kernels)))


_MOVES = {move.device for move in (*MOVES, *JUMPS.values())}
"""Moves whose proposals the stage `propose` can defer."""


@dataclass(frozen=True)
class Separate:
    """Options of separate stages.

    Attributes:
        trace: file for the timeline of the first steps; None if it is not wanted.
        force: whether an existing file may be replaced.
        overlapping: whether one kernel does all stages.
    """

    trace: Path | None = None
    force: bool = False
    overlapping: bool = False

    def write_trace(self, runner: PipelineRunner) -> None:
        """Write the timeline if it is wanted. If that fails, only warn, to keep the result of the run."""
        if self.trace is None:
            return
        try:
            write_file(self.trace, runner.trace(), self.force)
        except OutputError as error:
            logger.warning("no trace: %s", error.message)


def separate_stages(
    trace: str | os.PathLike[str] | None, force: bool, *, overlapping: bool = False
) -> Separate:
    """Return the options of separate stages.

    Args:
        trace, force: as for `infer`.
        overlapping: as in `Separate`.

    Raises:
        OutputError: the trace cannot be written to that path.
    """
    path = checked("trace", trace)
    if path is not None:
        check_file(path, force)
    return Separate(path, force, overlapping)


def check_plan(plan: Plan) -> None:
    """Check that the stage kernels know the moves of the chain.

    Raises:
        OptionError: they do not.
    """
    unknown = [move.name for move in plan.moves if move.device not in _MOVES]
    if unknown:
        hint = f"use {flag_of('stages', 'fused')}"
        raise OptionError(f"separate stages do not know the move {unknown[0]}", hint=hint)
