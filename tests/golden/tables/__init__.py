"""Tables of golden runs."""

from __future__ import annotations

from tests.golden.run import Run
from tests.golden.tables import (
    cell_trees,
    chains,
    evidence,
    infscite,
    others,
    rates_and_scores,
    resumed,
    scite,
    searches,
    support,
)

__all__ = ["RUNS"]

_TABLES = (
    searches.SEARCHES,
    support.SUPPORT,
    evidence.EVIDENCE,
    chains.CHAINS,
    chains.SAMPLES,
    rates_and_scores.LEARNED,
    rates_and_scores.SUMS,
    cell_trees.LEAVES,
    scite.SCITE,
    infscite.INFSCITE,
    resumed.RESUMED,
    resumed.ENDED,
    others.OTHERS,
)

RUNS: dict[str, Run] = {run.name: run for table in _TABLES for run in table}
"""All golden runs by name."""
