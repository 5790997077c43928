"""Batched stages, for devices on which many threads work on one search: their kernels, and array sizes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from syclade.host.device.compile.kernel import Kernel, Record
from syclade.kernels.search.batched.arguments import BATCH, BATCHED_ARGUMENTS
from syclade.kernels.target.cuda.traits import TRAITS

__all__ = ["BATCHED_STAGES", "batched_kernel", "batched_sizes", "teams_for"]

BATCHED_STAGES = {
    "estimated": "syclade.kernels.search.batched.estimated_move:ESTIMATED",
    "subtrees": "syclade.kernels.search.batched.subtree_move:SUBTREES",
    "regraft": "syclade.kernels.search.batched.regraft_move:REGRAFT",
    "exact": "syclade.kernels.search.batched.exact_move:EXACT",
    "by-mutations": "syclade.kernels.search.batched.exact_move:BY_MUTATIONS",
    "by-columns": "syclade.kernels.search.batched.regraft_move:BY_COLUMNS",
}
"""All stages, with their device code."""


@cache
def batched_kernel(stage: str) -> Kernel:
    """Return the kernel of a stage."""
    arguments = BATCHED_ARGUMENTS
    if stage.startswith("by-"):  # which take too much of a GPU's shared memory: trees of all columns
        arguments = tuple(one._replace(hot=False) for one in arguments)
    return Kernel(
        name=f"search_{stage.replace('-', '_')}_batched",
        factory="syclade.kernels.search.batched.stages:make_batched",
        parts={"stage": BATCHED_STAGES[stage]},
        constants={},
        records=(Record("Given", arguments),),
        group="grid",
        lanes=1,
    )


def teams_for(units: int, sizes: Mapping[str, int]) -> int:
    """Return how many teams a slot gets, so that all run at once; 0 if there are too many slots.

    Args:
        units: multiprocessors, each of which runs one team.
        sizes: as for `batched_sizes`.
    """
    blocks = max(sizes["cells"], sizes["genes"]) // TRAITS.lanes
    return min(units // sizes["slots"], blocks)


def batched_sizes(sizes: Mapping[str, int], teams: int) -> dict[str, int]:
    """Return the values of the symbols in the shapes of the arguments.

    Args:
        sizes: those of the other stages (`search_sizes`).
        teams: teams of each slot.
    """
    nodes, joints = sizes["nodes"], sizes["joints"]
    longest = max(nodes, joints)
    return {
        **sizes,
        "teams": teams,
        "places": max(2 * BATCH * nodes + BATCH, joints + BATCH),
        "lucks": BATCH * longest,
        "widest": max(sizes["cells"], sizes["genes"]),
        "doubled": 2 * longest,
    }
