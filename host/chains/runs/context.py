"""Run context: progress callback, checkpointing, stop request; what a run has found, and what it resumes.

Chains and samples of the run that is resumed are checked against the options of this run. Digests detect
damage, not forgery: a program that writes a checkpoint can compute them. So everything that follows from the
options is compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.runner import Slots
from syclade.host.chains.checkpoints.archive import damaged
from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter, same_file
from syclade.host.chains.convergence import Rule
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import Outcome
from syclade.host.chains.sample_store import Records, SampleStore, store_of
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.device.work import WorkDone
from syclade.host.ground.signals import Stop, Stopped
from syclade.host.ground.values import ParsedJson

if TYPE_CHECKING:
    from syclade.host.chains.backends.stages.launcher import PipelineReport
    from syclade.host.chains.checkpoints.chains import Checkpoint
    from syclade.host.chains.runs.clock import Progress
    from syclade.host.chains.sample_store import SampleStore

__all__ = [
    "CO_OPTIMAL",
    "KIND",
    "RECURRENCE",
    "SUPPORT",
    "TREE",
    "ExpectedSamples",
    "Found",
    "RunContext",
    "Search",
    "ShortChains",
    "open_store",
    "resumed_chains",
]


def _nobody(_: Progress) -> None:
    """Ignore progress."""


@dataclass
class RunContext:
    """Context of a run, handed to all of its stages.

    Attributes:
        report: progress callback, called after every launch.
        checkpoints: writes the checkpoints.
        stop: the stop request.
    """

    report: Callable[[Progress], None] = _nobody
    checkpoints: CheckpointWriter = field(default_factory=lambda: CheckpointWriter(None, 0.0, {}))
    stop: Stop = field(default_factory=Stop)

    def launched(self, progress: Progress) -> None:
        """Report the progress after a launch, and stop if requested.

        Raises:
            Stopped: a stop was requested.
        """
        self.stop.begun = True
        self.report(progress)
        if self.stop.wanted:
            raise Stopped


TREE, SUPPORT, CO_OPTIMAL, RECURRENCE = "tree", "support", "co_optimal", "recurrence"
"""Stages of an inference in which a stop request may come, in their order."""


class Search(NamedTuple):
    """One search.

    Attributes:
        start: how the search started (docs/search.md).
        log_likelihood: log-likelihood of its best tree, natural log, for rounded weights.
    """

    start: str
    log_likelihood: float


class ShortChains(NamedTuple):
    """Statistics of the short chains that searches start from.

    Attributes:
        best_scores: int64, shape (chains,): best score of each chain, in units of 2^-f nat.
        tallies: int64, shape (2 * kinds,): as in `Outcome`, over all chains.
        encoding: name of the encoding of their trees; empty if there were no chains.
    """

    best_scores: NDArray[np.int64]
    tallies: NDArray[np.int64]
    encoding: str


@dataclass(frozen=True, eq=False)
class Found:
    """Findings of a run.

    Attributes:
        outcome: its best state has the best tree of the run; the other fields describe the chains.
        steps: steps that every chain has done.
        encoding: name of the encoding of the chains; empty if there were no chains.
        slots: number of chains or searches that run at once.
        work: work of each executor in this process, in order; the work of a resumed run is not included.
        searches: all searches, by number; empty if only chains ran.
        interrupted: whether the run was stopped before its end.
        trees: best tree of each search: int32 parent vectors, shape (n + 1,).
        pipeline: how full the pipeline of separate stages was (`StagedRunner.report`); None for fused stages.
        samples: the events of the chains; None if they were not stored.
    """

    outcome: Outcome
    steps: int
    encoding: str
    slots: int
    work: tuple[WorkDone, ...]
    searches: tuple[Search, ...] = ()
    interrupted: bool = False
    trees: tuple[NDArray[np.int32], ...] = ()
    pipeline: PipelineReport | None = None
    samples: SampleStore | None = None


KIND = "chains"
"""Kind of the checkpoints of chains."""


def resumed_chains(
    runner: Slots, chains: int, until: int | Rule, checkpoints: CheckpointWriter
) -> tuple[tuple[tuple[ChainState, ChainInfo], ...], dict[str, ParsedJson]]:
    """Return the chains and the values of the run to resume; empty for a new run.

    Args:
        runner: runner of the chains.
        chains: number of chains.
        until: steps of each chain, or a stopping rule.
        checkpoints: writer of the checkpoints of the run.

    Raises:
        CheckpointError: the checkpoint belongs to another run, or is damaged.
    """
    path = checkpoints.resumed
    if path is None:
        return (), {}
    from syclade.host.chains.checkpoints.chains import read_checkpoint

    found = read_checkpoint(path, runner.plan, chains, lambda run: checkpoints.check(path, run, KIND))
    try:
        for chain, (state, info) in enumerate(found.chains):
            _check_chain(runner.plan, until, chain, state, info)
        _check_run(found, runner.seed, until)
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(path, f"in its values: {error}") from None
    return found.chains, dict(found.run)


def open_store(
    plan: Plan, chains: int, checkpoints: CheckpointWriter, stored: Mapping[str, ParsedJson], step: int
) -> SampleStore:
    """Open the store of samples, beside the checkpoint if one is written, with those of a resumed run.

    Args:
        plan: plan of the chains.
        chains: number of chains.
        checkpoints: writer of the checkpoints of the run.
        stored: values of the run to resume.
        step: steps that every chain has done.

    Raises:
        CheckpointError: the samples of the resumed run are missing, damaged or of another run.
        OutputError: the file exists already, or cannot be written.
    """
    nodes = plan.labels + 1
    place = None if checkpoints.path is None else store_of(checkpoints.path)
    if checkpoints.resumed is None:
        return SampleStore(nodes, place, force=checkpoints.may_write)
    earlier = store_of(checkpoints.resumed)
    to_extend = place is not None and same_file(place, earlier)
    store = _resumed_store(plan, chains, earlier, stored, step, to_extend)
    if to_extend:
        return store
    own = SampleStore(nodes, place, force=checkpoints.may_write)
    store.copy_to(own)
    store.close()
    return own


def _resumed_store(
    plan: Plan, chains: int, path: Path, stored: Mapping[str, ParsedJson], step: int, to_extend: bool
) -> SampleStore:
    length, digest = stored.get("events"), str(stored.get("events_digest", ""))
    if type(length) is not int or length < 0:
        raise damaged(path, f"in its values: its samples have the length {length!r}")
    expected = ExpectedSamples(plan, chains, step)
    store = SampleStore.resumed(
        plan.labels + 1, path, length, digest, to_extend=to_extend, check=expected.take
    )
    try:
        expected.end()
    except ValueError as error:
        raise damaged(path, f"in its values: {error}") from None
    return store


def _check_chain(plan: Plan, until: int | Rule, chain: int, state: ChainState, info: ChainInfo) -> None:
    """Check all values of a chain that follow from the plan, the rule and its number of steps.

    Raises:
        ValueError: one is different.
    """
    set_gamma = None if isinstance(until, int) else until.gamma_of(state.step)
    proposed, accepted = info.tallies.reshape(2, -1)
    for name, value, wanted in (
        ("number", state.chain, chain),
        ("settings", dict(state.settings), plan.settings),
        ("gamma", state.gamma, plan.gamma if set_gamma is None else set_gamma),
        ("rates", replace(state.rates, log_shares=()), plan.problem.rates_at(state.rate_at)),
        ("number of counted steps", int(proposed.sum()), state.step),
    ):
        if value != wanted:
            raise ValueError(f"the {name} of chain {chain}: {value} instead of {wanted}")
    if (accepted < 0).any() or (accepted > proposed).any():
        raise ValueError(f"chain {chain} has accepted other steps than it has proposed")
    if state.score > state.best_score:
        raise ValueError(f"the best score of chain {chain} is below that of its tree")


def _check_run(found: Checkpoint, seed: int, until: int | Rule) -> None:
    """Check the values that belong to all chains.

    Raises:
        ValueError, KeyError, TypeError: they are not those of a run between two rounds.
    """
    steps = {state.step for state, _ in found.chains}
    step = min(steps)
    most, between = (
        (until, True) if isinstance(until, int) else (until.most_steps, until.is_between_rounds(step))
    )
    if len(steps) != 1 or not 0 <= step <= most or not between:
        raise ValueError(f"its chains have done {', '.join(map(str, sorted(steps)))} steps")
    if found.seed != seed:
        raise ValueError(f"its seed is {found.seed} instead of {seed}")
    best = max(state.best_score for state, _ in found.chains) if step else None
    if found.run["best"] != best or not 0 <= found.run["best_since"] <= step:
        raise ValueError("its best score, or the step where it was found, is not that of its chains")


class ExpectedSamples:
    """Samples that chains of a plan have emitted when they are at a step.

    Args:
        plan: plan of the chains, with a recorder of every k-th state.
        chains: number of chains.
        step: steps that every chain has done.
    """

    def __init__(self, plan: Plan, chains: int, step: int) -> None:
        self._every, self._first = plan.settings["every"], plan.settings["first_sample"]
        self._samples_per_chain = max(0, (step - self._first) // self._every + 1)
        self._points = np.array(plan.problem.rate_tables.model.points)
        self._are_trees = plan.space.are_trees
        self._seen = [0] * chains

    def take(self, chain: int, records: Records) -> None:
        """Check the next samples of a chain.

        Raises:
            ValueError: they are not those of this chain.
        """
        if not 0 <= chain < len(self._seen):
            raise ValueError(f"the run has no chain {chain}")
        numbers = self._seen[chain] + np.arange(len(records))
        self._seen[chain] += len(records)
        if self._seen[chain] > self._samples_per_chain:
            raise ValueError(f"chain {chain} has more than {self._samples_per_chain} samples")
        if not np.array_equal(records["step"], self._first + self._every * numbers):
            raise ValueError(f"samples of chain {chain} are at other steps")
        if ((records["rate_at"] < 0) | (records["rate_at"] >= self._points)).any():
            raise ValueError("the rates of a sample are not on their grids")
        if not self._are_trees(records["parents"]):
            raise ValueError("a stored sample is not a tree")

    def end(self) -> None:
        """Check that there are no more samples to come.

        Raises:
            ValueError: a chain has too few.
        """
        for chain, seen in enumerate(self._seen):
            if seen != self._samples_per_chain:
                raise ValueError(f"chain {chain} has {seen} samples of {self._samples_per_chain}")
