"""Values of a matrix from an array, in host or device memory."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.reader import ALLOWED, MEANING
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.limits import MOST_BYTES

__all__ = ["values_from_array"]


def values_from_array(array: Any) -> NDArray[np.uint8]:
    """Copy the values of an array to the host and check them.

    Args:
        array: see ``matrix_from_array``.

    Returns:
        uint8, shape (n_mutations, n_cells), C-contiguous; entries 0, 1, 2 or 3.

    Raises:
        MatrixError: as ``matrix_from_array``; or the array is a DataFrame or an iterator.
    """
    if hasattr(array, "columns") and hasattr(array, "index") and hasattr(array, "to_numpy"):
        raise MatrixError(
            "a DataFrame's rows may be cells or mutations",
            hint="for rows that are mutations give frame.to_numpy() with names=list(frame.index), "
            "for rows that are cells frame.to_numpy().T with names=list(frame.columns)",
        )
    if isinstance(array, Iterator):
        raise MatrixError(f"an iterator ({type(array).__name__}) is no array", hint="give list(...) of it")
    values = _to_numpy(array)
    if values.ndim != 2:
        raise MatrixError(
            f"the array has {values.ndim} dimensions", hint="rows are mutations and columns are cells"
        )
    if 0 in values.shape:
        raise MatrixError(f"the array of shape {values.shape} is empty")
    if values.dtype.kind not in "biuf":
        raise MatrixError(
            f"an array of {values.dtype} is not a mutation matrix", hint=f"give integers: {MEANING}"
        )
    allowed = np.isin(values, ALLOWED)
    if not allowed.all():
        _refuse_value(values, allowed)
    return np.array(values, dtype=np.uint8, order="C", copy=True)


def _refuse_value(values: NDArray[Any], allowed: NDArray[np.bool_]) -> None:
    """Raise MatrixError for the first invalid entry, in row-major order."""
    row, cell = np.unravel_index(int(np.argmin(allowed)), values.shape)
    value = values[row, cell].item()
    hint = "a missing value is written 3" if value == -1 or value != value else f"values are {MEANING}"
    raise MatrixError(f"array[{row}, {cell}] is {value}, not 0, 1, 2 or 3", hint=hint)


def _to_numpy(array: Any) -> NDArray[Any]:
    """Return a numpy array with the same values; device memory is copied to the host."""
    if isinstance(array, np.ma.MaskedArray):
        # np.asarray would silently drop the mask.
        raise MatrixError("the array is masked", hint="write missing values as 3: array.filled(3)")
    if isinstance(array, np.ndarray):
        return array
    try:
        return np.asarray(_from_device(array))
    except MatrixError:
        raise
    except Exception as problem:
        raise MatrixError(
            f"a {type(array).__name__} cannot be read as an array: {problem}",
            hint="give a numpy, dpctl or dpnp array, or nested lists of equal length",
        ) from problem


def _from_device(array: Any) -> Any:
    """Return the array itself, or a copy on the host if numpy cannot read its memory."""
    if callable(getattr(array, "toarray", None)):  # scipy.sparse
        if math.prod(array.shape) > MOST_BYTES:
            raise MatrixError(f"the sparse matrix has the shape {array.shape}, which is too large")
        return array.toarray()
    if callable(getattr(array, "asnumpy", None)):  # dpnp
        return array.asnumpy()
    if hasattr(array, "__sycl_usm_array_interface__"):  # dpctl up to 0.21, dpnp from 0.20
        library = "dpnp" if type(array).__module__.startswith("dpnp.") else "dpctl"
        return importlib.import_module(f"{library}.tensor").asnumpy(array)
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return np.from_dlpack(array)
    return array
