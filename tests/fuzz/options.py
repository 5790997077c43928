"""Options of `infer` on tiny matrices: it writes all files of a result, or says what is wrong."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import syclade

__all__ = ["Options"]

CHOICES: tuple[dict[str, Any], ...] = (
    {"doublets": 0.1}, {"doublets": "learn"}, {"support": "none"}, {"tree": "leaf"}, {"genotypes": True},
    {"max_trees": 5}, {"dropout": "per-mutation"}, {"merge_homozygous": True}, {"recurrent": 1},
    {"recurrent": "all"}, {"min_cells": 1}, {"attach": True}, {"score": "sum", "steps": 300, "chains": 2},
    {"samples": 10, "steps": 300, "chains": 2}, {"metadata": "ab"},
)  # fmt: skip
MOST_ROWS, MOST_COLUMNS, MOST_OPTIONS = 5, 8, 4
GIVEN = {"fp_rate": 0.01, "fn_rate": 0.1}


class Options:
    """Inputs of this kind: the rows of a matrix, and options of `infer`."""

    name = "options"
    patience = 10.0  # chains run

    def __init__(self, folder: Path) -> None:
        self._out = folder / "out"

    def make(self, draw: Random) -> tuple[list[list[int]], dict[str, Any]]:
        """Return a matrix, often of one value, or with homozygous or missing ones, and some options."""
        rows, columns = draw.randint(1, MOST_ROWS), draw.randint(1, MOST_COLUMNS)
        values = draw.choice([(0,), (1,), (3,), (0, 1), (0, 0, 1), (0, 1, 3), (0, 0, 3), (0, 1, 2, 3)])
        matrix = [[draw.choice(values) for _ in range(columns)] for _ in range(rows)]
        options = {"device": "native", **(GIVEN if draw.random() < 0.7 else {})}
        for one in draw.sample(CHOICES, draw.randint(0, MOST_OPTIONS)):
            options |= one
        if "metadata" in options:
            options["metadata"] = {f"s{cell}": draw.choice("ab") for cell in range(columns)}
        return matrix, options

    def take(self, given: tuple[list[list[int]], dict[str, Any]]) -> None:
        """Infer, and write all files: the cells of the tree are those of the matrix."""
        matrix, options = given
        result = syclade.infer(np.array(matrix, dtype=np.uint8), **options)
        result.write(self._out, report=True, force=True)
        assert len(result.cells) == len(matrix[0])
