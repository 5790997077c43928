"""Result of the inference of a cell tree: the tree, its score, how it was found, and its files."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.common.atomic import Content
from syclade.host.common.files import write_files
from syclade.host.devices.work import WithWork, WorkDone, executed_on, work_dicts
from syclade.host.input.matrix import Matrix
from syclade.host.leaf.formats import format_placements, leaf_labels, to_leaf_graphviz, to_leaf_newick
from syclade.host.leaf.placement import Placements, place
from syclade.host.leaf.sampled import LeafSampled
from syclade.host.model.leaf_problem import LeafProblem
from syclade.host.model.rates import Rates
from syclade.host.runs.found import Found
from syclade.host.trees.cells import default_cell_names
from syclade.host.trees.leaf import canonical, clades

__all__ = ["FILES", "SAMPLE_FILES", "LeafResult", "make_leaf_result"]

FILES = ("tree.newick", "tree.gv", "placements.tsv", "summary.json", "run.json")

SAMPLE_FILES = ("tree.samples", "clades.tsv", "consensus.newick")

_ARRAYS = ("parents", "placement", "placement_ties", "mutation_log_likelihoods", "chain_log_likelihoods")


@dataclass(frozen=True, eq=False, repr=False)
class LeafResult(WithWork):
    """Result of the inference of a cell tree. It is equal only to itself, and its arrays are read-only.

    Attributes:
        parents: int32, shape (2m - 1,): parent of every node. Cells are nodes 0 ... m-1. Internal nodes
            follow in an order that depends on the tree only, each after those below it; the last is the root.
        log_likelihood: log-likelihood of the tree, natural log, float64, recomputed from counts of events.
        mutations: names of the mutations, in the order of the matrix's rows.
        cells: names of the cells, in the order of its columns.
        placement: int32, shape (n,): the node below the best edge of every mutation. Of equally good edges,
            the first in preorder.
        placement_ties: int32, shape (n,): number of equally good edges, including this one.
        mutation_log_likelihoods: float64, shape (n,): log-likelihood of every mutation on its edge, natural
            log.
        rates: the error rates.
        chain_log_likelihoods: float64, shape (chains,): best log-likelihood of every chain, natural log, from
            its integer score.
        moves: for each kind of move, steps (proposed, accepted) over all chains.
        steps: steps that every chain has done.
        converged: whether the chains agree (`convergence.StoppingRule`).
        encoding: name of the encoding of trees in the device's memory.
        work: the steps that each executor did in this process, in order; empty for a resumed run that had
            already ended.
        slots: number of chain states on the device at once.
        seconds: wall time of the chains, without start-up.
        matrix: the file of the matrix; None for an array.
        matrix_sha256: SHA-256 of the matrix's values as text in SCITE's format.
        matrix_file_sha256: SHA-256 of the bytes of the file; None for an array.
        options: the given options.
        date: end of the run, ISO 8601 in UTC.
        version: version of syclade.
        interrupted: whether the run was stopped before its end.
        samples: samples of the chains; None if sampling was not requested.
    """

    parents: NDArray[np.int32]
    log_likelihood: float
    mutations: tuple[str, ...]
    cells: tuple[str, ...]
    placement: NDArray[np.int32]
    placement_ties: NDArray[np.int32]
    mutation_log_likelihoods: NDArray[np.float64]
    rates: Rates
    chain_log_likelihoods: NDArray[np.float64]
    moves: dict[str, tuple[int, int]]
    steps: int
    converged: bool
    encoding: str
    work: tuple[WorkDone, ...]
    slots: int
    seconds: float
    matrix: str | None
    matrix_sha256: str
    matrix_file_sha256: str | None
    options: Mapping[str, Any]
    date: str
    version: str
    interrupted: bool = False
    samples: LeafSampled | None = None

    def __post_init__(self) -> None:
        """Replace the arrays by read-only copies."""
        for name in _ARRAYS:
            own = getattr(self, name).copy()
            own.flags.writeable = False
            object.__setattr__(self, name, own)

    def __repr__(self) -> str:
        """Return a summary in one line, without the arrays."""
        ended = "converged" if self.converged else "not converged"
        return (
            f"<LeafResult: log-likelihood {self.log_likelihood:.4f}, {len(self.mutations)} mutations × "
            f"{len(self.cells)} cells, {self.chains} chains of {self.steps} steps{executed_on(self.work)}: "
            f"{ended}>"
        )

    @property
    def chains(self) -> int:
        """Number of chains."""
        return len(self.chain_log_likelihoods)

    @property
    def labels(self) -> list[str]:
        """Labels of the nodes in files: the names of the cells, then joint1, joint2, … for internal nodes."""
        return leaf_labels(self.cells)

    def to_newick(self) -> str:
        """Return the tree in Newick format, with the cells as leaves."""
        return to_leaf_newick(self.parents, self.cells)

    def to_graphviz(self) -> str:
        """Return the tree in GraphViz's dot language, with mutations on its edges."""
        return to_leaf_graphviz(self.parents, self.cells, self.mutations, self.placement)

    def to_placements(self) -> str:
        """Return the placements as tab-separated text, one line per mutation (`host/leaf/formats.py`)."""
        told = Placements(
            self.placement, self.placement_ties, self.mutation_log_likelihoods, self.log_likelihood
        )
        return format_placements(told, clades(self.parents), self.mutations, self.cells)

    def summary(self) -> dict[str, Any]:
        """Return the values that equal runs share on any device with any slots, as in summary.json."""
        asked = ("seed", "gamma", "move_probabilities")
        return {
            "tree": "leaf",
            "matrix_sha256": self.matrix_sha256,
            "log_likelihood": self.log_likelihood,
            "parents": self.parents.tolist(),
            "cells": list(self.cells),
            "mutations": list(self.mutations),
            "n_mutations": len(self.mutations),
            "n_cells": len(self.cells),
            **self.rates.told(),
            **{name: self.options[name] for name in asked},
            "chains": self.chains,
            "steps": self.steps,
            "converged": self.converged,
            "interrupted": self.interrupted,
            "chain_log_likelihoods": self.chain_log_likelihoods.tolist(),
            "moves": {kind: {"proposed": p, "accepted": a} for kind, (p, a) in self.moves.items()},
            **({} if self.samples is None else {"samples": self.samples.told()}),
        }

    def run(self) -> dict[str, Any]:
        """Return the details of this run, as in run.json: device, times, versions, all options."""
        names = (
            "matrix", "matrix_file_sha256", "device", "device_name", "encoding", "slots", "seconds"
        )  # fmt: skip
        return {
            **{name: getattr(self, name) for name in names},
            "work": work_dicts(self.work),
            "steps_per_second": self.steps_per_second,
            "options": dict(self.options),
            "date": self.date,
            "version": self.version,
            "python": platform.python_version(),
        }

    def write(self, directory: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write `FILES`, and `SAMPLE_FILES` if there are samples.

        Args:
            directory: folder of the files; created if necessary.
            force: whether to replace existing files.

        Raises:
            OutputError: files exist and `force` is not given, or they cannot be written.
        """
        texts = (
            self.to_newick(),
            self.to_graphviz(),
            self.to_placements(),
            json.dumps(self.summary(), indent=2) + "\n",
            json.dumps(self.run(), indent=2) + "\n",
        )
        files: dict[str, Content] = dict(zip(FILES, texts, strict=True))
        if self.samples is not None:
            files |= self.samples.files(self.cells)
        write_files(directory, files, force)


def make_leaf_result(
    matrix: Matrix,
    rates: Rates,
    plan: Plan,
    found: Found,
    options: Mapping[str, Any],
    samples: LeafSampled | None = None,
) -> LeafResult:
    """Build the result; the score is recomputed in float64 from the original matrix."""
    import syclade

    problem, outcome = plan.problem, found.outcome
    assert isinstance(problem, LeafProblem)
    parents = canonical(outcome.best.best_parents)
    placed = place(matrix, rates, problem, parents)
    proposed, accepted = outcome.tallies.reshape(2, -1).tolist()
    tallied = zip(plan.kinds, proposed, accepted, strict=True)
    return LeafResult(
        parents=parents,
        log_likelihood=placed.total,
        mutations=matrix.mutations,
        cells=matrix.cells or default_cell_names(matrix.n_cells),
        placement=placed.node,
        placement_ties=placed.ties,
        mutation_log_likelihoods=placed.log_likelihood,
        rates=rates,
        chain_log_likelihoods=np.array([problem.to_nats(int(score)) for score in outcome.best_scores]),
        moves={kind: (tried, taken) for kind, tried, taken in tallied if tried},
        steps=found.steps,
        converged=bool(outcome.converged),
        encoding=found.encoding,
        work=found.work,
        slots=found.slots,
        seconds=outcome.seconds,
        matrix=None if matrix.file_sha256 is None else matrix.source,
        matrix_sha256=matrix.sha256,
        matrix_file_sha256=matrix.file_sha256,
        options=options,
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        version=syclade.__version__,
        interrupted=found.interrupted,
        samples=samples,
    )
