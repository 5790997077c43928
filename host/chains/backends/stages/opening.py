"""Macro-pipeline on the requested device: its kernels, options, the plans that it can run, and its runner."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.launcher import (
    InStage,
    Launcher,
    PipelineReport,
    Timeline,
    run_pipeline,
)
from syclade.host.chains.encodings import Encoding, choose_encoding
from syclade.host.chains.encodings.ancestor import AncestorEncoding
from syclade.host.chains.kernel import chain_allocation, size_as_text
from syclade.host.chains.moves import Move
from syclade.host.chains.plan import Plan
from syclade.host.chains.scores.score import Score
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.kernel import Kernel, Parts, Record, load_part
from syclade.host.device.device import NUMPY, Device
from syclade.host.device.engines import open_engine, traits_of
from syclade.host.device.engines.local import NumpyCode, NumpyEngine
from syclade.host.device.work import STAGES as STAGES_KERNEL
from syclade.host.ground.errors import OptionError, OutputError
from syclade.host.ground.files import check_file, write_file
from syclade.host.ground.options import checked, flag_of
from syclade.host.ground.supported import refusal
from syclade.kernels.ancestor.stage_arguments import STAGES, StageArgument
from syclade.kernels.ancestor.stages.propose import MOST_NODES
from syclade.kernels.arguments import Argument

__all__ = [
    "DEFAULT_SLOTS",
    "DescribedKernel",
    "Separate",
    "StagedRunner",
    "all_arguments",
    "check_plan",
    "make_launcher",
    "numpy_stages",
    "open_stages",
    "separate_stages",
    "stage_arrays",
    "stage_kernel",
    "stage_kernels",
]


@dataclass(frozen=True)
class DescribedKernel:
    """A kernel with the directions of its arguments.

    Attributes:
        name: name for messages and files.
        kernel: the kernel to compile.
        arguments: the kernel's arguments, with directions.
        meaning: what one launch does.
    """

    name: str
    kernel: Kernel
    arguments: tuple[StageArgument, ...]
    meaning: str


_MATRIX, _ROWS = ("nodes", "words"), ("nodes", "words", "lanes")

_MADE_OF: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "propose": (
        ("capacity", "moves"),
        _MATRIX,
        "draw the random words of each slot's next step; the move they mean on its tree, and the threshold "
        "of the accept test",
    ),
    "find_parent": (("capacity",), _MATRIX, "the rows of the parents of the nodes that move"),
    "tree_update": (("capacity",), _ROWS, "write the proposed trees"),
    "score_mapping": (
        ("capacity",),
        ("nodes", "words", "cells", "lanes", "values"),
        "the score of every column at every node of the proposed trees, each independent of the others",
    ),
    "reduction": (
        ("capacity", "score", "moves"),
        ("nodes", "words", "cells", "lanes"),
        "the maximum over nodes and the sum over columns, accept or reject, keep the best tree, count the "
        "step; nothing changes where step has reached last_step",
    ),
}
"""Parts and constants that each stage's factory takes, and the stage's meaning.

Stages without `lanes` have one lane. Sizes are omitted where they are specialisation constants.
"""

FIXED = "syclade.kernels.ancestor.capacity:fixed_capacity"
"""The part `capacity` of kernels that are compiled for one capacity."""


def stage_kernels(plan: Plan, encoding: AncestorEncoding) -> tuple[DescribedKernel, ...]:
    """Return the stages in order, for a plan and the encoding's capacities.

    Raises:
        OptionError: the capacity has more nodes than the stage `propose` can tell apart.
    """
    nodes = encoding.sizes["nodes"]
    if nodes > MOST_NODES:
        raise OptionError(
            f"separate stages take {MOST_NODES} nodes, and this capacity has {nodes}",
            hint=f"use {flag_of('stages', 'fused')}, or export for fewer mutations",
        )
    parts: dict[str, Parts] = {
        "moves": tuple(move.device for move in plan.moves),
        "score": plan.score.device,
        "capacity": encoding.capacity_part,
    }
    given = (parts, encoding.constants, encoding.specialisation)
    return tuple(stage_kernel(name, *given) for name in STAGES)


def all_arguments(kernels: Sequence[DescribedKernel]) -> tuple[Argument, ...]:
    """Return the arguments of several kernels, each once."""
    return tuple({one.name: one for each in kernels for one in each.kernel.arguments}.values())


def stage_kernel(
    name: str,
    parts: Mapping[str, Parts],
    constants: Mapping[str, int],
    specialisation: tuple[int, ...] = (),
) -> DescribedKernel:
    """Return one stage.

    Args:
        name: one of `STAGES`.
        parts: the parts `capacity`, `moves` and `score`, each as `module:NAME` of its device code.
        constants: `lanes`, and the capacities where they are fixed; a stage takes those that it needs.
        specialisation: the capacities where they are specialisation constants.
    """
    taken, needed, meaning = _MADE_OF[name]
    kernel = Kernel(
        name=f"ancestor_{name}",
        factory=f"syclade.kernels.ancestor.stages.{name}:make_{name}_stage",
        parts={part: parts[part] for part in taken},
        constants={constant: constants[constant] for constant in needed if constant in constants},
        records=(Record("Given", tuple(one.argument for one in STAGES[name])),),
        group=AncestorEncoding.group,
        lanes=constants["lanes"] if "lanes" in needed else 1,
        size=f"the stage {name.replace('_', ' ')}, {size_as_text(constants)}",
        specialisation=specialisation,
    )
    return DescribedKernel(name, kernel, STAGES[name], meaning)


logger = logging.getLogger("syclade.stages")


class StagedRunner(Runner):
    """A runner that keeps the pipeline full during a launch: each stage works on one of c states at a time.

    Attributes:
        timeline: timeline of the first steps.
    """

    def __init__(self, plan: Plan, encoding: Encoding, seed: int, launcher: Launcher) -> None:
        super().__init__(plan, encoding, seed, launcher.engine, launcher.kernels[0], STAGES_KERNEL)
        self._launcher = launcher
        self._ticks = 0
        self._steps = 0
        self.timeline = Timeline(launcher)

    def _launch(self) -> None:
        first = self._engine.read("step")
        steps = (self._engine.read("last_step") - first).clip(0).tolist()
        started = first.tolist()

        def seen(stage: int, state: InStage, token: object) -> None:
            chain = self._put[state.slot].chain
            self.timeline.see(stage, state, chain, started[state.slot] + state.step, token)

        self._ticks += run_pipeline(self._launcher, steps, seen)
        self._steps += sum(steps)
        self.timeline.settle()

    def report(self) -> PipelineReport:
        """Return how full the pipeline was, as plain values."""
        busy, at_once = self.timeline.busy(), self.timeline.at_once()
        return {
            "stages": list(self._launcher.stages),
            "slots": self.slots,
            "ticks": self._ticks,
            "steps": self._steps,
            "fill_by_tick": self._steps / self._ticks if self._ticks else 0.0,
            "fill_by_time": sum(busy.values()) / len(busy) if busy else None,
            "busy": busy,
            "stages_at_once": sum(at_once) / len(at_once) if at_once else None,
            "most_stages_at_once": max(at_once, default=None),
            "timed_steps": self.timeline.steps,
            "clock": self._engine.clock,
        }

    def trace(self) -> str:
        """Return the first steps in Chrome's trace format."""
        return self.timeline.chrome_trace(self.report())


DEFAULT_SLOTS = 24
"""Default limit of chain states in flight: more than there are stages, and as many as in bbSCITE."""


def open_stages(
    device: str, plan: Plan, *, chains: int, slots: int | None, seed: int
) -> tuple[StagedRunner, Device, int]:
    """Open a runner of separate stages; return it with its device and its number of slots.

    Args:
        device: as for `choose_device`.
        plan: the parts of the chains; it must have passed `check_plan`.
        chains: number of chains of the run.
        slots: number of chain states in flight; None for DEFAULT_SLOTS, or one per chain if that is fewer.
        seed: seed of the random numbers.

    Raises:
        DeviceError: the device does not open, cannot build a kernel, or has too little memory.
        OptionError: separate stages do not run on the device, or cannot hold the problem.
    """
    chosen = choose_device(device)
    if chosen.kind == "fpga":
        raise refusal("separate stages", "FPGA cards")
    encoding = choose_encoding(AncestorEncoding.name, chosen, plan.problem)
    assert isinstance(encoding, AncestorEncoding)
    count = min(chains, DEFAULT_SLOTS) if slots is None else slots
    launcher = make_launcher(chosen, plan, encoding, count, seed)
    return StagedRunner(plan, encoding, seed, launcher), chosen, count


def make_launcher(device: Device, plan: Plan, encoding: AncestorEncoding, slots: int, seed: int) -> Launcher:
    """Make a launcher on a device, with arrays for `slots` slots."""
    kernels = stage_kernels(plan, encoding)
    if device.kind == "numpy":
        engine = stage_arrays(kernels, plan, encoding, slots, seed)
        codes = numpy_stages(plan.moves, plan.score).values()
        return Launcher(engine, tuple(STAGES), [engine.load(code) for code in codes])
    allocation = chain_allocation(plan, encoding, slots, seed, all_arguments(kernels))
    on_device = open_engine(device, allocation, timed=True)
    described = [one.kernel for one in kernels]
    if device.kind == "native":  # in a stage of one lane, all lanes do the same
        described = [replace(one, lanes=traits_of(device).lanes) for one in described]
    return Launcher(on_device, tuple(STAGES), [on_device.load(one) for one in described])


def stage_arrays(
    kernels: Sequence[DescribedKernel], plan: Plan, encoding: AncestorEncoding, slots: int, seed: int
) -> NumpyEngine:
    """Allocate all arrays of the stages in this process, filled with the problem but without chains."""
    return NumpyEngine(NUMPY, chain_allocation(plan, encoding, slots, seed, all_arguments(kernels)))


def numpy_stages(moves: Sequence[Move], score: Score) -> dict[str, NumpyCode]:
    """Return the stages of the numpy fallback (`fallback/ancestor`), by name and in order."""
    stages = load_part("syclade.fallback.ancestor.stages:STAGES")
    made_of = load_part("syclade.fallback.ancestor.parts:ChainParts")
    parts = made_of([load_part(move.numpy) for move in moves], load_part(score.numpy))

    def code(name: str) -> NumpyCode:
        return lambda arrays, slots: stages[name](arrays, slots, parts)

    return {name: code(name) for name in STAGES}


_MOVES = {
    f"syclade.kernels.moves.{name}:MOVE" for name in ("prune_and_reattach", "swap_labels", "swap_subtrees")
}


@dataclass(frozen=True)
class Separate:
    """Options of separate stages.

    Attributes:
        trace: file for the timeline of the first steps; None if it is not wanted.
        force: whether an existing file may be replaced.
    """

    trace: Path | None = None
    force: bool = False

    def write_trace(self, runner: StagedRunner) -> None:
        """Write the timeline if it is wanted. If that fails, only warn, to keep the result of the run."""
        if self.trace is None:
            return
        try:
            write_file(self.trace, runner.trace(), self.force)
        except OutputError as error:
            logger.warning("no trace: %s", error.message)


def separate_stages(trace: str | os.PathLike[str] | None, force: bool) -> Separate:
    """Return the options of separate stages.

    Args:
        trace, force: as for `infer`.

    Raises:
        OutputError: the trace cannot be written to that path.
    """
    path = checked("trace", trace)
    if path is not None:
        check_file(path, force)
    return Separate(path, force)


def check_plan(plan: Plan) -> None:
    """Check that the stage kernels support the chain: its moves, its score, fixed rates, no recorders.

    Raises:
        OptionError: they do not.
    """
    hint = f"use {flag_of('stages', 'fused')}"
    unknown = [move.name for move in plan.moves if move.device not in _MOVES]
    if unknown:
        raise OptionError(f"separate stages do not know the move {unknown[0]}", hint=hint)
    if plan.recorders or plan.score.device != BEST_ATTACHMENT:
        raise OptionError(
            "separate stages run chains of the maximum score with fixed rates, without samples", hint=hint
        )


BEST_ATTACHMENT = "syclade.kernels.scores.best_attachment:SCORE"
"""The only score that the reduction supports."""
