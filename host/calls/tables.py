"""Hash tables of keys and their counts, one for each column of a window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.host_kernels import compiled
from syclade.host.ground.errors import ReadsError

__all__ = ["grown"]

_LAST_STRIDE = 1 << 17


def grown(table: NDArray[np.uint32], begin: int) -> NDArray[np.uint32]:
    """Return a table with the same keys and counts, and twice the space.

    Args:
        table: uint32, (columns, space for keys, 2): keys plus 1, and counts.
        begin: position of the first column, from 0, for messages.

    Raises:
        ReadsError: a column has more different keys than a table may hold.
    """
    columns, stride, _ = table.shape
    if 2 * stride > _LAST_STRIDE:
        raise ReadsError(f"a column after position {begin} has more than {_LAST_STRIDE} different qualities")
    larger = np.zeros((columns, 2 * stride, 2), dtype=np.uint32)
    compiled("growth")(
        {
            "columns": np.array([columns]),
            "old_stride": np.array([stride]),
            "stride": np.array([2 * stride]),
            "old": table,
            "table": larger,
        }
    )
    return larger
