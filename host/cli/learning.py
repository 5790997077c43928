"""Options of ``syclade infer`` for learning error rates in the chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from syclade.host.cli.options import Probability

__all__ = ["LEARNING", "learning_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

LEARNING = ("learn_fn", "fn_sd", "fn_step", "learn_fp", "fp_sd", "fp_step")
"""The options, by parameter name."""

_OPTIONS = (
    click.option(
        "--learn-fn",
        type=Probability(inside=True),
        metavar="P",
        help="Learn the rate of false negatives: a step changes it, and not the tree, with probability P, "
        "such as 0.2 (with --steps). --fn-rate is then the mean of a Beta prior.",
    ),
    click.option(
        "--fn-sd", type=float, metavar="SD", help="The prior's standard deviation; 0.1 without (SCITE's -sd)."
    ),
    click.option(
        "--fn-step", type=float, metavar="SD", help="Standard deviation of a change; a tenth of the prior's."
    ),
    click.option(
        "--learn-fp",
        type=Probability(inside=True),
        metavar="P",
        help="The same for the rate of false positives.",
    ),
    click.option(
        "--fp-sd", type=float, metavar="SD", help="Its prior's standard deviation; --fp-rate itself without."
    ),
    click.option(
        "--fp-step", type=float, metavar="SD", help="Standard deviation of a change; a tenth of the prior's."
    ),
)


def learning_options(command: Command) -> Command:
    """Add all options for learned rates to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
