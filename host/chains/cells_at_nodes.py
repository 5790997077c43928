"""Cells at the nodes of a tree: their likelihoods, draws of nodes and of places of mutations, and scores.

It is by kernels of this processor (`kernels/shares/`), and by numpy where these are not compiled
(`fallback/shares/`), with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.shares.gibbs import likelihoods_of, nodes_of, power_tables
from syclade.fallback.shares.relocation import SLIDES, relocated
from syclade.host.chains.scores.score import BLOCK, node_scores, totals_of
from syclade.host.chains.state import ChainState
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.device.compile.machine_code import is_compiled
from syclade.host.device.device import native_device
from syclade.host.device.engines import Allocation
from syclade.host.device.engines.local import NativeEngine
from syclade.kernels.shares import relocation_arguments
from syclade.kernels.shares.arguments import ARGUMENTS, LANES, SIZES
from syclade.kernels.target.native.traits import TRAITS

__all__ = [
    "NUMBERS_OF_PLACES",
    "CellsAtNodes",
    "NativeCells",
    "NumpyCells",
    "cells_by_column",
    "make_cells",
    "share_kernels",
    "shares_from_logs",
]

_CELLS = 2**10
"""Cells that numpy works on at once, at least."""

_MOST_BYTES = 2**27
"""Most memory of the numbers of all chains at once, unless one chain has more."""

NUMBERS_OF_PLACES = SLIDES + 1
"""Uniform numbers per mutation with which its place, and that of its subtree, are drawn."""

_OF_SHARES = ("place", "compare", "draw", "total")
"""Kernels of draws of shares."""

_FEW_SCORES = 2**17
"""Scores, of all chains, below which threads take longer than they save."""


class CellsAtNodes(Protocol):
    """Likelihoods of the cells at all nodes of several chains' trees, and functions that use them."""

    @property
    def most(self) -> int:
        """The most chains."""
        ...

    def place(self, states: Sequence[ChainState], rates: Sequence[SlotRates]) -> None:
        """Take trees, each with its weights of observed values."""
        ...

    def draw(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Draw the node of each cell, (chains, cells), by uniform numbers of this shape."""
        ...

    def relocate(self, nodes: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """Draw the places of all mutations given the nodes of the cells, (chains, cells), and take the trees.

        Args:
            nodes: int64, (chains, cells).
            numbers: uniform numbers, (chains, `NUMBERS_OF_PLACES` * n).

        Returns:
            int32, (chains, nodes): the trees.
        """
        ...

    def totals(self, log_shares: NDArray[np.int32]) -> list[int]:
        """Return the scores of the trees with these shares, int32, (chains, nodes)."""
        ...


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


class NumpyCells:
    """See `CellsAtNodes`: in numpy.

    Args:
        problem: the problem.
        spare: spare bits of the sum score, which only totals need.
    """

    def __init__(self, problem: Problem, spare: int = 0) -> None:
        self._problem, self._spare = problem, spare
        self._blocks = _blocks_of_cells(problem)
        self._scores = np.zeros((0, 0, 0), dtype=np.int32)
        self._likelihoods: Sequence[NDArray[np.float64]] = ()
        self._trees: Sequence[NDArray[np.int32]] = ()
        self._rates: Sequence[SlotRates] = ()

    @property
    def most(self) -> int:
        """See `CellsAtNodes.most`."""
        return max(1, BLOCK // (self._problem.nodes * len(self._problem.column_of)))

    def place(self, states: Sequence[ChainState], rates: Sequence[SlotRates]) -> None:
        """See `CellsAtNodes.place`."""
        self._put([state.parents for state in states], rates)

    def _put(self, trees: Sequence[NDArray[np.int32]], rates: Sequence[SlotRates]) -> None:
        problem, self._trees, self._rates = self._problem, trees, rates
        scores = [node_scores(problem, *one) for one in zip(trees, rates, strict=True)]
        self._scores = np.stack(scores, axis=1)
        self._likelihoods = likelihoods_of(self._scores, problem.scale_bits, self._blocks)

    def draw(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """See `CellsAtNodes.draw`."""
        return nodes_of(self._likelihoods, shares_from_logs(self._problem, log_shares), numbers)

    def relocate(self, nodes: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """See `CellsAtNodes.relocate`."""
        problem, column_of = self._problem, cells_by_column(self._problem)
        trees = [
            relocated(tree, own, problem.weight_rows(rates)[:, column_of], problem.scale_bits, uniform)
            for tree, rates, own, uniform in zip(self._trees, self._rates, nodes, numbers, strict=True)
        ]
        self._put(trees, self._rates)
        return np.stack(trees)

    def totals(self, log_shares: NDArray[np.int32]) -> list[int]:
        """See `CellsAtNodes.totals`."""
        return totals_of(self._problem, self._scores, log_shares, self._spare)


def _blocks_of_cells(problem: Problem) -> list[NDArray[np.int32]]:
    """Return the distinct column of every cell, in blocks that stay in a fast cache."""
    column_of, step = cells_by_column(problem), max(_CELLS, BLOCK // problem.nodes)
    return [column_of[at : at + step] for at in range(0, len(column_of), step)]


@cache
def share_kernels() -> dict[str, Kernel]:
    """Return the kernels of Gibbs steps, of this processor, by name."""
    reals = {"reals": "syclade.kernels.target.native.reals:REALS"}
    record = Record("Shares", ARGUMENTS)
    kernels = {
        name: Kernel(
            f"shares_{name}",
            f"syclade.kernels.shares.gibbs:make_{name}",
            reals if name == "draw" else {},
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
        }
        bytes_of_slot = 12 * blocks * LANES * problem.nodes
        self.most = max(1, min(chains, _MOST_BYTES // bytes_of_slot))
        octaves, upper, lower = power_tables()
        numbers = [sizes[name] for name in SIZES[:3]] + [problem.scale_bits, spare]
        contents = {
            "sizes": np.array(numbers),
            "observed": _observed_by_block(problem, blocks),
            "cell": _first_cells(problem, sizes["starts"]),
            "octaves": octaves,
            "upper": upper,
            "lower": lower,
        }
        self._problem, self._sizes, self._contents = problem, sizes | {"slots": self.most}, contents
        self._engine = NativeEngine(native_device(), Allocation(ARGUMENTS, self._sizes, contents))
        kernels = share_kernels()
        self._kernels = {name: self._engine.load(kernels[name]) for name in _OF_SHARES}
        self._few = self.most * problem.nodes * problem.columns < _FEW_SCORES
        self._chains, self._compared = 0, False

    @cached_property
    def _places(self) -> tuple[NativeEngine, int]:
        """Engine of the draws of places, whose tables grow with the square of the tree, and their kernel."""
        problem = self._problem
        moves = NUMBERS_OF_PLACES * problem.mutations
        sizes = self._sizes | {"columns": problem.columns, "moves": moves}
        own = [sizes[name] for name in relocation_arguments.SIZES[:3]] + [problem.scale_bits]
        observed = np.ascontiguousarray(problem.observed.T)
        contents = self._contents | {"sizes": np.array(own), "observed": observed}
        engine = NativeEngine(native_device(), Allocation(relocation_arguments.ARGUMENTS, sizes, contents))
        return engine, engine.load(share_kernels()["relocate"])

    def place(self, states: Sequence[ChainState], rates: Sequence[SlotRates]) -> None:
        """See `CellsAtNodes.place`."""
        arrays, self._chains = self._engine.named, len(states)
        for slot, (state, own) in enumerate(zip(states, rates, strict=True)):
            arrays["parents"][slot] = state.parents
            arrays["weights"][slot, : len(own.weights)] = own.weights
        self._score()

    def draw(self, log_shares: NDArray[np.int32], numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """See `CellsAtNodes.draw`."""
        arrays = self._engine.named
        arrays["share"][: self._chains] = shares_from_logs(self._problem, log_shares)
        arrays["numbers"][: self._chains] = numbers
        if not self._compared:
            self._launch("compare")
            self._compared = True
        self._launch("draw")
        return np.asarray(arrays["drawn"][: self._chains], dtype=np.int64)

    def relocate(self, nodes: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.int32]:
        """See `CellsAtNodes.relocate`."""
        engine, kernel = self._places
        arrays, own, some = engine.named, self._engine.named, slice(0, self._chains)
        for name in ("parents", "weights"):
            arrays[name][some] = own[name][some]
        arrays["drawn"][some], arrays["numbers"][some] = nodes, numbers
        self._run(engine, kernel, alone=self._few)
        own["parents"][some] = arrays["parents"][some]
        self._score()
        return np.array(arrays["parents"][some])

    def totals(self, log_shares: NDArray[np.int32]) -> list[int]:
        """See `CellsAtNodes.totals`."""
        arrays = self._engine.named
        arrays["log_shares"][: self._chains] = log_shares
        self._launch("total")
        return [int(total) for total in arrays["total"][: self._chains]]

    def _score(self) -> None:
        """Score the cells at all nodes; likelihoods are made before nodes are drawn."""
        self._launch("place")
        self._compared = False

    def _launch(self, name: str) -> None:
        alone = self._few or name not in ("place", "compare")
        self._run(self._engine, self._kernels[name], alone=alone)

    def _run(self, engine: NativeEngine, kernel: int, *, alone: bool) -> None:
        """Run a kernel for all chains, in this thread alone or in several."""
        if alone:
            for slot in range(self._chains):
                engine.start(kernel, slot)
        else:
            engine.launch([kernel if slot < self._chains else None for slot in range(self.most)])


def _observed_by_block(problem: Problem, blocks: int) -> NDArray[np.uint8]:
    """Return the classes of observed values: uint8, (blocks, n, LANES), of no evidence beyond the columns."""
    observed = np.full((problem.mutations, blocks * LANES), problem.classes - 1, dtype=np.uint8)
    observed[:, : problem.columns] = problem.observed
    return np.ascontiguousarray(observed.reshape(problem.mutations, blocks, LANES).swapaxes(0, 1))


def _first_cells(problem: Problem, starts: int) -> NDArray[np.int64]:
    """Return the first of the cells, in the order of `cells_by_column`, that are of each column or later."""
    first = np.full(starts, len(problem.column_of), dtype=np.int64)
    first[0] = 0
    first[1 : problem.columns + 1] = np.cumsum(problem.multiplicity)
    return first


def cells_by_column(problem: Problem) -> NDArray[np.int32]:
    """Return the distinct column of every cell, sorted: cells with equal columns may change places."""
    return np.repeat(np.arange(problem.columns, dtype=np.int32), problem.multiplicity)


def shares_from_logs(problem: Problem, log_shares: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the shares of logs in units of the score."""
    return np.asarray(np.exp2(log_shares * 2.0**-problem.scale_bits))
