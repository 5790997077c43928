"""Checkpoints of chains: states between two launches, from which chains resume bit for bit.

A checkpoint is an npz archive of plain arrays (no pickles) with one entry per chain. Its entry `about` is
JSON: the seed, a description of the plan, and values of the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.checkpoints.archive import damaged, read_archive, write_archive
from syclade.host.common.errors import CheckpointError, SycladeError
from syclade.host.model.problem import Problem, SlotRates

__all__ = ["Checkpoint", "read_checkpoint", "write_checkpoint"]

_NUMBERS = ("chain", "step", "score", "best_score")
_TREES = ("parents", "best_parents")
_PLACES = ("rate_at", "best_rate_at")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Content of a checkpoint.

    Attributes:
        seed: seed of the random numbers.
        chains: state and statistics of each chain.
        run: further values of the run that the chains belong to, as plain values.
    """

    seed: int
    chains: tuple[tuple[ChainState, ChainInfo], ...]
    run: Mapping[str, Any] = field(default_factory=dict)


def write_checkpoint(path: Path, plan: Plan, checkpoint: Checkpoint, force: bool = False) -> None:
    """Write a checkpoint file atomically.

    Args:
        path: the file.
        plan: plan of the chains.
        checkpoint: at least one chain; the rings of events must be empty.
        force: whether an existing file may be replaced.

    Raises:
        OutputError: the file exists already, or cannot be written.
    """
    states = [state for state, _ in checkpoint.chains]
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([getattr(state, name) for state in states], dtype=np.int64) for name in _NUMBERS
    }
    arrays |= {name: np.array([getattr(state, name) for state in states], dtype=np.int32) for name in _TREES}
    arrays |= {name: np.array([getattr(state, name) for state in states], dtype=np.int64) for name in _PLACES}
    arrays |= {
        "weights": np.array([state.rates.weights for state in states], dtype=np.int64),
        "base": np.array([state.rates.base for state in states], dtype=np.int64),
        "gamma": np.array([state.gamma for state in states], dtype=np.float64),
        "settings": np.array(
            [[{**plan.settings, **state.settings}[name] for name in plan.settings] for state in states],
            dtype=np.int64,
        ),
        "tallies": np.array([info.tallies for _, info in checkpoint.chains], dtype=np.int64),
    }
    about = {"seed": checkpoint.seed, "plan": _describe(plan), "run": dict(checkpoint.run)}
    write_archive(path, arrays, about, force)


def read_checkpoint(path: Path, plan: Plan) -> Checkpoint:
    """Read a checkpoint that `write_checkpoint` wrote.

    Args:
        path: the file.
        plan: the plan to resume with. It must be built from the same parts for the same matrix.

    Raises:
        CheckpointError: the file does not exist, it is damaged, or its chains have another plan.
    """
    arrays, about = read_archive(path)
    _check_plan(path, about.get("plan"), _describe(plan))
    try:
        chains = _chains(plan, arrays)
        return Checkpoint(int(about["seed"]), chains, dict(about["run"]))
    except (ValueError, KeyError, TypeError, IndexError, SycladeError) as error:
        raise damaged(path, str(error)) from error


def _chains(plan: Plan, arrays: Mapping[str, NDArray[Any]]) -> tuple[tuple[ChainState, ChainInfo], ...]:
    """Return the chains of the arrays; check each stored score against the score's definition."""
    names = list(plan.settings)
    count, nodes = len(arrays["chain"]), plan.labels + 1
    shapes = {"parents": (nodes,), "best_parents": (nodes,), "tallies": (2 * len(plan.kinds),)}
    shapes |= {"weights": (plan.problem.classes,), "settings": (len(names),)}
    shapes |= {name: (2,) for name in _PLACES}
    for name, array in arrays.items():
        if array.shape != (count, *shapes.get(name, ())):
            raise ValueError(f"{name} has the shape {array.shape}")
    chains = []
    for at in range(count):
        rates = SlotRates(tuple(arrays["weights"][at].tolist()), int(arrays["base"][at]))
        chain, step, score, best_score = (int(arrays[name][at]) for name in _NUMBERS)
        parents, best_parents = (plan.space.check(arrays[name][at]) for name in _TREES)
        settings = dict(zip(names, arrays["settings"][at].tolist(), strict=True))
        fixed = None if plan.problem.learns else rates
        places, best_places = (_places(plan, arrays[name][at].tolist()) for name in _PLACES)
        for tree, where, told in ((parents, places, score), (best_parents, best_places, best_score)):
            if plan.score_of(tree, fixed, where, settings) != told:
                raise ValueError(f"the score of chain {chain} is not that of its tree")
        gamma = float(arrays["gamma"][at])
        state = ChainState(
            chain, step, parents, score, best_parents, best_score, rates, gamma, settings, places, best_places
        )
        chains.append((state, ChainInfo(arrays["tallies"][at])))
    return tuple(chains)


def _places(plan: Plan, told: list[int]) -> tuple[int, int]:
    """Return the grid indices of learned rates; raise a ValueError if they are outside their grids."""
    points = plan.problem.rate_tables.model.points
    if any(not 0 <= place < count for place, count in zip(told, points, strict=True)):
        raise ValueError(f"its rates stand at {told}, on grids of {points} points")
    return told[0], told[1]


def _describe(plan: Plan) -> dict[str, Any]:
    """Describe the parts of a plan; chains can be resumed only with an equal description."""
    return {
        "matrix": _digest(plan.problem),
        "space": plan.space.name,
        "moves": [move.name for move in plan.moves],
        "move probabilities": list(plan.move_below),
        "score": plan.score.name,
        "settings": list(plan.settings),
        "recorders": [recorder.name for recorder in plan.recorders],
        "learned rates": plan.problem.rate_tables.digest,
    }


def _digest(problem: Problem) -> str:
    """Return the SHA-256 of the matrix and the unit of its scores; rates belong to the chain states."""
    digest = hashlib.sha256(
        repr((problem.observed.shape, problem.values, problem.scale_bits, problem.octaves)).encode()
    )
    digest.update(problem.observed.tobytes() + problem.multiplicity.astype("<i8").tobytes())
    return digest.hexdigest()


def _check_plan(path: Path, told: Any, wanted: dict[str, Any]) -> None:
    if not isinstance(told, dict):
        raise damaged(path, "it does not tell what its chains are made of")
    other = [name for name, value in wanted.items() if told.get(name) != value]
    if other:
        raise CheckpointError(
            f"the checkpoint's chains have another {' and another '.join(other)}",
            path=path,
            hint="go on with the matrix, the rates and the settings of the run that wrote it",
        )
