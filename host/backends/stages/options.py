"""Checks of the options `--stages` and `--trace`, and of what separate stages can run."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.common.errors import OptionError, OutputError
from syclade.host.common.files import check_output, write_files
from syclade.host.common.values import path_of

if TYPE_CHECKING:
    from syclade.host.backends.stages.runner import StagedRunner
    from syclade.host.chains.plan import Plan

__all__ = ["STAGES", "Separate", "check_plan", "separate_stages"]

logger = logging.getLogger("syclade.stages")

STAGES = ("fused", "separate")
"""How the stages of a chain step run: in one kernel, or each as a separate kernel."""

_MOVES = {
    f"syclade.kernels.moves.{name}:MOVE" for name in ("prune_and_reattach", "swap_labels", "swap_subtrees")
}


@dataclass(frozen=True)
class Separate:
    """Options of separate stages.

    Attributes:
        trace: file for the timeline of the first steps; None if it is not wanted.
        force: whether an existing file may be replaced.
    """

    trace: Path | None = None
    force: bool = False

    def write_trace(self, runner: StagedRunner) -> None:
        """Write the timeline if it is wanted. If that fails, only warn, to keep the result of the run."""
        if self.trace is None:
            return
        try:
            write_files(self.trace.parent, {self.trace.name: runner.trace()}, self.force)
        except OutputError as error:
            logger.warning("no trace: %s", error.message)


def separate_stages(
    stages: str, trace: str | os.PathLike[str] | None, force: bool, other: Mapping[str, Any]
) -> Separate | None:
    """Check the options, and return those of separate stages; None for fused stages.

    Args:
        stages: as for `infer`.
        trace: as for `infer`.
        force: as for `infer`.
        other: arguments of `infer` that separate stages may not support, by name.

    Raises:
        OptionError: an option has an unknown value, or cannot be combined with the others.
        OutputError: the trace cannot be written to that path.
    """
    if stages not in STAGES:
        raise OptionError(f"--stages is {stages!r}", hint=f"use {' or '.join(STAGES)}")
    if stages == "fused":
        if trace is not None:
            raise OptionError("--trace is for --stages separate", hint="add --stages separate")
        return None
    refused = {
        "--encoding " + str(other["encoding"]): other["encoding"] not in ("auto", "ancestor"),
        "--image": other["image"] is not None,
        "--samples": other["samples"] is not None,
        "--score sum": other["score"] == "sum",
        "--learn-fn": other["learn_fn"] is not None,
        "--learn-fp": other["learn_fp"] is not None,
    }
    for option, is_given in refused.items():
        if is_given:
            raise OptionError(
                f"--stages separate does not run with {option}",
                hint=f"leave out {option}, or use --stages fused",
            )
    if trace is None:
        return Separate()
    path = path_of("the trace (--trace)", trace)
    check_output(path.parent, [path.name], force)
    return Separate(path, force)


def check_plan(plan: Plan) -> None:
    """Check that the stage kernels support the chain: its moves, its score, fixed rates, no recorders.

    Raises:
        OptionError: they do not.
    """
    unknown = [move.name for move in plan.moves if move.device not in _MOVES]
    if unknown:
        raise OptionError(f"--stages separate does not know the move {unknown[0]}", hint="use --stages fused")
    if plan.recorders or plan.problem.learns or plan.score.device != BEST_ATTACHMENT:
        raise OptionError(
            "--stages separate runs chains of the maximum score with fixed rates, without samples",
            hint="use --stages fused",
        )


BEST_ATTACHMENT = "syclade.kernels.scores.best_attachment:SCORE"
"""The only score that the reduction supports."""
