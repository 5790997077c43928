"""Sinks of samples of cell trees, and the results from them."""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.chains.events import Sink
from syclade.host.leaf.features import CladeFeatures
from syclade.host.leaf.lines import LeafLines
from syclade.host.leaf.sampled import LeafSampled, judge_leaf
from syclade.host.model.leaf_problem import LeafProblem
from syclade.host.samples.sampling import Sampling

__all__ = ["judge_sinks", "leaf_sinks"]

_OF_SAMPLES = 1
"""Bit of the only recorder."""


def leaf_sinks(problem: LeafProblem, cells: Sequence[str]) -> tuple[Sink, ...]:
    """Return the sinks that take samples.

    Args:
        problem: problem of the chains.
        cells: the m names.
    """
    return LeafLines(_OF_SAMPLES, problem.to_nats, cells), CladeFeatures(_OF_SAMPLES)


def judge_sinks(sinks: Sequence[Sink], sampling: Sampling, problem: LeafProblem) -> LeafSampled:
    """Return the samples with their diagnostics from the sinks, once the chains are done."""
    lines, features = sinks
    assert isinstance(lines, LeafLines)
    assert isinstance(features, CladeFeatures)
    return judge_leaf(features, lines, sampling.every, sampling.burn_in, problem.to_nats)
