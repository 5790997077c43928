"""Text output of ``syclade infer``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.ground.output_folder import OutputFolder

__all__ = ["doubt_of", "estimated_lines", "tell"]


MOST_NAMES = 12
"""Maximum number of file names in the output."""


def tell(result: Result, folder: OutputFolder | None, *, quiet: bool) -> None:
    """Print the result, and the names of its files, or else the tree.

    Args:
        result: the result.
        folder: the folder of its files; None for no files.
        quiet: whether to print the log-likelihood only.
    """
    from syclade.host.commands.streams import shows

    if quiet:
        click.echo(repr(result.log_likelihood))
        return
    click.echo(f"log-likelihood {result.log_likelihood:.6f}")
    click.echo(f"{result.ran}: {result.seconds:.2f} s, {_pace(result)}")
    if result.pipeline is not None:
        click.echo(_pipeline(result.pipeline))
    item, place = result.kind.item, result.kind.place
    tied = int((result.assignment.ties > 1).sum())
    click.echo(
        f"{len(result.assignment.node)} {item}s at {len(set(result.assignment.node.tolist()))} of "
        f"{len(result.parents)} {place}s, {tied} of them with more than one equally good {place}"
    )
    for line in estimated_lines(result):
        click.echo(line)
    if result.learned is not None:
        click.echo(_rates(result.learned))
    if (calls := result.assignment.doublets) is not None:
        likely = int((calls.probability > 0.5).sum())
        click.echo(f"{calls.expected:.1f} doublets expected, {likely} cells more likely one than not")
    if (recurrence := result.assignment.recurrence) is not None:
        click.echo(recurrence.words)
    if result.recurrences is not None:
        click.echo(result.recurrences.words)
    if result.samples is not None:
        sampled = result.samples
        click.echo(
            f"{sampled.log_likelihoods.size} samples of {len(sampled.log_likelihoods)} chains, worth "
            f"{sampled.ess:.0f} (log-likelihood) and {sampled.tree_ess:.0f} (trees); R-hat {sampled.rhat:.4f}"
        )
    if result.consensus is not None:
        for line in result.consensus.words:
            click.echo(line)
    if result.support is not None:
        click.echo(f"{result.support.words} ({result.support.seconds:.2f} s)")
        if result.support.dropout is not None:
            click.echo(result.support.dropout.words)
    if result.co_optimal is not None:
        click.echo(f"{result.co_optimal.counted} trees have this log-likelihood")
    if result.true_tree is not None:
        from syclade.host.commands.compare import lines_of

        for line in lines_of(result.true_tree):
            click.echo(line)
    if folder is None or not folder.written:
        newick = result.to_newick().rstrip("\n")
        click.echo(newick)
        if not shows(newick):
            click.echo("syclade: warning: names have signs that standard output lacks: use --out", err=True)
    else:
        names, more = ", ".join(folder.written[:MOST_NAMES]), len(folder.written) - MOST_NAMES
        click.echo(f"wrote {names}{f' and {more} more' if more > 0 else ''} to {folder.path}")


def _rates(learned: Mapping[str, Any]) -> str:
    """Return the learned rates of the best tree as text."""
    values = {name: told["value"] for name, told in learned.items() if name != "log_prior"}
    return ", ".join(f"{name} {value:.6g}" for name, value in values.items()) + " (learned)"


def _pipeline(report: Mapping[str, Any]) -> str:
    """Return the utilisation of the pipeline of separate stages as text."""
    line = (
        f"{len(report['stages'])} separate stages, {report['slots']} chain states: stages had a state in "
        f"{report['fill_by_tick']:.1%} of {report['ticks']} ticks"
    )
    if report["fill_by_time"] is None:
        return line
    clock, steps = report["clock"], report["timed_steps"]
    return f"{line}, and worked {report['fill_by_time']:.1%} of the time ({clock} clock, first {steps} steps)"


def _pace(result: Result) -> str:
    if result.searches:
        return f"the best tree by {result.agreeing} of them"
    return f"{result.steps_per_second / 1e3:.0f} ksteps/s"


def estimated_lines(result: Result) -> list[str]:
    """Return the estimated rates: over all samples where trees were sampled; else those that fit the tree.

    The latter fit one tree, which was fitted to the same errors, so they can be too low: they are then named
    as those of the search.
    """
    names = result.estimated_rates
    if not names:
        return []
    doublets = result.assignment.doublets
    values = {**result.rates.to_dict(), **({} if doublets is None else {"doublets": doublets.rate})}
    rates = [flag_of(name, f"{values[name]:g}") for name in names]
    if (found := None if result.support is None else result.support.rates) is None:
        return [f"error rates estimated from the matrix: {', '.join(rates)}"]
    over = (f"{flag_of(name)} {found.intervals[name].words}" for name in names)
    lines = [f"error rates estimated from the matrix: {', '.join(over)}"]
    if found.sampled_under != result.rates:
        under = (flag_of(name, f"{getattr(found.sampled_under, name):g}") for name in names)
        lines.append(
            f"the best tree was searched with {' and '.join(rates)}; support and consensus are of "
            f"{' and '.join(under)}"
        )
    return lines


def doubt_of(result: Result) -> str:
    """Return the warning for a result that has not converged: the reason, and what to do."""
    if result.searches:
        best = max(search.log_likelihood for search in result.searches)
        others = sorted({one.start for one in result.searches if one.log_likelihood < best})
        return (
            "warning: the searches do not agree on the best tree (those that began "
            f"{', '.join(others)} ended below it): another --seed may find a better one"
        )
    if result.chains == 1:
        return "warning: one chain cannot show that its tree is the best: compare several (--chains)"
    if result.options["method"] == "anneal":
        return (
            "warning: the chains do not agree on the best tree within the steps that this size is given: "
            "another --seed, or more --chains, may find a better one"
        )
    return (
        "warning: the chains do not agree on the best tree: more --chains, or more --steps where they were "
        "given, may find a better one"
    )
