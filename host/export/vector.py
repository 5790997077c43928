"""The test vector of an export: a prepared problem, its chains' initial states, and what must come out."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from syclade.host.backends import default_slots, make_runner
from syclade.host.backends.numpy_runner import NumpyRunner
from syclade.host.chains.pipeline import initial_state, run_chains
from syclade.host.devices.choice import NUMPY, Device
from syclade.host.encodings import choose_encoding
from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.host.model.problem import Problem
from syclade.kernels.arguments import INFO, PROBLEM, STATE

__all__ = ["Vector", "describe_vector", "vector_file"]


@dataclass(frozen=True)
class Vector:
    """Which inference.

    Attributes:
        problem: the input.
        cells: cells of its matrix.
        chains: number of chains, one a slot.
        steps: steps of each.
        seed: of the random numbers.
    """

    problem: Problem
    cells: int
    chains: int
    steps: int
    seed: int


def vector_file(vector: Vector, constants: dict[str, int]) -> bytes:
    """An npz file: every argument of chain_steps that has a meaning before the first launch, by its name.

    Args:
        vector: the inference.
        constants: capacities of the kernels; the arrays are padded to them.
    """
    encoding = AncestorEncoding(vector.problem)
    encoding.constants = constants
    keeper = NumpyRunner(encoding, vector.chains, vector.seed)
    keeper.put_all([initial_state(vector.problem, vector.seed, chain) for chain in range(vector.chains)])
    arrays: dict[str, Any] = {}
    given = encoding.problem_arrays(vector.seed)
    for argument in encoding.arguments:
        if argument.role == PROBLEM:
            arrays[argument.name] = given[argument.name].astype(argument.dtype)
        elif argument.role in (STATE, INFO):
            arrays[argument.name] = keeper.read_all(argument.name)
    arrays["last_step"][:] = vector.steps
    keeper.close()
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


_NUMPY_STEPS = 10_000
"""Up to so many steps the fallback is quick enough."""


def describe_vector(vector: Vector, content: bytes, device: Device) -> dict[str, Any]:
    """The manifest's part on the test vector, with what must come out.

    That is found by an ordinary run which shares nothing with the exported kernels: by the numpy fallback,
    or, when there are many steps, on `device`; in the encoding that is usual there.
    """
    problem = vector.problem
    device = NUMPY if vector.steps <= _NUMPY_STEPS else device
    encoding = choose_encoding("auto", device)(problem)
    runner = make_runner(device, encoding, default_slots(device, encoding, vector.chains), vector.seed)
    try:
        outcome = run_chains(problem, runner, chains=vector.chains, steps=vector.steps)
    finally:
        runner.close()
    return {
        "file": "problem.npz",
        "sha256": hashlib.sha256(content).hexdigest(),
        "mutations": problem.mutations,
        "cells": vector.cells,
        "distinct_columns": problem.columns.shape[1],
        "slots": vector.chains,
        "steps": vector.steps,
        "seed": vector.seed,
        "scale_bits": problem.scale_bits,
        "base": problem.base,
        "expected": {
            "best_scores": outcome.best_scores.tolist(),
            "parents": outcome.best.best_parents.tolist(),
        },
    }
