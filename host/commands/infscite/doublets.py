"""Figures of one tree with doublets, as ∞SCITE reports them: their rate is fixed, or fitted by EM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.commands.infscite.arguments import InfsciteCall
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.copy_scores import mixture_with_copy
from syclade.host.data.model.doublets import fitted_rate, mixture_of
from syclade.host.data.model.rate_model import Places

__all__ = ["Figures", "figures_of"]


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
