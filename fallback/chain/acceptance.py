"""The accept test in integers (the mirror of `kernels/chain/acceptance.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FRACTION_BITS = np.uint64(24)
_FRACTION_MASK = np.uint64(0xFFFFFF)
_INDEX_MASK = np.uint64(0xFF)


def negative_log_uniform(
    word: NDArray[np.uint64],  # IN (slots, ...) < 2^32
    log_table: NDArray[np.int64],  # IN (slots, 257): ln(1 + j/256) / gamma in units of 2^-f
) -> NDArray[np.int64]:
    """Return E = -ln((word + 1/2) / 2^32) / gamma in units of 2^-f, int64.

    The logarithm is linear between table entries.
    """
    odd = (word << np.uint64(1)) | np.uint64(1)
    # The exponent of a float64 is the position of the leading one: exact below 2^53.
    exponent = np.frexp(odd.astype(np.float64))[1].astype(np.int64)
    shift = 33 - exponent
    mantissa = odd << shift.astype(np.uint64)
    index = ((mantissa >> _FRACTION_BITS) & _INDEX_MASK).astype(np.int64)
    fraction = (mantissa & _FRACTION_MASK).astype(np.int64)
    slot = np.arange(len(word)).reshape(-1, *(1,) * (word.ndim - 1))
    low = log_table[slot, index]
    logarithm = low + (((log_table[slot, index + 1] - low) * fraction) >> 24)
    result: Any = (shift + 1) * log_table[slot, 256] - logarithm
    return np.asarray(result, dtype=np.int64)
