"""Kernels of the macro-pipeline for one capacity, with the directions of their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syclade.host.chains.encodings.ancestor import AncestorEncoding
from syclade.host.chains.kernel import size_as_text
from syclade.host.chains.plan import Plan
from syclade.host.device.compile.kernel import Kernel, Parts, Record
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.kernels.ancestor.stage_arguments import STAGES, StageArgument
from syclade.kernels.ancestor.stages.propose import MOST_NODES
from syclade.kernels.arguments import Argument

__all__ = ["DescribedKernel", "all_arguments", "stage_kernel", "stage_kernels"]


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
