"""Run SCITE's chains from its arguments, write SCITE's files; output lines of SCITE and ∞SCITE."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.clock import Progress
from syclade.host.chains.runs.context import RunContext
from syclade.host.chains.runs.run import run_plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.state import EQUAL_BEST, NEW_BEST, Event, Recorder, every
from syclade.host.commands.scite.arguments import SciteCall
from syclade.host.commands.scite.dialect import (
    Best,
    Dialect,
    best_nodes,
    matrix_of,
    newick_text,
    refuse_what_is_missing,
    scite_folder,
    scites_dialect,
)
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import Problem, problem_at
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.recurrence import with_copy
from syclade.host.data.trees.tree import tree_key
from syclade.host.data.trees.treefile import read_tree
from syclade.host.device.work import WorkDone
from syclade.host.findings.kinds import PlanOptions, TreeKind
from syclade.host.findings.kinds.cell_trees import CELL
from syclade.host.findings.kinds.mutation_trees import MUTATION, recurrent_kind
from syclade.host.ground.signals import Stop

if TYPE_CHECKING:
    from syclade.host.commands.scite.infscite import InfsciteCall

__all__ = ["OptimalTrees", "SciteOutcome", "burn_in_of", "infscite_lines", "run_scite"]


_NEVER = 2**62
"""More steps than a chain can have."""

EVENTS = 4096
"""Length of a slot's ring buffer: a chain among equally good trees emits an event every few steps."""


@dataclass(frozen=True, eq=False)
class SciteOutcome:
    """Results that SCITE reports for a run.

    Attributes:
        log_likelihood: of the best trees, natural log, float64.
        trees: the distinct best trees that the chains visited, as parent vectors (int32, shape (n + 1,));
            none with -no_tree_list.
        distance: number of mutations whose parent differs from that in the true tree, minimum over the best
            trees; None without a true tree.
        steps_after_burn_in: of all chains.
        milliseconds: wall time of the whole run.
        rates: rates of the best tree that were learned, and others that are reported, by name.
        with_prior: log-likelihood plus, if rates were learned, the logarithm of their priors.
        work: steps done by each executor.
        interrupted: whether the run was stopped before its end.
    """

    log_likelihood: float
    trees: list[NDArray[np.int32]]
    distance: int | None
    steps_after_burn_in: int
    milliseconds: float
    rates: Mapping[str, float] = field(default_factory=dict)
    with_prior: float = 0.0
    work: tuple[WorkDone, ...] = ()
    interrupted: bool = False

    def lines(self, call: SciteCall) -> list[str]:
        """Return the lines of SCITE's standard output, with SCITE's number of digits."""
        lines = [f"best log score for tree:\t{self.log_likelihood:.17g}"]
        lines.append(f"total #steps after burn-in:\t{self.steps_after_burn_in}")
        if "fn_rate" in self.rates:
            lines.append(f"best value for beta:\t{self.rates['fn_rate']:.17g}")
            lines.append(f"best log score for (T, beta):\t{self.with_prior:.17g}")
        lines.append(f"samples from posterior written to: {call.prefix}.samples")
        if self.distance is not None:
            lines.append(f"distance to true tree:\t{self.distance}")
        lines.append(f"{len(self.trees)} opt trees ")
        lines.append(f"Time elapsed: {self.milliseconds:.17g} ms")
        return lines


def burn_in_of(steps: int) -> int:
    """Return the steps of a chain before its first sample: a quarter."""
    return steps // 4


def run_scite(
    call: SciteCall,
    report: Callable[[Progress, Problem], None],
    stop: Stop | None = None,
    dialect: Dialect | None = None,
) -> SciteOutcome:
    """Run SCITE's command, or one like it.

    Args:
        call: SCITE's arguments.
        report: callback after every launch, with the progress of the chains and their problem.
        stop: a stop request; the run then ends with the best trees and the samples so far.
        dialect: what is run and written; None for SCITE's.

    Raises:
        SycladeError: an argument or a file cannot be used; the error says what to do.
    """
    started = time.perf_counter()
    refuse_what_is_missing(call)
    dialect = scites_dialect(call) if dialect is None else dialect
    model, mutation = dialect.model, dialect.score.recurrent
    kind, matrix = _trees(call, matrix_of(call), mutation)
    true_tree = None if call.true_tree is None else read_tree(call.true_tree, matrix.mutations)
    with scite_folder(call, _kind(call)) as folder:
        plan = _plan(call, kind, matrix, dialect)
        problem = plan.problem
        optimal, samples = _sinks(call, plan, dialect)
        context = RunContext(lambda state: report(state, problem), stop=stop or Stop())
        found = run_plan(
            plan, call.device, "auto", None, chains=call.chains, until=call.steps, slots=None, seed=call.seed,
            context=context, sinks=(optimal, samples),
        )  # fmt: skip
        state = found.outcome.best
        best, places = kind.canonical(state.best_parents), state.best_rate_at
        rates = model.at(places)
        trees = optimal.trees(best, tree_key(best))
        texts = (
            _trees_texts(call, matrix, problem_at(problem, matrix, rates), trees, dialect)
            if call.tree_list
            else {}
        )
        samples_file = f"{call.prefix.name}.samples"
        folder.write(lambda: {**texts, samples_file: dialect.lines_of_samples(matrix, plan, samples)})
    samples.close()
    distances = [int((tree != true_tree).sum()) for tree in trees if true_tree is not None]
    if dialect.judge is None:
        figures = _figures(kind, matrix, plan, best, places)
    else:
        figures = dialect.judge(matrix, plan, best, places)
    return SciteOutcome(
        log_likelihood=figures.log_likelihood,
        trees=trees if call.tree_list else [],
        distance=min(distances, default=None),
        steps_after_burn_in=max(0, found.outcome.steps - call.chains * burn_in_of(call.steps)),
        milliseconds=(time.perf_counter() - started) * 1e3,
        rates=figures.rates,
        with_prior=figures.log_likelihood + model.log_prior(places),
        work=found.work,
        interrupted=found.interrupted,
    )


def _trees(call: SciteCall, matrix: Matrix, mutation: int | None) -> tuple[TreeKind, Matrix]:
    """Return the kind of trees, and the matrix; if a mutation is recurrent, with the row of its copy."""
    if call.cell_tree:
        return CELL, matrix
    return (MUTATION, matrix) if mutation is None else (recurrent_kind(mutation), with_copy(matrix, mutation))


def _figures(kind: TreeKind, matrix: Matrix, plan: Plan, best: NDArray[np.int32], places: Places) -> Best:
    """Return the best tree's log-likelihood by the plan's score, and its learned rates."""
    model = plan.problem.rate_tables.model
    _, log_likelihood = kind.assign(matrix, model.at(places), plan.problem, best, plan.score)
    return Best(log_likelihood, model.values(places))


def _plan(call: SciteCall, kind: TreeKind, matrix: Matrix, dialect: Dialect) -> Plan:
    """Return the plan of the chains."""
    weights = call.move_probabilities or kind.move_probabilities
    options = PlanOptions(dialect.score, call.gamma, weights, _recorders(call, dialect), EVENTS)
    return kind.make_plan(matrix, dialect.model, options)


def _kind(call: SciteCall) -> str:
    """Return SCITE's part of the tree files' names that stands for the score."""
    return "map" if call.sum_score else "ml"


def _recorders(call: SciteCall, dialect: Dialect) -> tuple[Recorder, ...]:
    """Recorders of the chains: best trees (bits 0 and 1), then samples; none of cell trees.

    Where best trees are recorded and no samples, the recorder of samples is there and never records: the
    same precompiled kernel serves both.
    """
    if call.cell_tree:
        return ()
    if call.samples is not None:
        of_samples: tuple[Recorder, ...] = (every(call.samples, burn_in_of(call.steps) + call.samples),)
    else:
        of_samples = (every(_NEVER, _NEVER),) if dialect.lists_trees else ()
    return (*((NEW_BEST, EQUAL_BEST) if dialect.lists_trees else ()), *of_samples)


def _sinks(call: SciteCall, plan: Plan, dialect: Dialect) -> tuple[OptimalTrees, SampleStore]:
    """Return the consumers of the recorders' events."""
    of_trees = 0b11 if dialect.lists_trees else 0
    of_samples = 0 if call.samples is None else of_trees + 1
    return OptimalTrees(of_trees), SampleStore(plan.labels + 1, why=of_samples)


def _trees_texts(
    call: SciteCall, matrix: Matrix, problem: Problem, trees: list[NDArray[np.int32]], dialect: Dialect
) -> dict[str, str]:
    """Return the texts of the tree files, numbered from 0, by file name; of cell trees Newick only."""
    texts = {}
    mutation = dialect.score.recurrent
    names = None if call.names is None and mutation is None else matrix.mutations
    for number, parents in enumerate(trees[: call.max_trees]):
        base = f"{call.prefix.name}_{_kind(call)}{number}"
        texts[f"{base}.newick"] = newick_text(parents)
        if call.cell_tree:
            continue
        attached = best_nodes(problem, parents, mutation) if call.attach else None
        texts[f"{base}.gv"] = dialect.graphviz(parents, names, attached)
    return texts


class OptimalTrees:
    """Collects the distinct trees with the best score of all chains.

    They are returned in the order of chains and steps, whatever the order of events.

    Args:
        why: bits of the recorders of new and equal bests.
    """

    def __init__(self, why: int) -> None:
        self._why = why
        self._score: int | None = None
        self._found: dict[int, tuple[int, int, NDArray[np.int32]]] = {}

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if not event.why & self._why or (self._score is not None and event.score < self._score):
                continue
            if self._score is None or event.score > self._score:
                self._score = event.score
                self._found.clear()
            known = self._found.get(event.key)
            if known is None or (event.chain, event.step) < known[:2]:
                self._found[event.key] = (event.chain, event.step, event.parents)

    def trees(self, best: NDArray[np.int32], key: int) -> list[NDArray[np.int32]]:
        """Return all of them, including the best tree: no event reports a tree that a chain has started with.

        Args:
            best: int32, shape (n + 1,): the tree with the best score.
            key: its key.
        """
        found = sorted(self._found.values(), key=lambda one: one[:2])
        known = [] if key in self._found else [best]
        return [*known, *(parents for _, _, parents in found)]


def infscite_lines(call: InfsciteCall, outcome: SciteOutcome) -> list[str]:
    """Return the lines of ∞SCITE's standard output, with its number of digits."""
    lines = [f"best log score for tree:\t{outcome.log_likelihood:.17g}"]
    lines.append(f"total #steps after burn-in:\t{outcome.steps_after_burn_in}")
    rates = {"fp_rate": call.fp_rate, "relevant": 0.0, "doublets": 0.0, **outcome.rates}
    if call.learn > 0.0:
        lines.append(f"best value for beta:\t{rates['fn_rate']:.17g}")
        lines.append(f"best value for alpha:\t{rates['fp_rate']:.17g}")
    if call.learn > 0.0 or call.doublets:
        lines.append(f"best relevant doublet rate:\t{rates['relevant']:.17g}")
        lines.append(f"best doublet rate:\t{rates['doublets']:.17g}")
    if call.learn > 0.0:
        lines.append(f"best log score for (T, theta):\t{outcome.with_prior:.17g}")
    if call.samples is not None:
        lines.append(f"samples from posterior written to: {call.prefix}.samples")
    if outcome.distance is not None:
        lines.append(f"distance to true tree:\t{outcome.distance}")
    kind = "map" if call.sum_score else "ml"
    lines.append(f"optimal trees written to files:    {call.prefix}_{kind}<INT>.gv")
    lines.append(f"{len(outcome.trees)} opt trees ")
    lines.append(f"Time elapsed: {outcome.milliseconds:.17g} ms")
    return lines
