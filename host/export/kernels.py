"""Which kernels an export has: the whole chain, and its stages one by one, for one capacity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from syclade.host.compile.program import KernelSpec
from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.kernels.ancestor import stage_arguments as stages
from syclade.kernels.ancestor.stage_arguments import StageArgument

__all__ = ["STAGES", "ExportedKernel", "exported_kernels"]

STAGES = ("propose", "tree_update", "score_mapping", "reduction")
"""One launch of each, in this order, is one step of every chain."""


@dataclass(frozen=True)
class ExportedKernel:
    """One kernel of an export.

    Attributes:
        name: in the manifest, and of its file.
        entry_point: name of the kernel in its module.
        spec: what is compiled.
        arguments: the same arguments as in `spec`, with directions.
        meaning: what one launch does.
    """

    name: str
    entry_point: str
    spec: KernelSpec
    arguments: tuple[StageArgument, ...]
    meaning: str

    @property
    def file(self) -> str:
        """Name of the file of the module."""
        return f"{self.name}.spv"


_STAGES = {
    "propose": (
        ("nodes", "words"),
        stages.PROPOSE,
        "draw the random words of each slot's next step; the move they mean on its tree, and the threshold "
        "of the accept test",
    ),
    "tree_update": (
        ("nodes", "words", "lanes"),
        stages.TREE_UPDATE,
        "find the parents of the moved nodes, and write the proposed trees",
    ),
    "score_mapping": (
        ("nodes", "words", "cells", "lanes"),
        stages.SCORE_MAPPING,
        "the best attachment of every column in the proposed trees; the score of each lane's columns",
    ),
    "reduction": (
        ("nodes", "words", "lanes"),
        stages.REDUCTION,
        "sum the shares, accept or reject, keep the best tree, count the step; nothing where step has "
        "reached last_step",
    ),
}


def exported_kernels(constants: Mapping[str, int]) -> tuple[ExportedKernel, ...]:
    """The kernels for such constants as `AncestorEncoding.capacity` gives: chain_steps, then STAGES."""
    arguments = tuple(one.argument for one in stages.CHAIN_STEPS)
    whole = ExportedKernel(
        name="chain_steps",
        entry_point="ancestor_chain_steps",
        spec=KernelSpec(AncestorEncoding.factory, constants, arguments),
        arguments=stages.CHAIN_STEPS,
        meaning="take every slot's chain from step to last_step; all stages in one kernel",
    )
    return whole, *(_stage(name, constants) for name in STAGES)


def _stage(name: str, constants: Mapping[str, int]) -> ExportedKernel:
    needed, arguments, meaning = _STAGES[name]
    spec = KernelSpec(
        factory=f"syclade.kernels.ancestor.stages:make_{name}_stage",
        constants={constant: constants[constant] for constant in needed},
        arguments=tuple(one.argument for one in arguments),
    )
    return ExportedKernel(name, f"ancestor_{name}", spec, arguments, meaning)
