"""Kernels as machine code of this processor: the cache, starts without numba, and rejected kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.encodings import ENCODINGS, make_encoding
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.device import device as device_module
from syclade.host.device.choice import choose_device
from syclade.host.device.compile import machine_code
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import load_machine_code
from syclade.host.ground.cache import read_checked
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import version_of
from syclade.kernels.arguments import STATE, Argument
from syclade.kernels.target.native.traits import TRAITS
from tests.support.backends import Case

pytestmark = pytest.mark.usefixtures("compile_here")

X = Argument("x", STATE, "int64", ("slots", 16), "")


def kernel_of(factory: str, lanes: int = 16) -> Kernel:
    return Kernel(
        name=factory.removeprefix("make_"),
        factory=f"tests.support.refused:{factory}",
        parts={},
        constants={"lanes": lanes},
        records=(Record("Given", (X,)),),
        group="work-group",
        lanes=lanes,
    )


@pytest.mark.parametrize(
    "factory", ["make_branch_by_lane", "make_loop_by_lane", "make_place_by_lane", "make_shared_from_lane"]
)
def test_what_differs_between_lanes_has_its_place(own_cache: Path, factory: str) -> None:
    """The error names the file and the line."""
    with pytest.raises(DeviceError) as caught:
        load_machine_code(kernel_of(factory))
    said = caught.value.message
    assert "a number that differs between lanes decides a branch, or stands where lanes share one" in said
    assert re.search(r"tests.support.refused\.py:\d+: ", said)


def test_other_numbers_of_lanes_are_refused(own_cache: Path) -> None:
    with pytest.raises(DeviceError, match="has 8 lanes; this processor takes 16"):
        load_machine_code(kernel_of("make_branch_by_lane", lanes=8))


def test_without_numba_the_device_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(device_module, "version_of", lambda name: None if name == "numba" else version_of(name))
        with pytest.raises(DeviceError, match="numba is not installed") as caught:
            choose_device("native")
        assert "pip install" in str(caught.value)
    assert choose_device("native").usable


RUN = """
import json, sys
import numpy as np
from syclade.host.chains.backends.stages.described import stage_kernels
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.plan import make_plan
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.machine_code import load_machine_code
plan = make_plan(make_problem(matrix_from_array(np.eye(3, dtype=np.uint8)), Rates(0.01, 0.1)))
device = choose_device("native")
stages = stage_kernels(plan, choose_encoding("ancestor", device, plan.problem))
(kernel,) = [one.kernel for one in stages if one.kernel.name == "ancestor_score_mapping"]
function = load_machine_code(kernel)
loaded = [name for name in ("numba", "numba_dpex", "dpctl") if name in sys.modules]
print(json.dumps([loaded, device.kind, len(function.argtypes)]))
"""
"""Loads a small kernel: numba takes seconds for one of whole chains."""


def run(cache: Path) -> Any:
    environment = os.environ | {"SYCLADE_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_second_process_needs_no_numba_unless_the_entry_is_damaged(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each entry has a digest, because damaged machine code would be executed."""
    first, second = run(own_cache), run(own_cache)
    assert "numba" in first[0]
    assert second == [[], "native", first[2]]
    (file,) = (own_cache / "native").iterdir()
    good, content = file.read_bytes(), read_checked(f"native/{file.name}")
    assert content is not None
    symbol, _, code = content.partition(b"\n")
    damaged = bytearray(good)
    damaged[-100] ^= 1
    file.write_bytes(bytes(damaged))
    compiled: list[str] = []

    def compile_again(kernel: Kernel) -> tuple[str, bytes]:
        """Stand in for numba, which would take seconds for the same code."""
        compiled.append(kernel.name)
        return symbol.decode(), code

    monkeypatch.setattr(machine_code, "_compile", compile_again)
    monkeypatch.setattr(machine_code, "_loaded", {})
    exec(RUN, {})
    assert json.loads(capsys.readouterr().out)[1:] == first[1:]
    assert len(compiled) == 1
    assert file.read_bytes() == good, "the damaged file was replaced"


@pytest.mark.parametrize(
    "name",
    [
        "score_mapping",
        "reduction",
        *(pytest.param(encoding, marks=pytest.mark.verification) for encoding in ("ancestor", "preorder")),
    ],
)
def test_kernels_compile_for_other_processors(name: str) -> None:
    """Compile object files for 64-bit ARM, whose vectors are a quarter as wide: of stages, and of chains."""
    from syclade.kernels.target.native.compiler import compile_for

    plan = Case(8, 13).plan()
    if name in ENCODINGS:
        kernel = chain_kernel(plan, make_encoding(name)(plan.problem, TRAITS))
    else:
        stages = stage_kernels(plan, AncestorEncoding(plan.problem, TRAITS))
        (kernel,) = [one.kernel for one in stages if one.kernel.name == f"ancestor_{name}"]
    arguments = [(argument.name, argument.dtype) for argument in kernel.arguments]
    symbol, code = compile_for(
        "aarch64-unknown-linux-gnu", kernel.body(), kernel.name, arguments, kernel.record_types()
    )
    assert code[:4] == b"\x7fELF"
    assert int.from_bytes(code[18:20], "little") == 183, "e_machine is EM_AARCH64"
    assert symbol.encode() in code
