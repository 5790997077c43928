"""Study of the shares of clones in specimens: two biopsies of one tumour, with clones of unequal sizes."""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import syclade
from syclade.host.answer.output.result import Result
from syclade.host.data.model.simulate import ZIPF, Simulation, simulate
from syclade.host.device.choice import choose_device
from syclade.host.findings.consensus.finding import published_consensus
from syclade.host.findings.joint_shares import interval_of
from syclade.host.findings.specimen_shares import draw_shares_of_specimens, nearest_clones
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole
from syclade.quality.studies.specimens.result import OfInput, SpecimensResult
from syclade.quality.work import Progress

__all__ = ["INPUTS", "SETTINGS", "SIZES", "Setting", "specimen_study"]

INPUTS: Final = 32

SIZES: Final = (300, 500)
"""Cells of the two specimens."""


class Setting(NamedTuple):
    """Kind of inputs.

    Attributes:
        mutations: their number.
        per_branch: mutations on a branch without cells between them.
        missing: probability that a value is missing.
        shares: shares of the nodes, as for `simulate`: zipf, 1, 1/2, 1/3, … in another order in each
            specimen; or drawn for each.
    """

    mutations: int
    per_branch: int
    missing: float
    shares: str | float


SETTINGS: Final = tuple(
    Setting(*size, shares)
    for shares in (ZIPF, 1.0)
    for size in ((12, 1, 0.0), (20, 1, 0.2), (40, 1, 0.0), (36, 3, 0.2))
)
"""Kinds of inputs, in turns."""

_FP_RATE, _FN_RATE = 0.01, 0.2


def specimen_study(
    *,
    inputs: int = INPUTS,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> SpecimensResult:
    """Infer trees of two specimens without given rates, and compare shares of clones with the truth.

    The control has the same trees, and the specimens of the cells in random order.

    Args:
        inputs: number of inputs.
        device: as for `infer`.
        seed: seed of the first input; the others follow.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    inputs = whole("inputs (--inputs)", inputs, 1, 2**20)
    found, began, rows = choose_device(device).filter, time.process_time(), []
    for at in range(inputs):
        setting = SETTINGS[at % len(SETTINGS)]
        if progress is not None:
            progress(f"{setting.mutations} mutations, {at + 1} of {inputs}", at, inputs)
        rows.append(_of_input(setting, seed + at, found))
    return SpecimensResult(tuple(rows), found, seed, time.process_time() - began)


def _of_input(setting: Setting, seed: int, device: str) -> OfInput:
    """Return the intervals of an input, those of the control, and the truth."""
    mutations, per_branch, missing, shares = setting
    made = simulate(
        sum(SIZES),
        mutations,
        _FP_RATE,
        _FN_RATE,
        missing,
        seed,
        shares=shares,
        per_branch=per_branch,
        samples=SIZES,
    )
    assert made.specimen_of is not None
    labels: dict[str, Any] = {f"s{cell}": str(of) for cell, of in enumerate(made.specimen_of.tolist())}
    result = syclade.infer(made.matrix, metadata=labels, device=device, seed=seed)
    found = result.clones_by_sample
    assert found is not None
    return OfInput(
        setting={**setting._asdict(), "seed": seed},
        true=_true_shares(made, result),
        low=found.low,
        high=found.high,
        control=_control(made, result, seed),
        grew=found.changes[0].own.grew,
        enough=result.support is not None and result.support.enough,
    )


def _true_shares(made: Simulation, result: Result) -> NDArray[np.float64]:
    """Return the true shares of the clones of the consensus: each true node counts for the nearest one."""
    assert result.consensus is not None
    assert made.shares is not None
    tree, unplaced = result.consensus.tree, result.unplaced
    trees = np.repeat(made.parents[None], len(made.shares), axis=0)
    clone_of = nearest_clones(tree, unplaced.of_tree(made.parents))
    return np.array(
        [np.bincount(clone_of, one, tree.clones) for one in unplaced.of_shares(trees, made.shares)]
    )


def _control(made: Simulation, result: Result, seed: int) -> NDArray[np.float64]:
    """Return the ends of the intervals of specimens in random order: (2, specimens, clones)."""
    assert result.consensus is not None
    assert made.specimen_of is not None
    placed = result.unplaced.placed_cells(result.n_cells)
    mixed = np.random.Generator(np.random.PCG64(seed)).permutation(made.specimen_of[placed])
    draws = draw_shares_of_specimens(published_consensus(result.consensus), mixed, len(SIZES), seed)
    return np.stack(interval_of(draws.shares, draws.shares.mean(axis=0)))
