"""The space of mutation trees: a node for each mutation, and a column of scores for each distinct cell."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.parts import Space
from syclade.fallback.chain.shared_tables import SharedTables
from syclade.fallback.chain.tables import Tables


def _weights_of(weights: NDArray[Any], observed: NDArray[Any]) -> NDArray[np.int32]:
    """Return what each node adds to each column, (slots, nodes, columns); the root adds nothing."""
    root = np.full((1, observed.shape[1]), weights.shape[1] - 1, dtype=np.uint8)
    added: NDArray[np.int32] = weights.astype(np.int32)[:, np.concatenate((observed, root))]
    return added


def _tables(parents: NDArray[Any], weights: NDArray[Any], observed: NDArray[Any]) -> Tables:
    return Tables(parents, _weights_of(weights, observed))


def _shared_tables(
    parents: NDArray[Any], weights: NDArray[Any], observed: NDArray[Any], log_shares: NDArray[Any]
) -> SharedTables:
    return SharedTables(parents, _weights_of(weights, observed), log_shares)


SPACE = Space(
    labels=len,
    slot_bytes=lambda observed: Tables.slot_bytes(len(observed) + 1, observed.shape[1]),
    tables=_tables,
    shared_tables=_shared_tables,
)
