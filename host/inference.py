"""The main job: from a mutation matrix to the most likely mutation tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from syclade.host.errors import OptionError, TreeError
from syclade.host.input.door import read_matrix
from syclade.host.input.matrix import Matrix, Names, with_cell_names, with_names
from syclade.host.model.defaults import DEFAULT_CHAINS, DEFAULT_MOVE_PROBABILITIES, DEFAULT_SEED
from syclade.host.model.problem import make_problem
from syclade.host.model.rates import Rates
from syclade.host.trees.cells import check_cell_names, default_cell_names
from syclade.host.values import path_of, real, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.chains.plan import Plan
    from syclade.host.chains.state import ChainState
    from syclade.host.output.result import Result
    from syclade.host.running import Stop, Task
    from syclade.host.samples.sampling import Sampling

__all__ = ["METHODS", "InferenceProgress", "infer", "score"]

METHODS = ("auto", "search", "chain")

MOST_TREES = 10**6
"""Co-optimal trees: each stays in memory."""

SCORES = ("max", "sum")
"""What a tree may be worth: `chains/scores/named.py`."""

STARTS = ("random", "search")
"""Of chains."""

CANNOT_SEARCH = ("fpga", "python")
"""Devices for which `auto` means chains: cards have no kernels of searches, Python would take for ever."""


@dataclass(frozen=True)
class InferenceProgress:
    """How far an inference is.

    Attributes:
        steps_done: chain steps over all chains.
        steps_total: how many there will be; None where the chains decide.
        steps_expected: the same; where the chains decide, the fewest after which they may stop.
        log_likelihood: of the best tree yet, natural log, from the chain's integer score.
        steps_per_second: chain steps a second since the first.
        acceptance: share of proposals that were accepted, by kind of move, of the chains now on the device.
    """

    steps_done: int
    steps_total: int | None
    steps_expected: int
    log_likelihood: float
    steps_per_second: float
    acceptance: Mapping[str, float] = field(default_factory=dict)


def infer(
    matrix: Any,
    *,
    fp_rate: float,
    fn_rate: float,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    names: Names = None,
    cell_names: Names = None,
    attach: bool = False,
    score: str = "max",
    method: str = "auto",
    chains: int | None = None,
    steps: int | None = None,
    seed: int = DEFAULT_SEED,
    gamma: float = 1.0,
    move_probabilities: tuple[float, float, float] = DEFAULT_MOVE_PROBABILITIES,
    device: str = "auto",
    encoding: str = "auto",
    image: str | os.PathLike[str] | None = None,
    slots: int | None = None,
    start: str = "random",
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    resume: str | os.PathLike[str] | None = None,
    force: bool = False,
    max_trees: int | None = None,
    samples: int | None = None,
    burn_in: float = 0.25,
    true_tree: Any = None,
    stop: Stop | None = None,
    progress: Callable[[InferenceProgress], None] | None = None,
) -> Result:
    """Infer the maximum-likelihood mutation tree: by search, or with SCITE's Markov chain.

    Equal arguments give equal trees on every device, for any number of slots.

    Args:
        matrix: a path to a file in SCITE's format, a stream of one, or an array of shape (mutations, cells)
            with entries 0 (not observed), 1 (mutation), 2 (homozygous mutation), 3 (missing): numpy,
            dpctl.tensor or dpnp.
        fp_rate: probability of observing a mutation that is not there (alpha).
        fn_rate: probability of not observing a mutation (beta).
        fn_rate_hom: probability of observing a mutation as homozygous, where 2 occurs.
        hom_rate: probability of observing a homozygous mutation that is not there; with fn_rate_hom.
        merge_homozygous: take 2 for 1 instead.
        names: the mutations' names, or a file with one a line; without, those of a `Matrix`, else 1 … n.
        cell_names: the cells' names, in the same way; without, those of a `Matrix`, else s0, s1, ….
        attach: whether cells hang in the trees that the result writes, each at its best node.
        score: what a tree is worth: every cell at its best node (max), or at all nodes, each with its
            likelihood (sum; SCITE's -s, without a prior).
        method: search (docs/search.md), chain, or auto: chain where chains, steps or an image are given, or
            the score is sum, or a device that cannot search; else search.
        chains: number of independent chains, each from a uniform random tree; 16 without.
        steps: steps of each chain; without, they go on until they agree (`convergence.StoppingRule`).
        seed: 0 … 2^64-1.
        gamma: exponent of the likelihood in the accept test; above 1 the chain is greedier.
        move_probabilities: prune and reattach, swap labels, swap subtrees; scaled to sum 1.
        device: auto, cpu, native, fpga-emu, fpga, gpu, numpy, or a dpctl filter string.
        encoding: how trees stand in the device's memory: auto, preorder or ancestor. Changes speed only.
        image: a file with a precompiled kernel for the device, as `syclade export --with-image` makes it.
        slots: chain states on the device at once; chosen from the device without.
        start: of chains: random trees, or the trees that searches find (search).
        checkpoint: a file to keep the run in, so that it can go on after its process has ended.
        checkpoint_every: seconds between two times, of chains; searches are kept after every leg.
        resume: a file that an earlier run was kept in: this one goes on with it, and ends as if it had never
            stopped. What decides the result has to be as it was; device, encoding and slots may differ.
        force: whether the file of `checkpoint` may be another run's. That of `resume` always may.
        max_trees: look for all trees that are as likely as the best one, up to so many (`Result.co_optimal`).
        samples: steps between two samples of a chain's trees (`Result.samples`); with `steps`.
        burn_in: the part of a chain's steps before its first sample.
        true_tree: a file of a tree, or a parent vector, that the result is to be compared with
            (`Result.true_tree`). Does not change what is found.
        stop: a wish to stop (`Stop.wanted`), from a signal's handler or another thread: the run then ends
            between two launches with the best tree so far, and `Result.interrupted` says so.
        progress: called about ten times a second.

    Returns:
        The best tree over all chains, its float64 log-likelihood, and how it was found.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or DeviceError, with what to do.

    Source: Jahn, Kuipers, Beerenwinkel, "Tree inference for single-cell data", 2016.
    """
    from syclade.host.chains.pipeline import Progress
    from syclade.host.chains.plan import make_plan
    from syclade.host.chains.run import run_plan
    from syclade.host.chains.scores.named import score_named
    from syclade.host.checkpoints.asked import what_decides
    from syclade.host.checkpoints.keeper import make_keeper
    from syclade.host.running import Stop, Task

    if start not in STARTS:
        raise OptionError(f"--start is {start!r}", hint=f"use one of {', '.join(STARTS)}")
    of_chains = {"--chains": chains, "--steps": steps, "--image": image}
    of_chains["--samples"] = samples
    summed = check_score(score) == "sum"
    of_chains["--score sum"] = score if summed else None
    of_chains["--start search"] = None if start == "random" else start
    by_search = _is_search(method, device, of_chains)
    chains = DEFAULT_CHAINS if chains is None else chains
    chains = whole("--chains", chains, 1, 2**32 - 1)
    steps = None if steps is None else whole("--steps", steps, 1, 2**62 - 1)
    seed = whole("--seed", seed, 0, 2**64 - 1)
    slots = None if slots is None else whole("--slots", slots, 1, 2**31 - 1)
    max_trees = None if max_trees is None else whole("--max-trees", max_trees, 1, MOST_TREES)
    if isinstance(move_probabilities, Iterator):  # which can be read once only
        move_probabilities = tuple(move_probabilities)
    observed = load_matrix(matrix, names, cell_names)
    if attach:
        check_cell_names(observed.cells or default_cell_names(observed.n_cells), observed.mutations)
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous)
    true = None if true_tree is None else _tree_of(true_tree, observed)
    if summed and max_trees is not None:
        raise OptionError("--max-trees is for --score max", hint="ask for --samples instead")
    problem = make_problem(observed, rates, octaves=summed)
    sampling = _sampling(samples, burn_in, steps)
    plan = make_plan(
        problem,
        gamma=gamma,
        move_probabilities=move_probabilities,
        score=score_named(score, problem),
        recorders=() if sampling is None else (sampling.recorder,),
        events=1 if sampling is None else sampling.events,
    )
    sinks = () if sampling is None else sampling.sinks(problem.mutations, problem.to_nats)
    if sampling is not None and image is not None:
        raise OptionError("--samples goes without --image", hint="images hand out no samples")
    options = {
        "fp_rate": rates.fp_rate,
        "fn_rate": rates.fn_rate,
        "fn_rate_hom": rates.fn_rate_hom,
        "hom_rate": rates.hom_rate,
        "merge_homozygous": rates.merge_homozygous,
        "names": _told(names, observed.mutations),
        "cell_names": _told(cell_names, observed.cells),
        "attach": bool(attach),
        "score": score,
        "method": "search" if by_search else "chain",
        "chains": None if by_search else chains,
        "steps": steps,
        "seed": seed,
        "gamma": float(gamma),
        "move_probabilities": [float(weight) for weight in move_probabilities],
        "device": device,
        "encoding": encoding,
        "image": None if image is None else str(path_of("image (--image)", image)),
        "slots": slots,
        "start": start,
        "max_trees": max_trees,
        "samples": samples,
        "burn_in": float(burn_in),
        "true_tree": os.fspath(true_tree) if isinstance(true_tree, (str, os.PathLike)) else None,
    }

    def report(state: Progress) -> None:
        if progress is not None:
            progress(
                InferenceProgress(
                    state.steps_done,
                    state.steps_total,
                    state.steps_expected,
                    problem.to_nats(state.best_score),
                    state.steps_done / max(state.seconds, 1e-9),
                    state.acceptance,
                )
            )

    keeper = make_keeper(
        checkpoint, resume, checkpoint_every, what_decides(options, observed.sha256), force=force
    )
    task = Task(report, keeper, stop or Stop())
    if by_search:
        from syclade.host.search.portfolio import find

        found = find(plan, device, encoding, slots=slots, seed=seed, task=task)
    else:
        starts = None
        if start == "search" and keeper.resumed is None:
            starts = _starts_by_search(plan, observed, rates, device, encoding, seed, task)
        found = run_plan(
            plan,
            device,
            encoding,
            image,
            chains=chains,
            steps=steps,
            slots=slots,
            seed=seed,
            task=task,
            starts=starts,
            sinks=sinks,
        )
    from syclade.host.output.result import make_result  # not before the chains have begun: it takes time

    result = make_result(observed, rates, plan, found, seed=seed, options=options, true=true)
    if sampling is not None:
        result = replace(result, samples=sampling.judge(sinks, problem.to_nats))
    if max_trees is None:
        return result
    from syclade.host.cooptimal.plateau import walk_plateau

    return replace(result, co_optimal=walk_plateau(problem, [result.parents, *found.trees], max_trees))


def _sampling(samples: int | None, burn_in: float, steps: int | None) -> Sampling | None:
    """Which states are samples, where any are asked for; what is not, is not loaded either."""
    part = real("the part (--burn-in)", burn_in)
    if not 0 <= part < 1:
        raise OptionError(f"the part (--burn-in) is {part:g}", hint="give a number from 0 to below 1")
    if samples is None:
        return None
    from syclade.host.samples.sampling import make_sampling

    return make_sampling(samples, part, steps)


def _starts_by_search(
    plan: Plan, observed: Matrix, rates: Rates, device: str, encoding: str, seed: int, task: Task
) -> Callable[[int], ChainState]:
    """The first states of chains: the trees of searches, in turns; these know the maximum score only."""
    from syclade.host.chains.pipeline import state_at
    from syclade.host.chains.plan import make_plan
    from syclade.host.running import Task
    from syclade.host.search.portfolio import find

    sought = make_plan(make_problem(observed, rates))
    trees = find(
        sought, device, encoding, slots=None, seed=seed, task=Task(task.report, stop=task.stop)
    ).trees
    return lambda chain: state_at(plan, trees[chain % len(trees)], chain)


def _is_search(method: str, device: str, of_chains: Mapping[str, object]) -> bool:
    """Whether to search; see `infer`.

    Args:
        method: as asked.
        device: as asked.
        of_chains: options that chains alone have, None where they were not given.
    """
    if method not in METHODS:
        raise OptionError(f"--method is {method!r}", hint=f"use one of {', '.join(METHODS)}")
    given = [option for option, value in of_chains.items() if value is not None]
    if method == "search" and given:
        raise OptionError(
            f"{given[0]} is for chains, and --method is search",
            hint=f"leave out {given[0]}, or use --method chain",
        )
    return method == "search" or (method == "auto" and not given and device not in CANNOT_SEARCH)


def score(
    matrix: Any,
    tree: Any,
    *,
    fp_rate: float,
    fn_rate: float,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    names: Names = None,
    cell_names: Names = None,
    score: str = "max",
) -> float:
    """The log-likelihood of a tree: natural log, float64, every cell at its best attachment, or at all.

    Args:
        matrix: as for `infer`.
        tree: a path to a Newick or GraphViz file (ours or SCITE's; cells in it are left out), or a parent
            vector of shape (n + 1,).
        fp_rate: probability of observing a mutation that is not there.
        fn_rate: probability of not observing a mutation.
        fn_rate_hom, hom_rate, merge_homozygous: as for `infer`.
        names, cell_names: as for `infer`.
        score: max or sum, as for `infer`.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or TreeError, with what to do.
    """
    from syclade.host.model.summed import log_likelihood_by

    check_score(score)
    observed = load_matrix(matrix, names, cell_names)
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate, merge_homozygous)
    return log_likelihood_by(score, observed, rates, _tree_of(tree, observed))


def check_score(score: str) -> str:
    """The name of a score, or an OptionError."""
    if score not in SCORES:
        raise OptionError(f"--score is {score!r}", hint=f"use one of {', '.join(SCORES)}")
    return score


def _tree_of(tree: Any, observed: Matrix) -> NDArray[np.int32]:
    """The parent vector of a file, or of a parent vector."""
    from syclade.host.trees.tree import validate_parents
    from syclade.host.trees.treefile import read_tree

    if isinstance(tree, (str, os.PathLike)):
        return read_tree(tree, observed.mutations, observed.cells or ())
    parents = validate_parents(tree)
    if len(parents) != observed.n_mutations + 1:
        raise TreeError(
            f"the tree has {len(parents) - 1} mutations, and the matrix {observed.n_mutations}",
            hint="a parent vector has a number for each mutation and one for the root",
        )
    return parents


def _told(names: Names, found: Sequence[str] | None) -> str | list[str] | None:
    """What names were given, as a plain value; an iterator of them has been used up."""
    if names is None:
        return None
    return os.fspath(names) if isinstance(names, (str, os.PathLike)) else list(found or ())


def load_matrix(matrix: Any, names: Names = None, cell_names: Names = None) -> Matrix:
    """A Matrix from whatever describes one: see `infer`."""
    if isinstance(matrix, Matrix):
        return with_cell_names(with_names(matrix, names), cell_names)
    return read_matrix(matrix, names, cell_names=cell_names)
