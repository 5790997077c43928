"""Study of scaling: many slots on several cores, and one slot whose cells are divided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.host.device.device import usable_cores
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.bench.machine import machine
from syclade.quality.bench.measure import FN_RATE, FP_RATE, MISSING
from syclade.quality.studies.arithmetic.visits import visits_of
from syclade.quality.studies.scaling.model import Model, bytes_per_step, serial_share, slot_bytes
from syclade.quality.studies.scaling.published import published, stored_speeds
from syclade.quality.studies.scaling.result import CaseResult, ScalingResult
from syclade.quality.studies.scaling.runs import CASES, RATE, Case, Run, Speed, measure_all

__all__ = ["scaling"]

PROPOSALS = 2000


def scaling(
    *,
    cases: Sequence[Case] = CASES,
    seconds: float = 1.0,
    repeats: int = 5,
    device: str = "native",
    seed: int = DEFAULT_SEED,
    progress: Callable[[str, float, float], None] | None = None,
) -> ScalingResult:
    """Measure chains with doublets on 1 … all cores, and model more cores.

    Every measurement is a process of its own that may use so many cores; all of them take turns. A slot that
    is divided over two cores is not measured but bounded: it is at most as fast as one with half of the
    cells. That leaves out all waiting of the cores for each other, twice in each step.

    Args:
        cases: input sizes.
        seconds: length of a measurement.
        repeats: number of turns.
        device: a device that runs one slot per thread: native.
        seed: seed of the inputs and chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        DeviceError: the device cannot run, or a measurement fails.
    """
    chosen = choose_device(device)
    threads = range(1, usable_cores() + 1)
    runs = [
        *(Run(case.mutations, case.cells, case.slots * count, count) for case in cases for count in threads),
        *(Run(case.mutations, cells, 1, 1) for case in cases for cells in (case.cells, case.cells // 2)),
    ]
    runs = list(dict.fromkeys(runs))
    done = iter(range(10**6))

    def show(what: str) -> None:
        if progress is not None:
            progress(what, next(done), len(runs) * repeats)

    found = measure_all(runs, chosen.filter, seconds, repeats, seed, show)
    return ScalingResult(
        tuple(_case_result(case, threads, found, seed) for case in cases),
        published(),
        stored_speeds(),
        {"seconds": seconds, "repeats": repeats, "device": chosen.filter, "seed": seed, "rate": RATE},
        machine(),
    )


def _case_result(case: Case, threads: Sequence[int], found: Mapping[Run, Speed], seed: int) -> CaseResult:
    speeds = tuple(found[Run(case.mutations, case.cells, case.slots * count, count)] for count in threads)
    whole, half = (found[Run(case.mutations, cells, 1, 1)] for cells in (case.cells, case.cells // 2))
    grows = speeds[min(1, len(speeds) - 1)].cpu_ns / speeds[0].cpu_ns - 1
    tree = simulate(case.cells, case.mutations, FP_RATE, FN_RATE, MISSING, seed, doublets=RATE).parents
    moved = bytes_per_step(visits_of(tree, PROPOSALS, seed), case.cells)
    model = Model(
        max(0.0, grows),
        serial_share(whole.cpu_ns, half.cpu_ns),
        moved / (whole.cpu_ns * 1e-9),
        slot_bytes(case.mutations, case.cells),
    )
    return CaseResult(case, speeds, whole, half, model)
