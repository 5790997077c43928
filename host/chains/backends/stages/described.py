"""The stages as kernels: their parts, constants and arguments; the same in numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.moves import Move
from syclade.host.chains.plan import Plan, argument_records, setting_arguments, size_as_text
from syclade.host.chains.scores.score import Score
from syclade.host.chains.state import Recorder
from syclade.host.device.compile.kernel import Kernel, Parts, Record, load_part
from syclade.host.device.engines.local import NumpyCode
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.kernels.ancestor.stage_arguments import OF_PIPELINE, STAGES, StageArgument, stages_of
from syclade.kernels.ancestor.stages.propose import MOST_NODES
from syclade.kernels.arguments import Argument

__all__ = [
    "FIXED",
    "DescribedKernel",
    "all_arguments",
    "numpy_stages",
    "overlapping_kernel",
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


class _Source(NamedTuple):
    """How a stage is made.

    Attributes:
        module: its module in `kernels/ancestor/stages`, whose factory has the same name.
        parts: parts that the factory takes.
        constants: constants that it takes; sizes are omitted where they are specialisation constants.
            Stages without `lanes` have one lane.
    """

    module: str
    parts: tuple[str, ...]
    constants: tuple[str, ...]


_MATRIX, _ROWS = ("nodes", "words"), ("nodes", "words", "lanes")
_SCORED = ("nodes", "words", "cells", "lanes")

_SOURCES = {
    "propose": _Source("propose", ("capacity", "moves"), _MATRIX),
    "find_parent": _Source("find_parent", ("capacity",), _MATRIX),
    "tree_update": _Source("tree_update", ("capacity",), _ROWS),
    "score_mapping": _Source("score_mapping", ("capacity",), (*_SCORED, "values")),
    "reduction": _Source("reduction", ("capacity", "score"), (*_SCORED, "kinds")),
}

_WITH_RATES = _Source("learned_propose", ("capacity", "moves"), (*_MATRIX, "values"))
"""Propose with learned rates."""

_EXTENDED = _Source(
    "extended_reduction", ("capacity", "score", "recorders"), (*_SCORED, "values", "kinds", "learned")
)
"""Reduction with learned rates or recorders."""

_MEANINGS = {
    "propose": "draw the random words of each slot's next step; the move they mean on its tree, and the "
    "threshold of the accept test",
    "find_parent": "the rows of the parents of the nodes that move",
    "tree_update": "write the proposed trees",
    "score_mapping": "the score of every column at every node of the proposed trees, each independent of "
    "the others",
    "reduction": "the maximum or the sum over nodes, and the sum over columns; accept or reject, keep the "
    "best tree, count the step; nothing changes where step has reached last_step",
}

FIXED = "syclade.kernels.ancestor.capacity:fixed_capacity"
"""The part `capacity` of kernels that are compiled for one capacity."""


class _Made(NamedTuple):
    """Parts, constants and arguments of all stages of a plan."""

    parts: dict[str, Parts]
    constants: dict[str, int]
    arguments: dict[str, tuple[StageArgument, ...]]


def _made(plan: Plan, encoding: AncestorEncoding) -> _Made:
    nodes = encoding.sizes["nodes"]
    if nodes > MOST_NODES:
        raise OptionError(
            f"separate stages take {MOST_NODES} nodes, and this capacity has {nodes}",
            hint=f"infer with {flag_of('stages', 'fused')}; export them for fewer mutations",
        )
    parts: dict[str, Parts] = {
        "moves": tuple(move.device for move in plan.moves),
        "score": plan.score.device,
        "recorders": tuple(recorder.device for recorder in plan.recorders),
        "capacity": encoding.capacity_part,
    }
    learned = plan.problem.learns
    of_score, _ = setting_arguments(plan)
    *_, events = argument_records(plan, encoding)
    arguments = stages_of(learned=learned, of_score=of_score, of_recorders=events.arguments)
    return _Made(parts, {**encoding.constants, "kinds": len(plan.kinds), "learned": int(learned)}, arguments)


def stage_kernels(plan: Plan, encoding: AncestorEncoding) -> tuple[DescribedKernel, ...]:
    """Return the stages in order, for a plan and the encoding's capacities.

    Raises:
        OptionError: the capacity has more nodes than the stage `propose` can tell apart.
    """
    made, sources = _made(plan, encoding), dict(_SOURCES)
    if plan.problem.learns:
        sources["propose"] = _WITH_RATES
    if plan.problem.learns or plan.recorders:
        sources["reduction"] = _EXTENDED
    return tuple(
        _described(
            name, sources[name], made.arguments[name], made.parts, made.constants, encoding.specialisation
        )
        for name in STAGES
    )


def overlapping_kernel(plan: Plan, encoding: AncestorEncoding) -> Kernel:
    """Return the kernel that does all stages in one launch; a work-group of it has no slot of its own.

    Raises:
        OptionError: as for `stage_kernels`.
    """
    made = _made(plan, encoding)
    names = ("nodes", "words", "cells", "lanes", "values", "kinds", "learned")
    arguments = {one.argument.name: one.argument for each in made.arguments.values() for one in each}
    return Kernel(
        name="ancestor_overlapping",
        factory="syclade.kernels.ancestor.stages.overlapping:make_overlapping_stage",
        parts=made.parts,
        constants={name: made.constants[name] for name in names if name in made.constants},
        records=(Record("Given", (*arguments.values(), *OF_PIPELINE)),),
        group=AncestorEncoding.group,
        lanes=made.constants["lanes"],
        size=f"all stages, {size_as_text(made.constants)}",
        specialisation=encoding.specialisation,
    )


def all_arguments(kernels: Sequence[DescribedKernel]) -> tuple[Argument, ...]:
    """Return the arguments of several kernels, each once."""
    return tuple({one.name: one for each in kernels for one in each.kernel.arguments}.values())


def stage_kernel(name: str, parts: Mapping[str, Parts], constants: Mapping[str, int]) -> DescribedKernel:
    """Return one stage, for chains with fixed rates and without recorders.

    Args:
        name: one of `STAGES`.
        parts: the parts `capacity`, `moves` and `score`, each as `module:NAME` of its device code.
        constants: `lanes`, `kinds` and the capacities; a stage takes those that it needs.
    """
    return _described(name, _SOURCES[name], STAGES[name], parts, constants, ())


def _described(
    name: str,
    source: _Source,
    arguments: tuple[StageArgument, ...],
    parts: Mapping[str, Parts],
    constants: Mapping[str, int],
    specialisation: tuple[int, ...],
) -> DescribedKernel:
    """Return a stage.

    Args:
        name: one of `STAGES`.
        source: how it is made.
        arguments: its arguments, with directions.
        parts, constants: more than enough for the source.
        specialisation: the capacities where they are specialisation constants.
    """
    kernel = Kernel(
        name=f"ancestor_{name}",
        factory=f"syclade.kernels.ancestor.stages.{source.module}:make_{source.module}_stage",
        parts={part: parts[part] for part in source.parts},
        constants={one: constants[one] for one in source.constants if one in constants},
        records=(Record("Given", tuple(one.argument for one in arguments)),),
        group=AncestorEncoding.group,
        lanes=constants["lanes"] if "lanes" in source.constants else 1,
        size=f"the stage {name.replace('_', ' ')}, {size_as_text(constants)}",
        specialisation=specialisation,
    )
    return DescribedKernel(name, kernel, arguments, _MEANINGS[name])


def numpy_stages(
    moves: Sequence[Move], score: Score, recorders: Sequence[Recorder] = ()
) -> dict[str, NumpyCode]:
    """Return the stages of the numpy fallback (`fallback/ancestor`), by name and in order."""
    stages = load_part("syclade.fallback.ancestor.stages:STAGES")
    made_of = load_part("syclade.fallback.ancestor.parts:ChainParts")
    of_moves, of_recorders = ([load_part(one.numpy) for one in parts] for parts in (moves, recorders))
    parts = made_of(of_moves, load_part(score.numpy), of_recorders)

    def code(name: str) -> NumpyCode:
        return lambda arrays, slots: stages[name](arrays, slots, parts)

    return {name: code(name) for name in STAGES}
