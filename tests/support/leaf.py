"""Small inputs of chains of cell trees, and the backends of trees that have one encoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from syclade.host.chains.plan import DEFAULT_EVENTS, Plan, make_leaf_plan
from syclade.host.chains.state import Recorder
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.problem import LeafProblem, make_leaf_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from tests.support.backends import DEVICES, NUMPY, Backend, marks_of

OWN_BACKENDS = [
    *(Backend(device, "own") for device in DEVICES if device != "native"),
    Backend("native", "general"),
    NUMPY,
]
"""Backends of trees that have one encoding, without this processor's kernels for given sizes."""

on_every_own_backend = pytest.mark.parametrize(
    "backend", [pytest.param(one, id=one.device, marks=marks_of(one)) for one in OWN_BACKENDS]
)


@dataclass(frozen=True)
class LeafCase:
    """Input with its chain's settings. `kind`: random, zygosity (some 2s), or equal (three cells)."""

    n: int
    m: int
    kind: str = "random"
    gamma: float = 1.0
    moves: tuple[float, float] = (0.4, 0.6)
    seed: int = 1

    def matrix(self) -> Matrix:
        generator = np.random.default_rng(self.n * 1000 + self.m)
        values = generator.choice([0, 1, 3], (self.n, self.m), p=[0.5, 0.35, 0.15])
        if self.kind == "zygosity":
            values[generator.random(values.shape) < 0.2] = 2
        if self.kind == "equal":
            values = values[:, np.arange(self.m) % 3]
        return matrix_from_array(values.astype(np.uint8))

    def rates(self) -> Rates:
        return Rates(0.02, 0.2, 0.25, 0.005) if self.kind == "zygosity" else Rates(0.02, 0.2)

    def problem(self, *, learn_fn: float | None = None, learn_fp: float | None = None) -> LeafProblem:
        model = make_rate_model(self.rates(), learn_fn=learn_fn, learn_fp=learn_fp)
        return make_leaf_problem(self.matrix(), self.rates(), model=model)

    def plan(
        self,
        *,
        learn_fn: float | None = None,
        learn_fp: float | None = None,
        recorders: Sequence[Recorder] = (),
        events: int = DEFAULT_EVENTS,
    ) -> Plan:
        return make_leaf_plan(
            self.problem(learn_fn=learn_fn, learn_fp=learn_fp),
            gamma=self.gamma,
            move_probabilities=self.moves,
            recorders=recorders,
            events=events,
        )
