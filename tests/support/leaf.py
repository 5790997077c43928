"""Every way to run a chain of cell trees, and small inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.backends import Runner, make_runner
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.plan import DEFAULT_EVENTS, Plan, make_leaf_plan
from syclade.host.chains.recorders import Recorder
from syclade.host.data.input.matrix import Matrix, matrix_from_array
from syclade.host.data.model.problem import LeafProblem, make_leaf_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import choose_device
from tests.support.backends import DEVICES, Backend, marks_of
from tests.support.did_all import assert_did_all


@dataclass(frozen=True)
class LeafBackend:
    """A device, with the kernel that runs have there, or that which reads its sizes."""

    device: str
    general: bool = False

    @contextmanager
    def runner(self, plan: Plan, slots: int, seed: int) -> Iterator[Runner]:
        device = choose_device(self.device)
        encoding = choose_encoding("auto", device, plan.problem, plan.space.encoding)
        if self.general:
            encoding = encoding.general() or encoding
            assert encoding.device.endswith(":GENERAL")
        made = make_runner(device, plan, encoding, slots, seed)
        assert_did_all(made, self.device)
        try:
            yield made
        finally:
            made.close()


LEAF_NUMPY = LeafBackend("numpy")
LEAF_BACKENDS = [*(LeafBackend(device) for device in DEVICES), LeafBackend("native", general=True)]


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


def marked(backend: LeafBackend, case: LeafCase | None = None, *more: pytest.MarkDecorator) -> Any:
    """Return the backend, and the case if there is one, as parameters with their marks and those given."""
    encoding = "general" if backend.general else "own"
    marks = [*marks_of(Backend(backend.device, encoding)), *more]
    name = f"{backend.device}-{encoding}"
    if case is None:
        return pytest.param(backend, id=name, marks=marks)
    return pytest.param(backend, case, id=f"{case.n}x{case.m}-{case.kind}-{name}", marks=marks)


on_every_leaf_backend = pytest.mark.parametrize(
    "backend", [marked(backend) for backend in (*LEAF_BACKENDS, LEAF_NUMPY)]
)
