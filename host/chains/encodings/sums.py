"""Sums over subtrees (kernels/sums) and parities of copies (kernels/parities): rows for what is below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.chains.encodings import HAVE_GENERAL, MADE_FOR, Encoding, ReadsSizes, round_up
from syclade.host.chains.scores.doublets import root_powers, shares_of
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.tree import children
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument
from syclade.kernels.parities import maxima, sums
from syclade.kernels.sums import rates
from syclade.kernels.sums.arguments import ARGUMENTS, ROOTS, SHARES
from syclade.kernels.sums.rows import ROWS
from syclade.kernels.sums.sizes import SIZES, Sizes
from syclade.kernels.target.traits import Traits

__all__ = [
    "GeneralParitiesEncoding",
    "GeneralSumsEncoding",
    "ParitiesEncoding",
    "SpecialisedParitiesEncoding",
    "SpecialisedSumsEncoding",
    "SumsEncoding",
]


ROUNDS = 2
"""Cells of a panel per lane: what fits in registers."""

LARGEST_ROWS = 2**31
"""Limit on the numbers (int32) in the rows of a chain: 8 GiB."""

_FIXED = ("syclade.kernels.sums.encoding", (*ARGUMENTS, *SHARES))
_LEARNED = ("syclade.kernels.sums.learned", (*ARGUMENTS, *SHARES, *rates.ARGUMENTS))


class SumsEncoding(Encoding):
    """Parents and sorted children; the device computes the rows of a tree."""

    name = "sums"
    group = "sub-group"
    has_shares = True
    event_rates = rates.EVENT_RATES
    learned_rates = rates.RATES
    _fixed: ClassVar[tuple[str, tuple[Argument, ...]]] = _FIXED
    _learned: ClassVar[tuple[str, tuple[Argument, ...]]] = _LEARNED

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self._module, self.arguments = self.by_rates(self._fixed, self._learned)
        self.device = f"{self._module}:ENCODING"
        self.constants = {**self._shape(problem, traits), "lanes": traits.lanes}

    @staticmethod
    def _rows(problem: Problem) -> int:
        """Return the number of rows of a node in one of its two places."""
        return ROWS

    @classmethod
    def _forms(cls) -> tuple[type[SumsEncoding], type[SumsEncoding]]:
        """Return the encodings for kernels with specialisation constants, and for general ones."""
        return SpecialisedSumsEncoding, GeneralSumsEncoding

    @staticmethod
    def _shape(problem: Problem, traits: Traits) -> dict[str, int]:
        """Return the fields of `Sizes`."""
        panels = -(-problem.columns // (ROUNDS * traits.lanes))
        return {
            "nodes": round_up(problem.nodes, traits.lanes),
            "cells": panels * ROUNDS * traits.lanes,
            "panels": panels,
            "classes": problem.classes,
        }

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        return self._with_rows(self.constants)

    def _with_rows(self, shape: Mapping[str, int]) -> dict[str, int]:
        """Return the sizes with the number of rows of all nodes."""
        return {**shape, "rows": 2 * self._rows(self.problem) * shape["nodes"]}

    @classmethod
    def can_run(cls, problem: Problem, traits: Traits) -> str | None:
        """See `Encoding.can_run`."""
        shape = cls._shape(problem, traits)
        numbers = 2 * cls._rows(problem) * shape["nodes"] * shape["cells"]
        if numbers <= LARGEST_ROWS:
            return None
        return (
            f"{problem.mutations} mutations and {problem.columns} distinct cells need "
            f"{numbers / 2**28:.1f} GiB of rows a chain"
        )

    def specialised(self) -> Encoding | None:
        """See `Encoding.specialised`."""
        return self._forms()[0](self.problem, self.traits) if self.traits == MADE_FOR else None

    def general(self) -> Encoding | None:
        """See `Encoding.general`."""
        return self._forms()[1](self.problem, self.traits) if self.traits in HAVE_GENERAL else None

    def problem_arrays(self) -> dict[str, Array]:
        """See `Encoding.problem_arrays`."""
        problem, sizes = self.problem, self.sizes
        observed = np.full((sizes["nodes"], sizes["cells"]), problem.classes - 1, dtype=np.uint8)
        observed[: problem.mutations, : problem.columns] = problem.observed
        multiplicity = np.zeros(sizes["cells"], dtype=np.int64)
        multiplicity[: problem.columns] = problem.multiplicity
        return {
            "observed": observed,
            "multiplicity": multiplicity,
            "roots": np.array(root_powers(ROOTS), dtype=np.int64),
            "doublet_shares": shares_of(problem),
        }

    def encode(self, parents: NDArray[np.int32]) -> dict[str, ArrayLike]:
        """Return parent, first_child and next_sibling, int32 (nodes,) each, and tables_made, 0."""
        made = {
            name: np.full(self.sizes["nodes"], -1, dtype=np.int32)
            for name in ("parent", "first_child", "next_sibling")
        }
        made["parent"][: len(parents)] = parents
        for node, below in enumerate(children(parents)):
            made["first_child"][node] = below[0] if below else -1
            made["next_sibling"][below[:-1]] = below[1:]
        return {**made, "tables_made": 0}

    def decode(self, arrays: Mapping[str, Array]) -> NDArray[np.int32]:
        """Return the parents, int32, shape (n + 1,)."""
        return arrays["parent"][: self.problem.nodes].astype(np.int32)


class _FormEncoding(SumsEncoding):
    """Sums for kernels that serve all sizes: the precompiled ones."""

    _kernel: ClassVar[str]

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self.device = f"{self._module}:{self._kernel}"
        self._shape_here = self._shape(problem, traits)
        self.constants = {"lanes": traits.lanes, "rounds": ROUNDS}

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        return self._with_rows({**self._shape_here, "lanes": self.traits.lanes})

    def _sizes(self) -> tuple[int, ...]:
        """Return the fields of `kernels.sums.sizes.Sizes`."""
        return tuple(self._shape_here[name] for name in Sizes._fields)


class SpecialisedSumsEncoding(_FormEncoding):
    """Sums for kernels whose sizes are specialisation constants."""

    _kernel = "SPECIALISED"

    @property
    def specialisation(self) -> tuple[int, ...]:
        """See `Encoding.specialisation`."""
        return self._sizes()


class GeneralSumsEncoding(ReadsSizes, _FormEncoding):
    """Sums for kernels that read their sizes from an argument."""

    _sizes_argument = SIZES


class ParitiesEncoding(SumsEncoding):
    """Parents and sorted children; the device computes the rows of a tree."""

    name = "parities"
    has_shares = False
    _fixed = ("syclade.kernels.parities.encoding", ARGUMENTS)
    _learned = ("syclade.kernels.parities.learned", (*ARGUMENTS, *rates.ARGUMENTS))

    @staticmethod
    def _rows(problem: Problem) -> int:
        """Return the rows of a node: those of the maximum score, or of scores that add up powers."""
        return sums.COUNT if problem.octaves else maxima.COUNT

    @classmethod
    def _forms(cls) -> tuple[type[SumsEncoding], type[SumsEncoding]]:
        """See `SumsEncoding._forms`."""
        return SpecialisedParitiesEncoding, GeneralParitiesEncoding


class SpecialisedParitiesEncoding(ParitiesEncoding, SpecialisedSumsEncoding):
    """Parities for kernels whose sizes are specialisation constants."""


class GeneralParitiesEncoding(ParitiesEncoding, GeneralSumsEncoding):
    """Parities for kernels that read their sizes from an argument."""
