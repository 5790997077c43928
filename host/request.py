"""Options of `infer`, checked and complete: a value that `host/answer.py` runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from syclade.host.common.errors import OptionError, TreeError
from syclade.host.common.values import path_of, real, whole
from syclade.host.input.door import read_matrix
from syclade.host.input.matrix import Matrix, Names
from syclade.host.model.defaults import DEFAULT_CHAINS
from syclade.host.model.rate_model import RateModel, make_rate_model
from syclade.host.model.rates import Rates
from syclade.host.trees.cells import check_cell_names, default_cell_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.backends.stages.options import Separate
    from syclade.host.chains.plan import Plan
    from syclade.host.kinds.kind import TreeKind
    from syclade.host.samples.sampling import Sampling

__all__ = ["Learning", "Request", "check_score", "make_request", "names_told", "sampling_of", "tree_of"]

METHODS = ("auto", "search", "chain")

MOST_TREES = 10**6
"""Maximum number of co-optimal trees: all of them stay in memory."""

SCORES = ("max", "sum")
"""Scores of a tree: `chains/scores/named.py`."""

STARTS = ("random", "search")
"""Starts of chains."""

CANNOT_SEARCH = ("fpga", "python")
"""Devices for which `auto` means chains: FPGA cards have no search kernels, and Python is far too slow."""


class Learning(NamedTuple):
    """Options of learned rates, as for `infer`."""

    learn_fn: float | None = None
    fn_sd: float | None = None
    fn_step: float | None = None
    learn_fp: float | None = None
    fp_sd: float | None = None
    fp_step: float | None = None

    def of(self, rates: Rates) -> RateModel:
        """Return the rates of the chains, checked.

        Raises:
            OptionError: the numbers are invalid.
        """
        return make_rate_model(
            rates,
            learn_fn=self.learn_fn,
            fn_deviation=self.fn_sd,
            fn_step=self.fn_step,
            learn_fp=self.learn_fp,
            fp_deviation=self.fp_sd,
            fp_step=self.fp_step,
        )


@dataclass(frozen=True, eq=False)
class Request:
    """Checked options of an inference.

    Attributes:
        kind: kind of the trees.
        observed, rates, plan: the matrix, its error rates, and the plan of the chains.
        by_search: whether to search.
        chains, steps, seed, slots: as for `infer`; steps are None if the chains run until they agree.
        device, encoding, image, start: as for `infer`.
        sampling: which states are samples; None for none.
        max_trees: maximum number of co-optimal trees; None to skip looking for them.
        true_tree: int32, shape (n + 1,): a parent vector to compare with; None for none.
        separate: options of separate stages; None for fused ones.
        options: all of this by the names of `infer`'s arguments, as plain values.
    """

    kind: TreeKind
    observed: Matrix
    rates: Rates
    plan: Plan
    by_search: bool
    chains: int
    steps: int | None
    seed: int
    slots: int | None
    device: str
    encoding: str
    image: str | os.PathLike[str] | None
    start: str
    sampling: Sampling | None
    max_trees: int | None
    true_tree: NDArray[np.int32] | None
    separate: Separate | None
    options: Mapping[str, Any]


def make_request(
    matrix: Any,
    rates: Rates,
    *,
    tree: str,
    names: Names,
    cell_names: Names,
    attach: bool,
    score: str,
    method: str,
    chains: int | None,
    steps: int | None,
    seed: int,
    gamma: float,
    move_probabilities: Sequence[float] | None,
    device: str,
    encoding: str,
    image: str | os.PathLike[str] | None,
    slots: int | None,
    start: str,
    max_trees: int | None,
    samples: int | None,
    burn_in: float,
    learning: Learning,
    true_tree: Any,
    stages: str,
    trace: str | os.PathLike[str] | None,
    force: bool,
) -> Request:
    """Check the arguments of `infer` and return them as a request.

    Raises:
        SycladeError: MatrixError, RatesError, OptionError or TreeError, with what to do.
    """
    from syclade.host.kinds.kind import PlanOptions
    from syclade.host.kinds.named import kind_named

    kind = kind_named(tree)
    if kind.name == "leaf":
        _check_cell_trees(
            {
                "--image": image,
                "--attach": attach,
                "--max-trees": max_trees,
                "--true-tree": true_tree,
                "--trace": trace,
                "--score sum": score == "sum",
                "--stages separate": stages != "fused",
                "--learn-fn": learning.learn_fn,
                "--learn-fp": learning.learn_fp,
            }
        )
    summed = check_score(score) == "sum"
    separate = _separate(
        stages, trace, force, encoding=encoding, image=image, samples=samples, score=score,
        learn_fn=learning.learn_fn, learn_fp=learning.learn_fp,
    )  # fmt: skip
    by_search = _is_search(
        method,
        device,
        {
            "--chains": chains,
            "--steps": steps,
            "--image": image,
            "--samples": samples,
            "--score sum": score if summed else None,
            "--learn-fn": learning.learn_fn,
            "--learn-fp": learning.learn_fp,
            "--start search": _start(start),
            "--stages separate": separate,
        },
    )
    if (
        by_search and kind.name == "leaf"
    ):  # searches find mutation trees, from which chains of cell trees start
        by_search, start = False, "search"
    chains = whole("--chains", DEFAULT_CHAINS if chains is None else chains, 1, 2**32 - 1)
    steps = None if steps is None else whole("--steps", steps, 1, 2**62 - 1)
    seed = whole("--seed", seed, 0, 2**64 - 1)
    slots = None if slots is None else whole("--slots", slots, 1, 2**31 - 1)
    max_trees = None if max_trees is None else whole("--max-trees", max_trees, 1, MOST_TREES)
    if move_probabilities is None:
        move_probabilities = kind.move_probabilities
    elif isinstance(move_probabilities, Iterator):  # an iterator can be read only once
        move_probabilities = tuple(move_probabilities)
    observed = read_matrix(matrix, names, cell_names=cell_names)
    if attach:
        check_cell_names(observed.cells or default_cell_names(observed.n_cells), observed.mutations)
    true = None if true_tree is None else tree_of(true_tree, observed)
    if summed and max_trees is not None:
        raise OptionError("--max-trees is for --score max", hint="ask for --samples instead")
    model = learning.of(rates)
    if model.learns:
        _check_learning(steps, image)
    sampling = sampling_of(samples, burn_in, steps, image)
    recorders = () if sampling is None else (sampling.recorder,)
    events = 1 if sampling is None else sampling.events
    plan = kind.make_plan(observed, model, PlanOptions(score, gamma, move_probabilities, recorders, events))
    if separate is not None:
        from syclade.host.backends.stages.options import check_plan

        check_plan(plan)
    options = {
        "tree": kind.name,
        **{name: getattr(rates, name) for name in ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate")},
        "merge_homozygous": rates.merge_homozygous,
        **names_told(names, cell_names, observed),
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
        **{name: None if value is None else float(value) for name, value in learning._asdict().items()},
        "true_tree": os.fspath(true_tree) if isinstance(true_tree, (str, os.PathLike)) else None,
        "stages": stages,
        "trace": None if trace is None else os.fspath(trace),
    }
    return Request(
        kind, observed, rates, plan, by_search, chains, steps, seed, slots, device, encoding, image, start,
        sampling, max_trees, true, separate, options,
    )  # fmt: skip


def _check_cell_trees(given: Mapping[str, object]) -> None:
    """Raise an OptionError for options of mutation trees only, unless all are None or False: not given."""
    asked = [option for option, value in given.items() if value is not None and value is not False]
    if asked:
        raise OptionError(
            f"{asked[0]} is for mutation trees, and --tree is leaf", hint=f"leave out {asked[0]}"
        )


def _separate(
    stages: str, trace: str | os.PathLike[str] | None, force: bool, **other: Any
) -> Separate | None:
    """Return the options of separate stages; None for fused ones. See `separate_stages`."""
    if stages == "fused" and trace is None:
        return None
    from syclade.host.backends.stages.options import separate_stages

    return separate_stages(stages, trace, force, other)


def check_score(score: str) -> str:
    """Return the name of a score; raise an OptionError if there is no such score."""
    if score not in SCORES:
        raise OptionError(f"--score is {score!r}", hint=f"use one of {', '.join(SCORES)}")
    return score


def tree_of(tree: Any, observed: Matrix) -> NDArray[np.int32]:
    """Return the parent vector, int32, shape (n + 1,), of a tree file or a parent vector.

    Raises:
        TreeError: the tree is invalid, or does not match the matrix.
    """
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


def _start(start: str) -> str | None:
    """Check the start of chains; return None for the default."""
    if start not in STARTS:
        raise OptionError(f"--start is {start!r}", hint=f"use one of {', '.join(STARTS)}")
    return None if start == "random" else start


def _is_search(method: str, device: str, of_chains: Mapping[str, object]) -> bool:
    """Return whether to search; see `infer`.

    Args:
        method: the option.
        device: the option.
        of_chains: options that only chains have; None for those not given.
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


def sampling_of(samples: int | None, burn_in: float, steps: int | None, image: Any) -> Sampling | None:
    """Return which states are samples; None for none. The code for samples is only loaded if needed.

    Raises:
        OptionError: the options are invalid, or there is an image.
    """
    part = real("the part (--burn-in)", burn_in)
    if not 0 <= part < 1:
        raise OptionError(f"the part (--burn-in) is {part:g}", hint="give a number from 0 to below 1")
    if samples is None:
        return None

    from syclade.host.samples.sampling import make_sampling

    made = make_sampling(samples, part, steps)
    if image is not None:
        raise OptionError("--samples goes without --image", hint="images hand out no samples")
    return made


def _check_learning(steps: int | None, image: Any) -> None:
    """Check that learned rates come with --steps and without an image.

    Chains that learn rates never agree on one score, and precompiled images only support fixed rates.
    """
    if steps is None:
        raise OptionError(
            "--learn-fn and --learn-fp want --steps", hint="say how long the chains shall be: --steps N"
        )
    if image is not None:
        raise OptionError("rates are not learned with --image", hint="images are for fixed rates")


def names_told(names: Names, cell_names: Names, observed: Matrix) -> dict[str, str | list[str] | None]:
    """Return the names of mutations and cells as the plain values of two options.

    Args:
        names, cell_names: as given; an iterator has already been consumed.
        observed: the matrix; for names that were not given, it knows the file they come from, if any.
    """
    return {
        "names": _told(names, observed.mutations) or observed.names_from,
        "cell_names": _told(cell_names, observed.cells) or observed.cell_names_from,
    }


def _told(names: Names, found: Sequence[str] | None) -> str | list[str] | None:
    if names is None:
        return None
    return os.fspath(names) if isinstance(names, (str, os.PathLike)) else list(found or ())
