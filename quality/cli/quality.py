"""``syclade quality``: checks that anyone can repeat, one module per check."""

from __future__ import annotations

import click

from syclade.host.commands.main import LazyGroup

__all__ = ["command"]

_CHECKS = {
    "all": ("syclade.quality.cli.all_checks", "Run all checks that need no SCITE, and print one table."),
    "tost": ("syclade.quality.cli.tost", "Compare optima with SCITE's: two one-sided t-tests."),
    "reference": ("syclade.quality.cli.reference", "Make a reference folder with your own SCITE."),
    "posterior": ("syclade.quality.cli.posterior", "Compare visit frequencies with the exact posterior."),
    "calibration": ("syclade.quality.cli.calibration", "Compare probabilities from samples with truths."),
    "calls": ("syclade.quality.cli.calls", "Compare called variants with LoFreq's, over its options."),
    "models": ("syclade.quality.cli.models", "Compare models, with and without doublets, on your matrices."),
    "peers": ("syclade.quality.cli.peers", "Compare trees and probabilities with those of other programs."),
    "race": ("syclade.quality.cli.race", "Search, chains and others for the most likely tree."),
    "restarts": ("syclade.quality.cli.restarts", "Find out how many chains an input needs."),
}


@click.group("quality", cls=LazyGroup, modules=_CHECKS)
def command() -> None:
    """Check the quality of the results.

    Exit status of a check: 0 if it holds, 1 if it does not, 2 if it could not be run. The studies behind
    figures of the documentation run from a clone: python -m syclade.quality.studies.
    """
