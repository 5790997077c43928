"""Parent vectors without conversion, for the numpy fallback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.encodings.base import Encoding
from syclade.host.data.model.problem import Problem
from syclade.kernels.arguments import STATE, Argument
from syclade.kernels.chain.arguments import WEIGHTS
from syclade.kernels.preorder.screened.arguments import LOG_SHARES
from syclade.kernels.sums.rates import EVENT_RATES, PLACES, RATES
from syclade.kernels.target.traits import Traits

__all__ = ["PlainEncoding"]

_NO_TARGET = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)


class PlainEncoding(Encoding):
    """Parent of each node. There is no kernel: `fallback.chain.steps` takes the problem itself."""

    name = "plain"
    has_shares = True
    group = "none"
    device = ""
    event_rates = EVENT_RATES
    learned_rates = RATES
    arguments: tuple[Argument, ...] = (
        WEIGHTS,
        Argument("parent", STATE, "int32", ("slots", "nodes"), "parent of each node"),
        Argument("best_parent", STATE, "int32", ("slots", "nodes"), "parents in the best tree yet"),
        *PLACES,
    )

    def __init__(self, problem: Problem, traits: Traits = _NO_TARGET, nodes: int | None = None) -> None:
        super().__init__(problem, traits)
        nodes = problem.nodes if nodes is None else nodes
        if problem.octaves and not problem.learns:
            self.arguments = (*self.arguments, LOG_SHARES)
        self.constants = {"nodes": nodes, "classes": problem.classes, "lanes": 1}

    def problem_arrays(self) -> dict[str, NDArray[Any]]:
        """Return no arrays."""
        return {}

    def encode(self, parents: NDArray[np.int32]) -> dict[str, Any]:
        """Return the parents as `parent`."""
        return {"parent": parents}

    def decode(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.int32]:
        """Return the parents, int32, shape (nodes,)."""
        return arrays["parent"].astype(np.int32)
