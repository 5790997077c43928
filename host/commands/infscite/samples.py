"""∞SCITE's `.samples` file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.sample_store import SampleStore
from syclade.host.commands.infscite.arguments import InfsciteCall
from syclade.host.commands.infscite.doublets import Figures, figures_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rate_model import Places
from syclade.host.findings.samples.lines import sample_line

__all__ = ["lines_of_samples"]


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
                rates = model.at(places)
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
