"""How near to the truth are our trees, beside those of other programs?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from syclade.host.data.model.simulate import EQUAL
from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.bench.measure import versions
from syclade.quality.peers.answers import BOOTSTRAP, NO_PROGRAMS, Answers, Programs
from syclade.quality.peers.bootstrap import shares_of_trees
from syclade.quality.peers.claims import claims_of_cells, claims_of_shares
from syclade.quality.peers.judged import StudyInput
from syclade.quality.peers.ours import equal_nodes, of_reads, rates_given, rates_not_given
from syclade.quality.peers.result import Found, PeersStudy
from syclade.quality.peers.simulators import MODEL, READS, SCSIM, Simulator, from_model, from_reads, scsim
from syclade.quality.peers.stored import stored_or_new
from syclade.quality.race.answers import processor_seconds
from syclade.quality.race.inputs import RaceInput
from syclade.quality.work import Progress

__all__ = ["peers"]

RATES = (1e-3, 0.2, 0.1)
"""Rates of false positives, false negatives and missing values of the inputs."""


def peers(
    *,
    cells: int = 64,
    mutations: int = 63,
    inputs: int = 4,
    rates: tuple[float, float, float] | None = None,
    shares: str | float = EQUAL,
    simulator: str = MODEL,
    estimate: bool = False,
    control: bool = False,
    reads: bool = False,
    support: str = "quick",
    folder: Path | None = None,
    programs: Programs = NO_PROGRAMS,
    stored: Path | None = None,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> PeersStudy:
    """Compare the consensus, the most likely tree and trees of other programs with the truth.

    All programs are given the true error rates of each input.

    Args:
        cells, mutations: size of the inputs.
        inputs: number of inputs; their seeds are `seed`, `seed` + 1, ….
        rates: rates of false positives, false negatives and missing values of the inputs; None for `RATES`.
        shares: expected shares of the cells at the nodes, as for `simulate`.
        simulator: simulator of the inputs: model; reads, from which values are called; or scsim, which is run
            by the interpreter of `programs`, and has rates of its own.
        estimate: whether to run `infer` without given rates, too.
        control: whether to sample with equally probable nodes, too.
        reads: whether to infer from numbers of reads, too, which the simulator has to make.
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
    simulate = _simulator_named(simulator, rates, programs, reads=reads)
    ours = {"": rates_given}
    ours |= {"-estimated": rates_not_given} if estimate else {}
    ours |= {"-equal-nodes": equal_nodes} if control else {}
    ours |= {"-reads": of_reads} if reads else {}
    all_found: list[Found] = []
    for number in range(inputs):
        one = simulate(RaceInput(cells, mutations, *(rates or RATES), seed + number, shares))
        if progress is not None:
            progress(f"input {one.given.seed}", number, inputs)
        key = {
            **one.given.to_dict(),
            "simulator": simulator,
            "support": support,
            "device": chosen,
            "versions": versions(),
        }
        for suffix, run in ours.items():
            name = f"{one.given.seed}{suffix}.json"
            all_found += stored_or_new(stored, name, key, partial(run, one, support, chosen))
        all_found += _theirs(one, answers)
    settings = {
        "cells": cells,
        "mutations": mutations,
        "inputs": inputs,
        "shares": shares,
        "simulator": simulator,
        "rates": None if simulator == SCSIM else list(rates or RATES),
        "support": support,
        "replicates": programs.replicates,
        "device": chosen,
        "seed": seed,
        "versions": versions(),
    }
    return PeersStudy(tuple(all_found), settings)


def _simulator_named(
    name: str, rates: tuple[float, float, float] | None, programs: Programs, *, reads: bool
) -> Simulator:
    """Return the simulator of the inputs.

    Raises:
        OptionError: there is no such simulator, or it does not go with the other options.
    """
    if programs.compass is not None and name == MODEL:
        raise OptionError("COMPASS needs numbers of reads", hint=f"give --simulator {READS}, or {SCSIM}")
    if reads and name == MODEL:
        raise OptionError(
            f"the simulator {MODEL} makes no reads", hint=f"give --simulator {READS}, or {SCSIM}"
        )
    if name in (MODEL, READS):
        return from_model if name == MODEL else from_reads
    if name != SCSIM:
        raise OptionError(f"there is no simulator {name!r}", hint=f"use {MODEL}, {READS} or {SCSIM}")
    if rates is not None:
        raise OptionError(f"the simulator {SCSIM} has rates of its own", hint="leave out --rates")
    if programs.python is None:
        raise OptionError(f"no interpreter to run {SCSIM} with", hint="give --peers PYTHON")
    return scsim(programs.python, programs.seconds)


def _theirs(one: StudyInput, answers: Answers) -> Iterator[Found]:
    """Yield what other programs find for an input."""
    for name in answers.names:
        began = processor_seconds()
        cells = answers.cells_of(name, one)
        if cells is not None:
            yield one.found(name, claims_of_cells(cells), processor_seconds() - began)
    began = processor_seconds()
    trees = answers.trees_of(one)
    if trees is not None:
        before, apart = shares_of_trees(trees, one.simulation.matrix, one.given.rates)
        seconds = processor_seconds() - began
        yield one.found(BOOTSTRAP, claims_of_shares(before, apart), seconds, before)
