"""Cases of a suite by backends: which of them need a kernel for their very sizes in `make test`.

Numba compiles such a kernel for this processor within 4 to 25 s, and suites have a hundred of them. Kernels
of the package run every case; the others have one or two cases each, and the rest under `make verify`. The
conformance suite leaves out nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from tests.support.backends import BACKENDS, NUMPY, Backend, marks_of

__all__ = ["OTHERS", "by_backend_and_case", "has_own_kernel"]

OTHERS = [backend for backend in BACKENDS if backend != NUMPY]


def by_backend_and_case(
    backends: Sequence[Backend], cases: Mapping[str, Any], everywhere: Collection[str]
) -> pytest.MarkDecorator:
    """Parametrise a test by `backend` and `case`.

    Args:
        backends: of all cases.
        cases: by their names.
        everywhere: names of those that `make test` runs on kernels for their very sizes, too.
    """
    return pytest.mark.parametrize(
        ("backend", "case"),
        [
            pytest.param(
                backend,
                case,
                id=f"{backend.device}-{backend.encoding}-{name}",
                marks=_marks(backend, name in everywhere),
            )
            for name, case in cases.items()
            for backend in backends
        ],
    )


def _marks(backend: Backend, wanted: bool) -> list[Any]:
    own = marks_of(backend)
    return own if wanted or not has_own_kernel(backend) else [*own, pytest.mark.verification]


def has_own_kernel(backend: Backend) -> bool:
    """Whether it runs a case on a kernel that is compiled for the case's very sizes."""
    return backend.device == "native" and backend.encoding in ("ancestor", "preorder")
