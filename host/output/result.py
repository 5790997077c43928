"""What an inference gives: the tree, its score, how it was found, and files of all that."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.pipeline import Outcome
from syclade.host.chains.plan import Plan
from syclade.host.devices.device import Device
from syclade.host.input.matrix import Matrix
from syclade.host.model.likelihood import log_likelihood
from syclade.host.model.rates import Rates
from syclade.host.output.files import write_files

if TYPE_CHECKING:
    import networkx

__all__ = ["FILES", "Result", "make_result"]

FILES = ("tree.newick", "tree.gv", "summary.json")


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of an inference: a value that is equal to itself only, and whose arrays cannot be written.

    Attributes:
        parents: int32, shape (n + 1,): parent of every mutation; the root is node n, its own parent.
        log_likelihood: of the tree, natural log, float64, recomputed from counts of events.
        mutations: names of the mutations, in the order of the matrix's rows.
        n_cells: number of cells.
        rates: the error rates.
        chain_log_likelihoods: float64, shape (chains,): the best of every chain, from its integer score.
        moves: for each kind of move, steps (proposed, accepted) over all chains.
        chains, seed, gamma: as asked.
        steps: that every chain has done.
        converged: whether the chains agree on the best score (`convergence.StoppingRule`); a single chain
            never does.
        device, device_name: filter string and name of the device.
        encoding: how trees stood in its memory.
        tiers: steps over all chains by the kernel that did them (host/backends/tiers.py).
        slots: chain states on the device at once.
        seconds: wall time of the chains, without start-up.
        version: of syclade.
    """

    parents: NDArray[np.int32]
    log_likelihood: float
    mutations: tuple[str, ...]
    n_cells: int
    rates: Rates
    chain_log_likelihoods: NDArray[np.float64]
    moves: dict[str, tuple[int, int]]
    chains: int
    steps: int
    converged: bool
    seed: int
    gamma: float
    device: str
    device_name: str
    encoding: str
    tiers: dict[str, int]
    slots: int
    seconds: float
    version: str

    def __post_init__(self) -> None:
        """Own copies of the arrays, which nobody can change."""
        for name in ("parents", "chain_log_likelihoods"):
            own = getattr(self, name).copy()
            own.flags.writeable = False
            object.__setattr__(self, name, own)

    def __repr__(self) -> str:
        """In a line, without the arrays."""
        agreed = "converged" if self.converged else "not converged"
        return (
            f"<Result: log-likelihood {self.log_likelihood:.4f}, {len(self.mutations)} mutations, "
            f"{self.n_cells} cells, {self.chains} chains of {self.steps} steps, {agreed}>"
        )

    @property
    def steps_per_second(self) -> float:
        """Chain steps a second, over all chains."""
        return self.chains * self.steps / max(self.seconds, 1e-9)

    @property
    def tree(self) -> networkx.DiGraph[str]:
        """The tree as a directed graph from the root downwards; nodes are mutation names and the root."""
        from syclade.host.trees.tree import to_networkx

        return to_networkx(self.parents, self.mutations)

    def to_newick(self) -> str:
        """The tree in Newick format, every node labelled."""
        from syclade.host.trees.newick import to_newick

        return to_newick(self.parents, self.mutations)

    def to_graphviz(self) -> str:
        """The tree in GraphViz's dot language."""
        from syclade.host.trees.graphviz import to_graphviz

        return to_graphviz(self.parents, self.mutations)

    def summary(self) -> dict[str, Any]:
        """All of it as plain values, as in summary.json."""
        return {
            "log_likelihood": self.log_likelihood,
            "parents": self.parents.tolist(),
            "mutations": list(self.mutations),
            "n_mutations": len(self.mutations),
            "n_cells": self.n_cells,
            "fp_rate": self.rates.fp_rate,
            "fn_rate": self.rates.fn_rate,
            "gamma": self.gamma,
            "chains": self.chains,
            "steps": self.steps,
            "converged": self.converged,
            "seed": self.seed,
            "chain_log_likelihoods": self.chain_log_likelihoods.tolist(),
            "moves": {kind: {"proposed": p, "accepted": a} for kind, (p, a) in self.moves.items()},
            "device": self.device,
            "device_name": self.device_name,
            "encoding": self.encoding,
            "tiers": self.tiers,
            "slots": self.slots,
            "seconds": self.seconds,
            "steps_per_second": self.steps_per_second,
            "version": self.version,
        }

    def write(self, directory: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write tree.newick, tree.gv and summary.json.

        Args:
            directory: made if need be.
            force: replace files that are there.

        Raises:
            OutputError: files are there and force is not given, or they cannot be written.
        """
        texts = (self.to_newick(), self.to_graphviz(), json.dumps(self.summary(), indent=2) + "\n")
        write_files(directory, dict(zip(FILES, texts, strict=True)), force)


def make_result(
    matrix: Matrix,
    rates: Rates,
    plan: Plan,
    outcome: Outcome,
    device: Device,
    *,
    slots: int,
    steps: int,
    seed: int,
    encoding: str,
    tiers: dict[str, int],
) -> Result:
    """Put together what is known; the score is recomputed in float64 from the original matrix."""
    import syclade

    proposed, accepted = outcome.tallies.reshape(2, -1).tolist()
    problem = plan.problem
    return Result(
        parents=outcome.best.best_parents,
        log_likelihood=log_likelihood(matrix, rates, outcome.best.best_parents),
        mutations=matrix.mutations,
        n_cells=matrix.values.shape[1],
        rates=rates,
        chain_log_likelihoods=np.array([problem.to_nats(int(score)) for score in outcome.best_scores]),
        moves={
            kind: (tried, taken)
            for kind, tried, taken in zip(plan.kinds, proposed, accepted, strict=True)
            if tried
        },
        chains=len(outcome.best_scores),
        steps=steps,
        converged=bool(outcome.converged),
        seed=seed,
        gamma=plan.gamma,
        device=device.filter,
        device_name=device.name,
        encoding=encoding,
        tiers=tiers,
        slots=slots,
        seconds=outcome.seconds,
        version=syclade.__version__,
    )
