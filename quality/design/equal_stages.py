"""Design whose stages all take one cycle, to simulate the schedule of `infer --stages separate`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from syclade.quality.design.model import Design, Stage
from syclade.quality.design.reader import load_design

__all__ = ["equal_stages"]


def equal_stages(names: Sequence[str]) -> Design:
    """Return a design with these stages, one cycle each; a cycle is a tick of the host's schedule.

    Args:
        names: names of the stages, in order.
    """
    base = load_design("syclade-ancestor").changed(
        {"ring_depth": 0}, "a tick ends when all stages have ended"
    )
    stages = tuple(
        Stage(
            name,
            name,
            loops={},
            ii=1,
            depth=0.0,
            streams=False,
            share=1,
            source="host/chains/backends/stages",
        )
        for name in names
    )
    return dataclasses.replace(
        base, name="equal stages", title="stages of one tick each", stages=stages, components=(), notes=()
    )
