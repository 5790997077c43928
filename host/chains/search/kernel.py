"""Kernels of the stages of searches, and the arrays that they work on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.acceptance import log_tables
from syclade.host.chains.encodings.base import MADE_FOR, round_up
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.chains.search.work import STAGES, Work
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.kernels.search.arguments import ARGUMENTS
from syclade.kernels.target.traits import Traits

__all__ = ["noise_of", "search_arrays", "search_kernel", "search_log_table", "search_sizes"]

NOISE_SCALE = 16
"""2^20 / 2^16: keys are scores times 2^20, and Gumbel noise is in units of 2^-16 nat."""

_LOG_BITS = 16


def noise_of(work: Work, unit: float) -> int:
    """Return the factor of Gumbel noise, in units of 2^-16 nat, in keys (kernels/search/draws.py)."""
    return 0 if work.gamma is None else round(NOISE_SCALE * unit / work.gamma)


def search_log_table() -> NDArray[np.int64]:
    """Return ln(1 + j/256) in units of 2^-16, to compute Gumbel noise; int64, shape (257,)."""
    return log_tables(1, 2.0**-_LOG_BITS, 1.0).log_table


@cache
def search_kernel(stage: str, traits: Traits = MADE_FOR) -> Kernel:
    """Return the kernel of a stage for a target with these traits."""
    return Kernel(
        name=f"search_{stage.replace('-', '_')}",
        factory="syclade.kernels.search.stages:make_search",
        parts={"stage": STAGES[stage]},
        constants={"lanes": traits.lanes},
        records=(Record("Given", ARGUMENTS),),
        group="sub-group",
        lanes=traits.lanes,
    )


def search_sizes(problem: SearchProblem, slots: int, by_columns: bool, lanes: int) -> dict[str, int]:
    """Return the values of the symbols in the shapes of the arguments.

    Args:
        problem: input of the searches.
        slots: number of slots of the runner.
        by_columns: whether columns may be inserted into the cell tree one by one. Otherwise there are at most
            as many groups of columns as nodes of the mutation tree.
        lanes: lanes per slot; rows are padded to a multiple.
    """
    mutations, columns = problem.mutations, problem.columns
    leaves = columns if by_columns else min(columns, mutations + 1)
    nodes, joints = round_up(mutations + 1, lanes), round_up(2 * leaves, lanes)
    return {
        "slots": slots,
        "mutations": mutations,
        "columns": columns,
        "cells": round_up(columns, lanes),
        "genes": round_up(mutations, lanes),
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
