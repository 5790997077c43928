"""Preorder intervals: a subtree is an interval, a proposal costs O(cells) (kernels/preorder)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.encodings.base import Encoding, round_up
from syclade.host.encodings.column_order import like_columns_together
from syclade.host.model.problem import Problem, SlotRates
from syclade.host.trees.tree import preorder
from syclade.kernels.preorder.arguments import NARROW, WIDE
from syclade.kernels.preorder.shape import PANEL_ROUNDS, Shape, count_panels, padded_cells
from syclade.kernels.preorder.tables.layout import LARGEST_TABLES, make_layout

__all__ = ["LANES", "PreorderEncoding", "shape_of"]

LANES = 16
"""Work-items a slot: one AVX-512 register of 32-bit scores."""

SKETCHES_BEYOND = 768
"""Columns beyond which sketches pay: narrower tables are read whole in less time."""


class PreorderEncoding(Encoding):
    """The order of the nodes, with each node's parent, position and subtree size."""

    name = "preorder"
    group = "sub-group"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.shape = self.shape_for(problem)
        self.wide = bool(self.shape.subtrees)
        self.device = f"syclade.kernels.preorder.{'wide' if self.wide else 'narrow'}.encoding:ENCODING"
        self.arguments = WIDE if self.wide else NARROW
        self.constants = self.shape._asdict() | {
            "classes": problem.classes,
            "weighted": int(problem.multiplicity.max() > 1),
        }
        del self.constants["subtrees"]
        if not self.wide:
            self.constants["wide"] = int(_most_of_a_lane(problem, problem.rates) >= 2**31)

    @property
    def sizes(self) -> dict[str, int]:
        """See `Encoding.sizes`."""
        layout = make_layout(self.shape)
        tables = {"rows": layout.rows, "sketched": layout.sketched, "classes": self.problem.classes}
        return self.shape._asdict() | tables

    def general(self) -> Encoding | None:
        """See `Encoding.general`."""
        from syclade.host.encodings.preorder_general import GeneralPreorderEncoding

        return (
            None if GeneralPreorderEncoding.can_run(self.problem) else GeneralPreorderEncoding(self.problem)
        )

    @staticmethod
    def shape_for(problem: Problem) -> Shape:
        """Sizes of the tables: no larger than they need to be."""
        return shape_of(problem, PANEL_ROUNDS)

    @classmethod
    def can_run(cls, problem: Problem) -> str | None:
        """See `Encoding.can_run`."""
        shape = cls.shape_for(problem)
        numbers = make_layout(shape).rows * shape.cells
        if numbers <= LARGEST_TABLES:
            return None
        return (
            f"{problem.mutations} mutations and {problem.columns} distinct columns need "
            f"{numbers / 2**28:.1f} GiB of tables a chain"
        )

    def can_score(self, rates: SlotRates) -> str | None:
        """See `Encoding.can_score`."""
        narrow_sums = not self.constants.get("wide", 1)
        if narrow_sums and _most_of_a_lane(self.problem, rates) >= 2**31:
            return "a lane's sum of scores could reach 2^31, which the kernel was not made for"
        return super().can_score(rates)

    def problem_arrays(self) -> dict[str, NDArray[Any]]:
        """See `Encoding.problem_arrays`."""
        problem, width = self.problem, self.problem.columns
        observed = np.full((self.shape.nodes, self.shape.cells), problem.classes - 1, dtype=np.uint8)
        columns = like_columns_together(problem.weight_rows() > 0) if self.wide else np.arange(width)
        observed[: problem.mutations, :width] = problem.observed[:, columns]
        multiplicity = np.zeros(self.shape.cells, dtype=np.int64)
        multiplicity[:width] = problem.multiplicity[columns]
        return {"observed": observed, "multiplicity": multiplicity}

    def encode(self, parents: NDArray[np.int32]) -> dict[str, Any]:
        """parent, order, position and size, (nodes,) int32 each, and tables_made, 0.

        Padding stands for itself.
        """
        count, capacity = self.problem.nodes, self.shape.nodes
        own = np.arange(capacity, dtype=np.int32)
        parent, order, position = own.copy(), own.copy(), own.copy()
        parent[:count] = parents
        order[:count] = preorder(parents)
        position[order] = own
        size = (own < count).astype(np.int32)
        for node in order[1:count][::-1].tolist():
            size[parent[node]] += size[node]
        return {"parent": parent, "order": order, "position": position, "size": size, "tables_made": 0}

    def decode(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.int32]:
        """The parents are kept as they are."""
        return arrays["parent"][: self.problem.nodes].astype(np.int32)


def shape_of(problem: Problem, panel_rounds: int, panels: int | None = None) -> Shape:
    """Sizes of a problem's tables.

    Args:
        problem: of which.
        panel_rounds: cells of a panel that a lane has at most; exactly so many, if `panels` are given.
        panels: so many, all of full width.
    """
    if panels is None:
        panels = count_panels(problem.columns, LANES, panel_rounds)
        cells = padded_cells(problem.columns, LANES, panel_rounds)
    else:
        cells = panels * panel_rounds * LANES
    wide = cells > SKETCHES_BEYOND
    return Shape(
        nodes=round_up(problem.nodes + 1, LANES),
        labels=round_up(problem.nodes, LANES),
        cells=cells,
        block=_block_for(problem.nodes, wide),
        lanes=LANES,
        panels=panels,
        subtrees=int(wide),
    )


def _most_of_a_lane(problem: Problem, rates: SlotRates) -> int:
    """No sum over the cells of one lane can be greater."""
    best = problem.most_positive(rates) * problem.multiplicity
    by_lane = np.zeros(LANES, dtype=np.int64)
    np.add.at(by_lane, np.arange(len(best)) % LANES, best)
    return int(by_lane.max())


def _block_for(nodes: int, sketches: bool) -> int:
    """Positions a block, about the square root of their number: what measured fastest."""
    if sketches:
        return 16 if nodes <= 1000 else 32
    return 8 if nodes <= 112 else 16 if nodes <= 400 else 32
