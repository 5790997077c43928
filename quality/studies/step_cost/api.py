"""How does the cost of a step grow with cells and mutations?"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from syclade.host.device.choice import choose_device
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.bench.machine import machine
from syclade.quality.bench.measure import measure, versions
from syclade.quality.studies.step_cost.result import Cost, StepCosts
from syclade.quality.work import Progress

__all__ = ["CELLS", "MUTATIONS", "step_cost"]

CELLS = (64, 128, 256, 512, 1024)
MUTATIONS = (64, 128, 256, 512)


def step_cost(
    *,
    cells: Sequence[int] = CELLS,
    mutations: Sequence[int] = MUTATIONS,
    seconds: float = 0.2,
    repeats: int = 5,
    device: str = "native",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> StepCosts:
    """Measure chains of the sum score that start at the true tree, with the kernel for all sizes.

    All sizes take turns, so that other load on the machine meets all of them.

    Args:
        cells, mutations: sizes of the inputs: each with each.
        seconds: length of a measurement, and of the warm-up before it.
        repeats: number of turns.
        device: as for `infer`.
        seed: seed of the inputs and chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    chosen = choose_device(device)
    sizes = [(each, number) for each in cells for number in mutations]
    found: dict[tuple[int, int], list[float]] = {size: [] for size in sizes}
    accepted: dict[tuple[int, int], float] = {}
    for turn in range(repeats):
        for at, size in enumerate(sizes):
            if progress is not None:
                progress(
                    f"{size[0]} x {size[1]}, turn {turn + 1}", turn * len(sizes) + at, repeats * len(sizes)
                )
            made = measure(
                chosen,
                cells=size[0],
                mutations=size[1],
                seconds=seconds,
                repeats=1,
                seed=seed,
                score="sum",
                general=True,
            )
            found[size].append(made.cpu_ns_per_step)
            accepted[size] = made.acceptance
    costs = tuple(
        Cost(*size, statistics.median(found[size]), tuple(found[size]), accepted[size]) for size in sizes
    )
    settings = {
        "seconds": seconds,
        "repeats": repeats,
        "device": chosen.filter,
        "seed": seed,
        "versions": versions(),
    }
    return StepCosts(costs, settings, machine())
