"""Inference of the most likely cell tree from a mutation matrix: SCITE's -transpose."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from syclade.host.inference import InferenceProgress, progress_of
from syclade.host.input.door import read_matrix
from syclade.host.input.matrix import Names
from syclade.host.model.rates import Rates
from syclade.host.options import checked
from syclade.host.options.defaults import DEFAULT_CHAINS, DEFAULT_LEAF_MOVE_PROBABILITIES, DEFAULT_SEED
from syclade.host.supported import check_together

if TYPE_CHECKING:
    from syclade.host.leaf.result import LeafResult
    from syclade.host.runs.pipeline import Progress
    from syclade.host.runs.task import Stop

__all__ = ["infer_leaf", "score_leaf"]


def infer_leaf(
    matrix: Any,
    *,
    fp_rate: float,
    fn_rate: float,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    names: Names = None,
    cell_names: Names = None,
    chains: int | None = None,
    steps: int | None = None,
    seed: int = DEFAULT_SEED,
    gamma: float = 1.0,
    move_probabilities: tuple[float, float] = DEFAULT_LEAF_MOVE_PROBABILITIES,
    device: str = "auto",
    encoding: str = "auto",
    slots: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    resume: str | os.PathLike[str] | None = None,
    force: bool = False,
    samples: int | None = None,
    burn_in: float = 0.25,
    stop: Stop | None = None,
    progress: Callable[[InferenceProgress], None] | None = None,
) -> LeafResult:
    """Infer the maximum-likelihood cell tree by chains: a binary tree whose leaves are the cells.

    Equal arguments give equal trees on every device, for any number of slots.

    Args:
        move_probabilities: prune and reattach, swap leaves; scaled to sum 1.
        encoding: auto or clade.
        matrix, fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous, names, cell_names, chains, steps,
            seed, gamma, device, slots, checkpoint, checkpoint_every, resume, force, samples, burn_in, stop,
            progress: as for `syclade.infer`.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or DeviceError; the message says what to do.

    Source: Jahn, Kuipers, Beerenwinkel, "Tree inference for single-cell data", 2016.
    """
    from syclade.host.checkpoints.asked import what_decides
    from syclade.host.checkpoints.keeper import make_keeper
    from syclade.host.leaf.plan import make_leaf_plan
    from syclade.host.leaf.result import make_leaf_result
    from syclade.host.leaf.sampling import judge_sinks, leaf_sinks
    from syclade.host.model.leaf_problem import make_leaf_problem
    from syclade.host.request import names_told, sampling_of
    from syclade.host.runs.run import run_plan
    from syclade.host.runs.task import Stop, Task
    from syclade.host.trees.cells import default_cell_names

    check_together({"tree": "leaf", "device": device, "samples": samples, "steps": steps})
    chains = checked("chains", DEFAULT_CHAINS if chains is None else chains)
    steps, seed, slots = checked("steps", steps), checked("seed", seed), checked("slots", slots)
    weights: Any = move_probabilities
    if isinstance(weights, Iterator):  # an iterator can be read only once
        weights = tuple(weights)
    observed = read_matrix(matrix, names, cell_names=cell_names)
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous)
    problem = make_leaf_problem(observed, rates)
    sampling = sampling_of(samples, burn_in, steps)
    plan = make_leaf_plan(
        problem,
        gamma=gamma,
        move_probabilities=weights,
        recorders=() if sampling is None else (sampling.recorder,),
        events=1 if sampling is None else sampling.events,
    )
    options: dict[str, Any] = {
        "tree": "leaf",
        **{name: getattr(rates, name) for name in ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate")},
        "merge_homozygous": rates.merge_homozygous,
        **names_told(names, cell_names, observed),
        "score": "max",
        "method": "chain",
        "start": "random",
        "chains": chains,
        "steps": steps,
        "seed": seed,
        "gamma": float(gamma),
        "move_probabilities": [float(weight) for weight in weights],
        "device": device,
        "encoding": encoding,
        "slots": slots,
        "samples": samples,
        "burn_in": float(burn_in),
    }

    def report(state: Progress) -> None:
        if progress is not None:
            progress(progress_of(state, problem.to_nats))

    decides = what_decides(options, observed.sha256)
    keeper = make_keeper(checkpoint, resume, checkpoint_every, decides, force=force)
    task = Task(report, keeper, stop or Stop())
    cells = observed.cells or default_cell_names(observed.n_cells)
    sinks = () if sampling is None else leaf_sinks(problem, cells)
    found = run_plan(
        plan,
        device,
        encoding,
        None,
        chains=chains,
        steps=steps,
        slots=slots,
        seed=seed,
        task=task,
        sinks=sinks,
    )
    sampled = None
    if sampling is not None:
        sampled = judge_sinks(sinks, sampling, problem)
    return make_leaf_result(observed, rates, plan, found, options, sampled)


def score_leaf(
    matrix: Any,
    tree: str | os.PathLike[str],
    *,
    fp_rate: float,
    fn_rate: float,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    names: Names = None,
    cell_names: Names = None,
) -> float:
    """Return the log-likelihood of a cell tree: natural log, float64, every mutation on its best edge.

    Args:
        tree: a path to a Newick file, ours or SCITE's, whose leaves are the cells.
        matrix, fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous, names, cell_names: as for
            `infer_leaf`.

    Raises:
        SycladeError: MatrixError, RatesError or TreeError; the message says what to do.
    """
    from syclade.host.leaf.placement import place
    from syclade.host.leaf.treefile import read_leaf_tree
    from syclade.host.model.leaf_problem import make_leaf_problem

    observed = read_matrix(matrix, names, cell_names=cell_names)
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous)
    problem = make_leaf_problem(observed, rates)
    parents = read_leaf_tree(tree, observed.cells, observed.n_cells)
    return place(observed, rates, problem, parents).total
