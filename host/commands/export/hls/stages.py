"""The five stages of the macro-pipeline in C, for one chain state in memory of its own, and one lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from syclade.host.chains.backends.stages.kernels import stage_kernels
from syclade.host.chains.encodings.ancestor import AncestorEncoding
from syclade.host.chains.plan import Plan
from syclade.host.commands.export.hls.body import translated
from syclade.host.commands.export.hls.program import Loop, Program
from syclade.host.commands.export.hls.values import Array, Number, Record
from syclade.kernels.ancestor.capacity import Capacity
from syclade.kernels.ancestor.stage_arguments import STAGES, StageArgument
from syclade.kernels.arguments import record_of
from syclade.kernels.target.traits import Traits

__all__ = ["ONE_LANE", "of_state", "stage_program"]

ONE_LANE = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)
"""Traits of stages in C: a work-item does all rows and columns, one after another or unrolled."""

_NO_SLOT = Number("0", "uint64", 0, stable=True, absent=True)


def _nothing(_loop: Loop) -> Sequence[str]:
    return ()


def stage_program(
    plan: Plan,
    encoding: AncestorEncoding,
    before_loop: Callable[[Loop], Sequence[str]] = _nothing,
    in_loop: Callable[[Loop], Sequence[str]] = _nothing,
    unrolled: Callable[[Loop], str | None] = lambda _loop: "",
) -> Program:
    """Translate the stages of a plan; the sizes of the encoding stay names (NODES, WORDS, CELLS, VALUES).

    Args:
        plan: the parts of the chains.
        encoding: made with the traits ONE_LANE.
        before_loop, in_loop, unrolled: as for `Program`.

    Returns:
        The program; the function of stage x has the name ``ancestor_x``, and as parameters the arrays of
        `STAGES`, in order.
    """
    remarks = {one.argument.name: _remark(one) for stage in STAGES.values() for one in stage}
    program = Program(Capacity, before_loop, in_loop, remarks, unrolled=unrolled)
    for stage in stage_kernels(plan, encoding):
        names = [one.argument.name for one in stage.arguments]
        arrays = tuple(Array(one.argument.name, one.argument.dtype) for one in stage.arguments)
        given = Record(record_of("Given", [one.argument for one in stage.arguments]), arrays)
        made = translated(program, stage.kernel.body(), [_NO_SLOT, _NO_SLOT, given])
        unused = [name for name, is_used in zip(names, made.used, strict=True) if not is_used]
        assert not unused, f"{stage.name} does not use {unused}"
    return program


def of_state(argument: StageArgument) -> tuple[str | int, ...]:
    """Return the shape of an argument's part that belongs to one state."""
    return tuple(part for part in argument.argument.shape if part != "slots")


def _remark(argument: StageArgument) -> str:
    """Return a comment on an array: shape and meaning."""
    shape = ", ".join(str(part).upper() for part in of_state(argument)) or "1"
    return f"({shape}): {argument.argument.meaning}"
