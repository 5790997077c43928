"""Study of arithmetic: errors and cycles of our exponentials and logarithms, and of steps with doublets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from syclade.host.device.choice import choose_device
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.bench.machine import machine
from syclade.quality.studies.arithmetic.hotspots import hotspots
from syclade.quality.studies.arithmetic.result import ArithmeticResult
from syclade.quality.studies.arithmetic.scores import best_trees, tree_errors
from syclade.quality.studies.arithmetic.steps import step_costs
from syclade.quality.studies.arithmetic.table import log_errors, power_errors, published, rows
from syclade.quality.studies.arithmetic.timing import element_costs

__all__ = ["CELLS", "MUTATIONS", "OTHERS", "arithmetic"]

MUTATIONS = (16, 32, 64, 128, 256, 512)
CELLS = 100
OTHERS = ((16, 115), (64, 400), (64, 1600), (100, 1000))
"""(mutations, cells) of other sizes; the first is that of pat_2."""

SCORE_SIZE = (40, 100)
"""Mutations and cells of the trees whose scores are compared."""

BEST_SIZE = (5, 30)
"""Mutations and cells of the inputs of which all trees are scored."""

BITS, POINTS = 16, 20_001
"""Exponents have all fractions of 16 bits; logarithms are of this many numbers."""


def arithmetic(
    *,
    mutations: Sequence[int] = MUTATIONS,
    cells: int = CELLS,
    others: Sequence[tuple[int, int]] = OTHERS,
    inputs: int = 8,
    best_size: tuple[int, int] = BEST_SIZE,
    bits: int = BITS,
    points: int = POINTS,
    seconds: float = 0.5,
    repeats: int = 5,
    device: str = "native",
    seed: int = DEFAULT_SEED,
    progress: Callable[[str, float, float], None] | None = None,
) -> ArithmeticResult:
    """Measure our arithmetic, beside the one of the publication.

    Errors are against whole numbers of 100 bits and decimals of 30 digits. Times are processor times of one
    core, measured in turns; on a machine with other work they are less precise, but not longer by waiting.

    Args:
        mutations: sizes for the growth of the time of a step, at `cells` cells.
        cells: number of cells.
        others: (mutations, cells) of other inputs.
        inputs: number of inputs for errors of scores, and for best trees.
        best_size: mutations (at most 5) and cells of the inputs for best trees.
        bits: powers are compared at all fractions of so many bits.
        points: logarithms are compared at so many numbers.
        seconds: length of a measurement of steps.
        repeats: number of turns.
        device: device of the chains; it should use one core (option `threads`).
        seed: seed of the first input.
        progress: called with the current activity, the amount done and the total.
    """
    done = iter(range(10**6))
    total = 4 + repeats * (len(mutations) + len(others))

    def show(what: str) -> None:
        if progress is not None:
            progress(what, next(done), total)

    seeds = range(seed, seed + inputs)
    show("errors of functions")
    errors = power_errors(bits) | log_errors(points)
    show("errors of scores")
    scores = tree_errors(*SCORE_SIZE, seeds)
    show("best trees")
    best = best_trees(*best_size, seeds)
    show("cycles of functions")
    costs, cycle = element_costs(repeats=max(3, repeats), seconds=min(seconds, 0.05))
    sizes = [(each, cells) for each in mutations]
    steps = step_costs(
        choose_device(device), [*sizes, *others], seconds=seconds, repeats=repeats, seed=seed, show=show
    )
    linear, rest = steps[: len(sizes)], steps[len(sizes) :]
    shown = min(linear, key=lambda cost: abs(cost.mutations - 64))
    return ArithmeticResult(
        tuple(rows(errors, scores, best, costs, cycle)),
        tuple(published()),
        tuple(hotspots(shown, costs, cycle)),
        tuple(linear),
        tuple(rest),
        cycle,
        {"inputs": inputs, "seconds": seconds, "repeats": repeats, "seed": seed, "device": device},
        machine(),
    )
