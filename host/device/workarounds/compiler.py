"""Workarounds for bugs of numba-dpex 0.23.0, the compiler of device code, and of the SPIR-V that it makes."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from syclade.host.ground.spirv import Instruction, Op, header, instructions, interface_of, module_of

__all__ = [
    "dpnp_stand_in",
    "register_numba_implementations",
    "with_listed_variables",
    "without_stray_variables",
]


class _StandIn(types.ModuleType):
    """A module in which every name exists, each as a class of its own."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {})
        setattr(self, name, value)
        return value


@contextlib.contextmanager
def dpnp_stand_in() -> Iterator[None]:
    """Let numba-dpex 0.23.0 be imported without dpnp, of which it only needs names.

    The real dpnp takes 1.5 GB with MKL, is slow to import, and its wheel 0.15.0 does not find its libraries.
    """
    if "dpnp" in sys.modules:
        yield
        return
    stand_in, part = _StandIn("dpnp"), _StandIn("dpnp.dpnp_array")
    stand_in.__path__ = []
    setattr(stand_in, "dpnp_array", part)  # noqa: B010 - a module has no such attribute for type checkers
    names = {"dpnp": stand_in, "dpnp.dpnp_array": part}
    sys.modules.update(names)
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


def register_numba_implementations() -> None:
    """Register numba 0.59.1's implementations of tuples, ranges and enums, which numba-dpex 0.23.0 uses.

    They are only registered with the CPU target's context, when it is first used or refreshed. numba-dpex
    never does either, and then its kernels do not compile.
    """
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()


_FUNCTION_STORAGE = 7

# Operands that are ids of values; in all other instructions, every operand is taken for one.
_VALUES = {Op.LOAD: slice(2, 3), Op.STORE: slice(0, 2), Op.COMPOSITE_EXTRACT: slice(2, 3)}
_VALUES |= {Op.COMPOSITE_INSERT: slice(2, 4), Op.EXT_INST: slice(4, None), Op.VARIABLE: slice(3, None)}
_VALUES |= {Op.VECTOR_SHUFFLE: slice(2, 4), Op.COPY_MEMORY_SIZED: slice(0, 3), Op.FUNCTION: slice(0)}
_VALUES |= {Op.LOOP_MERGE: slice(0), Op.SELECTION_MERGE: slice(0)}
_VALUES |= {Op.BRANCH_CONDITIONAL: slice(0, 1), Op.SWITCH: slice(0, 1)}


def without_stray_variables(module: bytes) -> bytes:
    """Return the module without variables of storage class Function that are declared outside of functions.

    numba 0.59.1 makes one for every function that it compiles, for exceptions and globals, which device code
    does not have; numba-dpex 0.23.0 does not remove them. A variable that is used stays.
    """
    body = list(instructions(module))
    stray = {
        one.operands[1]
        for one in _before_functions(body)
        if one.code == Op.VARIABLE and one.operands[2] == _FUNCTION_STORAGE
    }
    inside = False
    for one in body:
        inside = inside or one.code == Op.FUNCTION
        if inside:
            stray.difference_update(one.operands[_VALUES.get(one.code, slice(None))])
    return module_of(header(module), _without(body, stray))


def with_listed_variables(module: bytes) -> bytes:
    """Return the module with its kernels listing all variables outside of functions, as SPIR-V 1.4 requires.

    dpcpp-llvm-spirv 2024.2.0 writes version 1.4 and lists none, which was correct up to version 1.3.
    """
    body = list(instructions(module))
    listed = tuple(one.operands[1] for one in _before_functions(body) if one.code == Op.VARIABLE)
    for index, (code, operands) in enumerate(body):
        if code == Op.ENTRY_POINT:
            missing = tuple(variable for variable in listed if variable not in interface_of(operands))
            body[index] = Instruction(code, (*operands, *missing))
    return module_of(header(module), body)


def _before_functions(body: list[Instruction]) -> Iterator[Instruction]:
    """Yield the module's instructions up to its first function."""
    for one in body:
        if one.code == Op.FUNCTION:
            return
        yield one


def _without(body: list[Instruction], stray: set[int]) -> Iterator[Instruction]:
    """Yield the instructions, except those that define, name or decorate these variables."""
    for code, operands in body:
        if code in (Op.NAME, Op.DECORATE) and operands[0] in stray:
            continue
        if code == Op.VARIABLE and operands[1] in stray:
            continue
        yield Instruction(code, operands)
