"""Option ``--energy``: an energy meter, or one message that explains why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from syclade.quality.bench.energy import EnergyMeter

__all__ = ["energy_meter"]


@contextmanager
def energy_meter(wanted: bool) -> Iterator[tuple[EnergyMeter | None, str]]:
    """Open an energy meter, if wanted and available, and describe how it measures or why there is none."""
    if not wanted:
        yield None, ""
        return
    from syclade.quality.bench.energy import EnergyError, open_meter

    with ExitStack() as stack:
        meter = None
        try:
            meter = stack.enter_context(open_meter())
            names = ", ".join(meter.by_domain())
            note = f"energy of everything that the machine did meanwhile, by RAPL: {names}"
        except EnergyError as problem:
            click.echo(f"syclade: energy is not measured: {problem}", err=True)
            note = f"energy is not measured: {problem.message}"
        yield meter, note
