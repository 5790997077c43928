"""The study `releases`: speed of chains of each release, from stored measurements."""

from __future__ import annotations

from pathlib import Path

import click

from syclade.host.commands import options
from syclade.quality.extras import require_extras

__all__ = ["command"]


@click.command("releases")
@click.argument("benches", type=options.INPUT_FILE)
@options.take("out", required=True, metavar="FILE", help="PNG file of the figure.")
@options.take("force")
def command(benches: Path, out: Path, force: bool) -> None:
    """Draw the speed of each release from BENCHES, a folder of outputs of 'syclade bench --suite --json'.

    BENCHES has a folder for each release, such as v0.2.0, with a file for each device, such as native.json.
    Prints the speeds as a table.
    """
    from syclade.host.ground.files import check_file
    from syclade.quality.figures import write_figure
    from syclade.quality.studies.releases.api import read_releases

    require_extras("matplotlib")
    check_file(out, force)
    found = read_releases(benches)
    write_figure(found.figure(), out, force)
    click.echo(found.table())
