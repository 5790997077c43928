"""Cells at the nodes of a tree by kernels of this processor (`kernels/shares/`), with the bits of numpy."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.shares.gibbs import power_tables
from syclade.host.chains.cells_at_nodes import (
    NUMBERS_OF_PLACES,
    CellsAtNodes,
    Drawn,
    NumpyCells,
    at_places,
    cells_by_column,
    factors_of_product,
    labels_at,
    of_labels,
    parts_of_numbers,
    relabelled,
    shares_from_logs,
    weight_factors,
)
from syclade.host.data.model.problem import Problem
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import is_compiled
from syclade.host.device.device import native_device
from syclade.host.device.engines import Allocation
from syclade.host.device.engines.local import NativeEngine
from syclade.kernels.shares import relocation_arguments
from syclade.kernels.shares.arguments import ARGUMENTS, LANES, SIZES
from syclade.kernels.target.native.traits import TRAITS

__all__ = ["NativeCells", "make_cells", "share_kernels"]

_MOST_BYTES = 2**27
"""Most memory of the numbers of all chains at once, unless one chain has more."""

_OF_SHARES = ("place", "compare", "swap", "draw", "tally", "total")
"""Kernels of draws of shares, and of swaps before them."""

_OF_REALS = ("swap", "draw")
"""Those that have numbers of several columns in a value."""

_FEW_SCORES = {
    "place": 2**17,
    "compare": 2**17,
    "swap": 2**16,
    "relocate": 2**17,
    "draw": 2**19,
    "tally": 2**20,
    "total": 2**20,
}
"""Scores, of all chains, below which threads take longer than a kernel saves by them."""


def make_cells(problem: Problem, chains: int, spare: int) -> CellsAtNodes:
    """Return the sampler of cells' nodes: compiled code, or numpy where there is none.

    Args:
        problem: the problem.
        chains: number of chains.
        spare: spare bits of the sum score.
    """
    if all(is_compiled(kernel) for kernel in share_kernels().values()):
        return NativeCells(problem, chains, spare)
    return NumpyCells(problem, spare)


@cache
def share_kernels() -> dict[str, Kernel]:
    """Return the kernels of Gibbs steps, of this processor, by name."""
    reals = {"reals": "syclade.kernels.target.native.reals:REALS"}
    record = Record("Shares", ARGUMENTS)
    kernels = {
        name: Kernel(
            f"shares_{name}",
            f"syclade.kernels.shares.{'label_swaps' if name == 'swap' else 'gibbs'}:make_{name}",
            reals if name in _OF_REALS else {},
            {},
            (record,),
            "work-group",
            TRAITS.lanes,
            size="shares of cells",
        )
        for name in _OF_SHARES
    }
    return kernels | {
        "relocate": Kernel(
            "shares_relocate",
            "syclade.kernels.shares.relocation:make_relocate",
            {},
            {},
            (Record("Places", relocation_arguments.ARGUMENTS),),
            "work-group",
            TRAITS.lanes,
            size="places of mutations",
        )
    }


class NativeCells:
    """See `CellsAtNodes`: by kernels of this processor, with the bits of numpy.

    Args:
        problem: the problem.
        chains: number of chains that are worked on at once, if that does not take too much memory.
        spare: spare bits of the sum score.
    """

    def __init__(self, problem: Problem, chains: int, spare: int) -> None:
        blocks = -(-problem.columns // LANES)
        sizes = {
            "blocks": blocks,
            "nodes": problem.nodes,
            "cells": len(problem.column_of),
            "mutations": problem.mutations,
            "starts": blocks * LANES + 1,
            "swaps": 2 * problem.nodes,
        }
        bytes_of_slot = 12 * blocks * LANES * problem.nodes
        self.most = max(1, min(chains, _MOST_BYTES // bytes_of_slot))
        octaves, upper, lower = power_tables()
        numbers = [sizes[name] for name in SIZES[:3]] + [problem.scale_bits, spare, 1, problem.classes - 1]
        contents = {
            "sizes": np.array(numbers),
            "observed": _in_blocks(problem.observed, problem.classes - 1),
            "cell": _first_cells(problem, sizes["starts"]),
            "octaves": octaves,
            "upper": upper,
            "lower": lower,
        }
        self._problem, self._sizes, self._contents = problem, sizes | {"slots": self.most}, contents
        self._engine = NativeEngine(native_device(), Allocation(ARGUMENTS, self._sizes, contents))
        kernels = share_kernels()
        self._kernels = {name: self._engine.load(kernels[name]) for name in _OF_SHARES}
        scores = self.most * problem.nodes * problem.columns
        self._alone = {name for name, few in _FEW_SCORES.items() if scores < few}
        self._chains, self._compared = 0, False
        self._swapped: NDArray[np.int32] | None = None
        self._weights = np.zeros((0, 0), dtype=np.int64)

    @cached_property
    def _places(self) -> tuple[NativeEngine, int]:
        """Engine of the draws of places, whose tables grow with the square of the tree, and their kernel."""
        problem = self._problem
        moves, blocks = NUMBERS_OF_PLACES * problem.mutations, -(-problem.mutations // LANES)
        sizes = self._sizes | {"columns": problem.columns, "moves": moves, "blocks": blocks}
        own = [sizes[name] for name in relocation_arguments.SIZES[:3]] + [problem.scale_bits]
        observed = _in_blocks(problem.observed.T, problem.classes - 1)
        contents = self._contents | {
            "sizes": np.array(own),
            "observed": observed,
            "column": cells_by_column(problem),
        }
        engine = NativeEngine(native_device(), Allocation(relocation_arguments.ARGUMENTS, sizes, contents))
        return engine, engine.load(share_kernels()["relocate"])

    def place(self, trees: NDArray[np.int32], weights: NDArray[np.int64]) -> None:
        """See `CellsAtNodes.place`."""
        arrays, (self._chains, classes), self._weights = self._engine.named, weights.shape, weights
        arrays["parents"][: self._chains] = trees
        arrays["weights"][: self._chains, :classes] = weights
        self._score()

    def draw(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> Drawn:
        """See `CellsAtNodes.draw`."""
        arrays = self._engine.named
        some = slice(0, self._chains)
        arrays["share"][some] = shares_from_logs(self._problem, at_places(log_shares, self._swapped))
        arrays["numbers"][some] = numbers
        self._compare()
        self._launch("draw")
        nodes, counts = (np.array(arrays[name][some], dtype=np.int64) for name in ("drawn", "counts"))
        return Drawn(labels_at(nodes, self._swapped), of_labels(counts, self._swapped))

    def missed_and_seen(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `CellsAtNodes.missed_and_seen`."""
        arrays, some = self._engine.named, slice(0, self._chains)
        arrays["drawn"][some] = nodes
        self._launch("tally")
        return np.array(arrays["shown"][some])

    def swap(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """See `CellsAtNodes.swap`."""
        arrays, some = self._engine.named, slice(0, self._chains)
        arrays["share"][some] = shares_from_logs(self._problem, log_shares)
        turns, uniform = parts_of_numbers(numbers)
        arrays["turns"][some], arrays["uniform"][some] = turns, uniform.reshape(self._chains, -1)
        for slot, own in enumerate(self._weights):
            arrays["factor"][slot], arrays["inverse"][slot] = weight_factors(self._problem, own)
        arrays["sizes"][SIZES.index("factors")] = factors_of_product(self._problem, self._weights)
        self._compare()
        self._launch("swap")
        self._swapped = np.array(arrays["label"][some])
        arrays["parents"][some] = relabelled(arrays["parents"][some], self._swapped)
        return self._swapped

    def relocate(self, nodes: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """See `CellsAtNodes.relocate`."""
        engine, kernel = self._places
        arrays, own, some = engine.named, self._engine.named, slice(0, self._chains)
        for name in ("parents", "weights"):
            arrays[name][some] = own[name][some]
        arrays["drawn"][some], arrays["numbers"][some] = nodes, numbers
        self._run(engine, kernel, alone="relocate" in self._alone)
        own["parents"][some] = arrays["parents"][some]
        self._score()
        return np.array(arrays["parents"][some])

    def totals(self, log_shares: NDArray[np.int32]) -> NDArray[np.int64]:
        """See `CellsAtNodes.totals`."""
        if self._swapped is not None:
            self._score()
        arrays = self._engine.named
        arrays["log_shares"][: self._chains] = log_shares
        self._launch("total")
        return np.array(arrays["total"][: self._chains], dtype=np.int64)

    def _score(self) -> None:
        """Score the cells at all nodes; likelihoods are made before nodes are drawn."""
        self._launch("place")
        self._compared, self._swapped = False, None

    def _compare(self) -> None:
        """Make likelihoods of the scores, unless they are made."""
        if not self._compared:
            self._launch("compare")
            self._compared = True

    def _launch(self, name: str) -> None:
        self._run(self._engine, self._kernels[name], alone=name in self._alone)

    def _run(self, engine: NativeEngine, kernel: int, *, alone: bool) -> None:
        """Run a kernel for all chains, in this thread alone or in several."""
        if alone:
            engine.run_here(kernel, self._chains)
        else:
            engine.launch([kernel if slot < self._chains else None for slot in range(self.most)])


def _in_blocks(observed: NDArray[np.uint8], nothing: int) -> NDArray[np.uint8]:
    """Return the classes of observed values in blocks: uint8, (rows, blocks, LANES).

    Args:
        observed: uint8, shape (rows, numbers of a row).
        nothing: class of no evidence, of which the rest of the last block is.
    """
    rows, count = observed.shape
    whole = np.full((rows, -(-count // LANES) * LANES), nothing, dtype=np.uint8)
    whole[:, :count] = observed
    return whole.reshape(rows, -1, LANES)


def _first_cells(problem: Problem, starts: int) -> NDArray[np.int64]:
    """Return the first of the cells, in the order of `cells_by_column`, that are of each column or later."""
    first = np.full(starts, len(problem.column_of), dtype=np.int64)
    first[0] = 0
    first[1 : problem.columns + 1] = np.cumsum(problem.multiplicity)
    return first
