"""Delivery of a result: its files, its text or JSON on standard output, its rescue if either fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from syclade.host.answer.output.result_files import Rescued, files_of, rescued
from syclade.host.ground.errors import OutputError

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result
    from syclade.host.chains.backends.stages.launcher import PipelineReport
    from syclade.host.ground.output_folder import OutputFolder

__all__ = ["deliver", "doubt_of", "tell", "tell_json"]


def deliver(
    result: Result, folder: OutputFolder | None, also: Mapping[str, bool], *, quiet: bool, as_json: bool
) -> None:
    """Write the files and print the result, with the tree if it is in no file.

    Args:
        result: the result.
        folder: folder for the files; None for no files.
        also: files wanted besides: report, netcdf, multiqc.
        quiet: whether to print the log-likelihood only, unless the tree would be lost.
        as_json: whether to print JSON.

    Raises:
        OutputError: files or standard output cannot be written. The result is then in another folder, if one
            can be written to, and the hint names the folder.
    """

    def write(place: Path) -> None:
        result.write(place, **also)

    failure = None
    if folder is not None:
        try:
            folder.write(files_of(result, folder.path.name, **also))
        except OutputError as error:
            failure = rescued(error, write)
        except Exception as error:  # such as one of a library that draws the report
            reason = OutputError(f"a file of the result cannot be made: {type(error).__name__}: {error}")
            failure = rescued(reason, result.write)
    try:
        if as_json:
            tell_json(result)
        else:
            quiet = quiet and (failure is None or isinstance(failure, Rescued))
            tell(result, folder, quiet=quiet)
    except OutputError as error:
        if folder is not None and folder.written:
            raise OutputError(
                error.message, hint=f"the result is not lost: it is in {folder.path}"
            ) from error
        raise (failure or rescued(error, write)) from error
    if failure is not None:
        raise failure


def tell_json(result: Result) -> None:
    """Print one JSON object: the contents of summary.json and run.json, and the tree in Newick format."""
    values = {"summary": result.summary(), "run": result.run(), "newick": result.to_newick()}
    click.echo(json.dumps(values, indent=2))


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
    for finding in result.findings:
        for line in finding.lines:
            click.echo(line)
    if folder is None or not folder.written:
        newick = result.to_newick().rstrip("\n")
        click.echo(newick)
        if not shows(newick):
            click.echo("syclade: warning: names have signs that standard output lacks: use --out", err=True)
    else:
        names, more = ", ".join(folder.written[:MOST_NAMES]), len(folder.written) - MOST_NAMES
        click.echo(f"wrote {names}{f' and {more} more' if more > 0 else ''} to {folder.path}")


def _pipeline(report: PipelineReport) -> str:
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
