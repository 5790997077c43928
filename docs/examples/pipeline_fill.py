"""How full the macro-pipeline is, and what separate stages cost: the tables of docs/fpga.md.

    python docs/examples/pipeline_fill.py [DEVICE ...]

For c chain states in flight: the share of stages with a state by the host's schedule, as run, and by the
simulation of `syclade design`; the share of the time that stages worked; steps a second beside the fused
kernel.
"""

from __future__ import annotations

import sys
from typing import Any

import syclade
from syclade.quality.design.equal_stages import equal_stages
from syclade.quality.design.reader import load_design
from syclade.quality.design.simulation import simulate

STATES = (1, 6, 24)
STEPS, FUSED_STEPS = 2000, 200_000  # over all chains
REPEATS = 3
SEED = 3
RATES: dict[str, float] = {"fp_rate": 0.001, "fn_rate": 0.2}


def main(devices: list[str]) -> None:
    """Print a table for each device."""
    matrix = syclade.simulate(cells=64, mutations=63, missing=0.1, seed=SEED, **RATES).matrix
    for device in devices:
        print(f"\n{device}, 64 cells x 63 mutations")
        print(
            "| c | by tick | simulated | ksteps/s | fused | times slower | stages worked | at once | design |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for states in STATES:
            print(row(matrix, device, states))


def row(matrix: Any, device: str, states: int) -> str:
    """One line of the table: the fastest of a few runs."""
    options: dict[str, Any] = {"chains": states, "slots": states, "seed": SEED, "device": device, **RATES}
    separate = fastest(matrix, steps=STEPS // states, stages="separate", **options)
    fused = fastest(matrix, steps=FUSED_STEPS // states, encoding="ancestor", **options)
    report = separate.pipeline
    assert report is not None
    same = simulate(equal_stages(report["stages"]), capacity=states, chains=states, steps=STEPS // states)
    design = simulate(load_design("syclade-ancestor"), capacity=states)
    slower = fused.steps_per_second / separate.steps_per_second
    return (
        f"| {states} | {report['fill_by_tick']:.1%} | {states * (STEPS // states) / same.cycles:.1%} "
        f"| {separate.steps_per_second / 1e3:.2f} | {fused.steps_per_second / 1e3:.0f} | {slower:.0f} "
        f"| {report['fill_by_time']:.2%} | {report['stages_at_once']:.2f} | {design.utilisation:.1%} |"
    )


def fastest(matrix: Any, **options: Any) -> syclade.Result:
    """The fastest of a few equal runs."""
    return max(
        (syclade.infer(matrix, **options) for _ in range(REPEATS)), key=lambda one: one.steps_per_second
    )


if __name__ == "__main__":
    main(sys.argv[1:] or ["cpu", "fpga-emu"])
