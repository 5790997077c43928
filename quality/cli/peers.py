"""``syclade quality peers``: compare our trees with those of other programs, on simulated inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.quality.cli.options import report_tables
from syclade.quality.cli.progress import progress_bar
from syclade.quality.cli.shared_options import PEER, PEER_SECONDS, SHARES, of_inputs

__all__ = ["command"]

FILES = ("peers.json", "peers.md")


@click.command("peers")
@of_inputs
@SHARES
@click.option(
    "--rates",
    type=click.FloatRange(0, 1, max_open=True),
    nargs=3,
    metavar="FP FN MISSING",
    help="Of the inputs.  [default: 0.001, 0.2, 0.1]",
)
@click.option(
    "--simulator",
    type=click.Choice(("model", "reads", "scsim")),
    default="model",
    show_default=True,
    help="Of the inputs: the model; reads of two alleles, from which values are called; or scsim, which "
    "PYTHON runs, and which has rates of its own.",
)
@click.option("--estimate", is_flag=True, help="Also infer without given rates, and check their intervals.")
@click.option(
    "--reads", is_flag=True, help="Also infer from numbers of reads, which the simulator has to make."
)
@click.option("--control", is_flag=True, help="Also sample with equally probable nodes for the cells.")
@click.option(
    "--support",
    type=click.Choice(("quick", "full")),
    default="quick",
    show_default=True,
    help="Level of support.",
)
@click.option(
    "--peers",
    "python",
    type=options.INPUT_FILE,
    metavar="PYTHON",
    help="An interpreter that has scistree2, scphylo-tools or scsim.",
)
@PEER
@click.option(
    "--bootstrap",
    "replicates",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="B",
    help="Also run ScisTree2 on B resampled inputs, for each input.",
)
@click.option(
    "--compass",
    type=options.INPUT_FILE,
    metavar="FILE",
    help="The program COMPASS, which needs inputs with reads; it runs without copy numbers and doublets.",
)
@PEER_SECONDS
@click.option(
    "--answers",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of stored answers, of any program; new answers are added.",
)
@options.take_one_device
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    python: Path | None,
    named: tuple[str, ...],
    replicates: int,
    compass: Path | None,
    peer_seconds: float,
    out: Path,
    force: bool,
    as_json: bool,
    **settings: Any,
) -> int:
    """Compare the consensus and the most likely tree with the trees of other programs.

    The inputs are simulated, and all programs are given their error rates. The table has precision, recall
    and F1 of pairs of an ancestor and a descendant, and of pairs on different lineages; by how much the F1 of
    the consensus is higher on the same inputs; and the calibration error of the shares of ancestor pairs. The
    check holds if the consensus has the highest F1, if that without given rates is 0.01 lower at most, and if
    shares are off by 0.03 at most; with --control and clones of unequal sizes, also if chains for which all
    nodes are equally probable give a lower F1. Writes peers.json, peers.md and inputs/ to DIR; an interrupted
    study continues there.
    """
    from syclade.host.ground.errors import OptionError
    from syclade.host.ground.files import check_output
    from syclade.quality.peers.answers import Programs
    from syclade.quality.peers.api import peers

    if (named or replicates) and python is None:
        raise OptionError("no interpreter to run other programs with", hint="give --peers PYTHON")
    check_output(out, FILES, force)
    programs = Programs(python, named, replicates, compass, peer_seconds)
    with progress_bar() as show:
        result = peers(programs=programs, stored=out / "inputs", progress=show, **settings)
    return report_tables(result, out, FILES, force, as_json)
