"""Simulators of inputs: that of our model, reads of its cells, and one that we did not write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import MISSING
from syclade.host.data.model.simulate import EQUAL, Simulation
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.ground.errors import OptionError
from syclade.quality.peers.judged import StudyInput
from syclade.quality.race.inputs import RaceInput
from syclade.quality.race.peers import ask, tree_of_genotypes

__all__ = ["MODEL", "READS", "SCSIM", "Simulator", "from_model", "from_reads", "scsim"]

MODEL: Final = "model"
READS: Final = "reads"
SCSIM: Final = "scsim"

Simulator = Callable[[RaceInput], StudyInput]
"""(size, rates and seed) -> the input; a simulator may replace the rates by those of its input."""

LEAST_DEPTH: Final = 4
"""Reads below which a value is missing."""

LEAST_MUTANT: Final = 2
"""Reads of the mutation from which a value is 1, if they are also one in `READS_PER_MUTANT`."""

READS_PER_MUTANT: Final = 5

DEPTH: Final = 30
"""Mean number of reads of `from_reads`."""

_MOST_SEED: Final = 2**31 - 2


def from_model(given: RaceInput) -> StudyInput:
    """Simulate an input of our model."""
    return StudyInput(given, given.simulated())


def from_reads(given: RaceInput) -> StudyInput:
    """Simulate reads of the cells of our model, in two alleles, one of them with the mutation.

    Each allele drops out with the rate of false negatives, and a read is wrong with that of false positives.
    A value has no reads if both alleles drop out, or with the rate of missing values. Values are called from
    the reads (`_called`), and rates are the parts of them that are wrong or missing.
    """
    made = given.simulated()
    truth, rng = made.truth.astype(bool), np.random.default_rng((given.seed, 1))
    wild, mutant = (rng.random(truth.shape) >= given.fn_rate for _ in range(2))
    observed = (wild | mutant) & (rng.random(truth.shape) >= given.missing)
    depth = rng.poisson(DEPTH, truth.shape) * observed
    part = np.where(truth, mutant / np.maximum(1, wild.astype(int) + mutant), 0.0)
    wrong = given.fp_rate
    reads = rng.binomial(depth, part * (1 - wrong) + (1 - part) * wrong)
    both = np.stack([depth - reads, reads], axis=2).astype(np.int64)
    values = _called(both)
    matrix = replace(made.matrix, values=np.ascontiguousarray(values))
    simulation = replace(made, matrix=matrix)
    return StudyInput(_with_rates(given, values, truth), simulation, READS, both)


def scsim(python: Path, seconds: float) -> Simulator:
    """Return a simulator that runs scsim, with copy number 2 everywhere.

    Cells are the leaves of a random binary lineage tree, mutations occur along its branches, alleles drop
    out, and reads have errors. Values are called from the reads (`_called`). The rates of an input
    are the parts of its values that are wrong or missing.

    Args:
        python: an interpreter that can import scsim.
        seconds: time limit for an input.

    The simulator raises an OptionError if the program fails, if its answer is no input of this size, or if
    the input has shares.

    Source: Wu, "Accurate and efficient cell lineage tree inference from noisy single cell data", 2020.
    """

    def simulated(given: RaceInput) -> StudyInput:
        if given.shares != EQUAL:
            raise OptionError(f"{SCSIM} has no shares of nodes", hint="leave out --shares")
        seed = 2 + given.seed % _MOST_SEED  # 0 and 1 are the same to scsim
        options: dict[str, object] = {"cells": given.cells, "sites": given.mutations, "seed": seed}
        answer = ask(SCSIM, "scsim.py", python, seconds, options, "simulated")
        genotypes, reads = (_counts(given, name, answer) for name in ("genotypes", "reads"))
        truth = genotypes[:, :, 1] > 0
        values = _called(reads)
        made = _with_rates(given, values, truth)
        return StudyInput(made, _simulation(values, truth, given.seed), SCSIM, reads)

    return simulated


def _counts(given: RaceInput, name: str, answer: Any) -> NDArray[np.int64]:
    """Return pairs of whole numbers, wild type and mutation: int64, shape (n, m, 2)."""
    try:
        found = np.array(answer[name], dtype=np.int64)
    except (KeyError, TypeError, ValueError):
        found = np.zeros(0, dtype=np.int64)
    if found.shape != (given.mutations, given.cells, 2):
        raise OptionError(
            f"{SCSIM} gave no {name} of {given.mutations} sites and {given.cells} cells",
            hint="use scsim 1.0.0",
        )
    return found


def _called(reads: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return values from numbers of reads, int64, shape (n, m, 2): uint8, shape (n, m)."""
    mutant, depth = reads[:, :, 1], reads.sum(axis=2)
    mutated: NDArray[np.bool_] = (mutant >= LEAST_MUTANT) & (READS_PER_MUTANT * mutant >= depth)
    values = mutated.astype(np.uint8)
    values[depth < LEAST_DEPTH] = MISSING
    return values


def _with_rates(given: RaceInput, values: NDArray[np.uint8], truth: NDArray[np.bool_]) -> RaceInput:
    """Return the input with the rates of its errors; half an error is added, so that none is 0."""
    seen = values != MISSING

    def part(wrong: NDArray[np.bool_], of: NDArray[np.bool_]) -> float:
        return float((np.count_nonzero(wrong & of) + 0.5) / (np.count_nonzero(of) + 1))

    return replace(
        given,
        fp_rate=part(values == 1, seen & ~truth),
        fn_rate=part(values == 0, seen & truth),
        missing=float(1 - seen.mean()),
    )


def _simulation(values: NDArray[np.uint8], truth: NDArray[np.bool_], seed: int) -> Simulation:
    """Return the matrix with its true tree.

    Mutations on one branch are in random order: sites are independent.
    """
    n, m = truth.shape
    parents = _in_random_order(truth, np.random.default_rng(seed))
    above = ancestor_matrix(parents)[:n].astype(bool)  # the row is above the column, or is the column
    attachments = np.full(m, n, dtype=np.int32)
    depth = above[:, :n].sum(axis=0)
    for cell in range(m):
        own = np.flatnonzero(truth[:, cell])
        if own.size:
            attachments[cell] = own[depth[own].argmax()]
    if not np.array_equal(above[:, attachments], truth):
        raise OptionError(f"{SCSIM}'s genotypes fit no tree", hint="use scsim 1.0.0")
    names = tuple(f"M{number}" for number in range(1, n + 1))
    matrix = Matrix(np.ascontiguousarray(values), names, f"{SCSIM}, seed {seed}")
    genotypes = np.ascontiguousarray(truth, dtype=np.uint8)
    return Simulation(matrix, parents, attachments, genotypes, np.full(m, -1, dtype=np.int32))


def _in_random_order(truth: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the mutation tree of genotypes; of equal rows, any may be above, whatever their numbers.

    A program that orders mutations by their numbers would otherwise have an advantage.
    """
    order = rng.permutation(len(truth))
    found = tree_of_genotypes(truth[order])
    number = np.append(order, len(truth)).astype(np.int32)
    parents = np.empty_like(found)
    parents[number] = number[found]
    return parents
