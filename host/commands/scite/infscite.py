"""∞SCITE: its arguments and model, its files, and figures of a tree with doublets.

The flags are those of the program ``infSCITE`` (Kuipers, Jahn, Raphael, Beerenwinkel 2017; its README).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.scores.score import ScoreOptions
from syclade.host.commands.scite.arguments import (
    FLAGS,
    Flag,
    Given,
    SciteCall,
    number,
    read_flags,
    scite_values,
    text,
    unknown_flag,
    whole_number,
)
from syclade.host.commands.scite.dialect import Best, Dialect, rates_of, score_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.copy_scores import mixture_with_copy
from syclade.host.data.model.doublets import fitted_rate, mixture_of
from syclade.host.data.model.rate_model import (
    UNIFORM_DEVIATION,
    UNIFORM_LEARN,
    UNIFORM_MEAN,
    Places,
    RateModel,
    make_rate_model,
)
from syclade.host.data.model.rates import Rates, error_rates
from syclade.host.findings.samples.sampled import sample_line
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import whole

__all__ = [
    "Figures",
    "InfsciteCall",
    "dialect_of",
    "figures_of",
    "graphviz_text",
    "lines_of_samples",
    "parse_arguments",
]

_DEFAULT_COUNTS = (10_000, 0)
"""Values of -z without values, as in ∞SCITE."""

_FLAGS: Mapping[str, Flag] = {
    **{flag: values for flag, values in FLAGS.items() if flag != "-sd"},
    "-d": (0, 1, number),
    "-z": (0, 2, whole_number),
    "-sd_alpha": (1, 1, number),
    "-sd_beta": (1, 1, number),
    "-rec": (1, 1, whole_number),
    "-samples": (1, 1, text),
}

_MISSING = {
    "-samples": "cells are called s_1, s_2, …: leave out -samples",
}
"""Flags of ∞SCITE that are refused, with what to do."""


@dataclass(frozen=True)
class InfsciteCall(SciteCall):
    """∞SCITE's arguments, parsed: those of SCITE, and these.

    Attributes:
        doublets: whether there are doublets: -d.
        doublet_rate: the value of -d; None if the rate is learned.
        unmutated: -z, observations of 0 and of 1 at positions left out of the matrix; None if the rate of
            false positives is fixed.
        alpha_sd: -sd_alpha; None if not given.
        recurrent: number of the mutation that occurs twice, from 0, where -rec counts rows from 1; None if
            there is none.
    """

    doublets: bool
    doublet_rate: float | None
    unmutated: tuple[int, int] | None
    alpha_sd: float | None
    recurrent: int | None


def parse_arguments(arguments: Sequence[str]) -> InfsciteCall:
    """Parse ∞SCITE's arguments. If a flag occurs twice, the last one counts.

    Raises:
        OptionError: an argument is invalid, or is refused; the message names the flag.
    """
    given = read_flags(list(arguments), _FLAGS, lambda flag: unknown_flag(flag, "infscite"))
    for flag, hint in _MISSING.items():
        if flag in given:
            raise OptionError(f"{flag} is not supported", hint=hint)
    of_scite = scite_values({**given, "-sd": given.get("-sd_beta", [0.1])})
    doublets = "-d" in given
    call = InfsciteCall(
        # Scores with doublets add up all nodes, whether -s is given or not, as in ∞SCITE.
        **{**of_scite, "sum_score": of_scite["sum_score"] or doublets},
        doublets=doublets,
        doublet_rate=_one(given, "-d"),
        unmutated=_counts(given),
        alpha_sd=_one(given, "-sd_alpha"),
        recurrent=given["-rec"][0] - 1 if "-rec" in given else None,
    )
    if call.recurrent is not None:
        _refuse_with_copy(call, call.recurrent)
    _refuse(call, given)
    return call


def _one(given: Given, flag: str) -> Any:
    return given[flag][0] if given.get(flag) else None


def _counts(given: Given) -> tuple[int, int] | None:
    """Return the counts of -z.

    Raises:
        OptionError: it has one value, or one that is no count.
    """
    if "-z" not in given:
        return None
    counts = given["-z"] or _DEFAULT_COUNTS
    if len(counts) != 2:
        raise OptionError("-z has one value", hint="give both, -z Z0 Z1, or none")
    zeros, ones = (whole("-z", count, 0, 10**12) for count in counts)
    return zeros, ones


def _refuse(call: InfsciteCall, given: Given) -> None:
    """Raise an OptionError for invalid values, and for flags that do not go together."""
    rate = call.doublet_rate
    if rate is not None and not 0.0 < rate < 1.0:
        raise OptionError(f"-d is {rate:g}", hint="give a rate between 0 and 1, or none to learn it")
    if call.doublets and call.cell_tree:
        raise OptionError("-d does not go with -transpose", hint="cell trees have no doublets: leave out one")
    for flag in ("-z", "-sd_beta"):
        if flag in given and call.learn == 0.0:
            raise OptionError(f"{flag} without -e", hint="set the probability of a change of rates: -e 0.2")
    if call.alpha_sd is not None and call.unmutated is None:
        raise OptionError("-sd_alpha without -z", hint=f"-z learns the rate of {flag_of('fp_rate')}")


def _refuse_with_copy(call: InfsciteCall, mutation: int) -> None:
    """Raise an OptionError if -rec is no row, or there are cell trees."""
    if call.mutations < 2:
        raise OptionError(
            f"-rec with {call.mutations} mutation",
            hint="its copies would be siblings, or parent and child: use a matrix of two mutations or more",
        )
    if not 0 <= mutation < call.mutations:
        raise OptionError(
            f"-rec is {mutation + 1}, which is no row of the matrix",
            hint=f"give the number of a mutation, from 1 to {call.mutations}",
        )
    if call.cell_tree:
        raise OptionError(
            "-transpose does not go with -rec here",
            hint="cell trees have no nodes of mutations: leave out one",
        )


_HEAD = "digraph g{\nnode [color=deeppink4, style=filled, fontcolor=white];\t\n"
_CELLS = "node [color=lightgrey, style=filled, fontcolor=black, shape=circle, fixedsize=true];  \n"


def dialect_of(call: InfsciteCall) -> Dialect:
    """Return the dialect for ∞SCITE's arguments.

    Raises:
        RatesError, OptionError: the rates or their priors are invalid.
    """
    model = _model(call, rates_of(call))

    def judge(matrix: Matrix, plan: Plan, parents: NDArray[np.int32], places: Places) -> Best:
        figures = figures_of(call, matrix, plan, parents, places)
        return Best(figures.log_likelihood, {**figures.rates, **figures.doublets})

    score = ScoreOptions("max", _rate_of_doublets(call)) if call.doublets else score_of(call)
    return Dialect(
        model=model,
        score=score._replace(recurrent=call.recurrent),
        # Chains of the other models have no precompiled kernels that record all best trees.
        lists_trees=call.tree_list
        and not call.doublets
        and call.unmutated is None
        and call.recurrent is None,
        graphviz=graphviz_text,
        lines_of_samples=lambda matrix, plan, samples: lines_of_samples(call, matrix, plan, samples),
        judge=judge if call.doublets else None,
    )


def _rate_of_doublets(call: InfsciteCall) -> float:
    return UNIFORM_MEAN if call.doublet_rate is None else call.doublet_rate


def _model(call: InfsciteCall, rates: Rates) -> RateModel:
    """Return the rates of the chains; with -z, half of the jumps of -e are of false positives."""
    learned: dict[str, float | None] = {}
    if call.learn > 0.0:
        if not call.prior_sd > 0.0 or not call.step_divisor > 0.0:
            raise OptionError(
                f"-sd_beta is {call.prior_sd:g} and -x {call.step_divisor:g}", hint="both are numbers above 0"
            )
        share = call.learn if call.unmutated is None else call.learn / 2.0
        learned |= {
            "learn_fn": share,
            "fn_deviation": call.prior_sd,
            "fn_step": call.prior_sd / call.step_divisor,
        }
        if call.unmutated is not None:
            step = None if call.alpha_sd is None else call.alpha_sd / call.step_divisor
            learned |= {"learn_fp": share, "fp_deviation": call.alpha_sd, "fp_step": step}
    if call.doublets:
        learned["doublets"] = _rate_of_doublets(call)
    if call.doublets and call.doublet_rate is None:
        learned |= {"learn_doublets": UNIFORM_LEARN, "doublets_deviation": UNIFORM_DEVIATION}
    return make_rate_model(rates, **learned, unmutated=call.unmutated)


def graphviz_text(
    parents: NDArray[np.int32],
    names: Sequence[str] | None = None,
    attached: NDArray[np.bool_] | None = None,
) -> str:
    """Return the tree in ∞SCITE's GraphViz format: nodes are numbers from 0, with names as labels.

    Args:
        parents: int32, shape (n + 1,).
        names: of the mutations; None numbers them from 1.
        attached: bool, shape (n + 1, cells): the best nodes of each cell; None for no cells.
    """
    count = len(parents)
    labels = [*(map(str, range(1, count)) if names is None else names), "Root"]
    lines = [f'{node}[label="{_escaped(label)}"];\n' for node, label in enumerate(labels)]
    lines += [f"{parents[node]} -> {node};\n" for node in range(count - 1)]
    if attached is not None:
        cells = range(attached.shape[1])
        lines += [_CELLS, *(f's_{cell}[label="s_{cell + 1}"];\n' for cell in cells)]
        lines += [f"{node} -> s_{cell};\n" for cell, node in np.argwhere(attached.T).tolist()]
    return _HEAD + "".join(lines) + "}\n"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"')


def lines_of_samples(call: InfsciteCall, matrix: Matrix, plan: Plan, samples: SampleStore) -> Iterator[str]:
    """Yield the lines of all samples, chain by chain.

    Columns are log-likelihood, leaves and parents; with -e, between leaves and parents β, α, the score with
    the priors, the rate of relevant doublets, and the rate of doublets. A rate that -d leaves open is fitted
    to each tree.

    Args:
        call: ∞SCITE's arguments.
        matrix: the matrix.
        plan: plan of the chains.
        samples: the samples.
    """
    model = plan.problem.rate_tables.model
    last: tuple[bytes, Figures] | None = None
    for chain in samples.chains:
        for records in samples.of_chain(chain):
            for record in records:
                fn, fp, pairs = record["rate_at"].tolist()
                places: Places = (fn, fp, pairs)
                state = record["rate_at"][:2].tobytes() + record["parents"].tobytes()
                if last is None or last[0] != state:
                    last = (
                        state,
                        _figures(call, matrix, plan, record["parents"], places, int(record["score"])),
                    )
                figures = last[1]
                rates = error_rates(model.at(places))
                beta = rates.fn_rate + (rates.fn_rate_hom or 0.0)
                both = figures.log_likelihood + model.log_prior(places)
                more = (beta, rates.fp_rate, both, *figures.doublets.values())
                yield sample_line(figures.log_likelihood, record["parents"], more if call.learn > 0.0 else ())


def _figures(
    call: InfsciteCall, matrix: Matrix, plan: Plan, parents: NDArray[np.int32], places: Places, units: int
) -> Figures:
    """Return the figures of a sample; without doublets, its log-likelihood follows from the chain's score."""
    if call.doublets:
        return figures_of(call, matrix, plan, parents, places)
    model = plan.problem.rate_tables.model
    log_likelihood = plan.problem.to_nats(units) - model.log_prior(places)
    return Figures(log_likelihood, model.values(places), {"relevant": 0.0, "doublets": 0.0})


class Figures(NamedTuple):
    """Figures of a tree.

    Attributes:
        log_likelihood: natural log, float64.
        rates: learned error rates, by name.
        doublets: rates of doublets: `relevant`, those of different branches, and `doublets`, all.
    """

    log_likelihood: float
    rates: Mapping[str, float]
    doublets: Mapping[str, float]


def figures_of(
    call: InfsciteCall, matrix: Matrix, plan: Plan, parents: NDArray[np.int32], places: Places
) -> Figures:
    """Return the figures of a tree.

    Args:
        call: ∞SCITE's arguments. Without a rate of doublets, it is the one that makes the tree most likely.
        matrix: the matrix; with -rec, the copy is its last mutation.
        plan: plan of the chains.
        parents: int32, shape (n + 1,): the tree.
        places: grid points of its rates; that of the rate of doublets is not used.
    """
    model = plan.problem.rate_tables.model
    rates = model.at(places)
    if call.recurrent is None:
        mixture = mixture_of(matrix, rates, parents)
    else:
        mixture = mixture_with_copy(matrix, rates, parents, call.recurrent)
    found = fitted_rate(mixture) if call.doublet_rate is None else call.doublet_rate
    learned = {name: value for name, value in model.values(places).items() if name != "doublets"}
    return Figures(
        float(mixture.log_likelihoods(found).sum()),
        learned,
        {"relevant": mixture.relevant_rate(found), "doublets": found},
    )
