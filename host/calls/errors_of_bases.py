"""Joint error probability of a base, from its mapping, alignment and base quality.

With PM, PA and PB the error probabilities of mapping, alignment and base call, a base is wrong with
probability PJ = PM + (1 − PM) PA + (1 − PM)(1 − PA) PB. Source: Wilm et al., "LoFreq", Nucleic Acids Res. 40
(2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.kernels.pileup.arguments import NO_ALIGNMENT

__all__ = ["joint_errors", "phred"]

UNMAPPABLE = 0.5
"""PM of mapping quality 0: one other place is as good."""

_PHRED = 10.0 ** (-np.arange(256) / 10.0)


def _of_mapping() -> NDArray[np.float64]:
    table = _PHRED.copy()
    table[0], table[255] = UNMAPPABLE, 0.0
    return table


def _of_alignment() -> NDArray[np.float64]:
    table = _PHRED[:128].copy()
    table[NO_ALIGNMENT] = 0.0
    return table


_MAPPING, _ALIGNMENT = _of_mapping(), _of_alignment()


def joint_errors(
    mapping: NDArray[np.integer[Any]],
    alignment: NDArray[np.integer[Any]],
    quality: NDArray[np.integer[Any]],
    *,
    use_mapping: bool,
) -> NDArray[np.float64]:
    """Return the joint error probability of each base, float64.

    Args:
        mapping: Phred mapping qualities; 255 is unknown.
        alignment: Phred alignment qualities; `NO_ALIGNMENT` is unknown.
        quality: Phred qualities of bases, or of indels.
        use_mapping: whether mapping qualities count.
    """
    pm = _MAPPING[mapping] if use_mapping else np.zeros(len(mapping))
    pa, pb = _ALIGNMENT[alignment], _PHRED[quality]
    joint: NDArray[np.float64] = pm + (1 - pm) * pa + (1 - pm) * (1 - pa) * pb
    return joint


def phred(probability: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return integer Phred qualities of probabilities, cut, not rounded."""
    cut: NDArray[np.int64] = (-10.0 * np.log10(np.maximum(probability, 1e-300))).astype(np.int64)
    return cut
