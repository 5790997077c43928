"""``syclade infer --tree leaf``: infer cell trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syclade.host.cli.json_output import tell_json
from syclade.host.cli.options import CODING, coding_of
from syclade.host.cli.progress import progress_bar, show_log
from syclade.host.cli.stopping import stopped_by_signals
from syclade.host.common.errors import OptionError, OutputError

if TYPE_CHECKING:
    from syclade.host.leaf.result import LeafResult

__all__ = ["infer_leaf_tree"]


def infer_leaf_tree(
    matrix: Any,
    out: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    verbose: bool,
    move_probs: tuple[float, ...] | None,
    settings: Mapping[str, Any],
) -> int:
    """Infer a cell tree, print it and write its files.

    Args:
        matrix, out, force, quiet, as_json, verbose: as in the command.
        move_probs: weights of the moves; None for the defaults.
        settings: the other options; those that do not apply to cell trees are not given.

    Returns:
        The exit status of the command.

    Raises:
        OptionError: swaps of subtrees have a weight.
    """
    from syclade.host.common.files import check_output
    from syclade.host.leaf.inference import infer_leaf
    from syclade.host.leaf.result import FILES, SAMPLE_FILES
    from syclade.host.output.rescue import keep

    taken = (*CODING, *signature(infer_leaf).parameters)
    own = {name: value for name, value in settings.items() if name in taken}
    log = show_log(quiet, verbose)
    matrix, coding = coding_of(own, matrix, own["names"], own["cell_names"])
    if move_probs is not None:
        own["move_probabilities"] = _two_of(move_probs)
    if out is not None:
        check_output(out, FILES if own["samples"] is None else (*FILES, *SAMPLE_FILES), force)
    with progress_bar(quiet, log) as progress, stopped_by_signals() as stop:
        result = infer_leaf(matrix, progress=progress, stop=stop, force=force, **own)
    if coding:  # needed to repeat the run
        result = replace(result, options={**coding, **result.options})
    if result.interrupted:
        click.echo("syclade: warning: stopped before the end: this is the best tree until then", err=True)
    if result.samples is not None:
        for words in result.samples.warnings:
            click.echo(f"syclade: warning: {words}", err=True)
    elif not result.converged and not result.interrupted:
        click.echo(
            "syclade: warning: the chains do not agree on the best tree: more --chains, or more --steps "
            "where they were given, may find a better one",
            err=True,
        )
    try:
        _deliver(result, out, force, quiet, as_json)
    except OutputError as error:
        kept = keep(result.write)
        if kept is None:
            raise
        raise OutputError(error.message, hint=f"the result is not lost: it is in {kept}") from error
    return stop.status if result.interrupted else 0


def _two_of(weights: tuple[float, ...]) -> tuple[float, float]:
    if weights[2] != 0:
        raise OptionError(
            "cell-leaf trees have no swaps of subtrees",
            hint="give --move-probs P L 0: weights of prune and reattach, and of swaps of leaves",
        )
    return weights[0], weights[1]


def _deliver(result: LeafResult, out: Path | None, force: bool, quiet: bool, as_json: bool) -> None:
    """Write the files and print the result; also print the tree if it is in no file."""
    from syclade.host.devices.work import executed_on
    from syclade.host.leaf.result import FILES

    failure = None
    if out is not None:
        try:
            result.write(out, force=force)
        except OutputError as error:
            failure = error
    if as_json:
        tell_json(result)
        if failure is not None:
            raise failure
        return
    if quiet and failure is None:
        click.echo(repr(result.log_likelihood))
        return
    click.echo(f"log-likelihood {result.log_likelihood:.6f}")
    click.echo(
        f"{result.chains} chains of {result.steps} steps{executed_on(result.work)}: "
        f"{result.seconds:.2f} s, {result.steps_per_second / 1e3:.0f} ksteps/s"
    )
    tied = int((result.placement_ties > 1).sum())
    click.echo(
        f"{len(result.mutations)} mutations on {len(set(result.placement.tolist()))} of "
        f"{len(result.parents)} edges, {tied} of them with more than one equally good edge"
    )
    if result.samples is not None:
        sampled = result.samples
        click.echo(
            f"{sampled.log_likelihoods.size} samples of {len(sampled.log_likelihoods)} chains, worth "
            f"{sampled.ess:.0f} (log-likelihood) and {sampled.tree_ess:.0f} (trees); R-hat {sampled.rhat:.4f}"
        )
    if out is None or failure is not None:
        click.echo(result.to_newick().rstrip("\n"))
    else:
        click.echo(f"wrote {', '.join(str(out / name) for name in FILES)}")
    if failure is not None:
        raise failure
