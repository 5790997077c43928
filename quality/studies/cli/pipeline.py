"""The study `pipeline`: exported projects, built and run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli import options as check_options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

__all__ = ["command"]

FILES = ("pipeline.json", "pipeline.png")


@click.command("pipeline")
@click.option(
    "--nodes",
    type=click.IntRange(min=3),
    multiple=True,
    metavar="N",
    help="Nodes of the trees, and cells; may be given more than once.",
)
@click.option(
    "--flavour",
    "flavours",
    type=click.Choice(["opencl", "vitis", "oneapi"]),
    multiple=True,
    help="Kind of project; may be given more than once. Without it, all three.",
)
@click.option(
    "--steps", type=click.IntRange(min=1), default=200, show_default=True, help="Steps of each chain."
)
@click.option(
    "--turns",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Runs with each number of states.",
)
@click.option(
    "--headers",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder of ap_int.h and hls_stream.h, for vitis; without it, stand-ins.",
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    nodes: tuple[int, ...], flavours: tuple[str, ...], out: Path, force: bool, as_json: bool, **settings: Any
) -> int:
    """Build and run exported pipelines, and compare their states with chains.

    Exports projects into empty folders, compiles vitis and oneapi by g++, and runs opencl on the FPGA
    emulator, with 1, 6 and 24 chain states in flight. The check holds if all states are those of `infer
    --encoding ancestor`, no run of 1 to 64 states stands still, and a broken stage is noticed. Writes
    pipeline.json and pipeline.png to DIR.
    """
    from syclade.host.ground.files import check_output
    from syclade.quality.studies.pipeline.api import NODES, pipelines
    from syclade.quality.studies.pipeline.projects import FLAVOURS

    require_extras("matplotlib")
    check_output(out, FILES, force)
    with progress_bar() as show:
        result = pipelines(nodes=nodes or NODES, flavours=flavours or FLAVOURS, progress=show, **settings)
    return check_options.report(result, out, FILES, force, as_json)
