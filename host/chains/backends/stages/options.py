"""Options of separate stages, and the plans that they can run."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from syclade.host.ground.errors import OptionError, OutputError
from syclade.host.ground.files import check_file, write_file
from syclade.host.ground.options import checked, flag_of

if TYPE_CHECKING:
    from syclade.host.chains.backends.stages.runner import StagedRunner
    from syclade.host.chains.plan import Plan

__all__ = ["Separate", "check_plan", "separate_stages"]

logger = logging.getLogger("syclade.stages")

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
            write_file(self.trace, runner.trace(), self.force)
        except OutputError as error:
            logger.warning("no trace: %s", error.message)


def separate_stages(trace: str | os.PathLike[str] | None, force: bool) -> Separate:
    """Return the options of separate stages.

    Args:
        trace, force: as for `infer`.

    Raises:
        OutputError: the trace cannot be written to that path.
    """
    path = checked("trace", trace)
    if path is not None:
        check_file(path, force)
    return Separate(path, force)


def check_plan(plan: Plan) -> None:
    """Check that the stage kernels support the chain: its moves, its score, fixed rates, no recorders.

    Raises:
        OptionError: they do not.
    """
    hint = f"use {flag_of('stages', 'fused')}"
    unknown = [move.name for move in plan.moves if move.device not in _MOVES]
    if unknown:
        raise OptionError(f"separate stages do not know the move {unknown[0]}", hint=hint)
    if plan.recorders or plan.score.device != BEST_ATTACHMENT:
        raise OptionError(
            "separate stages run chains of the maximum score with fixed rates, without samples", hint=hint
        )


BEST_ATTACHMENT = "syclade.kernels.scores.best_attachment:SCORE"
"""The only score that the reduction supports."""
