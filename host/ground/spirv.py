"""SPIR-V modules as lists of instructions, for the few changes that are made to them after compilation.

Source: SPIR-V Specification, version 1.4, section 2.3, "Physical Layout of a SPIR-V Module and Instruction".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = [
    "MAGIC",
    "Instruction",
    "Op",
    "declare_group_size",
    "entry_points",
    "header",
    "instructions",
    "instructions_without_names",
    "interface_of",
    "is_spirv",
    "module_of",
    "rename_entry_point",
    "with_constants",
]

MAGIC = struct.pack("<I", 0x07230203)
_HEADER_WORDS = 5
_SPEC_ID, _LINKAGE = 1, 41  # decorations
_LOCAL_SIZE, _SUBGROUP_SIZE = 17, 35  # execution modes
_SUBGROUP_DISPATCH = 58  # a capability


class Op:
    """Opcodes of the instructions that the code uses."""

    NAME = 5
    EXT_INST = 12
    ENTRY_POINT = 15
    EXECUTION_MODE = 16
    CAPABILITY = 17
    SPEC_CONSTANT = 50
    FUNCTION = 54
    FUNCTION_PARAMETER = 55
    VARIABLE = 59
    LOAD = 61
    STORE = 62
    COPY_MEMORY_SIZED = 64
    DECORATE = 71
    VECTOR_SHUFFLE = 79
    COMPOSITE_EXTRACT = 81
    COMPOSITE_INSERT = 82
    LOOP_MERGE = 246
    SELECTION_MERGE = 247
    BRANCH_CONDITIONAL = 250
    SWITCH = 251


class Instruction(NamedTuple):
    """One instruction: its opcode and its operands, one word each."""

    code: int
    operands: tuple[int, ...]


def is_spirv(content: bytes) -> bool:
    """Return whether bytes begin like a little-endian SPIR-V module."""
    return content[:4] == MAGIC


def header(module: bytes) -> tuple[int, ...]:
    """Return the five words before the first instruction: magic, version, generator, bound, schema."""
    return struct.unpack_from(f"<{_HEADER_WORDS}I", module)


def instructions(module: bytes) -> Iterator[Instruction]:
    """Yield the module's instructions, in order.

    Raises:
        ValueError: the bytes are not a SPIR-V module, or end in the middle of an instruction.
    """
    if not is_spirv(module) or len(module) % 4 or len(module) < 4 * _HEADER_WORDS:
        raise ValueError("no SPIR-V module")
    words = struct.unpack(f"<{len(module) // 4}I", module)
    at = _HEADER_WORDS
    while at < len(words):
        length, code = words[at] >> 16, words[at] & 0xFFFF
        if length == 0 or at + length > len(words):
            raise ValueError(f"the SPIR-V module is cut off at word {at}")
        yield Instruction(code, words[at + 1 : at + length])
        at += length


def instructions_without_names(module: bytes) -> Iterator[Instruction]:
    """Yield the module's instructions without the names of values, functions and kernels.

    OpName is left out. Entry points and linkage decorations lose their names, whatever their length.
    """
    for code, operands in instructions(module):
        if code == Op.ENTRY_POINT:
            yield Instruction(code, (*operands[:2], *interface_of(operands)))
        elif code == Op.DECORATE and operands[1] == _LINKAGE:
            yield Instruction(code, (*operands[:2], operands[-1]))
        elif code != Op.NAME:
            yield Instruction(code, operands)


def module_of(start: Iterable[int], body: Iterable[Instruction]) -> bytes:
    """Return the module with this header and these instructions: inverse of `header` and `instructions`."""
    words = list(start)
    for code, operands in body:
        words += [(len(operands) + 1) << 16 | code, *operands]
    return struct.pack(f"<{len(words)}I", *words)


def entry_points(module: bytes) -> list[str]:
    """Return the names of the module's kernels."""
    found = (one.operands for one in instructions(module) if one.code == Op.ENTRY_POINT)
    return [_text(operands[2:])[0] for operands in found]


def interface_of(operands: tuple[int, ...]) -> tuple[int, ...]:
    """Return the ids of the interface variables from the operands of an entry point."""
    return operands[2 + _text(operands[2:])[1] :]


def rename_entry_point(module: bytes, name: str) -> bytes:
    """Rename the module's one kernel. Nothing uses the names of its other functions, so they stay.

    Raises:
        ValueError: the module does not have exactly one kernel.
    """
    (old,) = entry_points(module)
    body = []
    for one in instructions(module):
        code, operands = one
        if code == Op.ENTRY_POINT:
            _, length = _text(operands[2:])
            operands = (*operands[:2], *_words(name), *operands[2 + length :])
        elif code == Op.NAME and _text(operands[1:])[0] == old:
            operands = (operands[0], *_words(name))
        elif code == Op.DECORATE and operands[1] == _LINKAGE:
            text, length = _text(operands[2:])
            if text == old:
                operands = (*operands[:2], *_words(name), *operands[2 + length :])
        body.append(Instruction(code, operands))
    return module_of(header(module), body)


def declare_group_size(module: bytes, size: int, *, sub_groups: bool) -> bytes:
    """Declare the number of work-items of a work-group, so that compilers need not support other sizes.

    Args:
        module: a SPIR-V module.
        size: the number of work-items.
        sub_groups: whether a work-group is one sub-group. A CPU device makes one vector of it; else its
            compiler chooses a width, and makes no vectors if that is more than `size`.
    """
    found = list(instructions(module))
    body: list[Instruction] = []
    if sub_groups:
        body.append(Instruction(Op.CAPABILITY, (_SUBGROUP_DISPATCH,)))
    last = max(place for place, one in enumerate(found) if one.code == Op.ENTRY_POINT)
    for place, one in enumerate(found):
        body.append(one)
        if place == last:
            for kernel in (one.operands[1] for one in found if one.code == Op.ENTRY_POINT):
                body.append(Instruction(Op.EXECUTION_MODE, (kernel, _LOCAL_SIZE, size, 1, 1)))
                if sub_groups:
                    body.append(Instruction(Op.EXECUTION_MODE, (kernel, _SUBGROUP_SIZE, size)))
    return module_of(header(module), body)


def with_constants(module: bytes, values: Sequence[int]) -> bytes:
    """Write the values of 64-bit specialisation constants into a module.

    Args:
        module: a SPIR-V module.
        values: values of the constants with SpecId 0, 1, ...; those of constants that the compiler dropped
            are ignored.

    Raises:
        ValueError: the module has a constant without a value, or one of another width.
    """
    written, ids, at = bytearray(module), {}, 4 * _HEADER_WORDS
    for code, operands in instructions(module):
        if code == Op.FUNCTION:  # decorations and constants come before
            break
        if code == Op.DECORATE and operands[1] == _SPEC_ID:
            ids[operands[0]] = operands[2]
        elif code == Op.SPEC_CONSTANT:
            _kind, result, *literal = operands
            index = ids.get(result)
            if index is None or index >= len(values) or len(literal) != 2:
                raise ValueError(f"specialisation constant {index} of {len(values)}, {len(literal)} words")
            struct.pack_into("<q", written, at + 12, values[index])
        at += 4 * (len(operands) + 1)
    return bytes(written)


def _text(words: tuple[int, ...]) -> tuple[str, int]:
    """Return the literal string at the beginning of operands, and its number of operands."""
    for length in range(1, len(words) + 1):
        if words[length - 1] >> 24 == 0:
            content = struct.pack(f"<{length}I", *words[:length])
            return content.partition(b"\0")[0].decode(), length
    raise ValueError("a string in the SPIR-V module does not end")


def _words(text: str) -> tuple[int, ...]:
    """Return a literal string as operands."""
    content = text.encode() + b"\0"
    content += bytes(-len(content) % 4)
    return struct.unpack(f"<{len(content) // 4}I", content)
