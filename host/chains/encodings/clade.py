"""Clades: each node of a cell tree has one bit per cell, and rows over the mutations (kernels/clade)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.encodings import MADE_FOR, Encoding, ReadsSizes, round_up
from syclade.host.data.model.problem import LeafProblem, Problem
from syclade.host.data.trees.leaf import leaf_children
from syclade.host.ground.values import Array
from syclade.kernels.arguments import Argument
from syclade.kernels.clade.arguments import ARGUMENTS, LEARNED
from syclade.kernels.clade.sizes import SIZES, Sizes
from syclade.kernels.preorder.shape import count_panels, padded_cells
from syclade.kernels.target.traits import Traits

__all__ = ["FORM_ROUNDS", "CladeEncoding", "GeneralCladeEncoding", "SpecialisedCladeEncoding"]

WORD_BITS = 64

LARGEST_ROWS = 2**31
"""Limit on the numbers (int32) in the rows of a chain: 8 GiB."""

FORM_ROUNDS = (2, 4, 6, MADE_FOR.panel_rounds)
"""Mutations of a panel per lane, in the kernels for all sizes."""


_Kernels = tuple[str, tuple[Argument, ...], tuple[str, ...]]
"""Module of kernels, their arguments, and the sizes that are constants in kernels for all other sizes."""

_FIXED: _Kernels = ("syclade.kernels.clade.encoding", ARGUMENTS, ())
_LEARNED: _Kernels = ("syclade.kernels.clade.learned", LEARNED, ("classes",))


class CladeEncoding(Encoding):
    """Parents, children and order of the nodes; the device computes the rows of a tree."""

    name = "clade"
    group = "sub-group"

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        assert isinstance(problem, LeafProblem)
        self.leaf_problem = problem
        self._module, self.arguments, self._read_in_form = self.by_rates(_FIXED, _LEARNED)
        self.device = f"{self._module}:ENCODING"
        self.constants = {**self._shape(problem, traits), "classes": problem.classes, "lanes": traits.lanes}

    @staticmethod
    def _shape(problem: LeafProblem, traits: Traits) -> dict[str, int]:
        """Return the sizes of trees and rows, no larger than necessary."""
        nodes = round_up(2 * problem.cells - 1, traits.lanes)
        return {
            "nodes": nodes,
            "leaves": nodes // 2,
            "genes": padded_cells(problem.mutations, traits.lanes, traits.panel_rounds),
            "panels": count_panels(problem.mutations, traits.lanes, traits.panel_rounds),
            "words": round_up(nodes // 2, WORD_BITS) // WORD_BITS,
        }

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        return {**self.constants, "rows": 2 * self.constants["nodes"]}

    @classmethod
    def can_run(cls, problem: Problem, traits: Traits) -> str | None:
        """See `Encoding.can_run`."""
        assert isinstance(problem, LeafProblem)
        shape = cls._shape(problem, traits)
        numbers = 2 * shape["nodes"] * shape["genes"]
        if numbers <= LARGEST_ROWS:
            return None
        return (
            f"{problem.cells} cells and {problem.mutations} mutations need {numbers / 2**28:.1f} GiB of rows "
            "a chain"
        )

    def specialised(self) -> Encoding | None:
        """See `Encoding.specialised`."""
        return SpecialisedCladeEncoding(self.problem, self.traits) if self.traits == MADE_FOR else None

    def general(self) -> Encoding | None:
        """See `Encoding.general`."""
        return GeneralCladeEncoding(self.problem, self.traits) if self.traits == MADE_FOR else None

    def problem_arrays(self) -> dict[str, Array]:
        """See `Encoding.problem_arrays`."""
        problem, sizes = self.leaf_problem, self.sizes
        observed = np.full((sizes["leaves"], sizes["genes"]), problem.classes - 1, dtype=np.uint8)
        observed[: problem.cells, : problem.mutations] = problem.observed[:, problem.column_of].T
        return {"observed": observed}

    def encode(self, parents: NDArray[np.int32]) -> dict[str, Any]:
        """Return parent, left and right, int32 (nodes,) each, and tables_made, 0; padding is 0."""
        made = {name: np.zeros(self.sizes["nodes"], dtype=np.int32) for name in ("parent", "left", "right")}
        count = len(parents)
        made["parent"][:count] = parents
        made["left"][:count], made["right"][:count] = leaf_children(parents)
        return {**made, "tables_made": 0}

    def decode(self, arrays: Mapping[str, Array]) -> NDArray[np.int32]:
        """Return the parents, int32, shape (2m - 1,), for m cells."""
        return arrays["parent"][: 2 * self.leaf_problem.cells - 1].astype(np.int32)


class _FormEncoding(CladeEncoding):
    """Clades for kernels that serve all sizes: the precompiled ones."""

    _kernel: ClassVar[str]

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self.device = f"{self._module}:{self._kernel}"
        self._shape_here = self.constants
        rounds = self._shape_here["genes"] // (traits.lanes * self._shape_here["panels"])
        read = {name: self._shape_here[name] for name in self._read_in_form}
        self.constants = {"lanes": traits.lanes, "rounds": rounds, **read}

    @staticmethod
    def _shape(problem: LeafProblem, traits: Traits) -> dict[str, int]:
        """Return the sizes of trees and rows, with the rounds per panel of one of the kernels."""
        shape = CladeEncoding._shape(problem, traits)
        lanes = traits.lanes
        rounds = next((some for some in FORM_ROUNDS if problem.mutations <= some * lanes), FORM_ROUNDS[-1])
        panels = -(-problem.mutations // (rounds * lanes))
        return shape | {"panels": panels, "genes": panels * rounds * lanes}

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        return {**self._shape_here, "rows": 2 * self._shape_here["nodes"]}

    def _sizes(self) -> tuple[int, ...]:
        """Return the fields of `kernels.clade.sizes.Sizes`."""
        return tuple(self._shape_here[name] for name in Sizes._fields)


class SpecialisedCladeEncoding(_FormEncoding):
    """Clades for kernels whose sizes are specialisation constants."""

    _kernel = "SPECIALISED"

    @property
    def specialisation(self) -> tuple[int, ...]:
        """See `Encoding.specialisation`."""
        return self._sizes()


class GeneralCladeEncoding(ReadsSizes, _FormEncoding):
    """Clades for kernels that read their sizes from an argument."""

    _sizes_argument = SIZES
