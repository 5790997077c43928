"""Throughputs of other programs, measured elsewhere; reports label them as stored."""

from __future__ import annotations

__all__ = ["FFSCITE_KSTEPS", "SCITE_KSTEPS", "STORED_SOURCE"]

SCITE_KSTEPS = {(32, 31): 204, (64, 63): 76, (95, 94): 18, (128, 127): 8.3, (1000, 500): 0.11}
"""Thousand steps per second of SCITE (-O3 -march=native) by cells and mutations, in processor time of one
core of an Intel Xeon. There is no value for 16 × 15."""

FFSCITE_KSTEPS = 566.72
"""Thousand steps per second of ffSCITE on a Stratix 10, the same for all sizes (thesis, section 4.3)."""

STORED_SOURCE = (
    "stored: SCITE (-O3 -march=native) on one core of an Intel Xeon, "
    "ffSCITE on a Stratix 10 (thesis, section 4.3)"
)
