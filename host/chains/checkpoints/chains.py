"""Checkpoints of chains: states between two launches, from which chains resume bit for bit.

A checkpoint is an archive of plain arrays with one entry per chain, and of JSON: the seed, a description of
the plan, and values of the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from syclade.host.chains.checkpoints.archive import Layout, damaged, read_archive, write_archive
from syclade.host.chains.gibbs import highest_score
from syclade.host.chains.plan import Plan
from syclade.host.chains.shares import check_shares
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.model.rate_model import NOWHERE, Places
from syclade.host.ground.errors import CheckpointError, SycladeError
from syclade.host.ground.options import checked
from syclade.host.ground.values import Array, JsonObject, ParsedJson

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
    run: Mapping[str, ParsedJson] = field(default_factory=dict)


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
    values = [_values(plan, state, info) for state, info in checkpoint.chains]
    layout = _layout(plan, len(values))
    arrays = {
        name: np.array([value[name] for value in values], dtype).reshape(shape)
        for name, (dtype, shape) in layout.items()
    }
    about: JsonObject = {"seed": checkpoint.seed, "plan": _describe(plan), "run": dict(checkpoint.run)}
    write_archive(path, arrays, about, force)


def read_checkpoint(
    path: Path, plan: Plan, chains: int, check: Callable[[dict[str, ParsedJson]], None] | None = None
) -> Checkpoint:
    """Read a checkpoint that `write_checkpoint` wrote.

    Args:
        path: the file.
        plan: the plan to resume with. It must be built from the same parts for the same matrix.
        chains: number of chains.
        check: called with the values of the run; raises a CheckpointError if they are those of another run.

    Raises:
        CheckpointError: the file does not exist, it is damaged, or its chains have another plan.
    """

    def layout_of(about: dict[str, ParsedJson]) -> Layout:
        if check is not None:
            check(about.get("run", {}))
        _check_plan(path, about.get("plan"), _describe(plan))
        return _layout(plan, chains)

    arrays, about = read_archive(path, layout_of)
    try:
        found = tuple(
            _chain(plan, {name: array[at] for name, array in arrays.items()}) for at in range(chains)
        )
        return Checkpoint(int(about["seed"]), found, dict(about["run"]))
    except (ValueError, KeyError, TypeError, OverflowError, SycladeError) as error:
        raise damaged(path, f"in its values: {error}") from error


def _layout(plan: Plan, chains: int) -> Layout:
    """Return type and shape of each array."""
    trees = ("<i4", (chains, plan.labels + 1))
    return {
        **dict.fromkeys(_NUMBERS, ("<i8", (chains,))),
        **dict.fromkeys(_TREES, trees),
        **dict.fromkeys(_PLACES, ("<i8", (chains, len(NOWHERE)))),
        "weights": ("<i8", (chains, plan.problem.classes)),
        "base": ("<i8", (chains,)),
        **({"log_shares": ("<i4", (chains, plan.problem.nodes))} if plan.score.shares else {}),
        "gamma": ("<f8", (chains,)),
        "settings": ("<i8", (chains, len(plan.settings))),
        "tallies": ("<i8", (chains, 2 * len(plan.kinds))),
    }


def _values(plan: Plan, state: ChainState, info: ChainInfo) -> dict[str, object]:
    """Return the values of a chain, by the names of the arrays."""
    settings = {**plan.settings, **state.settings}
    return {
        **{name: getattr(state, name) for name in (*_NUMBERS, *_TREES, *_PLACES, "gamma")},
        "weights": state.rates.weights,
        "base": state.rates.base,
        "log_shares": state.rates.log_shares,
        "settings": [settings[name] for name in plan.settings],
        "tallies": info.tallies,
    }


def _chain(plan: Plan, values: Mapping[str, Array]) -> tuple[ChainState, ChainInfo]:
    """Return the chain with these values; check each stored score against the score's definition.

    The shares at which the best tree was best are not stored, so its score is compared with a bound.
    """
    log_shares = tuple(values["log_shares"].tolist()) if plan.score.shares else ()
    rates = SlotRates(tuple(values["weights"].tolist()), int(values["base"]), log_shares)
    if plan.score.shares:
        check_shares(plan.problem, log_shares)
    chain, step, score, best_score = (int(values[name]) for name in _NUMBERS)
    unfit = plan.problem.can_score(rates)
    if unfit is not None:
        raise ValueError(f"the rates of chain {chain} do not fit: {unfit}")
    parents, best_parents = (plan.space.check(values[name]) for name in _TREES)
    settings = dict(zip(plan.settings, values["settings"].tolist(), strict=True))
    fixed = None if plan.problem.learns else rates
    places, best_places = (_places(plan, values[name].tolist()) for name in _PLACES)
    wrong = plan.score_of(parents, fixed, places, settings) != score
    if plan.score.shares:
        wrong = wrong or best_score > highest_score(plan.problem, best_parents)
    else:
        wrong = wrong or plan.score_of(best_parents, fixed, best_places, settings) != best_score
    if wrong:
        raise ValueError(f"the score of chain {chain} is not that of its tree")
    gamma = checked("gamma", float(values["gamma"]))
    state = ChainState(
        chain, step, parents, score, best_parents, best_score, rates, gamma, settings, places, best_places
    )
    return state, ChainInfo(values["tallies"].copy())


def _places(plan: Plan, stored: list[int]) -> Places:
    """Return the grid indices of learned rates; raise a ValueError if they are outside their grids."""
    points = plan.problem.rate_tables.model.points
    if any(not 0 <= place < count for place, count in zip(stored, points, strict=True)):
        raise ValueError(f"its rates stand at {stored}, on grids of {points} points")
    fn, fp, doublets = stored
    return fn, fp, doublets


def _describe(plan: Plan) -> JsonObject:
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


def _check_plan(path: Path, stored: ParsedJson, wanted: JsonObject) -> None:
    if not isinstance(stored, dict):
        raise damaged(path, "at byte 0: it does not describe its chains")
    other = [name for name, value in wanted.items() if stored.get(name) != value]
    if other:
        raise CheckpointError(
            f"the checkpoint's chains have another {' and another '.join(other)}",
            path=path,
            hint="resume with the matrix, the rates and the settings of the run that wrote it",
        )
