"""Study of the intervals of estimated rates, on inputs with clones of unequal sizes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

import syclade
from syclade.host.data.model.rate_posterior import RateInterval, rate_posterior
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import real, whole
from syclade.quality.studies.rates.result import BOTH, OfInput, RatesResult
from syclade.quality.work import Progress

__all__ = ["INPUTS", "RATES", "SHARES", "SIZES", "Input", "inputs_from", "interval_study"]

INPUTS: Final = 64

SIZES: Final = (
    (8, 200), (8, 300), (12, 200), (10, 400), (8, 600), (16, 200), (8, 1000), (20, 200),
    (8, 200), (12, 300), (10, 200), (16, 300), (8, 400), (30, 200), (12, 500), (60, 200),
    (8, 200), (10, 300), (12, 200), (8, 500), (14, 200), (20, 300), (8, 800), (40, 200),
    (8, 300), (10, 200), (12, 400), (8, 3000), (16, 200), (10, 500), (24, 200), (8, 200),
)  # fmt: skip
"""Mutations and cells of the inputs, in turns: mostly small."""

SHARES: Final = (0.3, 1.0, "zipf")
"""Shares of the cells at the nodes, in turns, as `simulate --shares`."""

RATES: Final = (Rates(0.001, 0.1), Rates(0.01, 0.2), Rates(0.03, 0.3), Rates(0.005, 0.05), Rates(0.02, 0.4))
"""True rates of the inputs, in turns."""

_MISSING = 0.1


class Input(NamedTuple):
    """An input of the study.

    Attributes:
        mutations, cells: its size.
        shares: shares of the cells at the nodes, as for `simulate`.
        rates: its true error rates.
        seed: seed of the input and of the inference.
    """

    mutations: int
    cells: int
    shares: str | float | Mapping[str, float]
    rates: Rates
    seed: int


def inputs_from(seed: int, count: int, normal: float | None = None) -> list[Input]:
    """Return the inputs: sizes, shares and rates take turns of their own, so that they mix.

    Args:
        seed: seed of the first input; the others follow.
        count: their number.
        normal: part of the cells without mutations; the others have shares from Dirichlet(1), and there are
            at least 600 cells. By default, the root has a share like other nodes.

    Raises:
        OptionError: `normal` is not between 0 and 1.
    """
    found = []
    for at in range(count):
        (mutations, cells), shares = SIZES[at % len(SIZES)], SHARES[at % len(SHARES)]
        one = Input(mutations, cells, shares, RATES[at % len(RATES)], seed + at)
        if normal is not None:
            one = _with_normal_cells(one, real("normal (--normal)", normal))
        found.append(one)
    return found


def _with_normal_cells(one: Input, part: float) -> Input:
    if not 0.0 < part < 1.0:
        raise OptionError(f"normal (--normal) is {part:g}", hint="give a part of the cells, such as 0.9")
    drawn = np.random.default_rng(one.seed).dirichlet(np.ones(one.mutations)) * (1.0 - part)
    shares = {"root": part} | {f"M{number}": float(share) for number, share in enumerate(drawn, 1)}
    return one._replace(cells=max(one.cells, 600), shares=shares)


def interval_study(
    given: Sequence[Input] | None = None,
    *,
    inputs: int = INPUTS,
    normal: float | None = None,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> RatesResult:
    """Infer trees without given rates, with support, and compare the intervals of the rates with the truth.

    The control has the same sampled trees and equal shares of the cells at all nodes.

    Args:
        given: the inputs; by default `inputs_from`.
        inputs: their number.
        normal: as for `inputs_from`.
        device: as for `infer`.
        seed: seed of the first input.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    inputs = whole("inputs (--inputs)", inputs, 1, 2**20)
    chosen = inputs_from(seed, inputs, normal) if given is None else list(given)
    found, began, rows = choose_device(device).filter, time.process_time(), []
    for at, one in enumerate(chosen):
        if progress is not None:
            progress(f"{one.mutations} x {one.cells}, {at + 1} of {len(chosen)}", at, len(chosen))
        rows.append(_of_input(one, found))
    return RatesResult(tuple(rows), found, seed, time.process_time() - began)


def _of_input(one: Input, device: str) -> OfInput:
    """Return the intervals of an input, and those of the control."""
    made = simulate(
        one.cells, one.mutations, one.rates.fp_rate, one.rates.fn_rate, _MISSING, one.seed, shares=one.shares
    )
    result = syclade.infer(made.matrix, device=device, seed=one.seed)
    support = result.support
    assert support is not None
    assert support.rates is not None
    equal = rate_posterior(made.matrix, support.rates.sampled_under, support.trees, names=BOTH)
    return OfInput(
        setting=_told(one),
        true=one.rates,
        intervals=dict[str, RateInterval](support.rates.intervals),
        control=equal.intervals,
        searched=result.rates,
        under=support.rates.sampled_under,
        rough=support.rates.rough,
        enough=support.enough,
    )


def _told(one: Input) -> dict[str, Any]:
    shares = f"{one.shares['root']:.0%} normal" if isinstance(one.shares, Mapping) else one.shares
    return {"mutations": one.mutations, "cells": one.cells, "shares": shares, "seed": one.seed}
