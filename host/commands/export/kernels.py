"""Kernels of an export for one capacity: the whole chain, and its stages one by one."""

from __future__ import annotations

from dataclasses import dataclass

from syclade.host.chains.backends.stages.kernels import DescribedKernel, stage_kernels
from syclade.host.chains.encodings.ancestor import AncestorEncoding
from syclade.host.chains.kernel import chain_kernel, chain_sizes
from syclade.host.chains.plan import Plan
from syclade.kernels.ancestor import stage_arguments

__all__ = ["STAGES", "ExportedKernel", "exported_kernels", "symbol_values"]

STAGES = tuple(stage_arguments.STAGES)
"""One launch of each, in this order, is one step of every chain."""


@dataclass(frozen=True)
class ExportedKernel(DescribedKernel):
    """One kernel of an export; its name is used in the manifest and as its file's name."""

    @property
    def entry_point(self) -> str:
        """Name of the kernel in its module."""
        return self.kernel.name

    @property
    def file(self) -> str:
        """File name of the module."""
        return f"{self.name}.spv"


def exported_kernels(plan: Plan, encoding: AncestorEncoding) -> tuple[ExportedKernel, ...]:
    """Return the kernels for the encoding's capacities: chain_steps, then STAGES."""
    whole = ExportedKernel(
        name="chain_steps",
        kernel=chain_kernel(plan, encoding),
        arguments=stage_arguments.CHAIN_STEPS,
        meaning="take every slot's chain from step to last_step; all stages in one kernel",
    )
    return whole, *(
        ExportedKernel(stage.name, stage.kernel, stage.arguments, stage.meaning)
        for stage in stage_kernels(plan, encoding)
    )


def symbol_values(plan: Plan, encoding: AncestorEncoding, mutations: int) -> dict[str, int]:
    """Return the values of the symbols in argument shapes, except `slots`, for a capacity in mutations."""
    # A tree has one node more than mutations, and ln(k) is needed for k = 0 ... nodes.
    sizes = chain_sizes(plan, encoding, slots=1) | {"log_sizes": mutations + 2}
    del sizes["slots"]
    return sizes
