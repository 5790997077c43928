"""How near to the truth are our trees, beside those of other programs?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.consensus.clone_tree import clone_tree_of
from syclade.host.devices.choice import choose_device
from syclade.host.inference import infer
from syclade.host.model.simulate import Simulation
from syclade.host.options.defaults import DEFAULT_SEED
from syclade.host.trees.tree import ancestor_matrix
from syclade.quality.bench.measure import versions
from syclade.quality.calibration.reliability import reliability
from syclade.quality.peers.answers import BOOTSTRAP, NO_PROGRAMS, Answers, Programs
from syclade.quality.peers.bootstrap import shares_of_trees
from syclade.quality.peers.claims import (
    Claims,
    agreement,
    claims_of_cells,
    claims_of_shares,
    claims_of_tree,
    without_ties,
)
from syclade.quality.peers.result import OURS, Found, PeersStudy
from syclade.quality.peers.stored import stored_or_new
from syclade.quality.race.answers import processor_seconds
from syclade.quality.race.inputs import RaceInput

__all__ = ["peers"]

Progress = Callable[[str, float, float], None]
"""Called with the current activity, the amount done and the total."""


def peers(
    *,
    cells: int = 64,
    mutations: int = 63,
    inputs: int = 4,
    support: str = "quick",
    folder: Path | None = None,
    programs: Programs = NO_PROGRAMS,
    stored: Path | None = None,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> PeersStudy:
    """Compare the consensus, the most likely tree and trees of other programs with the truth.

    Inputs are simulated with false positives of 0.001, false negatives of 0.2, and 10 % missing values; all
    programs are given these rates.

    Args:
        cells, mutations: size of the inputs.
        inputs: number of inputs; their seeds are `seed`, `seed` + 1, ….
        support: level of support, quick or full.
        folder: folder of stored answers of other programs, which new ones are added to; None for none.
        programs: programs to run where there is no stored answer.
        stored: folder of our own outcomes for each input; those of an interrupted study are read from it.
            None for none.
        device: as for `infer`.
        seed: seed of the first input; each run has the seed of its input.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid, or a program fails.
        DeviceError: the device cannot run.
        MatrixError: a stored answer does not fit.
        TreeError: a stored tree does not fit.
    """
    chosen = choose_device(device).filter
    answers = Answers(folder, programs)
    all_found: list[Found] = []
    for number in range(inputs):
        given = RaceInput(cells, mutations, seed=seed + number)
        if progress is not None:
            progress(f"input {given.seed}", number, inputs)
        simulation = given.simulated()
        truth = _Truth(simulation)
        key = {**given.to_dict(), "support": support, "device": chosen, "versions": versions()}
        all_found += stored_or_new(stored, key, partial(_ours, given, simulation, truth, support, chosen))
        all_found += _theirs(given, simulation, truth, answers)
    settings = {
        "cells": cells,
        "mutations": mutations,
        "inputs": inputs,
        "support": support,
        "replicates": programs.replicates,
        "device": chosen,
        "seed": seed,
        "versions": versions(),
    }
    return PeersStudy(tuple(all_found), settings)


def _theirs(given: RaceInput, simulation: Simulation, truth: _Truth, answers: Answers) -> Iterator[Found]:
    """Yield what other programs find for an input."""
    for name in answers.names:
        began = processor_seconds()
        cells = answers.cells_of(name, given, simulation)
        if cells is not None:
            claims = claims_of_cells(cells)
            yield truth.found(given.seed, name, claims, processor_seconds() - began)
    began = processor_seconds()
    trees = answers.trees_of(given, simulation)
    if trees is not None:
        before, apart = shares_of_trees(trees, simulation.matrix, given.rates)
        seconds = processor_seconds() - began
        yield truth.found(given.seed, BOOTSTRAP, claims_of_shares(before, apart), seconds, before)


def _ours(
    given: RaceInput, simulation: Simulation, truth: _Truth, support: str, device: str
) -> Iterator[Found]:
    """Yield what one run of `infer` finds: the most likely tree, its clones, the consensus, the pairs."""
    began, seed = processor_seconds(), given.seed
    result = infer(
        simulation.matrix,
        fp_rate=given.fp_rate,
        fn_rate=given.fn_rate,
        support=support,
        device=device,
        seed=seed,
    )
    seconds = processor_seconds() - began
    assert result.consensus is not None
    assert result.support is not None
    relations, enough = result.consensus.relations, result.support.enough
    n = given.mutations
    on_path = ancestor_matrix(result.parents)[:n, result.assignment.node].astype(bool)
    likely, clones, consensus, pairs = OURS
    ordered = claims_of_tree(clone_tree_of(result.parents))
    yield truth.found(seed, likely, ordered, seconds)
    yield truth.found(seed, clones, without_ties(ordered, on_path), seconds)
    own = claims_of_tree(result.consensus.tree)
    yield truth.found(seed, consensus, own, seconds, relations.before, enough)
    shares = claims_of_shares(relations.before, relations.apart)
    yield truth.found(seed, pairs, shares, seconds, relations.before, enough)


class _Truth:
    """The truth of an input.

    Args:
        simulation: the input.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._true = claims_of_tree(clone_tree_of(simulation.parents))
        self._seen = claims_of_cells(simulation.truth.astype(bool))

    def found(
        self,
        seed: int,
        method: str,
        claims: Claims,
        seconds: float,
        before: NDArray[np.float64] | None = None,
        enough: bool | None = None,
    ) -> Found:
        """Return the comparison of a method's claims, and of its shares, with the truth."""
        return Found(
            seed,
            method,
            seconds,
            agreement(claims, self._true, self._seen),
            None if before is None else reliability(before, self._true.before),
            enough,
        )
