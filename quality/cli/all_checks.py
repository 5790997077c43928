"""``syclade quality all``: run every check that needs only the package, and print one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]


@click.command("all")
@check_options.reference_option
@options.take_one_device
@check_options.limit_option
@click.option("--steps", type=click.IntRange(min=1), help="Steps of a chain; as SCITE's runs.")
@check_options.mutations_option
@check_options.samples_option
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(out: Path, force: bool, as_json: bool, **settings: Any) -> int:
    """Run all checks: compare our trees with SCITE's, by chains and by search, and check the posterior.

    Writes tost-chain.json, tost-search.json, posterior.json, a PNG figure for each, and summary.json to DIR.
    Results of earlier runs are not reused.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.check_all import FILES, check_all

    require_extras()
    check_output(out, FILES, force)
    with progress_bar() as show:
        checked = check_all(progress=show, **settings)
    paths = checked.write(out, force=force)
    if as_json:
        click.echo(json.dumps(checked.to_dict(), indent=2))
    else:
        click.echo(checked.table())
        click.echo(f"wrote {', '.join(map(str, paths))}")
    return 0 if checked.holds else 1
