"""Are the mutations of a branch one clone? Inputs with branches, unequal clones, and unequal dropout."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from syclade.host.answer.inference import infer
from syclade.host.answer.output.result import Result
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import ZIPF, Simulation, simulate
from syclade.host.device.choice import choose_device
from syclade.host.findings.consensus.clone_tree import CloneTree, clone_tree_of
from syclade.host.findings.consensus.relations import Relations
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole
from syclade.quality.calibration.sampling import with_equal_nodes
from syclade.quality.peers.ours import consensus_of_all
from syclade.quality.text_table import text_table
from syclade.quality.work import Progress

__all__ = ["ARMS", "BranchesStudy", "OfArm", "Truth", "branches"]

CELLS, MUTATIONS, PER_BRANCH = 400, 24, 3

FP_RATE: Final = 0.01

FN_RANGE: Final = (0.01, 0.25)
"""Range of the rates of false negatives of the mutations; the inference is given its middle."""

ARMS: Final = ("most likely tree", "consensus", "one dropout rate", "equal nodes")
"""Most likely tree; consensus of `infer`; and two controls: consensus with one rate of false negatives, and
the same from chains that take all nodes to be equally probable for a cell."""

SURE: Final = 0.9
"""Probability from which an order of two mutations counts as sure."""

MOST_SURE: Final = 0.05
"""Largest part of the pairs on one branch with a sure order with which the check holds."""

MOST_OFF: Final = 2.0
"""Largest difference between the median numbers of clones found and true with which the check holds."""


class Truth:
    """True clones and relations of an input.

    Args:
        simulation: the input. Mutations that the same cells have are of one branch.

    Attributes:
        branch: bool, shape (n, n), upper triangle: pairs of mutations of one branch.
        clones: number of branches with cells.
    """

    def __init__(self, simulation: Simulation) -> None:
        rows, group = np.unique(simulation.truth, axis=0, return_inverse=True)
        group = group.ravel()
        self.branch: NDArray[np.bool_] = np.triu(group[:, None] == group, 1)
        self.clones = int(rows.any(axis=1).sum())
        self._relations = _relations_of(clone_tree_of(simulation.parents))
        self._between = np.triu(group[:, None] != group, 1)

    def compared(self, tree: CloneTree) -> tuple[int, int, int]:
        """Return numbers of claims of a tree: on one branch; and right and wrong ones between branches."""
        found = _relations_of(tree)
        claimed, right = found != 0, found == self._relations
        return (
            int((claimed & self.branch).sum()),
            int((claimed & right & self._between).sum()),
            int((claimed & ~right & self._between).sum()),
        )


def _relations_of(tree: CloneTree) -> NDArray[np.int64]:
    """Return the relations of pairs: 0 in one clone, 1 before, 2 after, 3 apart."""
    return np.asarray(tree.before + 2 * tree.before.T + 3 * tree.apart)


@dataclass(frozen=True)
class OfArm:
    """Outcome of one arm for one input.

    Attributes:
        seed: seed of the input.
        arm: one of `ARMS`.
        true_clones, clones: numbers of clones.
        pairs: number of pairs of mutations on one branch.
        sure: of these, with an order that has a probability of `SURE` or more; all, if there are no samples.
        claimed: of these, with an order in the tree.
        right, wrong: numbers of claims between branches.
        enough: whether the samples were enough; None without samples.
    """

    seed: int
    arm: str
    true_clones: int
    clones: int
    pairs: int
    sure: int
    claimed: int
    right: int
    wrong: int
    enough: bool | None


@dataclass(frozen=True, eq=False, repr=False)
class BranchesStudy:
    """Outcome of `branches`.

    Attributes:
        found: outcome of every arm for every input.
        device: where the chains ran.
        seed: seed of the first input.
        seconds: processor seconds of this process.
    """

    found: tuple[OfArm, ...]
    device: str
    seed: int
    seconds: float

    def of(self, arm: str) -> list[OfArm]:
        """Return the outcomes of an arm."""
        return [one for one in self.found if one.arm == arm]

    def sure(self, arm: str) -> float:
        """Return the part of the pairs on one branch that have a sure order."""
        return sum(one.sure for one in self.of(arm)) / max(1, sum(one.pairs for one in self.of(arm)))

    def off(self, arm: str) -> float:
        """Return by how much the median number of clones differs from that of the true ones."""
        found, true = ([getattr(one, name) for one in self.of(arm)] for name in ("clones", "true_clones"))
        return float(abs(np.median(found) - np.median(true)))

    def wrong(self, arm: str) -> int:
        """Return the number of wrong claims between branches."""
        return sum(one.wrong for one in self.of(arm))

    def fits(self, arm: str) -> bool:
        """Return whether few orders are sure, clones are nearly as many as true, and few claims are wrong."""
        return (
            self.sure(arm) < MOST_SURE
            and self.off(arm) <= MOST_OFF
            and self.wrong(arm) <= self.wrong(ARMS[0])
        )

    @property
    def holds(self) -> bool:
        """Return whether the consensus fits, and has fewer sure orders than each control."""
        worse = all(self.sure(arm) > self.sure(ARMS[1]) for arm in ARMS[2:])
        return self.fits(ARMS[1]) and worse

    def __repr__(self) -> str:
        """Return one line with the main numbers."""
        return f"<BranchesStudy: {self.sure(ARMS[1]):.1%} of the pairs on one branch have a sure order>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in branches.json."""
        return {
            "check": "branches",
            "holds": self.holds,
            "settings": {
                "cells": CELLS,
                "mutations": MUTATIONS,
                "per_branch": PER_BRANCH,
                "shares": ZIPF,
                "fp_rate": FP_RATE,
                "fn_range": list(FN_RANGE),
                "device": self.device,
                "seed": self.seed,
            },
            "seconds": self.seconds,
            "found": [asdict(one) for one in self.found],
        }

    def markdown(self) -> str:
        """Return the table in Markdown: sums over the inputs."""
        heads = (
            "method", "inputs", "true clones", "clones: median (range)", f"orders on one branch ≥ {SURE}",
            "in the tree", "of pairs", "right between clones", "wrong", "samples enough",
        )  # fmt: skip
        return text_table(heads, [self._row(arm) for arm in ARMS if self.of(arm)])

    def _row(self, arm: str) -> tuple[str, ...]:
        own = self.of(arm)
        clones, true = [one.clones for one in own], [one.true_clones for one in own]
        sums = [
            str(sum(getattr(one, name) for one in own)) for name in ("claimed", "pairs", "right", "wrong")
        ]
        return (
            arm,
            str(len(own)),
            f"{np.median(true):g}",
            f"{np.median(clones):g} ({min(clones)} to {max(clones)})",
            f"{self.sure(arm):.1%}",
            *sums,
            "" if own[0].enough is None else str(sum(bool(one.enough) for one in own)),
        )


def branches(
    *,
    inputs: int = 24,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> BranchesStudy:
    """Infer trees of inputs with branches of several mutations, and compare clones and claims with the truth.

    Args:
        inputs: their number.
        device: as for `infer`.
        seed: seed of the first input; each inference has the seed of its input.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    inputs = whole("inputs (--inputs)", inputs, 1, 2**20)
    found, began = choose_device(device).filter, time.process_time()
    rows: list[OfArm] = []
    for number in range(seed, seed + inputs):
        if progress is not None:
            progress(f"input {number}", number - seed, inputs)
        middle = sum(FN_RANGE) / 2
        made = simulate(
            CELLS, MUTATIONS, FP_RATE, middle, 0.0, number,
            shares=ZIPF, per_branch=PER_BRANCH, fn_range=FN_RANGE,
        )  # fmt: skip
        rows += _of_input(made, Rates(FP_RATE, middle), number, found)
    return BranchesStudy(tuple(rows), found, seed, time.process_time() - began)


def _of_input(made: Simulation, rates: Rates, seed: int, device: str) -> Iterator[OfArm]:
    """Yield the outcomes of all arms."""
    truth, matrix = Truth(made), made.matrix

    def outcome(arm: str, tree: CloneTree, relations: Relations | None, enough: bool | None) -> OfArm:
        pairs = int(truth.branch.sum())
        sure = pairs
        if relations is not None:
            most = np.maximum(np.maximum(relations.before, relations.before.T), relations.apart)
            sure = int((most[truth.branch] >= SURE).sum())
        return OfArm(seed, arm, truth.clones, tree.clones - 1, pairs, sure, *truth.compared(tree), enough)

    def inferred(dropout: str) -> Result:
        return infer(
            matrix, fp_rate=rates.fp_rate, fn_rate=rates.fn_rate, dropout=dropout, device=device, seed=seed
        )

    for arm, dropout in zip(ARMS[1:3], ("auto", "shared"), strict=True):
        result = inferred(dropout)
        assert result.support is not None
        sampled = result.support.sampled
        if dropout == "auto":
            yield outcome(ARMS[0], clone_tree_of(result.parents), None, None)
        tree = consensus_of_all(sampled, result.parents, matrix, rates)
        yield outcome(arm, tree, sampled.relations, result.support.enough)
    equal = with_equal_nodes("quick", matrix, rates, result, device)
    tree = consensus_of_all(equal.trees, result.parents, matrix, rates)
    yield outcome(ARMS[3], tree, equal.trees.relations, equal.mixed)
