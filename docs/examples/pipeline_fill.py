"""How full the macro-pipeline is, and what its stages cost: the tables of docs/fpga.md.

    python docs/examples/pipeline_fill.py [DEVICE ...]

For c chain states in flight, with stages in five kernels (separate) and in one whose work-groups take
different stages (overlapping): the share of stages with a state by the schedule, as run, and by the
simulation of `syclade design`; steps a second beside the fused kernel; the share of the time that stages
worked; the mean number of stages at work when one begins, and the largest.
"""

from __future__ import annotations

import sys
from typing import Any

import syclade
from syclade.quality.design.equal_stages import equal_stages
from syclade.quality.design.reader import load_design
from syclade.quality.design.simulation import simulate

STATES = (1, 6, 24)
STEPS = {"separate": 2000, "overlapping": 20_000, "fused": 200_000}
"""Steps of all chains together, by how the stages run: a run takes a fraction of a second."""
REPEATS = 3
SEED = 3
RATES: dict[str, float] = {"fp_rate": 0.001, "fn_rate": 0.2}


def main(devices: list[str]) -> None:
    """Print a table for each device."""
    matrix = syclade.simulate(cells=64, mutations=63, missing=0.1, seed=SEED, **RATES).matrix
    for device in devices:
        print(f"\n{device}, 64 cells x 63 mutations")
        print(
            "| c | stages | by tick | simulated | ksteps/s | fused | times slower | worked | at once | most "
            "| design |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|---|")
        for states in STATES:
            found = fastest(matrix, device, states)
            for stages in ("separate", "overlapping"):
                print(row(stages, states, found[stages], found["fused"]))


def row(stages: str, states: int, found: syclade.Result, fused: syclade.Result) -> str:
    """One line of the table."""
    report = found.pipeline
    assert report is not None
    steps = STEPS[stages] // states
    same = simulate(equal_stages(report["stages"]), capacity=states, chains=states, steps=steps)
    design = simulate(load_design("syclade-ancestor"), capacity=states)
    slower = fused.steps_per_second / found.steps_per_second
    worked = report["fill_by_time"]
    return (
        f"| {states} | {stages} | {report['fill_by_tick']:.1%} | {states * steps / same.cycles:.1%} "
        f"| {found.steps_per_second / 1e3:.2f} | {fused.steps_per_second / 1e3:.0f} | {slower:.0f} "
        f"| {'not timed' if worked is None else f'{worked:.2%}'} | {report['stages_at_once']:.2f} "
        f"| {report['most_stages_at_once']} | {design.utilisation:.1%} |"
    )


def fastest(matrix: Any, device: str, states: int) -> dict[str, syclade.Result]:
    """The fastest of a few runs with each kind of stages, in turns."""
    options: dict[str, Any] = {"chains": states, "slots": states, "seed": SEED, "device": device, **RATES}
    found: dict[str, syclade.Result] = {}
    for _ in range(REPEATS):
        for stages, steps in STEPS.items():
            result = syclade.infer(
                matrix, steps=steps // states, stages=stages, encoding="ancestor", support="none", **options
            )
            best = found.setdefault(stages, result)
            found[stages] = max(best, result, key=lambda one: one.steps_per_second)
    return found


if __name__ == "__main__":
    main(sys.argv[1:] or ["cpu", "fpga-emu"])
