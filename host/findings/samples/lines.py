"""Samples as lines in SCITE's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import SampleStore
from syclade.host.data.model.rate_model import RateModel

__all__ = ["sample_line", "sample_lines"]

Line: TypeAlias = Callable[[float, NDArray[np.int32], Sequence[float]], str]


def sample_line(log_likelihood: float, parents: NDArray[np.int32], more: Sequence[float] = ()) -> str:
    """Return a line of a ``.samples`` file: score, number of leaves, and the parent of each mutation.

    Mutations are numbered from 0; the root is n.

    Args:
        log_likelihood: log-likelihood of the tree.
        parents: int32, shape (n + 1,): the tree.
        more: columns between leaves and parents: learned rates, and the score with their prior.
    """
    leaves = len(parents) - len(set(parents.tolist()))
    columns = (f"{log_likelihood:.6g}", str(leaves), *(f"{number:.6g}" for number in more))
    return "\t".join((*columns, " ".join(map(str, parents[:-1].tolist())))) + " \n"


def sample_lines(
    store: SampleStore, to_nats: Callable[[int], float], model: RateModel, line: Line = sample_line
) -> Iterator[str]:
    """Yield the lines of all samples, chain by chain.

    Args:
        store: the samples.
        to_nats: (integer score) -> log-likelihood.
        model: the error rates of the chains.
        line: (log-likelihood of the tree, parents, learned rates and the score with their prior) -> the line.
    """
    for chain in store.chains:
        for records in store.of_chain(chain):
            for units, places, parents in zip(
                records["score"].tolist(), records["rate_at"].tolist(), records["parents"], strict=True
            ):
                score, (fn, fp, doublets) = to_nats(units), places
                rates = model.values((fn, fp, doublets))
                of_tree = score - model.log_prior((fn, fp, doublets)) if rates else score
                yield line(of_tree, parents, (*rates.values(), score) if rates else ())
