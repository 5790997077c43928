"""Checkpoints: chains between two launches in a file, complete enough to go on bit for bit.

An npz archive of plain arrays (no pickles), an entry a chain in each, and `about`: JSON that tells the seed
and what the chains are put together from, so that they go on with nothing else.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.errors import CheckpointError, SycladeError
from syclade.host.input.bounded import read_bounded
from syclade.host.model.problem import Problem, SlotRates
from syclade.host.output.files import write_files

__all__ = ["Checkpoint", "read_checkpoint", "write_checkpoint"]

FORMAT = 1

_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What numpy and zipfile raise for bytes that are no archive of arrays."""

_NUMBERS = ("chain", "step", "score", "best_score")
_TREES = ("parents", "best_parents")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a checkpoint has.

    Attributes:
        seed: of the random numbers.
        chains: the states, and what is told of them.
    """

    seed: int
    chains: tuple[tuple[ChainState, ChainInfo], ...]


def write_checkpoint(path: Path, plan: Plan, checkpoint: Checkpoint, force: bool = False) -> None:
    """Write a file, whole or not at all.

    Args:
        path: the file.
        plan: of the chains.
        checkpoint: at least one chain; the rings of events have been emptied.
        force: whether the file may be replaced.

    Raises:
        OutputError: the file is there already, or cannot be written.
    """
    states = [state for state, _ in checkpoint.chains]
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([getattr(state, name) for state in states], dtype=np.int64) for name in _NUMBERS
    }
    arrays |= {name: np.array([getattr(state, name) for state in states], dtype=np.int32) for name in _TREES}
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
    about = {"syclade_checkpoint": FORMAT, "seed": checkpoint.seed, "plan": _describe(plan)}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_files(path.parent, {path.name: content.getvalue()}, force)


def read_checkpoint(path: Path, plan: Plan) -> Checkpoint:
    """Read what `write_checkpoint` wrote.

    Args:
        path: the file.
        plan: that the chains shall go on with: put together from the same parts for the same matrix.

    Raises:
        CheckpointError: there is no such file, it is damaged, or its chains are of another plan.
    """
    try:
        content = read_bounded(path, 2**32, begins=(b"PK",))  # as zip archives do
    except OSError as error:
        reason = error.strerror or str(error)
        raise CheckpointError(f"the checkpoint cannot be read: {reason}", path=path) from error
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays.pop("about").tobytes())
        version = about["syclade_checkpoint"]
    except _UNREADABLE as error:
        raise _damaged(path, "this is no checkpoint, or a part of one") from error
    if version != FORMAT:
        raise CheckpointError(
            f"the checkpoint has format {version}, this syclade reads {FORMAT}",
            path=path,
            hint="go on with the syclade that wrote it",
        )
    _check_plan(path, about.get("plan"), _describe(plan))
    try:
        chains = _chains(plan, arrays)
        return Checkpoint(int(about["seed"]), chains)
    except (ValueError, KeyError, TypeError, IndexError, SycladeError) as error:
        raise _damaged(path, str(error)) from error


def _chains(plan: Plan, arrays: Mapping[str, NDArray[Any]]) -> tuple[tuple[ChainState, ChainInfo], ...]:
    """The chains of the arrays; each is checked against the score's definition."""
    names = list(plan.settings)
    count, nodes = len(arrays["chain"]), plan.problem.nodes
    shapes = {"parents": (nodes,), "best_parents": (nodes,), "tallies": (2 * len(plan.kinds),)}
    shapes |= {"weights": (plan.problem.classes,), "settings": (len(names),)}
    for name, array in arrays.items():
        if array.shape != (count, *shapes.get(name, ())):
            raise ValueError(f"{name} has the shape {array.shape}")
    chains = []
    for at in range(count):
        rates = SlotRates(tuple(arrays["weights"][at].tolist()), int(arrays["base"][at]))
        chain, step, score, best_score = (int(arrays[name][at]) for name in _NUMBERS)
        parents, best_parents = (plan.space.check(arrays[name][at]) for name in _TREES)
        settings = dict(zip(names, arrays["settings"][at].tolist(), strict=True))
        for tree, told in ((parents, score), (best_parents, best_score)):
            if plan.score.of(plan.problem, tree, rates, settings) != told:
                raise ValueError(f"the score of chain {chain} is not that of its tree")
        gamma = float(arrays["gamma"][at])
        state = ChainState(chain, step, parents, score, best_parents, best_score, rates, gamma, settings)
        chains.append((state, ChainInfo(arrays["tallies"][at])))
    return tuple(chains)


def _describe(plan: Plan) -> dict[str, Any]:
    """What chains of a plan are put together from; chains go on under an equal description only."""
    return {
        "matrix": _digest(plan.problem),
        "space": plan.space.name,
        "moves": [move.name for move in plan.moves],
        "move probabilities": list(plan.move_below),
        "score": plan.score.name,
        "settings": list(plan.settings),
        "recorders": [recorder.name for recorder in plan.recorders],
    }


def _digest(problem: Problem) -> str:
    """Of the matrix and the unit of its scores; rates are the chains'."""
    digest = hashlib.sha256(repr((problem.observed.shape, problem.values, problem.scale_bits)).encode())
    digest.update(problem.observed.tobytes() + problem.multiplicity.astype("<i8").tobytes())
    return digest.hexdigest()


def _check_plan(path: Path, told: Any, wanted: dict[str, Any]) -> None:
    if not isinstance(told, dict):
        raise _damaged(path, "it does not tell what its chains are made of")
    other = [name for name, value in wanted.items() if told.get(name) != value]
    if other:
        raise CheckpointError(
            f"the checkpoint's chains have another {' and another '.join(other)}",
            path=path,
            hint="go on with the matrix, the rates and the settings of the run that wrote it",
        )


def _damaged(path: Path, why: str) -> CheckpointError:
    return CheckpointError(
        f"the checkpoint is damaged: {why}", path=path, hint="use an older one, or begin anew without it"
    )
