"""Call the stages of the macro-pipeline from Python, on arrays of dpnp, and look at what they write.

    python docs/examples/one_stage.py [cpu|accelerator]

First one stage, score mapping; then whole steps of three chains by all five stages, which give the same trees
and scores as `syclade.infer`. Needs the SYCL stack with dpnp: Linux x86_64, Python 3.11.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import syclade

DEVICES = syclade.prepare_sycl()  # before anything else of the stack is imported

import dpnp  # noqa: E402
import numba_dpex  # noqa: E402

CHAINS, STEPS, SEED = 3, 40, 7
RATES: dict[str, float] = {"fp_rate": 0.01, "fn_rate": 0.2}


def main(kind: str) -> None:
    """Run the example on the first device of a kind."""
    device = next(name for name in DEVICES if kind in name)
    matrix = syclade.simulate(cells=24, mutations=12, missing=0.1, seed=SEED, **RATES).matrix
    problem = syclade.stage_problem(matrix, chains=CHAINS, steps=STEPS, seed=SEED, **RATES)
    arrays = {name: dpnp.asarray(values, device=device) for name, values in problem.arrays.items()}

    # One stage. Its proposed tree may be any tree; here it is the current one of each chain.
    mapping = syclade.stage_kernel("score mapping", mutations=12, cells=24)
    arrays["proposal"] = dpnp.copy(arrays["ancestors"])
    for argument, direction in mapping.arguments:
        print(f"{direction:5} {argument.name:9} {argument.dtype} {arrays[argument.name].shape}")
    numba_dpex.call_kernel(mapping.kernel, mapping.index_space(CHAINS), *mapping.select(arrays))
    worth = dpnp.asnumpy(arrays["worth"])
    best = (worth.max(axis=2) * problem.arrays["multiplicity"]).sum(axis=1)
    print("scores by the mapping:", best.tolist())
    print("scores of the chains: ", problem.arrays["score"].tolist())
    assert np.array_equal(best, problem.arrays["score"])

    # Whole steps: each stage once is one step of every chain.
    for _ in range(STEPS):
        for stage in problem.kernels:
            numba_dpex.call_kernel(stage.kernel, stage.index_space(CHAINS), *stage.select(arrays))
    found = {name: dpnp.asnumpy(arrays[name]) for name in ("best_score", "best_ancestors", "step")}
    assert (found["step"] == STEPS).all()
    compare(
        problem, found, syclade.infer(matrix, chains=CHAINS, steps=STEPS, seed=SEED, device="numpy", **RATES)
    )


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
