"""Reading and changing SPIR-V modules."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.device.compile.program import spirv_of
from syclade.host.device.survey import probe_spirv
from syclade.host.device.workarounds import prepare
from syclade.host.device.workarounds.compiler import with_listed_variables, without_stray_variables
from syclade.host.ground.spirv import (
    MAGIC,
    Instruction,
    Op,
    declare_group_size,
    entry_points,
    header,
    instructions,
    is_spirv,
    module_of,
    rename_entry_point,
    with_constants,
)
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case
from tests.support.spirv_val import complaint

NAMES = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), min_size=1, max_size=40)


def test_a_module_is_its_header_and_instructions() -> None:
    module = probe_spirv()
    assert module_of(header(module), instructions(module)) == module


@given(
    st.lists(st.tuples(st.integers(0, 0xFFFF), st.lists(st.integers(0, 2**32 - 1), max_size=9).map(tuple)))
)
def test_any_instructions_survive(body: list[tuple[int, tuple[int, ...]]]) -> None:
    made = [Instruction(*one) for one in body]
    module = module_of(header(probe_spirv()), made)
    assert list(instructions(module)) == made


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"text",
        MAGIC,
        probe_spirv()[:-1],
        probe_spirv()[:-12],
        probe_spirv() + bytes(4),
        b"\0" + probe_spirv(),
    ],
)
def test_what_is_no_module(bad: bytes) -> None:
    with pytest.raises(ValueError, match="SPIR-V module"):
        list(instructions(bad))


def test_how_a_module_begins() -> None:
    assert is_spirv(probe_spirv())
    assert not is_spirv(b"\x07\x23\x02\x03")  # the other byte order
    assert not is_spirv(b"")


@given(NAMES)
def test_the_entry_point_gets_another_name(name: str) -> None:
    renamed = rename_entry_point(probe_spirv(), name)
    assert entry_points(probe_spirv()) == ["probe"]
    assert entry_points(renamed) == [name]
    assert rename_entry_point(renamed, "probe") == probe_spirv()


def test_a_name_that_does_not_end() -> None:
    words = struct.unpack("<1I", b"abcd")
    module = module_of(header(probe_spirv()), [Instruction(15, (6, 1, *words))])
    with pytest.raises(ValueError, match="does not end"):
        entry_points(module)


def test_two_kernels_cannot_be_renamed() -> None:
    body = list(instructions(probe_spirv()))
    double = [one for one in body for _ in range(1 + (one.code == 15))]
    with pytest.raises(ValueError, match="unpack"):
        rename_entry_point(module_of(header(probe_spirv()), double), "x")


def test_the_size_of_groups_is_declared() -> None:
    """LocalSize (17) always, SubgroupSize (35) if a work-group is one sub-group."""
    plain = probe_spirv()
    (kernel,) = (one.operands[1] for one in instructions(plain) if one.code == 15)
    added = [one for one in instructions(declare_group_size(plain, 16, sub_groups=False)) if one.code == 16]
    assert added == [Instruction(16, (kernel, 17, 16, 1, 1))]
    body = list(instructions(declare_group_size(plain, 8, sub_groups=True)))
    assert [one for one in body if one.code == 16] == [
        Instruction(16, (kernel, 17, 8, 1, 1)),
        Instruction(16, (kernel, 35, 8)),
    ]
    assert body[0] == Instruction(17, (58,))  # SubgroupDispatch
    assert list(instructions(plain)) == [one for one in body[1:] if one.code != 16]


def specialised_module(*ids: int) -> bytes:
    """Return a module with one 64-bit constant per SpecId; result ids start at 1000."""
    body = [Instruction(Op.DECORATE, (1000 + at, 1, one)) for at, one in enumerate(ids)]
    body += [Instruction(Op.SPEC_CONSTANT, (7, 1000 + at, 5, 6)) for at in range(len(ids))]
    found = list(instructions(probe_spirv()))
    first = next(place for place, one in enumerate(found) if one.code == Op.FUNCTION)
    return module_of(header(probe_spirv()), [*found[:first], *body, *found[first:]])


@given(st.lists(st.integers(0, 2**63 - 1), min_size=4, max_size=6))
def test_constants_are_written(values: list[int]) -> None:
    """Each constant gets the value of its SpecId, in any order and more than once; the rest is unchanged."""
    ids = (3, 0, 3, 1)
    written = list(instructions(with_constants(specialised_module(*ids), values)))
    for place, one in enumerate(instructions(specialised_module(*ids))):
        if one.code != Op.SPEC_CONSTANT:
            assert written[place] == one
            continue
        kind, result, low, high = written[place].operands
        assert (kind, result) == one.operands[:2]
        assert low | high << 32 == values[ids[result - 1000]]


def test_a_constant_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="specialisation constant 2 of 2"):
        with_constants(specialised_module(0, 2), [1, 2])


@pytest.mark.sycl
def test_a_kernel_for_sub_groups_is_valid() -> None:
    """The validator accepts the module after the workarounds for bugs in all numba-dpex modules."""
    queue = prepare().SyclQueue("opencl:cpu:0")
    plan = Case(8, 13).plan()
    encoding = PreorderEncoding(plan.problem, TRAITS).specialised()
    assert encoding is not None
    module = spirv_of(queue, chain_kernel(plan, encoding)).module
    assert {17, 35} == {one.operands[1] for one in instructions(module) if one.code == 16}
    assert complaint(with_listed_variables(without_stray_variables(module))) is None
