"""Main entry point: from a mutation matrix to the most likely mutation tree."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from syclade.host.answer.request import make_request
from syclade.host.answer.run import finish, make_draft
from syclade.host.answer.stages import reporting_tree
from syclade.host.chains.checkpoints.checkpoint_writer import (
    deciding_options,
    locked_checkpoint,
    make_checkpoint_writer,
)
from syclade.host.chains.runs.context import RECURRENCE, RunContext
from syclade.host.chains.sample_store import store_of
from syclade.host.device.choice import Several
from syclade.host.ground.files import refuse_same
from syclade.host.ground.options import Options, Reading, checked, flag_of, options_with
from syclade.host.ground.options.types import DEFAULT_SEED, AnyPath, Names
from syclade.host.ground.signals import Stop

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from dpctl import SyclDevice, SyclQueue

    from syclade.host.answer.output.result import Result
    from syclade.host.chains.runs.clock import Progress

__all__ = ["InferenceProgress", "infer", "infer_by", "infer_leaf", "log_warnings", "progress_of"]

logger = logging.getLogger("syclade.result")


@dataclass(frozen=True)
class InferenceProgress:
    """Progress of an inference.

    Attributes:
        steps_done: chain steps done, over all chains.
        steps_total: chain steps in total; None if the chains run until they agree.
        steps_expected: the same; if the chains run until they agree, the fewest after which they may stop.
        log_likelihood: of the best tree so far, natural log, from the chain's integer score.
        steps_per_second: chain steps per second of this process, without its first launches; 0 while it is
            not known, which takes a second.
        acceptance: share of accepted proposals by kind of move, of the chains now on the device.
    """

    steps_done: int
    steps_total: int | None
    steps_expected: int
    log_likelihood: float
    steps_per_second: float
    acceptance: Mapping[str, float] = field(default_factory=dict)


def infer(
    matrix: object,
    *,
    fp_rate: float | None = None,
    fn_rate: float | None = None,
    floor: float = 1e-4,
    seq_error: float | None = None,
    allelic_dropout: float | None = None,
    overdispersion: float | None = None,
    error_overdispersion: float | None = None,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    merge_homozygous: bool = False,
    tree: str = "mutation",
    names: Names = None,
    cell_names: Names = None,
    metadata: object = None,
    sample_column: str | None = None,
    time_column: str | None = None,
    attach: bool = False,
    genotypes: bool = False,
    score: str = "max",
    doublets: float | str | None = None,
    recurrent: str | int | None = None,
    method: str = "auto",
    chains: int | None = None,
    steps: int | None = None,
    seed: int = DEFAULT_SEED,
    gamma: float = 1.0,
    move_probabilities: Sequence[float] | None = None,
    device: str | SyclDevice | SyclQueue = "auto",
    executor: Executor | None = None,
    encoding: str = "auto",
    image: AnyPath | None = None,
    slots: int | None = None,
    start: str = "random",
    checkpoint: AnyPath | None = None,
    checkpoint_every: float = 60.0,
    resume: AnyPath | None = None,
    force: bool = False,
    max_trees: int | None = None,
    samples: int | None = None,
    support: str | None = None,
    dropout: str = "auto",
    burn_in: float = 0.25,
    learn_fn: float | None = None,
    fn_sd: float | None = None,
    fn_step: float | None = None,
    learn_fp: float | None = None,
    fp_sd: float | None = None,
    fp_step: float | None = None,
    unmutated_counts: tuple[int, int] | None = None,
    learn_doublets: float | None = None,
    doublets_sd: float | None = None,
    doublets_step: float | None = None,
    true_tree: object = None,
    stages: str = "fused",
    trace: AnyPath | None = None,
    stop: Stop | None = None,
    progress: Callable[[InferenceProgress], None] | None = None,
    **reading: Unpack[Reading],
) -> Result:
    """Infer the maximum-likelihood tree of mutations, or of cells, by search or with SCITE's Markov chain.

    Equal arguments give equal trees on every device, for any number of slots.

    Args:
        matrix: a path to a file in SCITE's format, an open stream of one, or an array of shape
            (mutations, cells) with entries 0 (not observed), 1 (mutation), 2 (homozygous mutation),
            3 (missing): numpy, dpctl.tensor or dpnp. Also what else `read_matrix` takes, such as an AnnData,
            and what it returns.
        fp_rate: probability of observing a mutation that is absent (alpha). Default: estimated from the
            matrix by searches (docs/model.md, "Estimated error rates").
        fn_rate: probability of not observing a mutation (beta). Default: estimated likewise.
        floor: with evidence in place of calls (`Matrix.evidence`), least probability of an entry to be
            mutated, and not to be (docs/evidence.md). Such a matrix has no rates.
        seq_error, allelic_dropout, overdispersion, error_overdispersion: parameters of reads, for a matrix
            with numbers of reads: the part of alternate reads without the mutation, the probability that an
            allele is lost, and the correlation of the reads of an entry with both alleles, and with one of
            them (docs/evidence.md). Default: estimated from the matrix, by searches.
        fn_rate_hom: probability of observing a mutation as homozygous, where 2 occurs.
        hom_rate: probability of observing a homozygous mutation that is absent; goes with fn_rate_hom.
        merge_homozygous: whether to treat 2 as 1 instead.
        tree: kind of the tree: mutation (nodes are mutations, each cell is at its best node) or leaf (a
            binary tree whose leaves are the cells, each mutation is on its best edge; SCITE's -transpose).
        names: names of the mutations, or a file with one per line. Default: the names of a `Matrix`, or those
            in the file `x.geneNames` beside `x.csv`, else 1 … n.
        cell_names: names of the cells, in the same way. Default: the names of a `Matrix`, or those in
            `x.cellNames`, else s0, s1, ….
        metadata: labels of the cells (docs/biopsies.md): a table (a file or a DataFrame), specimens by the
            names of cells, or columns by their names. Default: the column `sample` of the matrix, if it has
            one. `Result.clones_by_sample` then has the share of each clone in each specimen.
        sample_column: column of the specimens. Default: `sample`, else the only one.
        time_column: column of the time point of each specimen: numbers, or words in their order.
        attach: whether the trees that the result writes include the cells, each attached to its best node.
        genotypes: whether to call the mutations of each cell by the published tree, with probabilities over
            sampled trees (`Result.genotypes`).
        score: score of a tree: max (every cell at its best node), shares (each cell's likelihood summed over
            all nodes by their shares of the cells, which chains sample, too), or sum (summed over
            all nodes; SCITE's -s, without a prior).
        doublets: rate of doublets: with this probability, a cell is two of the tree's clones together,
            each at any node (∞SCITE's -d). All nodes and pairs of nodes count, whatever the score. "learn"
            learns the rate: with `steps`, chains learn it with a uniform prior; without, it is estimated from
            the matrix like error rates.
        recurrent: a mutation that occurs twice in the tree (∞SCITE's -rec): its name, or the number of its
            row from 1. Its copies are in two branches, or the lower one
            loses it again. The result has one more mutation, the copy, and its `assignment.recurrence` tells
            by how much that raises the log-likelihood. "all" infers a tree without, and then tests each
            mutation, in rounds with the strongest ones set aside (`Result.recurrences`).
        method: search (docs/search.md), chain, anneal (search, then annealed chains), or auto. With auto,
            chains run if an option is given that only chains have (such as chains, steps, image, samples, the
            sum score or learned rates), or if the device cannot search; else searches run, and anneal with
            doublets. A search for a cell tree anneals if its best tree is less likely than the mutation tree
            that it was drawn from, or the searches disagree; the result's options say which it was.
        chains: number of independent chains, each from a uniform random tree. Default: 16.
        steps: steps of each chain. Default: chains run until they agree (`convergence.StoppingRule`).
        seed: 0 … 2^64-1.
        gamma: exponent of the likelihood in the accept test; above 1 the chain is greedier.
        move_probabilities: weights of prune and reattach, swap labels, swap subtrees (with tree="leaf", of
            prune and reattach, swap leaves); scaled to sum 1. Default: `TreeKind.move_probabilities`.
        device: auto, cpu, native, fpga-emu, fpga, gpu, numpy, a dpctl filter string, a dpctl.SyclDevice or
            the dpctl.SyclQueue of one (only its device counts); or several names with
            commas between, such as cpu,fpga-emu, which share the work.
        executor: an executor whose workers do the work, each on `device`: of processes, or of
            dask.distributed (docs/cluster.md). It stays open.
        encoding: how trees are stored in the device's memory: auto, preorder or ancestor (with tree="leaf",
            auto or clade). Changes speed only.
        image: a file with a precompiled kernel for the device, as `syclade export --with-image` makes it.
        slots: number of chain states on the device at once. Default: chosen for the device.
        start: start of chains: random trees (random), or the trees that searches find (search).
        checkpoint: a file for checkpoints, from which the run can be resumed after its process has ended.
        checkpoint_every: seconds between checkpoints of chains; searches write one after every phase.
        resume: a checkpoint of an earlier run. This run resumes it and ends as if it had never stopped.
            Options that determine the result must match; device, encoding and slots may differ.
        force: whether to overwrite an existing `trace` file, or a `checkpoint` of another run. The `resume`
            file may always be overwritten.
        max_trees: look for all trees that are as likely as the best one, up to this many
            (`Result.co_optimal`).
        samples: steps between two samples of a chain's trees (`Result.samples`); needs `steps`.
        support: after a search for mutation trees, sample trees from the posterior of the sum score (with
            `doublets`, of that score), for `Result.support`: quick, for seconds to minutes; full, until there
            are enough samples (docs/samples.md); or none. Default: quick, except with options that exclude it
            (host/ground/supported.py). Does not change the tree.
        dropout: rates of false negatives of the trees for support: shared by all mutations, or per-mutation;
            or auto, per-mutation if the data show that they differ (`Support.dropout`). Tests of
            recurrent="all" follow (`Recurrences.fn_rates`). Of reads, the same for allelic dropout.
        burn_in: fraction of a chain's steps before its first sample.
        learn_fn, learn_fp, learn_doublets: probabilities that a step changes that rate instead of the tree;
            need `steps`.
            The given rates are then the means of Beta priors (with zygosity, the sum of both false-negative
            rates is), the best tree is that with the best rates, and `Result.rates` are these.
        fn_sd, fp_sd, doublets_sd: standard deviations of the priors. Default: 0.1 for fn and doublets, the
            rate itself for fp.
        fn_step, fp_step, doublets_step: standard deviations of a change. Default: a tenth of the prior's.
        unmutated_counts: observations of 0 and of 1 at positions without mutations that were left out of the
            matrix; with learn_fp, they add to the prior of that rate.
        true_tree: a tree file or a parent vector to compare the result with (`Result.true_tree`). Does not
            change the result.
        stages: how the stages of a chain step run: one after another in one kernel (fused), or as a pipeline
            full of chain states (docs/fpga.md) on the encoding ancestor: five kernels (separate), or one
            kernel whose work-groups do different stages at the same time (overlapping). Changes speed only.
        trace: a file for the timeline of the first 1000 steps of separate or overlapping stages, in Chrome's
            trace format.
        stop: a stop request (`Stop.wanted`), from a signal handler or another thread. The run then ends
            between two launches with the best tree so far, and `Result.interrupted` is set.
        progress: callback for progress, called about ten times per second.
        reading: options of `read_matrix`, which describes them, such as `rows`, `layer` or `format`; not for
            a `Matrix`, which has been read.

    Returns:
        The best tree over all chains, its float64 log-likelihood, and how it was found. The reasons to doubt
        it (`Result.warnings`) are also logged, by the logger `syclade.result`.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or DeviceError, with what to do.

    Source: Jahn, Kuipers, Beerenwinkel, "Tree inference for single-cell data", 2016.
    """
    options = options_with(locals(), reading, "infer")
    result = infer_by(options, matrix, executor=executor, stop=stop, progress=progress)
    log_warnings(result)
    return result


def log_warnings(result: Result, name: str = "") -> None:
    """Log the reasons to doubt a result, as a command prints them.

    Args:
        result: the result.
        name: name of its matrix, if there are several.
    """
    for words in result.new_warnings:
        logger.warning("%s%s", f"{name}: " if name else "", words)


def infer_by(
    options: Options,
    matrix: object,
    *,
    executor: Executor | None = None,
    stop: Stop | None = None,
    progress: Callable[[InferenceProgress], None] | None = None,
) -> Result:
    """Infer a tree by options as one value; see `infer`.

    Args:
        options: the options, with those of `read_matrix`; those that only commands have are not used.
        matrix, executor, stop, progress: as for `infer`.
    """
    begun = time.perf_counter()
    _check_outputs(options, matrix)
    stop = stop or Stop()
    if executor is not None and options.scheduler is None:
        options = options.replace(scheduler="executor")  # what goes together is the same for any workers

    def show(state: Progress, to_nats: Callable[[int], float]) -> None:
        if progress is not None:
            progress(progress_of(state, to_nats))

    request = make_request(matrix, options, executor, stop, show)
    prepared = time.perf_counter() - begun

    def report(state: Progress) -> None:
        show(state, request.plan.problem.to_nats)

    decides = deciding_options(request.plain_options, request.observed.sha256)
    try:
        with locked_checkpoint(options.checkpoint, options.resume):
            checkpoints = make_checkpoint_writer(
                options.checkpoint, options.resume, options.checkpoint_every, decides, force=options.force
            )
            draft = make_draft(request, RunContext(report, checkpoints, stop))
            if stop.wanted and checkpoints.writes and not checkpoints.wrote:
                logger.warning("no checkpoint was written, since the stop came before the first one")
            if options.recurrent is not None and stop.wanted:
                draft.stop(RECURRENCE)
            elif options.recurrent is not None:
                from syclade.host.answer.recurrence.bayes_factors import add_recurrences

                with draft.timed("recurrence"):
                    of_tree = reporting_tree(report, request, draft)
                    add_recurrences(request, draft, RunContext(of_tree, stop=stop))
            return finish(request, draft, prepared, time.perf_counter() - begun)
    finally:
        if isinstance(request.device, Several):
            request.device.close()


def _check_outputs(options: Options, matrix: object) -> None:
    """Check that checkpoint and trace are no inputs; a checkpoint may replace the one that is resumed.

    Raises:
        OptionError: one of them is no path.
        OutputError: one of them is an input, or both are one file.
    """
    kept, source, timeline = (
        checked(name, getattr(options, name)) for name in ("checkpoint", "resume", "trace")
    )
    names = ("names", "cell_names", "metadata", "image", "true_tree")
    inputs = {flag_of(name): getattr(options, name) for name in names}
    inputs["the matrix"] = getattr(matrix, "source", matrix)
    samples = {} if source is None else {f"the samples of {flag_of('resume')}": store_of(source)}
    if kept is not None:
        refuse_same([kept], {**inputs, flag_of("trace"): timeline, **samples})
        refuse_same([store_of(kept)], {**inputs, flag_of("trace"): timeline, flag_of("resume"): source})
    if timeline is not None:
        refuse_same([timeline], {**inputs, **samples, flag_of("resume"): source})


def infer_leaf(matrix: object, **options: Any) -> Result:
    """Infer the maximum-likelihood cell tree: `infer` with tree="leaf".

    Args:
        matrix, options: as for `infer`.
    """
    return infer(matrix, tree="leaf", **options)


def progress_of(state: Progress, to_nats: Callable[[int], float]) -> InferenceProgress:
    """Convert the pipeline's progress for users.

    Args:
        state: progress of the pipeline.
        to_nats: converts an integer score to a log-likelihood.
    """
    return InferenceProgress(
        state.steps_done,
        state.steps_total,
        state.steps_expected,
        to_nats(state.best_score),
        state.steps_per_second,
        state.acceptance,
    )
