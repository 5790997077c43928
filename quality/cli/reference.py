"""``syclade quality reference``: run your own SCITE to make a reference for `syclade quality tost`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.host.ground.errors import OptionError
from syclade.quality.cli.progress import progress_bar

if TYPE_CHECKING:
    from syclade.host.data.model.rates import Rates
    from syclade.quality.reference.inputs import NamedInput

__all__ = ["command"]

POSITIVE = click.IntRange(min=1)


@click.command("reference")
@click.option("--scite", type=options.INPUT_FILE, required=True, metavar="PATH", help="A SCITE binary.")
@click.option("--inputs", type=options.INPUT_FILE, metavar="DIR", help="Folder of matrices, each NAME.csv.")
@click.option("--simulate", "count", type=click.IntRange(min=2), metavar="COUNT", help="Simulate the inputs.")
@click.option("--cells", type=POSITIVE, default=64, show_default=True, metavar="M", help="(--simulate)")
@click.option("--mutations", type=POSITIVE, default=63, show_default=True, metavar="N", help="(--simulate)")
@click.option(
    "--missing",
    type=options.Probability(inside=False),
    default=0.25,
    show_default=True,
    help="Probability that a value is missing (--simulate).",
)
@options.take_rates("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate")
@options.take("seed")
@click.option("--chains", type=POSITIVE, default=6, show_default=True, help="SCITE's repetitions (-r).")
@click.option("--steps", type=POSITIVE, default=1_000_000, show_default=True, help="Steps of each (-l).")
@click.option("--processes", type=POSITIVE, default=2, show_default=True, help="Runs of SCITE at once.")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    scite: Path,
    chains: int,
    steps: int,
    processes: int,
    out: Path,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Run your own SCITE on simulated matrices, or on yours, and store its results.

    Writes inputs/NN.csv, scite/NN_ml0.newick, scite/NN_ml0.gv and scite/NN.log for each input to DIR, and
    reference.json with the settings. After an interruption, run the same command again to resume.
    """
    from syclade.quality.reference.maker import make_reference
    from syclade.quality.reference.scite_program import SciteSettings, find_scite

    binary = find_scite(scite)
    rates = options.rates_of(given)
    inputs, origin = _inputs(rates, given)
    with progress_bar() as show:
        earlier = make_reference(
            binary,
            SciteSettings(rates, chains, steps),
            inputs,
            out,
            origin=origin,
            processes=processes,
            force=force,
            progress=lambda done, total: show(f"{done} of {total} inputs", done, total),
        )
    if as_json:
        click.echo(json.dumps({"inputs": len(inputs), "earlier": earlier, "folder": str(out)}, indent=2))
        return
    click.echo(f"{len(inputs)} inputs in {out}, {earlier} of them done before")


def _inputs(rates: Rates, given: dict[str, Any]) -> tuple[list[NamedInput], dict[str, Any]]:
    """Return the inputs and the description of their origin for reference.json."""
    from syclade.quality.reference.inputs import Recipe, read_inputs, simulate_inputs

    if (given["inputs"] is None) == (given["count"] is None):
        raise OptionError(
            "reference needs either --inputs or --simulate", hint="as in --simulate 64, for the thesis's test"
        )
    if given["inputs"] is not None:
        return read_inputs(given["inputs"]), {"kind": "files"}
    names = ("count", "cells", "mutations", "missing", "seed")
    recipe = Recipe(**{name: given[name] for name in names})
    return simulate_inputs(recipe, rates), {
        "kind": "simulation",
        **{name: given[name] for name in names},
    }
