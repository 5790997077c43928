"""Every bug behind the modules in host/device/workarounds/ still exists (see test_workarounds.py)."""

from __future__ import annotations

import ast
import ctypes
import importlib
import pkgutil
from pathlib import Path
from typing import Any

import pytest

from syclade.host.chains.backends.stages.described import FIXED
from syclade.host.device import workarounds
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.program import spirv_of
from syclade.host.device.survey import probe_spirv
from syclade.host.device.workarounds import opencl, prepare
from syclade.host.device.workarounds.compiler import with_listed_variables, without_stray_variables
from syclade.host.device.workarounds.opencl import opened_place, sycl_program
from syclade.host.ground.spirv import (
    Instruction,
    Op,
    entry_points,
    header,
    instructions,
    interface_of,
    module_of,
)
from syclade.kernels.ancestor import stage_arguments
from tests.support.spirv_val import complaint

pytestmark = pytest.mark.sycl

CONTEXT_REFERENCES, PROGRAM_REFERENCES = 0x1080, 0x1160


@pytest.fixture(params=["opencl:cpu:0", "opencl:accelerator:0"])
def queue(request: pytest.FixtureRequest) -> Any:
    return prepare().SyclQueue(request.param)


@pytest.fixture(scope="module")
def module() -> bytes:
    """Return the SPIR-V of a small kernel as the compilers emit it."""
    arguments = tuple(one.argument for one in stage_arguments.TREE_UPDATE)
    kernel = Kernel(
        name="tree_update",
        factory="syclade.kernels.ancestor.stages.tree_update:make_tree_update_stage",
        parts={"capacity": FIXED},
        constants={"nodes": 64, "words": 1, "lanes": 16},
        records=(Record("Given", arguments),),
        group="work-group",
        lanes=16,
    )
    return spirv_of(prepare().SyclQueue("opencl:cpu:0"), kernel).module


def references(function: str, what: int, kind: int) -> int:
    """Return OpenCL's reference count of an object."""
    count = ctypes.c_uint(0)
    address = ctypes.c_void_p(what)
    size = ctypes.c_size_t(ctypes.sizeof(count))
    code = getattr(opencl.library(), function)(address, ctypes.c_uint(kind), size, ctypes.byref(count), None)
    assert code == 0
    return count.value


# ---- dpctl and programs


def test_dpctl_makes_programs_from_spirv_and_source_only() -> None:
    prepare()
    import dpctl.program

    makers = {name for name in dir(dpctl.program) if name.startswith("create")}
    assert makers == {"create_program_from_source", "create_program_from_spirv"}, "the workaround may go"


def test_opened_place(queue: Any) -> None:
    """Check that it is the context of dpctl's own programs, and that no reference is kept."""
    with opened_place(queue) as place:
        assert place is not None
        before = references("clGetContextInfo", place.context, CONTEXT_REFERENCES)
    for _ in range(3):
        with opened_place(queue) as again:
            assert again == place
            assert references("clGetContextInfo", place.context, CONTEXT_REFERENCES) == before


def test_sycl_program(queue: Any) -> None:
    """Check that the program lives as long as it has a reference, and no longer."""
    with opened_place(queue) as place:
        assert place is not None
        program = opencl.program_from_spirv(place, probe_spirv())
        assert opencl.kernel_names(program) == ["probe"]
        made = sycl_program(queue, program)
        assert references("clGetProgramInfo", program, PROGRAM_REFERENCES) == 2
        del made
        assert references("clGetProgramInfo", program, PROGRAM_REFERENCES) == 1
        made = sycl_program(queue, program)
        opencl.release(program)
        assert made.has_sycl_kernel("probe")
        assert not made.has_sycl_kernel("absent")


# ---- SPIR-V


@pytest.mark.compiler
def test_without_stray_variables(module: bytes) -> None:
    fault = complaint(with_listed_variables(module))
    assert fault is not None, "numba leaves no stray variables any more"
    assert "storage class outside of a function" in fault
    assert complaint(with_listed_variables(without_stray_variables(module))) is None


@pytest.mark.compiler
def test_with_listed_variables(module: bytes) -> None:
    fault = complaint(without_stray_variables(module))
    assert fault is not None, "the translator lists the variables now"
    assert "not listed as an interface" in fault
    cured = with_listed_variables(without_stray_variables(module))
    assert with_listed_variables(cured) == cured


def test_cures_leave_a_valid_module_alone() -> None:
    valid = probe_spirv()
    assert complaint(valid) is None
    assert with_listed_variables(without_stray_variables(valid)) == valid


@pytest.mark.compiler
def test_a_variable_in_use_stays(module: bytes) -> None:
    """Insert a load of the variable into the first function."""
    body = list(instructions(module))
    first = next(index for index, one in enumerate(body) if one.code == Op.FUNCTION)
    used, *unused = [
        one.operands[1] for one in body[:first] if one.code == Op.VARIABLE and one.operands[2] == 7
    ]
    load = Instruction(Op.LOAD, (1, header(module)[3], used, 2, unused[0]))  # the last operand is a literal
    cured = without_stray_variables(module_of(header(module), [*body[: first + 1], load, *body[first + 1 :]]))
    left = [one.operands[1] for one in instructions(cured) if one.code == Op.VARIABLE]
    assert used in left
    assert unused
    assert not set(unused) & set(left)
    assert entry_points(cured) == entry_points(module)
    assert all(
        not set(unused) & set(interface_of(one.operands))
        for one in instructions(cured)
        if one.code == Op.ENTRY_POINT
    )


def test_every_cure_has_a_test_and_names_a_version() -> None:
    cures: dict[str, Any] = {}
    for found in pkgutil.iter_modules(workarounds.__path__):
        part = importlib.import_module(f"{workarounds.__name__}.{found.name}")
        for name in part.__all__:
            cures[name] = f"{part.__doc__} {getattr(part, name).__doc__}"
    tested = {
        node.name.removeprefix("test_")
        for name in (Path(__file__).name, "test_workarounds.py")
        for node in ast.parse(Path(__file__).with_name(name).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(cures) <= tested
    assert all("20" in text or "0." in text for text in cures.values())
