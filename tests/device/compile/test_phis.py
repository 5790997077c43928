"""Precompiled SPIR-V changes no record where control flow joins.

The CPU device's compiler does not vectorise such code, and has made wrong code of it.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable

from syclade.host.commands.ship.make import FOLDER
from syclade.host.device.compile.precompiled import SPIRV, shipped
from syclade.host.ground.spirv import Instruction, instructions

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


def test_no_precompiled_kernel_changes_a_record_where_control_flow_joins() -> None:
    kernels, archives = [one for one in shipped() if one.made_for == SPIRV], dict[str, bytes]()
    assert len(kernels) > 200
    found = {}
    for one in kernels:
        if one.archive not in archives:
            archives[one.archive] = lzma.decompress((FOLDER / one.archive).read_bytes())
        found[one.name] = records_in_phis(
            instructions(archives[one.archive][one.offset : one.offset + one.size])
        )
    assert {name: count for name, count in found.items() if count} == {}


def test_such_a_change_is_found() -> None:
    number, record = Instruction(21, (1, 32, 0)), Instruction(STRUCT, (2, 1, 1))
    assert records_in_phis([number, record, Instruction(PHI, (1, 3, 4, 5))]) == 0
    assert records_in_phis([number, record, Instruction(PHI, (2, 3, 4, 5))]) == 1
