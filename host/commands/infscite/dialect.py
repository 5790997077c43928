"""The dialect of ∞SCITE: its model, its files and lines, and figures of a tree with doublets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.scores.named import ScoreOptions
from syclade.host.commands.infscite.arguments import InfsciteCall
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

if TYPE_CHECKING:
    from syclade.host.commands.scite.run import SciteOutcome

__all__ = ["Figures", "dialect_of", "figures_of", "graphviz_text", "lines_of", "lines_of_samples"]


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


def lines_of(call: InfsciteCall, outcome: SciteOutcome) -> list[str]:
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
