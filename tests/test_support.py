"""Test support: kernels compiled by another process, and samples of the tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from syclade.host.commands.ship.make import same_but_for_names
from syclade.host.device.compile import machine_code, program
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.host.device.compile.program import spirv_of
from syclade.host.ground.errors import DeviceError
from syclade.kernels.arguments import STATE, Argument
from tests.conftest import sample
from tests.support import compiled_tests, compilers
from tests.support.compilers import Compilers, compiled_here
from tests.support.verification import ERRORS, Row, errors_of, read_rows

LANES = 16
KERNEL = Kernel(
    name="control",
    factory="tests.support.build_kernel:make_control",
    parts={},
    constants={"lanes": LANES},
    records=(
        Record(
            "Given",
            tuple(
                Argument(name, STATE, dtype, (64,), "")
                for name, dtype in (("values", "int32"), ("shared", "int32"), ("steps", "int64"))
            ),
        ),
    ),
    group="work-group",
    lanes=LANES,
)


@pytest.fixture
def apart(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Use separate compilers for this test."""
    made = Compilers()
    monkeypatch.setattr(program, "translate", made.translate)
    monkeypatch.setattr(machine_code, "_compile", made.compile)
    yield made
    made.stop()


@pytest.mark.sycl
def test_kernels_are_those_of_the_program(
    apart: Compilers, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from syclade.host.device.device import open_queue

    queue = open_queue("cpu")
    compilers.MADE.clear()
    ours = spirv_of(queue, KERNEL)
    assert [name for name, _ in compilers.MADE] == ["control for sycl"]
    assert spirv_of(queue, KERNEL) == ours
    assert len(compilers.MADE) == 1, "what was compiled is kept"
    compiled_here(monkeypatch)
    (file,) = (own_cache / "spirv").iterdir()
    file.unlink()
    assert same_but_for_names(spirv_of(queue, KERNEL).module, ours.module)
    assert len(compilers.MADE) == 1


def test_errors_come_back(apart: Compilers) -> None:
    """Check that the same process reports the error to the next request, too."""
    refused = Kernel(
        "control", "tests.support.refused:make_branch_by_lane", {}, {"lanes": 8}, (), "work-group", 8
    )
    for _ in range(2):
        with pytest.raises(DeviceError, match="has 8 lanes; this processor takes 16"):
            load_machine_code(refused)
    assert len(compilers._running) >= 1


def test_a_compiler_that_has_grown_ends(apart: Compilers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "MOST", 0)
    refused = Kernel(
        "control", "tests.support.refused:make_branch_by_lane", {}, {"lanes": 8}, (), "work-group", 8
    )
    for _ in range(2):
        with pytest.raises(DeviceError, match="has 8 lanes"):
            load_machine_code(refused)
        assert apart._process is None


@dataclass(frozen=True)
class Item:
    """The attributes of a test that sampling uses."""

    nodeid: str
    path: Path


def test_a_sample_is_the_same_each_time_and_of_each_file() -> None:
    items: Any = [Item(f"{file}.py::test[{at}]", Path(f"{file}.py")) for file in "abc" for at in range(400)]
    items.append(Item("d.py::test", Path("d.py")))
    taken = sample(items, 10)
    assert taken == sample(items[::-1], 10)
    assert {item.path for item in taken} == {item.path for item in items}
    assert 80 < len(taken) < 160
    assert sample(items, 1) == set(items)


def test_files_of_tests_that_need_the_compiler_are_there() -> None:
    assert [file for file in compiled_tests._TESTS if not (Path(__file__).parent / file).is_file()] == []


def test_the_table_of_tests_left_to_verify_is_checked() -> None:
    head = "| tests | shows | still |\n|---|---|---|\n"
    rows = read_rows(f"{head}| `a.py::one[x-*]`, `two` | a thing | `a.py::one[y]` |\n")
    assert rows == [Row(("a.py::one[x-*]", "a.py::two"), "a thing", ("a.py::one[y]",))]
    left = {"a.py::one[x-1]": True, "a.py::two[3]": True, "a.py::one[y]": False}
    assert errors_of(rows, left) == []
    assert errors_of(rows, {"b.py::other": False}) == [], "its file was not collected"
    assert errors_of(rows, left | {"a.py::one[y]": True}) == ["a.py::one[y]: no such test in `make test`"]
    del left["a.py::two[3]"]
    assert errors_of(rows, left) == ["a.py::two: no such test"]
    (error,) = errors_of([rows[0]._replace(still=())], {})
    assert error == "a.py::one[x-*]: no test is named that still shows it"


def test_tests_left_to_verify_exist(pytestconfig: pytest.Config) -> None:
    """Those of all files that were collected, and others that still show the same."""
    assert pytestconfig.stash[ERRORS] == []
