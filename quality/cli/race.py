"""``syclade quality race``: compare our search with chains and with third-party programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from syclade.host.commands import options
from syclade.quality.cli.options import inputs_option
from syclade.quality.cli.progress import progress_bar
from syclade.quality.cli.shared_options import PEER, PEER_SECONDS
from syclade.quality.extras import require_extras

if TYPE_CHECKING:
    from syclade.quality.race.answers import Contestant
    from syclade.quality.race.report import Round

__all__ = ["command"]

FILES = ("race.json", "race.png")


@click.command("race")
@options.take_one_device
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="CELLSxMUTATIONS",
    help="Of a simulated input; may be given more than once. Without, the eight inputs of docs/search.md.",
)
@click.option(
    "--rates",
    type=click.FloatRange(0, 1, max_open=True),
    nargs=3,
    default=(1e-3, 0.2, 0.1),
    show_default=True,
    metavar="FP FN MISSING",
    help="Of the inputs of --size.",
)
@inputs_option("Inputs of each size, by seed.", default=1)
@options.take("seed")
@click.option(
    "--chains", type=click.IntRange(min=0), default=16, show_default=True, help="Chains; 0 for none."
)
@click.option(
    "--steps", type=click.IntRange(min=1), default=2_000_000, show_default=True, help="Steps of each chain."
)
@click.option(
    "--peers",
    type=options.INPUT_FILE,
    metavar="PYTHON",
    help="An interpreter that has scistree2 and scphylo-tools: ScisTree2 and HUNTRESS run, too.",
)
@PEER
@PEER_SECONDS
@click.option("--plot", is_flag=True, help="Write race.png, curves of the best tree against time, too.")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    device: str,
    sizes: tuple[str, ...],
    rates: tuple[float, float, float],
    inputs: int,
    seed: int,
    chains: int,
    steps: int,
    peers: Path | None,
    named: tuple[str, ...],
    peer_seconds: float,
    plot: bool,
    out: Path,
    force: bool,
    as_json: bool,
) -> int:
    """Find the most likely trees of simulated inputs with search, chains and third-party programs.

    Scores all trees in the same way and compares them with the true tree: precision and recall of its
    ancestor-descendant pairs, and of its pairs in different lineages. Times are processor times of all
    threads. Writes race.json to DIR.
    """
    from syclade.host.device.choice import choose_device
    from syclade.host.ground.files import check_output
    from syclade.quality.bench.measure import versions
    from syclade.quality.race.answers import judge
    from syclade.quality.race.inputs import SUITE, input_of
    from syclade.quality.race.report import round_of, table_of, unbeaten

    if plot:
        require_extras("matplotlib")
    check_output(out, FILES if plot else FILES[:1], force)
    chosen = choose_device(device)
    given = [input_of(size, rates, at) for size in sizes for at in range(seed, seed + inputs)] or list(SUITE)
    contestants = _contestants(chosen.filter, seed, chains, steps, peers, named, peer_seconds)
    rounds = []
    with progress_bar() as show:
        for number, one in enumerate(given):
            simulation = one.simulated()
            answers = []
            for name, contestant in contestants.items():
                show(f"{one.name}, seed {one.seed}: {name}", number, len(given))
                answers.append(judge(name, contestant, one, simulation))
            rounds.append(round_of(one, simulation, answers))
    settings = {"device": chosen.filter, "seed": seed, "chains": chains, "steps": steps}
    text = _write(rounds, {**settings, "versions": versions()}, plot, out, force)
    for line in [text] if as_json else table_of(rounds):
        click.echo(line)
    return 0 if unbeaten(rounds, "search") == len(rounds) else 1


def _contestants(
    device: str,
    seed: int,
    chains: int,
    steps: int,
    peers: Path | None,
    named: tuple[str, ...],
    peer_seconds: float,
) -> dict[str, Contestant]:
    """Return all contestants by name, ours first."""
    from syclade.quality.race import ours
    from syclade.quality.race.peers import PEERS, peer

    found = {"search": ours.search(device, seed)}
    if chains:
        found["chains"] = ours.chains(device, seed, chains, steps)
    if peers is not None:
        found |= {name: peer(name, peers, peer_seconds) for name in named or PEERS}
    return found


def _write(rounds: list[Round], settings: dict[str, object], plot: bool, out: Path, force: bool) -> str:
    """Write the files and return the text of the report."""
    from syclade.host.ground.files import write_files
    from syclade.quality.race.report import plot_rounds, report_of

    text = json.dumps(report_of(rounds, settings), indent=2)
    write_files(out, {FILES[0]: text + "\n"}, force)
    if plot:
        plot_rounds(rounds, out / FILES[1])
    return text
