"""Ancestor matrices: rows of bits and loops of fixed length, the design of ffSCITE (kernels/ancestor)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.encodings import MADE_FOR, Encoding, round_up
from syclade.host.data.model.problem import Problem
from syclade.host.ground.values import Array
from syclade.kernels.ancestor.arguments import ARGUMENTS, LEARNED
from syclade.kernels.ancestor.capacity import Capacity
from syclade.kernels.target.traits import Traits

__all__ = ["AncestorEncoding", "SpecialisedAncestorEncoding"]

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
        self.arguments = self.by_rates(ARGUMENTS, LEARNED)
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

    def encode(self, parents: NDArray[np.int32]) -> dict[str, Any]:
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
