"""The warning of a result whose searches, or chains, do not agree on the best tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syclade.host.chains.runs.context import TREE
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["doubt_of"]


def doubt_of(result: Result) -> str | None:
    """Return why the best tree may not have been found, and what to do; None if nothing speaks for that.

    Samples have diagnostics of their own, and a run that was stopped in its search says so.
    """
    if result.converged or result.samples is not None or result.stopped_in == TREE:
        return None
    if result.searches:
        best = max(search.log_likelihood for search in result.searches)
        others = sorted({one.start for one in result.searches if one.log_likelihood < best})
        return (
            "the searches do not agree on the best tree (those that began "
            f"{', '.join(others)} ended below it): another {flag_of('seed')} may find a better one"
        )
    if result.chains == 1:
        return f"one chain cannot show that its tree is the best: compare several ({flag_of('chains')})"
    if result.options["method"] == "anneal":
        return (
            "the chains do not agree on the best tree within the steps that this size is given: "
            f"another {flag_of('seed')}, or more {flag_of('chains')}, may find a better one"
        )
    return (
        f"the chains do not agree on the best tree: more {flag_of('chains')}, or more {flag_of('steps')} "
        "where they were given, may find a better one"
    )
