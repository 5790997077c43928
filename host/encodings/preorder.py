"""Preorder intervals: a subtree is an interval, a proposal costs O(cells) (kernels/preorder)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.encodings.base import Encoding, round_up
from syclade.host.encodings.column_order import like_columns_together
from syclade.host.errors import OptionError
from syclade.host.trees.tree import preorder
from syclade.kernels.preorder.arguments import ARGUMENTS
from syclade.kernels.preorder.layout import LARGEST_TABLES, has_sketches, make_layout, padded_cells

__all__ = ["PreorderEncoding"]

LANES = 16
"""Work-items a slot: one AVX-512 register of 32-bit scores."""


class PreorderEncoding(Encoding):
    """The order of the nodes, with each node's parent, position and subtree size."""

    name = "preorder"
    factory = "syclade.kernels.preorder.chain_step:make_chain_steps"
    arguments = ARGUMENTS

    def _constants(self) -> dict[str, int]:
        problem = self.problem
        nodes = round_up(problem.nodes + 1, LANES)
        cells = padded_cells(problem.columns.shape[1], LANES)
        block = _block_for(problem.nodes, has_sketches(cells))
        layout = make_layout(nodes, cells, block)
        if layout.rows * cells > LARGEST_TABLES:
            size = f"{problem.mutations} mutations and {problem.columns.shape[1]} distinct columns"
            raise OptionError(
                f"{size} are too many for preorder: {layout.rows * cells / 2**28:.1f} GiB of tables a chain",
                hint="use --encoding ancestor",
            )
        best = (problem.columns == 1).sum(axis=0) * problem.gain_one * problem.multiplicity
        lane_best = np.zeros(LANES, dtype=np.int64)
        np.add.at(lane_best, np.arange(len(best)) % LANES, best)
        return {
            "nodes": nodes,
            "labels": round_up(problem.nodes, LANES),
            "cells": cells,
            "block": block,
            "lanes": LANES,
            "weighted": int(problem.multiplicity.max() > 1),
            "wide": int(lane_best.max() >= 2**31),
            "rows": layout.rows,
            "sketched": layout.sketched,
        }

    def problem_arrays(self, seed: int) -> dict[str, NDArray[Any]]:
        """See `Encoding.problem_arrays`."""
        problem = self.problem
        weights = np.zeros((self.constants["nodes"], self.constants["cells"]), dtype=np.int32)
        width = problem.columns.shape[1]
        columns = np.arange(width)
        if has_sketches(self.constants["cells"]):
            columns = like_columns_together(problem.columns)
        weights[: problem.mutations, :width] = problem.weight_rows()[:, columns]
        multiplicity = np.zeros(self.constants["cells"], dtype=np.int64)
        multiplicity[:width] = problem.multiplicity[columns]
        return {
            "weights": weights,
            "multiplicity": multiplicity,
            "log_table": problem.log_table,
            "log_sizes": problem.log_sizes,
            "parameters": self.parameter_block(seed),
        }

    def encode(self, parents: NDArray[np.int32]) -> dict[str, Any]:
        """parent, order, position and size, (nodes,) int32 each, and tables_made, 0.

        Padding stands for itself.
        """
        count, capacity = self.problem.nodes, self.constants["nodes"]
        own = np.arange(capacity, dtype=np.int32)
        parent, order, position = own.copy(), own.copy(), own.copy()
        parent[:count] = parents
        order[:count] = preorder(parents)
        position[order] = own
        size = (own < count).astype(np.int32)
        for node in order[1:count][::-1].tolist():
            size[parent[node]] += size[node]
        return {"parent": parent, "order": order, "position": position, "size": size, "tables_made": 0}

    def decode(self, arrays: dict[str, NDArray[Any]]) -> NDArray[np.int32]:
        """The parents are kept as they are."""
        return arrays["parent"][: self.problem.nodes].astype(np.int32)

    def numpy_steps(self) -> Any:
        """See `Encoding.numpy_steps`."""
        from syclade.fallback.preorder.chain_step import PreorderChainSteps

        return PreorderChainSteps(self.problem)

    def numpy_slots(self) -> int:
        """See `Encoding.numpy_slots`: no more than have their tables at once."""
        from syclade.fallback.preorder.chain_step import slots_of_group

        return min(super().numpy_slots(), slots_of_group(self.problem))


def _block_for(nodes: int, sketches: bool) -> int:
    """Positions a block, about the square root of their number: what measured fastest."""
    if sketches:
        return 16 if nodes <= 1000 else 32
    return 8 if nodes <= 112 else 16 if nodes <= 400 else 32
