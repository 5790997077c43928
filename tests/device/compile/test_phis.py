"""Precompiled SPIR-V changes no record where control flow joins.

The CPU device's compiler does not vectorise such code, and has made wrong code of it.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable

import numpy as np

from syclade.host.commands.ship.make import FOLDER
from syclade.host.device.compile.precompiled import SPIRV, shipped
from syclade.host.ground.spirv import Instruction, instructions, module_of

STRUCT, PHI = 30, 245


def records_in_phis(module: Iterable[Instruction]) -> int:
    """Return how many phi instructions have the type of a structure."""
    structures: set[int] = set()
    found = 0
    for one in module:
        if one.code == STRUCT:
            structures.add(one.operands[0])
        found += one.code == PHI and one.operands[0] in structures
    return found


def may_have_records_in_phis(module: bytes) -> bool:
    """Return whether there are words like a phi of a structure's type: a quick look at all 100 MB.

    Some that look so are no instructions; no such instruction is missed.
    """
    words = np.frombuffer(module, dtype="<u4")
    codes, operands = words[:-1] & 0xFFFF, words[1:]
    return bool(np.isin(operands[codes == PHI], operands[codes == STRUCT]).any())


def test_no_precompiled_kernel_changes_a_record_where_control_flow_joins() -> None:
    kernels, archives = [one for one in shipped() if one.made_for == SPIRV], dict[str, bytes]()
    assert len(kernels) > 200
    found = {}
    for one in kernels:
        if one.archive not in archives:
            archives[one.archive] = lzma.decompress((FOLDER / one.archive).read_bytes())
        module = archives[one.archive][one.offset : one.offset + one.size]
        if may_have_records_in_phis(module):
            found[one.name] = records_in_phis(instructions(module))
    assert {name: count for name, count in found.items() if count} == {}


def test_such_a_change_is_found() -> None:
    number, record = Instruction(21, (1, 32, 0)), Instruction(STRUCT, (2, 1, 1))
    for kind in (1, 2):
        body = [number, record, Instruction(PHI, (kind, 3, 4, 5))]
        assert records_in_phis(body) == kind - 1
        assert may_have_records_in_phis(module_of((0,) * 5, body)) == (kind == 2)
