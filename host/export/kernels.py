"""Which kernels an export has: the whole chain, and its stages one by one, for one capacity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from syclade.host.chains.kernel import chain_kernel, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.compile.kernel import Kernel, Parts, Record
from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.kernels.ancestor import stage_arguments as stages
from syclade.kernels.ancestor.stage_arguments import StageArgument

__all__ = ["STAGES", "ExportedKernel", "exported_kernels", "symbol_values"]

STAGES = ("propose", "tree_update", "score_mapping", "reduction")
"""One launch of each, in this order, is one step of every chain."""


@dataclass(frozen=True)
class ExportedKernel:
    """One kernel of an export.

    Attributes:
        name: in the manifest, and of its file.
        kernel: what is compiled.
        arguments: the same arguments as the kernel's, with directions.
        meaning: what one launch does.
    """

    name: str
    kernel: Kernel
    arguments: tuple[StageArgument, ...]
    meaning: str

    @property
    def entry_point(self) -> str:
        """Name of the kernel in its module."""
        return self.kernel.name

    @property
    def file(self) -> str:
        """Name of the file of the module."""
        return f"{self.name}.spv"


_STAGES = {
    "propose": (
        ("moves",),
        ("nodes", "words"),
        stages.PROPOSE,
        "draw the random words of each slot's next step; the move they mean on its tree, and the threshold "
        "of the accept test",
    ),
    "tree_update": (
        (),
        ("nodes", "words", "lanes"),
        stages.TREE_UPDATE,
        "find the parents of the moved nodes, and write the proposed trees",
    ),
    "score_mapping": (
        ("score",),
        ("nodes", "words", "cells", "lanes", "values"),
        stages.SCORE_MAPPING,
        "the best attachment of every column in the proposed trees; the score of each lane's columns",
    ),
    "reduction": (
        ("moves",),
        ("nodes", "words", "lanes"),
        stages.REDUCTION,
        "sum the shares, accept or reject, keep the best tree, count the step; nothing where step has "
        "reached last_step",
    ),
}


def exported_kernels(plan: Plan, encoding: AncestorEncoding) -> tuple[ExportedKernel, ...]:
    """The kernels for the encoding's capacities: chain_steps, then STAGES."""
    whole = ExportedKernel(
        name="chain_steps",
        kernel=chain_kernel(plan, encoding),
        arguments=stages.CHAIN_STEPS,
        meaning="take every slot's chain from step to last_step; all stages in one kernel",
    )
    parts: dict[str, Parts] = {
        "moves": tuple(move.device for move in plan.moves),
        "score": plan.score.device,
    }
    return whole, *(_stage(name, parts, encoding.constants) for name in STAGES)


def _stage(name: str, parts: Mapping[str, Parts], constants: Mapping[str, int]) -> ExportedKernel:
    taken, needed, arguments, meaning = _STAGES[name]
    kernel = Kernel(
        name=f"ancestor_{name}",
        factory=f"syclade.kernels.ancestor.stages:make_{name}_stage",
        parts={part: parts[part] for part in taken},
        constants={constant: constants[constant] for constant in needed},
        records=(Record("Given", tuple(one.argument for one in arguments)),),
        group=AncestorEncoding.group,
        lanes=constants["lanes"],
    )
    return ExportedKernel(name, kernel, arguments, meaning)


def symbol_values(plan: Plan, encoding: AncestorEncoding, mutations: int) -> dict[str, int]:
    """Values of the symbols in the arguments' shapes, but for `slots`, for as many mutations as shall fit."""
    # A tree has one node more than mutations, and ln(k) is needed for k = 0 ... nodes.
    sizes = chain_sizes(plan, encoding, slots=1) | {"log_sizes": mutations + 2}
    del sizes["slots"]
    return sizes
