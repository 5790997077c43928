"""Runners of searches in slots: one stage per slot and launch, on any device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.arrays import Arrays
from syclade.host.chains.acceptance import log_tables
from syclade.host.compile.kernel import Kernel, Record
from syclade.host.devices.device import Device
from syclade.host.encodings.base import round_up
from syclade.host.search.problem import SearchProblem
from syclade.host.search.work import STAGES, SearchState, Work
from syclade.kernels.search.arguments import ARGUMENTS

__all__ = ["ArraySearchRunner", "SearchRunner", "noise_of", "search_kernel"]

LANES = 16

NOISE_SCALE = 16
"""2^20 / 2^16: keys are scores times 2^20, and Gumbel noise is in units of 2^-16 nat."""

_LOG_BITS = 16
_CODES = {name: code for code, name in enumerate(STAGES, 1)}
"""Code of each stage, as in kernels/search (`Stage.code`)."""


def noise_of(work: Work, unit: float) -> int:
    """Return the factor of Gumbel noise, in units of 2^-16 nat, in keys (kernels/search/draws.py)."""
    return 0 if work.gamma is None else round(NOISE_SCALE * unit / work.gamma)


def search_log_table() -> NDArray[np.int64]:
    """Return ln(1 + j/256) in units of 2^-16, to compute Gumbel noise; int64, shape (257,)."""
    return log_tables(1, 2.0**-_LOG_BITS, 1.0).log_table


def search_kernel(stage: str) -> Kernel:
    """Return the kernel of a stage."""
    return Kernel(
        name=f"search_{stage.replace('-', '_')}",
        factory="syclade.kernels.search.stages:make_search",
        parts={"stage": STAGES[stage]},
        constants={"lanes": LANES},
        records=(Record("Given", ARGUMENTS),),
        group="sub-group",
        lanes=LANES,
    )


class SearchRunner(ABC):
    """Runner of searches in c slots on one device, for one problem and seed.

    Results depend neither on the number of slots nor on what other slots do.

    Attributes:
        executor: the device that does the sweeps, as the runner itself reports it.
        kernel: name of its kernels, as in `WorkDone`; kernels of searches serve all sizes.
    """

    executor: Device
    kernel = "general"

    def __init__(self, problem: SearchProblem, slots: int, seed: int) -> None:
        self.problem = problem
        self.slots = slots
        self.seed = seed

    @abstractmethod
    def put(self, slot: int, state: SearchState) -> None:
        """Put a search into a slot; its tree must be valid."""

    @abstractmethod
    def get(self, slot: int) -> SearchState:
        """Return the search in a slot."""

    @abstractmethod
    def run(self, works: Sequence[Work | None]) -> NDArray[np.int64]:
        """Run one stage in each slot, or nothing, and wait.

        Args:
            works: one per slot; None to do nothing.

        Returns:
            int64, shape (slots,): score of each slot's tree, in the problem's units.
        """

    @abstractmethod
    def close(self) -> None:
        """Free the memory."""


class ArraySearchRunner(SearchRunner):
    """Runner of searches by kernels, on the arrays of a device."""

    def __init__(self, problem: SearchProblem, slots: int, seed: int) -> None:
        super().__init__(problem, slots, seed)
        self._arrays: Arrays
        self._kernels: dict[str, Any] = {}

    def _loaded(self, stage: str) -> Any:
        """Return the stage's kernel; load it at its first use."""
        if stage not in self._kernels:
            self._kernels[stage] = self._load(stage)
        return self._kernels[stage]

    @abstractmethod
    def _load(self, stage: str) -> Any:
        """Load the kernel of a stage and return it."""

    @abstractmethod
    def _launch(self, stages: Sequence[str | None]) -> None:
        """Run the kernel of each slot's stage, and wait."""

    def put(self, slot: int, state: SearchState) -> None:
        """See `SearchRunner.put`."""
        values: dict[str, Any] = {
            "search": state.search,
            "sweep": state.sweep,
            "score": state.score,
            "best_score": state.best_score,
            "parent": self._padded(state.parents),
            "best_parent": self._padded(state.best_parents),
        }
        for name, value in values.items():
            self._arrays.write(name, value, slot)

    def get(self, slot: int) -> SearchState:
        """See `SearchRunner.get`."""
        nodes = self.problem.mutations + 1
        read = self._arrays.read
        return SearchState(
            search=int(read("search", slot)),
            sweep=int(read("sweep", slot)),
            parents=read("parent", slot)[:nodes],
            score=int(read("score", slot)),
            best_parents=read("best_parent", slot)[:nodes],
            best_score=int(read("best_score", slot)),
        )

    def run(self, works: Sequence[Work | None]) -> NDArray[np.int64]:
        """See `SearchRunner.run`.

        Raises:
            ValueError: a slot is to start by columns, and the arrays are too small for that.
        """
        room = self._arrays.sizes["joints"] >= 2 * self.problem.columns
        if not room and any(work is not None and work.stage == "by-columns" for work in works):
            raise ValueError("a start by columns, and the runner was not made for one")
        write = self._arrays.write
        write("stage", [0 if work is None else _CODES[work.stage] for work in works])
        write("repeats", [0 if work is None else work.sweeps for work in works])
        write("noise", [0 if work is None else noise_of(work, self.problem.unit) for work in works])
        self._launch([None if work is None else work.stage for work in works])
        return self._arrays.read("score")

    def _padded(self, parents: NDArray[np.int32]) -> NDArray[np.int32]:
        nodes = self._arrays.sizes["nodes"]
        padded = np.arange(nodes, dtype=np.int32)
        padded[: len(parents)] = parents
        return padded

    def close(self) -> None:
        """See `SearchRunner.close`."""
        self._arrays.close()


def search_sizes(problem: SearchProblem, slots: int, by_columns: bool) -> dict[str, int]:
    """Return the values of the symbols in the shapes of the arguments.

    Args:
        problem: input of the searches.
        slots: number of slots of the runner.
        by_columns: whether columns may be inserted into the cell tree one by one. Otherwise there are at most
            as many groups of columns as nodes of the mutation tree.
    """
    mutations, columns = problem.mutations, problem.columns
    leaves = columns if by_columns else min(columns, mutations + 1)
    nodes, joints = round_up(mutations + 1, LANES), round_up(2 * leaves, LANES)
    return {
        "slots": slots,
        "mutations": mutations,
        "columns": columns,
        "cells": round_up(columns, LANES),
        "genes": round_up(mutations, LANES),
        "nodes": nodes,
        "joints": joints,
        "turns": max(nodes, joints),
        "luck": 4 * max(nodes, joints),
    }


def search_arrays(problem: SearchProblem, sizes: Mapping[str, int], seed: int) -> dict[str, NDArray[Any]]:
    """Return the arguments with role `problem`, by name."""
    names = ("mutations", "columns", "cells", "genes", "nodes", "joints")
    parameters = np.array([*(sizes[name] for name in names), seed], dtype=np.uint64).view(np.int64)
    weights = np.zeros((problem.mutations, sizes["cells"]), dtype=np.int32)
    weights[:, : problem.columns] = problem.weights
    columns = np.zeros((problem.columns, sizes["genes"]), dtype=np.int32)
    columns[:, : problem.mutations] = problem.weights.T
    return {
        "parameters": parameters,
        "log_table": search_log_table(),
        "weights": weights,
        "columns": columns,
        "falling": problem.falling,
        "fullest": problem.fullest,
    }
