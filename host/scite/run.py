"""Run SCITE's chains from its arguments, write SCITE's files, and return SCITE's output lines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.opening import open_runner
from syclade.host.chains.events import Sink
from syclade.host.chains.plan import make_plan
from syclade.host.chains.recorders import EQUAL_BEST, NEW_BEST, Recorder, every
from syclade.host.chains.scores.named import score_named
from syclade.host.chains.state import ChainState
from syclade.host.common.errors import OutputError
from syclade.host.common.files import check_output, write_files
from syclade.host.devices.work import WorkDone
from syclade.host.input.matrix import Matrix
from syclade.host.model.leaf_problem import LeafProblem
from syclade.host.model.problem import Problem, make_problem, problem_at
from syclade.host.model.rates import Rates
from syclade.host.model.summed import log_likelihood_by
from syclade.host.options.defaults import DEFAULT_MOVE_PROBABILITIES
from syclade.host.output.rescue import keep
from syclade.host.runs.pipeline import Progress, run_chains
from syclade.host.samples.lines import Samples
from syclade.host.scite.arguments import SciteCall
from syclade.host.scite.files import best_nodes, graphviz_text, newick_text
from syclade.host.scite.problem import matrix_of, rate_model_of, rates_of, refuse_what_is_missing
from syclade.host.scite.sinks import OptimalTrees
from syclade.host.trees.key import tree_key
from syclade.host.trees.treefile import read_tree

__all__ = ["AnyProblem", "SciteOutcome", "burn_in_of", "run_scite"]

AnyProblem = Problem | LeafProblem

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
        beta: false-negative rate of the best tree, if it was learned (-e); else None.
        with_prior: log-likelihood plus, if the rate was learned, the logarithm of its prior.
        work: steps done by each executor.
    """

    log_likelihood: float
    trees: list[NDArray[np.int32]]
    distance: int | None
    steps_after_burn_in: int
    milliseconds: float
    beta: float | None = None
    with_prior: float = 0.0
    work: tuple[WorkDone, ...] = ()

    def lines(self, call: SciteCall) -> list[str]:
        """Return the lines of SCITE's standard output, with SCITE's number of digits."""
        told = [f"best log score for tree:\t{self.log_likelihood:.17g}"]
        told.append(f"total #steps after burn-in:\t{self.steps_after_burn_in}")
        if self.beta is not None:
            told.append(f"best value for beta:\t{self.beta:.17g}")
            told.append(f"best log score for (T, beta):\t{self.with_prior:.17g}")
        told.append(f"samples from posterior written to: {call.prefix}.samples")
        if self.distance is not None:
            told.append(f"distance to true tree:\t{self.distance}")
        told.append(f"{len(self.trees)} opt trees ")
        told.append(f"Time elapsed: {self.milliseconds:.17g} ms")
        return told


def burn_in_of(steps: int) -> int:
    """Return the steps of a chain before its first sample: a quarter."""
    return steps // 4


def run_scite(call: SciteCall, report: Callable[[Progress, AnyProblem], None]) -> SciteOutcome:
    """Run SCITE's command.

    Args:
        call: SCITE's arguments.
        report: callback after every launch, with the progress of the chains and their problem.

    Raises:
        SycladeError: an argument or a file cannot be used; the error says what to do.
    """
    started = time.perf_counter()
    refuse_what_is_missing(call)
    rates, matrix = rates_of(call), matrix_of(call)
    true_tree = None if call.true_tree is None else read_tree(call.true_tree, matrix.mutations)
    _check_prefix(call)
    if call.cell_tree:
        return _run_cell_tree(call, rates, matrix, report, started)
    model = rate_model_of(call, rates)
    problem = make_problem(matrix, rates, octaves=call.sum_score, model=model)
    optimal, samples = _sinks(call, problem)
    try:
        state, work = _run_chains(call, problem, (optimal, samples), report)
        best, places = state.best_parents, state.best_rate_at
        rates = model.at(places)
        trees = optimal.trees(best, tree_key(best))
        scored = problem_at(problem, matrix, rates)
        texts = _trees_texts(call, matrix, scored, trees) if call.tree_list else {}
        _write(call, texts, samples)
    finally:
        samples.close()
    distances = [int((tree != true_tree).sum()) for tree in trees if true_tree is not None]
    log_likelihood = log_likelihood_by(_score(call), matrix, rates, best)
    return SciteOutcome(
        log_likelihood=log_likelihood,
        trees=trees if call.tree_list else [],
        distance=min(distances, default=None),
        steps_after_burn_in=call.chains * (call.steps - burn_in_of(call.steps)),
        milliseconds=(time.perf_counter() - started) * 1e3,
        beta=model.values(places).get("fn_rate"),
        with_prior=log_likelihood + model.log_prior(places),
        work=work,
    )


def _run_cell_tree(
    call: SciteCall,
    rates: Rates,
    matrix: Matrix,
    report: Callable[[Progress, AnyProblem], None],
    started: float,
) -> SciteOutcome:
    """Run a call with -transpose: one tree, in Newick format, and an empty file of samples, as in SCITE."""
    from syclade.host.scite.cell_tree import best_cell_tree

    best = best_cell_tree(call, rates, matrix, report)
    listed = call.tree_list and call.max_trees != 0
    _write(call, {f"{call.prefix.name}_ml0.newick": best.newick} if listed else {}, None)
    return SciteOutcome(
        log_likelihood=best.log_likelihood,
        trees=[best.parents] if call.tree_list else [],
        distance=None,
        steps_after_burn_in=call.chains * (call.steps - burn_in_of(call.steps)),
        milliseconds=(time.perf_counter() - started) * 1e3,
        work=best.work,
    )


def _score(call: SciteCall) -> str:
    """Return syclade's name for the score that -s selects."""
    return "sum" if call.sum_score else "max"


def _kind(call: SciteCall) -> str:
    """Return SCITE's part of the tree files' names that stands for the score."""
    return "map" if call.sum_score else "ml"


def _recorders(call: SciteCall) -> tuple[Recorder, ...]:
    """Recorders of the chains: best trees (bits 0 and 1), then samples.

    Where best trees are recorded and no samples, the recorder of samples is there and never records: the
    same precompiled kernel serves both.
    """
    if call.samples is not None:
        of_samples: tuple[Recorder, ...] = (every(call.samples, burn_in_of(call.steps) + call.samples),)
    else:
        of_samples = (every(_NEVER, _NEVER),) if call.tree_list else ()
    return (*((NEW_BEST, EQUAL_BEST) if call.tree_list else ()), *of_samples)


def _sinks(call: SciteCall, problem: Problem) -> tuple[OptimalTrees, Samples]:
    """Return the consumers of the recorders' events."""
    of_trees = 0b11 if call.tree_list else 0
    of_samples = 0 if call.samples is None else of_trees + 1
    return OptimalTrees(of_trees), Samples(of_samples, problem.to_nats, problem.rate_tables.model)


def _run_chains(
    call: SciteCall,
    problem: Problem,
    sinks: tuple[Sink, ...],
    report: Callable[[Progress, AnyProblem], None],
) -> tuple[ChainState, tuple[WorkDone, ...]]:
    """Run the chains; return the state with the best tree, and the work of each executor."""
    plan = make_plan(
        problem,
        gamma=call.gamma,
        move_probabilities=call.move_probabilities or DEFAULT_MOVE_PROBABILITIES,
        score=score_named(_score(call), problem),
        recorders=_recorders(call),
        events=EVENTS,
    )
    opened = open_runner(
        call.device, "auto", plan, chains=call.chains, steps=call.steps, slots=None, seed=call.seed
    )
    try:
        outcome = run_chains(
            opened.runner,
            chains=call.chains,
            steps=call.steps,
            progress=lambda state: report(state, problem),
            sinks=sinks,
        )
    finally:
        opened.runner.close()
    return outcome.best, opened.runner.work


def _trees_texts(
    call: SciteCall, matrix: Matrix, problem: Problem, trees: list[NDArray[np.int32]]
) -> dict[str, str]:
    """Return the texts of the tree files, numbered from 0, by file name."""
    texts = {}
    names = None if call.names is None else matrix.mutations
    for number, parents in enumerate(trees[: call.max_trees]):
        base = f"{call.prefix.name}_{_kind(call)}{number}"
        attached = best_nodes(problem, parents) if call.attach else None
        texts[f"{base}.gv"] = graphviz_text(parents, names, attached)
        texts[f"{base}.newick"] = newick_text(parents)
    return texts


def _write(call: SciteCall, texts: dict[str, str], samples: Samples | None) -> None:
    """Write all files; if that fails, write them to a folder of the user's.

    Raises:
        OutputError: the files could not be written; the hint says where they are instead.
    """

    def write(folder: Path) -> None:
        files: dict[str, str | bytes | Iterable[str]] = {**texts}
        lines: str | Iterable[str] = "" if samples is None else samples.lines()
        write_files(folder, files | {f"{call.prefix.name}.samples": lines}, call.force)

    try:
        write(call.prefix.parent)
    except OutputError as error:
        kept = keep(write)
        if kept is None:
            raise
        raise OutputError(error.message, hint=f"the result is not lost: it is in {kept}") from error


def _check_prefix(call: SciteCall) -> None:
    """Check that files can be written, before anything is computed. The number of files is not known yet.

    Raises:
        OutputError: they cannot be written, or some exist already.
    """
    if not call.prefix.name:
        raise OutputError(f"{call.prefix} names no file", hint="give -o the beginning of the files' names")
    folder, name = call.prefix.parent, call.prefix.name
    tree = re.compile(re.escape(name) + rf"_{_kind(call)}\d+\.(gv|newick)")
    there = [path.name for path in folder.glob("*") if tree.fullmatch(path.name)] if folder.is_dir() else []
    check_output(folder, (*sorted(there)[:4], f"{name}.samples"), call.force)
