"""Golden runs: complete chains, recorded once, must stay the same on every backend that ran them.

A case's `states` is the SHA-256 of every chain's state after every launch (single steps first): chain, step,
score and best score as int64, the trees as int32, the tallies as int64, all little-endian. They were recorded
with version c4bd455, before chains were composed of parts; `recorded` lists the backends. The two numpy
algorithms of that version agreed. Record them again only if the chain itself changes.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from tests.support.backends import NUMPY, Backend, marks_of
from tests.support.own_sizes import OWN_SIZES, has_own_kernel

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("golden.json").read_text())


def observed(case: dict[str, Any]) -> NDArray[np.uint8]:
    """Return a noisy matrix of a random tree, shape (mutations, cells), uint8; each column `copies` times."""
    n, m, copies = case["mutations"], case["cells"], case.get("copies", 1)
    draws = np.random.default_rng(case["seed"] % 2**32)
    parents = [int(draws.random() * (v + 1)) - 1 for v in range(n)]  # -1: the root
    distinct = m // copies
    at = (draws.random(distinct) * (n + 1)).astype(int) - 1
    true = np.zeros((n, distinct), bool)
    for column, node in enumerate(at):
        while node >= 0:
            true[node, column] = True
            node = parents[node] if parents[node] < node else -1
    chance = draws.random((n, distinct))
    values = np.where(true, chance >= 0.2, chance < 0.02).astype(np.uint8)
    values[draws.random((n, distinct)) < 0.15] = 3
    return values[:, np.arange(m) % distinct]


def run(case: dict[str, Any], backend: Backend) -> tuple[str, list[int]]:
    """Return the digest of all states, and the final best scores."""
    problem = make_problem(matrix_from_array(observed(case)), Rates(0.02, 0.2))
    plan = make_plan(problem, gamma=case["gamma"], move_probabilities=case["moves"])
    total, chains, step = hashlib.sha256(), case["chains"], 0
    with backend.runner(plan, chains, case["seed"]) as runner:
        runner.put_all([initial_state(plan, case["seed"], chain) for chain in range(chains)])
        for length in [1] * case["single"] + [case["length"]] * case["launches"]:
            step += length
            runner.advance(np.full(chains, step))
            for slot in range(chains):
                state = runner.get(slot)
                for number in (state.chain, state.step, state.score, state.best_score):
                    total.update(np.int64(number).astype("<i8").tobytes())
                for tree in (state.parents, state.best_parents):
                    total.update(tree.astype("<i4").tobytes())
                total.update(runner.info(slot).tallies.astype("<i8").tobytes())
        return total.hexdigest(), runner.best_scores().tolist()


def recorded() -> list[Any]:
    """Return every case on every backend that it was recorded on, and on later backends."""
    found = []
    for case in CASES:
        name = f"{case['mutations']}x{case['cells']}-{case['seed']}"
        backends = [Backend(*place.split()) for place in case["recorded"] if not place.startswith("numpy")]
        if len(backends) < len(case["recorded"]):
            backends.append(NUMPY)
        backends += [Backend(one.device, "general") for one in backends if one.encoding == "preorder"]
        backends += [Backend("native", "preorder"), Backend("native", "general")]
        if case["mutations"] < 64:
            backends.append(Backend("native", "ancestor"))
        for backend in backends:
            place = f"{name}-{backend.device}-{backend.encoding}"
            found.append(pytest.param(case, backend, id=place, marks=marks_of(backend)))
    return found


SMALL = 12
"""Mutations of the largest case for which `make test` compiles kernels of its exact size: 4 to 25 s each."""
ON_CPU = (8, 13, 17)
"""Seeds of the larger cases that `make test` runs on the CPU device's kernels of their sizes. Its driver
takes a second for each: a usual case, one with repeated columns, and the largest."""


def verified(recorded: Any) -> Any:
    """Return the case and backend, left to `make verify` if a large case builds a kernel of its size.

    Larger cases run on numpy and on kernels of any size; rows of `rows/maximum.py` compare the kernels of
    such sizes with numpy, also on the emulator. So are small ones on this processor's kernel of subtrees in
    preorder, which takes 20 s to compile.
    """
    case, backend = recorded.values
    emulated = backend.device == "fpga-emu"
    of_size = backend.device == "cpu" and backend.encoding != "general"
    on_cpu = of_size and case["seed"] not in ON_CPU
    small = case["mutations"] <= SMALL and backend != OWN_SIZES
    if small or not (emulated or on_cpu or has_own_kernel(backend)):
        return recorded
    return pytest.param(case, backend, id=recorded.id, marks=[*recorded.marks, pytest.mark.verification])


@pytest.mark.parametrize(("case", "backend"), [verified(one) for one in recorded()])
def test_the_chains_are_those_recorded(case: dict[str, Any], backend: Backend) -> None:
    assert hashlib.sha256(observed(case).tobytes()).hexdigest() == case["input"], "another input"
    assert run(case, backend) == (case["states"], case["best_scores"])


def test_enough_was_recorded() -> None:
    assert len(recorded()) >= 40
    assert len({(case["gamma"], *case["moves"]) for case in CASES}) >= 6
