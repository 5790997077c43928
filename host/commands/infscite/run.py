"""Run ∞SCITE's chains from its arguments, and return its output lines."""

from __future__ import annotations

from collections.abc import Callable

from syclade.host.chains.runs.pipeline import Progress
from syclade.host.chains.runs.task import Stop
from syclade.host.commands.infscite.arguments import InfsciteCall
from syclade.host.commands.infscite.dialect import dialect_of
from syclade.host.commands.scite.run import SciteOutcome, run_scite
from syclade.host.data.model.problem import Problem

__all__ = ["lines_of", "run_infscite"]


def run_infscite(
    call: InfsciteCall, report: Callable[[Progress, Problem], None], stop: Stop | None = None
) -> SciteOutcome:
    """Run ∞SCITE's command.

    Args:
        call: ∞SCITE's arguments.
        report, stop: as for `run_scite`.

    Raises:
        SycladeError: an argument or a file cannot be used; the error says what to do.
    """
    return run_scite(call, report, stop, dialect_of(call))


def lines_of(call: InfsciteCall, outcome: SciteOutcome) -> list[str]:
    """Return the lines of ∞SCITE's standard output, with its number of digits."""
    told = [f"best log score for tree:\t{outcome.log_likelihood:.17g}"]
    told.append(f"total #steps after burn-in:\t{outcome.steps_after_burn_in}")
    rates = {"fp_rate": call.fp_rate, "relevant": 0.0, "doublets": 0.0, **outcome.rates}
    if call.learn > 0.0:
        told.append(f"best value for beta:\t{rates['fn_rate']:.17g}")
        told.append(f"best value for alpha:\t{rates['fp_rate']:.17g}")
    if call.learn > 0.0 or call.doublets:
        told.append(f"best relevant doublet rate:\t{rates['relevant']:.17g}")
        told.append(f"best doublet rate:\t{rates['doublets']:.17g}")
    if call.learn > 0.0:
        told.append(f"best log score for (T, theta):\t{outcome.with_prior:.17g}")
    if call.samples is not None:
        told.append(f"samples from posterior written to: {call.prefix}.samples")
    if outcome.distance is not None:
        told.append(f"distance to true tree:\t{outcome.distance}")
    kind = "map" if call.sum_score else "ml"
    told.append(f"optimal trees written to files:    {call.prefix}_{kind}<INT>.gv")
    told.append(f"{len(outcome.trees)} opt trees ")
    told.append(f"Time elapsed: {outcome.milliseconds:.17g} ms")
    return told
