"""Reading and changing SPIR-V modules."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.probe import probe_spirv
from syclade.host.spirv import (
    MAGIC,
    Instruction,
    entry_points,
    header,
    instructions,
    is_spirv,
    module_of,
    rename_entry_point,
)

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
