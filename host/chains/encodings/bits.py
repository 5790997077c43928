"""Encodings of trees as rows of bits: ancestor matrices, and clades of cell trees.

Ancestor matrices with loops of fixed length are the design of ffSCITE (kernels/ancestor). Clades: each node
of a cell tree has one bit per cell, and rows over the mutations (kernels/clade).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.chains.encodings import HAVE_GENERAL, MADE_FOR, Encoding, ReadsSizes, round_up
from syclade.host.data.model.problem import LeafProblem, Problem
from syclade.host.data.trees.cells import leaf_children
from syclade.host.ground.values import Array
from syclade.kernels.ancestor import arguments as of_ancestors
from syclade.kernels.ancestor.capacity import Capacity
from syclade.kernels.arguments import Argument
from syclade.kernels.clade import arguments as of_clades
from syclade.kernels.clade.sizes import SIZES, Sizes
from syclade.kernels.preorder.shape import count_panels, padded_cells
from syclade.kernels.target.traits import Traits

__all__ = [
    "AncestorEncoding",
    "CladeEncoding",
    "GeneralCladeEncoding",
    "SpecialisedAncestorEncoding",
    "SpecialisedCladeEncoding",
    "rounds_of_forms",
]

WORD_BITS = 64


class AncestorEncoding(Encoding):
    """Ancestor matrix: row y has one bit per ancestor of node y, y itself included, in words of 64 bits.

    Attributes:
        form: name of its `kernels.chain.parts.Encoding` in the module of fixed or of learned rates.
        capacity_part: `module:NAME` of the function that makes `kernels.ancestor.capacity` for the stages.
    """

    name = "ancestor"
    group = "work-group"
    form = "ENCODING"
    capacity_part = "syclade.kernels.ancestor.capacity:fixed_capacity"

    def __init__(self, problem: Problem, traits: Traits, capacity: Mapping[str, int] | None = None) -> None:
        super().__init__(problem, traits)
        self.device = f"syclade.kernels.ancestor.{self.by_rates('encoding', 'learned')}:{self.form}"
        self.arguments = self.by_rates(of_ancestors.ARGUMENTS, of_ancestors.LEARNED)
        least = self.capacity(traits, problem.nodes, problem.columns, len(problem.values))
        self.constants = least if capacity is None else dict(capacity)

    @staticmethod
    def capacity(traits: Traits, nodes: int, columns: int, values: int) -> dict[str, int]:
        """Return the constants of a kernel for numbers of tree nodes, distinct columns and observed values.

        A kernel for more nodes and columns works as well.
        """
        return {
            "nodes": round_up(nodes, traits.lanes),
            "words": round_up(nodes, WORD_BITS) // WORD_BITS,
            "cells": round_up(columns, traits.lanes),
            "lanes": traits.lanes,
            "values": values,
            "classes": values + 1,
        }

    def specialised(self) -> Encoding | None:
        """See `Encoding.specialised`."""
        return SpecialisedAncestorEncoding(self.problem, self.traits) if self.traits == MADE_FOR else None

    def problem_arrays(self) -> dict[str, Array]:
        """See `Encoding.problem_arrays`."""
        problem, cells = self.problem, self.sizes["cells"]
        multiplicity = np.zeros(cells, dtype=np.int64)
        multiplicity[: problem.columns] = problem.multiplicity
        planes = [self._pack(problem.observed == code, cells) for code in range(len(problem.values))]
        return {"planes": np.stack(planes), "multiplicity": multiplicity}

    def _pack(self, bits: NDArray[np.bool_], width: int) -> NDArray[np.uint64]:
        """Pack bool (rows, columns) into uint64 (words, width): bit r of a column is its row r."""
        words = self.sizes["words"]
        padded = np.zeros((width, words * WORD_BITS), dtype=np.bool_)
        padded[: bits.shape[1], : bits.shape[0]] = bits.T
        packed = np.packbits(padded, axis=1, bitorder="little").view("<u8")
        return np.ascontiguousarray(packed.T.astype(np.uint64))

    def encode(self, parents: NDArray[np.int32]) -> dict[str, ArrayLike]:
        """Return the rows of the matrix as `ancestors`: uint64, shape (words, nodes)."""
        matrix = np.zeros((self.sizes["words"], self.sizes["nodes"]), dtype=np.uint64)
        root = self.problem.mutations
        pending = [root]
        children: list[list[int]] = [[] for _ in range(root + 1)]
        for node, parent in enumerate(parents[:-1].tolist()):
            children[parent].append(node)
        while pending:
            node = pending.pop()
            if node != root:
                matrix[:, node] = matrix[:, parents[node]]
            matrix[node // WORD_BITS, node] |= np.uint64(1 << node % WORD_BITS)
            pending.extend(children[node])
        return {"ancestors": matrix}

    def decode(self, arrays: Mapping[str, Array]) -> NDArray[np.int32]:
        """Return the parents, int32, shape (n + 1,): a parent's row is the node's without its own bit."""
        matrix = arrays["ancestors"]
        nodes = self.problem.nodes
        owner = {matrix[:, node].tobytes(): node for node in range(nodes)}
        parents = np.full(nodes, self.problem.mutations, dtype=np.int32)
        for node in range(nodes - 1):
            row = matrix[:, node].copy()
            row[node // WORD_BITS] &= ~np.uint64(1 << node % WORD_BITS)
            parents[node] = owner[row.tobytes()]
        return parents


class SpecialisedAncestorEncoding(AncestorEncoding):
    """Ancestor matrix for kernels whose sizes are specialisation constants."""

    form = "SPECIALISED"
    capacity_part = "syclade.kernels.ancestor.capacity:specialised_capacity"

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self._capacity = self.constants
        self.constants = {"lanes": traits.lanes}

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        return self._capacity

    @property
    def specialisation(self) -> tuple[int, ...]:
        """See `Encoding.specialisation`."""
        return tuple(self._capacity[name] for name in Capacity._fields)


LARGEST_ROWS = 2**31
"""Limit on the numbers (int32) in the rows of a chain: 8 GiB."""


def rounds_of_forms(traits: Traits, *, learns: bool) -> tuple[int, ...]:
    """Return the mutations of a panel per lane, in the kernels for all sizes of a target.

    Warps have fewer kernels, and one for all sizes where rates are learned.
    """
    if traits == MADE_FOR:
        return (2, 4, 6, traits.panel_rounds)
    return (4,) if learns else (2, 4, traits.panel_rounds)


_Kernels = tuple[str, tuple[Argument, ...], tuple[str, ...]]
"""Module of kernels, their arguments, and the sizes that are constants in kernels for all other sizes."""

_FIXED: _Kernels = ("syclade.kernels.clade.encoding", of_clades.ARGUMENTS, ())
_LEARNED: _Kernels = ("syclade.kernels.clade.learned", of_clades.LEARNED, ("classes",))


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
        return GeneralCladeEncoding(self.problem, self.traits) if self.traits in HAVE_GENERAL else None

    def problem_arrays(self) -> dict[str, Array]:
        """See `Encoding.problem_arrays`."""
        problem, sizes = self.leaf_problem, self.sizes
        observed = np.full((sizes["leaves"], sizes["genes"]), problem.classes - 1, dtype=np.uint8)
        observed[: problem.cells, : problem.mutations] = problem.observed[:, problem.column_of].T
        return {"observed": observed}

    def encode(self, parents: NDArray[np.int32]) -> dict[str, ArrayLike]:
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
        lanes, forms = traits.lanes, rounds_of_forms(traits, learns=problem.learns)
        rounds = next((some for some in forms if problem.mutations <= some * lanes), forms[-1])
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
