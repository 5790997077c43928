"""``syclade quality restarts``: find out how many chains an input needs."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from syclade.host.commands import options
from syclade.quality.cli.progress import progress_bar
from syclade.quality.extras import require_extras

if TYPE_CHECKING:
    from syclade.quality.bench.restarts import Row, Trial

__all__ = ["command"]


@click.command("restarts")
@click.argument("matrix", type=options.MATRIX, metavar="MATRIX")
@options.take_rates("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate", "merge_homozygous")
@click.option(
    "--chains",
    "chain_counts",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1, 2, 4, 8, 16),
    show_default=True,
    metavar="C",
    help="Number of chains; may be given more than once.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="R",
    help="Runs with each number of chains, each with a seed of its own.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="L",
    help="Steps of each chain. Without it a run stops as 'syclade infer' does.",
)
@options.take_one_device
@options.take("encoding", "seed", "json")
def command(
    matrix: Any,
    chain_counts: tuple[int, ...],
    repeats: int,
    as_json: bool,
    **settings: Any,
) -> int:
    """Find out how many chains an input needs.

    Repeats the inference with each number of chains, and counts how often it finds the best tree of all runs.
    MATRIX is a file in SCITE's format, or - for standard input.
    """
    from syclade.host.data.input.read_matrix import read_matrix
    from syclade.quality.bench.restarts import rows_of, run_trials

    require_extras()
    observed = read_matrix(matrix)
    counts = sorted(set(chain_counts))
    finished, total = itertools.count(1), len(counts) * repeats
    with progress_bar() as show:
        show("first run", 0, total)
        trials = run_trials(
            observed,
            chain_counts=counts,
            repeats=repeats,
            done=lambda trial: show(f"{trial.chains} chains", next(finished), total),
            **settings,
        )
    rows = rows_of(trials)
    if as_json:
        _print_json(trials, rows, settings)
    else:
        _print_table(trials, rows)
    return 0


def _print_json(trials: list[Trial], rows: list[Row], settings: dict[str, Any]) -> None:
    report = {
        "settings": settings,
        "rows": [asdict(row) for row in rows],
        "trials": [asdict(trial) for trial in trials],
    }
    click.echo(json.dumps(report, indent=2))


def _print_table(trials: list[Trial], rows: list[Row]) -> None:
    best = max(trial.log_likelihood for trial in trials)
    executors = dict.fromkeys(name for trial in trials for name in trial.executors)
    click.echo(f"best log-likelihood of all runs: {best:.4f}; steps by {', '.join(executors)}")
    click.echo("chains  found the best   95 % interval  agreed on less  worst by  steps a chain  seconds")
    for row in rows:
        click.echo(
            f"{row.chains:6}  {row.found:7} of {row.trials:3}   {row.low:4.0%} to {row.high:4.0%}"
            f"  {row.agreed_on_less:14}  {row.worst:8.3f}  {row.steps:13,.0f}  {row.seconds:7.2f}"
        )
