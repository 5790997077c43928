"""``python -m tests.fuzz``: run any number of inputs of each kind."""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path

import click

from tests.fuzz.kinds import KINDS
from tests.fuzz.run import Tally, fuzz

MOST_FAILURES = 5
SHOWN = 2000


@click.command()
@click.option(
    "--inputs", type=click.IntRange(min=1), default=100_000, show_default=True, help="Of each kind."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Equal seeds give equal inputs.")
@click.option("--kind", "kinds", type=click.Choice(list(KINDS)), multiple=True, help="Only these kinds.")
@click.option("--first", type=click.IntRange(min=0), default=0, help="Number of the first input.")
def command(inputs: int, seed: int, kinds: tuple[str, ...], first: int) -> None:
    """Run the program on inputs, most of them damaged, and show those that fail.

    A failure is anything but a correct result or a SycladeError: another exception, a warning, a hang.
    Exits with 1 if there are any.
    """
    logging.disable()
    found = 0
    for name in kinds or KINDS:
        started, tally, failures = time.perf_counter(), Tally(), 0
        with tempfile.TemporaryDirectory() as folder:
            kind = KINDS[name](Path(folder))
            for failure in fuzz(kind, seed, range(first, first + inputs), tally):
                failures += 1
                click.echo(f"\n{failure.reason}\n{name} {failure.number}: {repr(failure.given)[:SHOWN]}")
                again = f"--kind {name} --seed {seed} --first {failure.number} --inputs 1"
                click.echo(f"again: python -m tests.fuzz {again}")
                if failures == MOST_FAILURES:
                    click.echo("this kind is left here")
                    break
        found += failures
        click.echo(
            f"{name}: {tally.taken} taken, {tally.refused} refused, {failures} failures, "
            f"{time.perf_counter() - started:.0f} s"
        )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    command()
