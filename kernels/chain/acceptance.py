"""The accept test in integers: score differences and logarithms in units of 2^-f nat.

Accept iff `difference + E + (ln|C| - ln|B|) / gamma >= 0` with E = -ln(u) / gamma, u = (word + 1/2) / 2^32
(docs/model.md, "The chain": Metropolis-Hastings with the neighbourhood correction |C| / |B|).
"""

import numpy as np

from syclade.kernels.target import device_function

TABLE_BITS = np.uint64(8)  # the table of logarithms has 2^8 + 1 entries
_FRACTION_BITS = np.uint64(24)
_FRACTION_MASK = np.uint64(0xFFFFFF)
_INDEX_MASK = np.uint64(0xFF)
_LAST = np.uint64(256)


@device_function
def negative_log_uniform(
    word,  # IN uint64 < 2^32
    log_table,  # IN (slots, 257) int64, flat: ln(1 + j/256) / gamma in units of 2^-f
    start,  # IN address: where the slot's table starts
):
    """Return E = -ln((word + 1/2) / 2^32) / gamma in units of 2^-f (int64).

    Values between the table's entries are interpolated linearly.
    """
    odd = (word << np.uint64(1)) | np.uint64(1)
    shift = np.uint64(0)  # distance of the leading one below bit 32
    mantissa = odd
    for log_width in range(6):
        width = np.uint64(32) >> np.uint64(log_width)
        empty = np.uint64((mantissa >> (np.uint64(33) - width)) == np.uint64(0))
        mantissa = mantissa << (width * empty)
        shift = shift + width * empty
    index = (mantissa >> _FRACTION_BITS) & _INDEX_MASK
    fraction = np.int64(mantissa & _FRACTION_MASK)
    low = log_table[start + index]
    high = log_table[start + index + np.uint64(1)]
    logarithm = low + (((high - low) * fraction) >> np.int64(24))
    return (np.int64(shift) + np.int64(1)) * log_table[start + _LAST] - logarithm
