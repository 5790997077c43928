"""Missing compiler: a kernel that is not precompiled is an error that says what to do."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from syclade.host.chains.encodings import make_encoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.device.compile import translate as requirements
from syclade.host.device.compile.kernel import Kernel
from syclade.host.device.compile.translate import require_compiler, translate
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.packages import sycl_hint
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """Return a kernel that is not precompiled, and simulate a missing compiler."""
    monkeypatch.setattr(requirements, "version_of", lambda _name: None)
    plan = Case(8, 13).plan()
    return chain_kernel(plan, make_encoding("ancestor")(plan.problem, TRAITS))


def refused(kernel: Kernel, version: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> DeviceError:
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(DeviceError) as caught:
        translate(None, kernel)
    monkeypatch.undo()
    return caught.value


def test_what_is_said_under_a_newer_python(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused(kernel, (3, 13, 0, "final", 0), monkeypatch)
    assert error.message.startswith("the kernel ancestor_chain_steps for up to ")
    assert error.message.endswith(" is not precompiled, and numba-dpex, its compiler, is not installed")
    assert error.hint == (
        "the program's own kernels are precompiled; others need Python 3.11, or --device native, which "
        "compiles with numba"
    )


def test_what_is_said_under_python_311(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused(kernel, (3, 11, 7, "final", 0), monkeypatch)
    assert error.hint == sycl_hint()


def test_an_installed_compiler_is_enough(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "version_of", lambda _name: "0.23.0")
    require_compiler(kernel)
