"""``syclade quality``: checks that anyone can repeat, one module per check."""

from __future__ import annotations

import importlib

import click

__all__ = ["command"]

# A check's module is imported only when it is used, so that --help is fast.
_CHECKS = {
    "all": ("syclade.quality.cli.all_checks", "Run all checks that need no SCITE, and print one table."),
    "tost": ("syclade.quality.cli.tost", "Compare optima with SCITE's: two one-sided t-tests."),
    "reference": ("syclade.quality.cli.reference", "Make a reference folder with your own SCITE."),
    "posterior": ("syclade.quality.cli.posterior", "Compare visit frequencies with the exact posterior."),
    "arithmetic": (
        "syclade.quality.cli.arithmetic",
        "Measure exponentials, logarithms and steps with doublets.",
    ),
    "calls": ("syclade.quality.cli.calls", "Compare called variants with LoFreq's, over its options."),
    "calibration": ("syclade.quality.cli.calibration", "Compare probabilities from samples with truths."),
    "doublets": ("syclade.quality.cli.doublets", "Measure what the model of doublets brings."),
    "models": (
        "syclade.quality.cli.models",
        "Compare models, with and without doublets, on real matrices.",
    ),
    "branches": (
        "syclade.quality.cli.branches",
        "Compare clones of the consensus with branches of several mutations.",
    ),
    "consensus": (
        "syclade.quality.cli.consensus",
        "Compare consensus trees of samples with the truth.",
    ),
    "mixing": ("syclade.quality.cli.mixing", "Measure how well the chains for support mix."),
    "peers": (
        "syclade.quality.cli.peers",
        "Compare trees and probabilities with those of other programs.",
    ),
    "race": ("syclade.quality.cli.race", "Search, chains and others for the most likely tree."),
    "rates": ("syclade.quality.cli.rates", "Compare intervals of estimated error rates with truths."),
    "recurrence": (
        "syclade.quality.cli.recurrence",
        "Compare tests of recurrence with the truth.",
    ),
    "scaling": ("syclade.quality.cli.scaling", "Measure chains with doublets on several cores."),
    "step-cost": ("syclade.quality.cli.step_cost", "Measure a step over numbers of cells and of mutations."),
    "restarts": ("syclade.quality.cli.restarts", "Find out how many chains an input needs."),
}


class _LazyChecks(click.Group):
    """Command group that knows the names and summaries of its checks without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_CHECKS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _CHECKS:
            return None
        check = importlib.import_module(_CHECKS[cmd_name][0]).command
        assert isinstance(check, click.Command)
        return check

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _CHECKS.items()])


@click.group("quality", cls=_LazyChecks)
def command() -> None:
    """Check the quality of the results.

    Exit status of a check: 0 if it holds, 1 if it does not, 2 if it could not be run.
    """
