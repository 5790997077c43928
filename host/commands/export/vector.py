"""Test vector of an export: a prepared problem, its chains' initial states, and the expected results."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from syclade.host.chains.backends import Runner, default_slots, make_runner
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.encodings.ancestor import AncestorEncoding
from syclade.host.chains.kernel import chain_allocation, chain_kernel
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import run_chains
from syclade.host.chains.starts import initial_state
from syclade.host.device.device import NUMPY, Device
from syclade.host.device.engines.local import NumpyEngine
from syclade.kernels.arguments import SCRATCH

__all__ = ["Vector", "describe_vector", "vector_file"]


@dataclass(frozen=True, eq=False)
class Vector:
    """The inference of a test vector.

    Attributes:
        plan: the plan of the chains.
        cells: number of cells of the matrix.
        chains: number of chains, one per slot.
        steps: steps of each chain.
        seed: seed of the random numbers.
    """

    plan: Plan
    cells: int
    chains: int
    steps: int
    seed: int


def vector_file(vector: Vector, encoding: AncestorEncoding) -> bytes:
    """Return an npz file of all arguments of chain_steps that need values before the first launch, by name.

    Args:
        vector: the inference.
        encoding: has the capacities of the kernels, to which the arrays are padded.
    """
    plan = vector.plan
    arguments = chain_kernel(plan, encoding).arguments
    engine = NumpyEngine(NUMPY, chain_allocation(plan, encoding, vector.chains, vector.seed, arguments))
    runner = Runner(plan, encoding, vector.seed, engine)
    runner.put_all([initial_state(plan, vector.seed, chain) for chain in range(vector.chains)])
    arrays = {one.name: engine.read(one.name) for one in arguments if one.role != SCRATCH}
    arrays["last_step"][:] = vector.steps
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


_NUMPY_STEPS = 10_000
"""Up to this many steps, the numpy fallback is fast enough."""


def describe_vector(vector: Vector, content: bytes, device: Device) -> dict[str, Any]:
    """Return the manifest's part on the test vector, with the expected results.

    The expected results come from an ordinary run that shares nothing with the exported kernels. It uses the
    numpy fallback or, if there are many steps, `device`, with the default encoding there.
    """
    plan, problem = vector.plan, vector.plan.problem
    device = NUMPY if vector.steps <= _NUMPY_STEPS else device
    encoding = choose_encoding("auto", device, problem)
    slots = default_slots(device, plan, encoding, vector.chains)
    runner = make_runner(device, plan, encoding, slots, vector.seed)
    try:
        outcome = run_chains(runner, chains=vector.chains, steps=vector.steps)
    finally:
        runner.close()
    return {
        "file": "problem.npz",
        "sha256": hashlib.sha256(content).hexdigest(),
        "mutations": problem.mutations,
        "cells": vector.cells,
        "distinct_columns": problem.columns,
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
