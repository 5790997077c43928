"""SCITE's -transpose: chains over cell trees, and the one file that SCITE writes for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.opening import open_runner
from syclade.host.common.errors import OptionError
from syclade.host.devices.work import WorkDone
from syclade.host.input.matrix import Matrix
from syclade.host.leaf.placement import place
from syclade.host.leaf.plan import make_leaf_plan
from syclade.host.model.leaf_problem import LeafProblem, make_leaf_problem
from syclade.host.model.rates import Rates
from syclade.host.options.defaults import DEFAULT_LEAF_MOVE_PROBABILITIES
from syclade.host.runs.pipeline import Progress, run_chains
from syclade.host.scite.arguments import SciteCall
from syclade.host.scite.files import newick_text
from syclade.host.trees.leaf import canonical

__all__ = ["CellTree", "best_cell_tree", "refuse_for_cell_trees"]


class CellTree(NamedTuple):
    """The best cell tree.

    Attributes:
        parents: int32, shape (2m - 1,): cells, then internal nodes; the last is the root.
        log_likelihood: natural log, float64.
        newick: its text: cells are 1 to m, internal nodes continue from there.
        work: steps done by each executor.
    """

    parents: NDArray[np.int32]
    log_likelihood: float
    newick: str
    work: tuple[WorkDone, ...]


def refuse_for_cell_trees(call: SciteCall) -> None:
    """Raise an OptionError for options that do not go with -transpose here."""
    asked = {
        "-s": call.sum_score,
        "-p": call.samples is not None,
        "-t": call.true_tree is not None,
        "-e": call.learn > 0.0,
    }
    for flag, given in asked.items():
        if given:
            raise OptionError(f"{flag} does not go with -transpose here", hint=f"leave out {flag}")
    if call.move_probabilities is not None and len(call.move_probabilities) != 2:
        raise OptionError(
            f"-move_probs has {len(call.move_probabilities)} values",
            hint="cell-leaf trees have 2: prune and reattach, swap leaves",
        )


def best_cell_tree(
    call: SciteCall, rates: Rates, matrix: Matrix, report: Callable[[Progress, LeafProblem], None]
) -> CellTree:
    """Return the best tree of all chains.

    Args:
        call: SCITE's arguments, with -transpose.
        rates: error rates.
        matrix: mutations are rows.
        report: callback after every launch, with the progress of the chains and their problem.

    Raises:
        SycladeError: the matrix or the device cannot be used; the error says what to do.
    """
    problem = make_leaf_problem(matrix, rates)
    weights = call.move_probabilities or DEFAULT_LEAF_MOVE_PROBABILITIES
    plan = make_leaf_plan(problem, gamma=call.gamma, move_probabilities=(weights[0], weights[1]))
    opened = open_runner(
        call.device, "auto", plan, chains=call.chains, steps=call.steps, slots=None, seed=call.seed
    )
    try:
        outcome = run_chains(
            opened.runner,
            chains=call.chains,
            steps=call.steps,
            progress=lambda state: report(state, problem),
        )
    finally:
        opened.runner.close()
    parents = canonical(outcome.best.best_parents)
    total = place(matrix, rates, problem, parents).total
    return CellTree(parents, total, newick_text(parents), opened.runner.work)
