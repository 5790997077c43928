"""Whole inferences: chains by `infer`, with learned rates, counts of left-out positions, and cell trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import syclade
from syclade.host.chains.encodings import ENCODINGS
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.simulate import simulate
from tests.support.backends import NUMPY, Backend
from tests.support.did_all import assert_did_all
from tests.support.evidence import random_evidence
from tests.support.leaf import LeafCase
from tests.support.same_bits import Places, Row, on_devices


@dataclass(frozen=True, eq=False)
class Inference:
    """An inference whose result, with its samples, is the same on every device.

    Attributes:
        name: name of the row.
        make_matrix: makes the input.
        options: options of `infer`, without the device.
        places: where it runs.
        infer: the function.
        without: an option whose absence changes the samples: the control.
    """

    name: str
    make_matrix: Callable[[], Matrix]
    options: dict[str, Any]
    places: Places
    infer: Callable[..., Any] = syclade.infer
    without: str = ""

    @cached_property
    def expected(self) -> Any:
        """The result in numpy."""
        return self.run("numpy", encoding="auto")

    def run(self, device: str, **changed: Any) -> Any:
        result = self.infer(self.make_matrix(), device=device, **{**self.options, **changed})
        assert_did_all(result, device)
        return result

    def check_numpy(self) -> None:
        accepted = sum(accepted for _, accepted in self.expected.moves.values())
        assert accepted > 0
        if self.without:
            control = self.run("numpy", **{self.without: None})
            assert told_by(control)["samples"] != told_by(self.expected)["samples"]

    def check(self, backend: Backend) -> None:
        result = self.run(backend.device)
        assert told_by(result) == told_by(self.expected)
        assert result.encoding == backend.encoding
        emulated = "emulat" in result.work[0].executor.name.lower()
        assert emulated == (backend.device == "fpga-emu")


def told_by(result: Any) -> dict[str, Any]:
    """Return all of a result that must not depend on the device, in a comparable form."""
    names = ("log_likelihood", "moves", "model", "learned")
    samples = result.samples
    return {
        **{name: getattr(result, name) for name in names},
        "parents": result.parents.tolist(),
        "chains": result.chain_log_likelihoods.tolist(),
        "newick": result.to_newick(),
        "summary": result.summary(),
        "samples": None if samples is None else list(samples.lines()),
    }


USUAL: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "chains": 4, "steps": 1500, "seed": 2024}
SIZES = [(64, 63), (96, 95), (50, 41), (128, 127)]


def of_size(cells: int, mutations: int, encoding: str) -> Inference:
    return Inference(
        f"infer, {cells} x {mutations}, {encoding}",
        partial(simulate_matrix, cells, mutations),
        {**USUAL, "encoding": encoding},
        [(NUMPY, True), (Backend("cpu", encoding), True), (Backend("fpga-emu", encoding), cells == 64)],
    )


def simulate_matrix(cells: int, mutations: int) -> Matrix:
    return simulate(cells, mutations, 0.01, 0.2, 0.1, 7).matrix


# ---- counts of left-out positions

COUNTED: dict[str, dict[str, Any]] = {
    "doublets": {"doublets": "learn", "learn_fn": 0.2},
    "sum": {"score": "sum"},
    "max": {},
}


def with_doublets() -> Matrix:
    rates = {"fp_rate": 0.01, "fn_rate": 0.2, "missing": 0.1, "seed": 3, "doublets": 0.2}
    return simulate(cells=40, mutations=9, **rates).matrix  # type: ignore[arg-type]


def counted(name: str) -> Inference:
    """Return a row; the package has no kernels with learned FP rates alone for this processor."""
    options = {
        "fp_rate": 0.01,
        "fn_rate": 0.2,
        "learn_fp": 0.2,
        "unmutated_counts": (2000, 30),
        "chains": 2,
        "steps": 200,
        "samples": 25,
    }
    kind = "sums" if name == "doublets" else "preorder"
    return Inference(
        f"infer, counts, {name}",
        with_doublets,
        {**options, **COUNTED[name]},
        on_devices(kind, native=name == "doublets", emulator=name == "doublets"),
        without="unmutated_counts",
    )


# ---- learned rates, and cell trees

LEARN: dict[str, Any] = {"fp_rate": 1e-3, "fn_rate": 0.2, "learn_fn": 0.2, "learn_fp": 0.1, "chains": 4}


def learned_matrix() -> Matrix:
    return simulate(cells=120, mutations=12, fp_rate=1e-3, fn_rate=0.35, missing=0.1, seed=3).matrix


def learned(score: str) -> Inference:
    options = {**LEARN, "steps": 1500, "score": score, "samples": 100}
    places = [(backend, usual and score == "max") for backend, usual in on_devices("preorder", native=False)]
    return Inference(f"infer, learned, {score}", learned_matrix, options, places)


def of_evidence(name: str, **options: Any) -> Inference:
    """Return a row with log odds of many levels in place of calls."""
    return Inference(
        f"infer, evidence, {name}",
        lambda: random_evidence(6, 16, 5)[0],
        {"chains": 2, "steps": 200, "samples": 20, **options},
        on_devices(options.get("encoding", "preorder")),
    )


CELL_RATES = {"fp_rate": 0.02, "fn_rate": 0.2, "fn_rate_hom": 0.25, "hom_rate": 0.005}
CELLS = Inference(
    "infer, cells",
    LeafCase(9, 8, "zygosity").matrix,
    {**CELL_RATES, "chains": 3, "steps": 400, "slots": 2},
    on_devices("clade"),
    infer=syclade.infer_leaf,
)

ROWS: list[Row] = [
    *(of_size(*size, encoding) for size in SIZES for encoding in ENCODINGS),
    *map(counted, COUNTED),
    *map(learned, ("max", "sum")),
    of_evidence("sum", score="sum"),
    of_evidence("shares", score="shares"),
    CELLS,
]
