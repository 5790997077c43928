"""Call the stages of the macro-pipeline from Python, on arrays of dpnp or numpy, and look at what they write.

    python docs/examples/one_stage.py [cpu|accelerator|numpy]

First one stage, score mapping; then whole steps of three chains by all five stages, which give the same trees
and scores as `syclade.infer`. On numpy, it needs nothing else; on devices, the SYCL stack with dpnp
(Linux x86_64, Python 3.11).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import syclade

CHAINS, STEPS, SEED = 3, 40, 7
RATES: dict[str, float] = {"fp_rate": 0.01, "fn_rate": 0.2}


def main(kind: str) -> None:
    """Run the example on the first device of a kind."""
    on_device, on_host = arrays_of(kind)
    matrix = syclade.simulate(cells=24, mutations=12, missing=0.1, seed=SEED, **RATES).matrix
    problem = syclade.stage_problem(matrix, chains=CHAINS, steps=STEPS, seed=SEED, **RATES)
    arrays = {name: on_device(values) for name, values in problem.arrays.items()}

    # One stage. Its proposed tree may be any tree; here it is the current one of each chain.
    mapping = syclade.stage_kernel("score mapping", mutations=12, cells=24)
    arrays["proposal"] = arrays["ancestors"].copy()
    for argument, direction in mapping.arguments:
        print(f"{direction:5} {argument.name:9} {argument.dtype} {arrays[argument.name].shape}")
    mapping(arrays)
    worth = on_host(arrays["worth"])
    best = (worth.max(axis=2) * problem.arrays["multiplicity"]).sum(axis=1)
    print("scores by the mapping:", best.tolist())
    print("scores of the chains: ", problem.arrays["score"].tolist())
    assert np.array_equal(best, problem.arrays["score"])

    # Whole steps: each stage once is one step of every chain.
    for _ in range(STEPS):
        for stage in problem.kernels:
            stage(arrays)
    found = {name: on_host(arrays[name]) for name in ("best_score", "best_ancestors", "step")}
    assert (found["step"] == STEPS).all()
    compare(
        problem, found, syclade.infer(matrix, chains=CHAINS, steps=STEPS, seed=SEED, device="numpy", **RATES)
    )


def arrays_of(kind: str) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return functions that copy an array of numpy to the device, and back."""
    if kind == "numpy":
        return np.array, np.array
    devices = syclade.prepare_sycl()  # before anything else of the stack is imported
    import dpnp

    device = next(name for name in devices if kind in name)
    return lambda values: dpnp.asarray(values, device=device), dpnp.asnumpy


def compare(problem: Any, found: dict[str, Any], result: syclade.Result) -> None:
    """Compare with an ordinary inference, which shares no code with the stages."""
    scores = [problem.log_likelihood(score) for score in found["best_score"]]
    parents = problem.parents(found["best_ancestors"][int(np.argmax(found["best_score"]))])
    assert scores == result.chain_log_likelihoods.tolist()
    assert np.array_equal(parents, result.parents)
    print(f"{STEPS} steps of {CHAINS} chains by stages: log-likelihoods {scores}, as by syclade.infer")
    print("parents of the best tree:", parents.tolist())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "cpu")
