"""Choice of whether a run samples trees for support, by its options and its matrix."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from syclade.host.answer.request.arguments import method_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates
from syclade.host.device.choice import choose_device, first_of
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import Options, flag_of
from syclade.host.ground.options.defaults import DEFAULT_SUPPORT
from syclade.host.ground.supported import excluded_by

if TYPE_CHECKING:
    from syclade.host.findings.support.stage import SupportPlan

__all__ = ["support_level", "support_plan"]

MOST_BY_DEFAULT = 2000
"""Most mutations of a matrix whose tree has support by default."""

logger = logging.getLogger("syclade.support")


def support_level(options: Options) -> str:
    """Return the support that options ask for, quick, full or none; by default none where it cannot be."""
    settled = options._replace(method=method_of(options))
    return "none" if any(excluded_by("support", settled)) else options.support or DEFAULT_SUPPORT


def dropout_of(options: Options, rates: Rates, doublets: float | None) -> str:
    """Return the option `dropout`; with doublets or zygosity, mutations share a rate."""
    return options.dropout if doublets is None and rates.fn_rate_hom is None else "shared"


def support_plan(
    options: Options, observed: Matrix, rates: Rates, doublets: float | None
) -> SupportPlan | None:
    """Return the chains that sample trees for support; None where they are not wanted.

    By default they are not for a matrix of more than `MOST_BY_DEFAULT` mutations, since the samples are
    judged by tables of all pairs; nor on numpy, where they take minutes.

    Raises:
        MatrixError: support was asked for, and the matrix is too large for its score.
        DeviceError: the requested device cannot be used.
    """
    level, by_default = support_level(options), options.support is None
    if level == "none" or (by_default and observed.n_mutations > MOST_BY_DEFAULT):
        return None
    if by_default and choose_device(first_of(options.device)).kind == "numpy":
        logger.info("no support on numpy, where it takes minutes: %s samples", flag_of("support", "quick"))
        return None
    from syclade.host.findings.support.stage import make_support_plan

    try:
        return make_support_plan(level, observed, rates, doublets, dropout_of(options, rates, doublets))
    except MatrixError:
        if by_default:
            return None
        raise
