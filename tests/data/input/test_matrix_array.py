from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.ground.errors import MatrixError


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
def test_arrays_of_any_kind(dtype: str) -> None:
    array = np.array([[0, 1], [1, 0]], dtype)
    matrix = matrix_from_array(array)
    assert matrix.values.tolist() == [[0, 1], [1, 0]]
    assert matrix.source == "array"


def test_an_array_is_copied_and_may_be_a_view() -> None:
    array = np.array([[0, 1, 3], [1, 0, 3]], np.uint8)
    matrix = matrix_from_array(array.T[::-1])
    array[:] = 0
    assert matrix.values.tolist() == [[3, 3], [1, 0], [0, 1]]
    assert matrix.values.flags.c_contiguous
    assert matrix_from_array([[0, 1], [3, 3]]).values.tolist() == [[0, 1], [3, 3]]


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ([[0, 1], [0, 4]], "array[1, 1] is 4"),
        ([[0, -1]], "missing value is written 3"),
        ([[0.0, np.nan]], "missing value is written 3"),
        ([[0.0, 0.5]], "array[0, 1] is 0.5"),
        ([0, 1], "1 dimensions"),
        ([[[0]]], "3 dimensions"),
        (np.zeros((0, 3)), "empty"),
        (np.zeros((3, 0)), "empty"),
        ([["0", "1"]], "not a mutation matrix"),
        ([[0, 1], [0]], "cannot be read as an array"),
        (np.array([[0, 1j]]), "not a mutation matrix"),
    ],
)
def test_arrays_refused(array: Any, words: str) -> None:
    with pytest.raises(MatrixError) as caught:
        matrix_from_array(array)
    assert words in str(caught.value)


def test_masked_arrays_are_refused() -> None:
    masked: Any = np.ma
    with pytest.raises(MatrixError, match=r"array\.filled\(3\)"):
        matrix_from_array(masked.masked_equal([[0, 1]], 1))


def test_iterators_are_refused() -> None:
    for given in (iter([[0, 1]]), (row for row in [[0, 1]])):
        with pytest.raises(MatrixError, match=r"is not an array\nhint: give list\(\.\.\.\) of it"):
            matrix_from_array(given)


def test_sparse_matrices_are_taken() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    values = np.array([[0, 1, 3], [2, 0, 0]])
    for make in (sparse.csr_matrix, sparse.coo_array, sparse.csc_array):
        np.testing.assert_array_equal(matrix_from_array(make(values)).values, values)
    with pytest.raises(MatrixError, match="too large"):
        matrix_from_array(sparse.csr_matrix((10**6, 10**6)))


class OnDevice:
    """Array with dpnp's method `asnumpy`, which numpy itself cannot read."""

    def asnumpy(self) -> Any:
        return np.array([[0, 1]])


class WithDlpack:
    """Array with the methods that the array API requires."""

    def __init__(self) -> None:
        self.array = np.array([[0, 1]])

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", [OnDevice, WithDlpack])
def test_arrays_of_other_libraries(kind: type[Any]) -> None:
    assert matrix_from_array(kind()).values.tolist() == [[0, 1]]


@pytest.mark.parametrize("library", ["dpctl", "dpnp"])
def test_a_tensor_is_read_by_its_own_library(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """Use fake modules: with dpnp 0.20, which only newer Pythons have, dpctl's tensors became dpnp's."""
    module = types.ModuleType(f"{library}.tensor")
    vars(module)["asnumpy"] = lambda tensor: tensor.values
    monkeypatch.setitem(sys.modules, library, types.ModuleType(library))
    monkeypatch.setitem(sys.modules, f"{library}.tensor", module)
    members = {"__sycl_usm_array_interface__": {}, "values": np.array([[0, 1]])}
    tensor = type("usm_ndarray", (), members | {"__module__": f"{library}.tensor._usmarray"})()
    assert matrix_from_array(tensor).values.tolist() == [[0, 1]]


@pytest.mark.sycl
@pytest.mark.parametrize("library", ["dpctl.tensor", "dpnp"])
def test_device_arrays(library: str) -> None:
    # Use a separate process, so that the test does not determine when and how the runtime is loaded.
    code = (
        "import importlib, numpy, syclade.host.device.workarounds as cures; cures.prepare()\n"
        f"device = importlib.import_module({library!r})\n"
        "from syclade.host.data.input.matrix import matrix_from_array\n"
        "array = device.asarray(numpy.array([[0, 1, 3], [1, 0, 3]], numpy.int32))\n"
        "print(matrix_from_array(array.T).values.tolist())\n"
    )
    # dpnp's wheels do not find MKL by themselves; users with dpnp arrays have already solved that.
    env = os.environ | {"LD_LIBRARY_PATH": str(Path(sys.prefix) / "lib")}
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True, env=env)
    assert done.stdout.split("\n")[0] == "[[0, 1], [1, 0], [3, 3]]"


def test_matrix_keeps_its_invariants() -> None:
    wide: Any = np.zeros((1, 1), np.int64)
    with pytest.raises(TypeError):
        Matrix(wide, ("1",), "x")
    with pytest.raises(ValueError, match="one name for each row"):
        Matrix(np.zeros((1, 1), np.uint8), (), "x")


def test_a_data_frame_does_not_say_what_its_rows_are() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1], [1, 0], [1, 3]], index=["a", "b", "c"], columns=["x", "y"])
    with pytest.raises(MatrixError, match="rows may be cells or mutations"):
        matrix_from_array(frame)
    assert matrix_from_array(frame.to_numpy(), list(frame.index)).mutations == ("a", "b", "c")
