"""``syclade quality calibration``: do probabilities from samples mean what they say?"""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]

FILES = ("calibration.json", "calibration.png")


@click.command("calibration")
@options.take_one_device
@check_options.inputs_option("Inputs of each setting.", default=64, least=8)
@click.option(
    "--setting",
    "names",
    multiple=True,
    metavar="NAME",
    help="A setting, such as '20 x 40'; may be given more than once. All by default.",
)
@click.option(
    "--support",
    type=click.Choice(("quick", "full")),
    help="Search, and sample as `infer` does for this level of support. Default: chains from random trees.",
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    names: tuple[str, ...],
    inputs: int,
    support: str | None,
    device: str,
    seed: int,
    out: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Sample the posterior of inputs whose truth is known, and compare shares with truths.

    Trees, cells and observations are drawn from the model of the sum score. Then the rank of the truth among
    samples is uniform (simulation-based calibration), and a statement with a share of p is true with
    probability p: that one mutation is above another, is its parent, or that a set of mutations is a clade.
    In three more settings, the inference has wrong rates, or trees have another distribution. The check
    holds if rank tests reject these, and no others. Writes calibration.json and calibration.png to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.calibration.api import calibration, settings_named

    settings = settings_named(names, support)
    require_extras()
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = calibration(
            settings, inputs=inputs, support=support, device=device, seed=seed, progress=show
        )
    return check_options.report(result, out, FILES, force, as_json)
