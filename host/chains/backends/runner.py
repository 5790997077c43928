"""Runner: chain states in the slots of an engine, converted to the arrays that its kernel works on.

`Slots` is the protocol of a runner on one device and of chains that several places share.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.chains.encodings import Encoding
from syclade.host.chains.plan import Plan, log_tables
from syclade.host.chains.state import ChainInfo, ChainState, Event, no_tallies
from syclade.host.data.model.rate_model import NOWHERE, Places
from syclade.host.device.engines import Engine
from syclade.host.device.work import SPECIALISED, STEPS, WorkDone, WorkLog
from syclade.host.ground.options import checked
from syclade.host.ground.values import Array
from syclade.kernels.arguments import STATE

__all__ = ["Advanced", "Runner", "Slots"]


@dataclass(frozen=True, eq=False)
class Advanced:
    """Result of a launch.

    Attributes:
        steps: int64, shape (slots,): step number of each slot, below its target where a ring was full.
        events: events that the chains emitted, slot by slot, in the order of their steps.
    """

    steps: NDArray[np.int64]
    events: list[Event]


class Runner:
    """Slots of chain states on one device, for one plan and seed.

    Results depend neither on the number of slots nor on how steps are divided into launches.

    Attributes:
        returns_early, round_seconds: as for `Slots`.
        slots: number of chain states that the runner holds at once.
        executor: the device that does the steps, as its driver describes it.

    Args:
        plan: the parts of the chains.
        encoding: how trees are stored in the engine's memory.
        seed: seed of the random numbers, 0 … 2^64-1.
        engine: has all arrays of the chains; the runner closes it.
        loaded: the kernel that advances the chains, loaded by the engine; None if they only stay there.
        kernel: its name, as in `WorkDone`.
    """

    returns_early = False
    round_seconds = 1.0

    def __init__(
        self,
        plan: Plan,
        encoding: Encoding,
        seed: int,
        engine: Engine,
        loaded: int | None = None,
        kernel: str = SPECIALISED,
    ) -> None:
        self.plan = plan
        self.encoding = encoding
        self.slots = engine.slots
        self.seed = seed
        self.executor = engine.device
        self._engine = engine
        self._kernels = [loaded] * engine.slots
        self._log = WorkLog(engine.device, kernel, STEPS, engine.slots)
        self._put: dict[int, ChainState] = {}
        self._got: dict[int, ChainState] = {}
        self._scored: tuple[tuple[int, ...], bool] | None = None

    def _launch(self) -> None:
        """Advance every slot from its `step` to its `last_step`, or until its ring is full, and wait."""
        self._engine.launch(self._kernels)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The steps so far; empty if there were none."""
        return self._log.work

    @property
    def memory_bytes(self) -> int:
        """Memory of the chains' states and tables in bytes, on the device or in the fallback."""
        return self._engine.memory_bytes

    def close(self) -> None:
        """Free the device's memory."""
        self._engine.close()

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """Put a chain's state into a slot. Its tree must be valid.

        Raises:
            ValueError: the state's rates do not fit the problem's unit of scores.
        """
        before, got = self._put.get(slot), self._got.get(slot)
        fields = self._fields(state, info, got)
        if before is not None and before.tables is state.tables:  # large, and still there
            fields = {name: value for name, value in fields.items() if name not in state.tables}
        self._engine.put(slot, fields)
        self._note(slot, state)

    def put_all(self, states: Sequence[ChainState]) -> None:
        """Put a chain's state into every slot; for many slots this is far faster than one `put` each.

        Args:
            states: one per slot; their trees must be valid.

        Raises:
            ValueError: the number of states is not the number of slots, or as for `put`.
        """
        if len(states) != self.slots:
            raise ValueError(f"{len(states)} states for {self.slots} slots")
        self.put_first(states, [None] * len(states))

    def put_first(self, states: Sequence[ChainState], infos: Sequence[ChainInfo | None]) -> None:
        """Put chains into the first slots, as `put_all` does; the other slots lose theirs.

        Args:
            states: at least one, at most one per slot.
            infos: the statistics of each; None for a new chain.
        """
        fields = [self._fields(*one) for one in zip(states, infos, strict=True)]
        fields += fields[-1:] * (self.slots - len(fields))  # without steps to do
        for name in fields[0]:
            self._engine.write(name, np.array([each[name] for each in fields]))
        self._put.clear()
        for slot, state in enumerate(states):
            self._note(slot, state)
        for slot in range(len(states), self.slots):
            self._log.put(slot, states[-1].step)

    def _note(self, slot: int, state: ChainState) -> None:
        """Remember the state that a slot starts from."""
        self._put[slot] = state
        self._got.pop(slot, None)
        self._log.put(slot, state.step)

    def set_gamma(self, slot: int, gamma: float) -> None:
        """Set the exponent of the chain in a slot for the next steps, as annealing and tempering do.

        Raises:
            OptionError: gamma is not between 1e-6 and 1e6.
        """
        gamma = checked("gamma", gamma)
        self._put[slot] = replace(self._put[slot], gamma=gamma)
        self._got.pop(slot, None)
        self._engine.put(slot, self._logarithms(gamma))

    def get(self, slot: int) -> ChainState:
        """Return the state of the chain in a slot."""
        return self._state_of(slot, self._engine.get(slot, self._names_of_state()))

    def get_all(self, count: int) -> list[tuple[ChainState, ChainInfo]]:
        """Return the chains in the first slots; for many slots this is far faster than one `get` each."""
        parts = {name: self._engine.read(name) for name in self._names_of_state()}
        tallies = self._engine.read("tallies")
        return [
            (
                self._state_of(slot, {name: part[slot].copy() for name, part in parts.items()}),
                ChainInfo(tallies[slot].copy()),
            )
            for slot in range(count)
        ]

    def _names_of_state(self) -> list[str]:
        return [name for name, argument in self._engine.arguments.items() if argument.role == STATE]

    def _state_of(self, slot: int, part: Mapping[str, Array]) -> ChainState:
        """Return the state in a slot, of the slot's part of the arrays."""
        put = self._put[slot]
        places, best_places = put.rate_at, put.best_rate_at
        rates = put.rates
        if rates.log_shares:
            own = part["log_shares"][: self.plan.labels + 1]
            rates = replace(rates, log_shares=tuple(own.tolist()))
        if self.plan.problem.learns:
            places, best_places = _places(part["rate_at"]), _places(part["best_rate_at"])
            rates = self.plan.problem.rates_at(places)
        best = {name.removeprefix("best_"): array for name, array in part.items() if name.startswith("best_")}
        state = ChainState(
            chain=put.chain,
            step=int(part["step"]),
            parents=self.encoding.decode(part),
            score=int(part["score"]),
            best_parents=self.encoding.decode(best),
            best_score=int(part["best_score"]),
            rates=rates,
            gamma=put.gamma,
            settings=put.settings,
            rate_at=places,
            best_rate_at=best_places,
            tables=put.tables,
        )
        self._got[slot] = state
        return state

    def info(self, slot: int) -> ChainInfo:
        """Return the statistics of the chain in a slot."""
        return ChainInfo(self._engine.read("tallies", slot))

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """Advance each slot's chain until its step number reaches its target.

        A slot that is already at its target or beyond it does no steps. A slot whose ring of events is full
        stops before its target, and continues at the next call.

        Args:
            targets: int64, shape (slots,): step number at which each slot stops.
        """
        started = time.perf_counter()
        self._got.clear()
        self._engine.write("last_step", targets)
        self._launch()
        steps = self._engine.read("step")
        events = self._take_events() if self.plan.recorders else []
        self._log.launched(steps, time.perf_counter() - started)
        return Advanced(steps, events)

    def read_all(self, name: str) -> Array:
        """Return a copy of one argument for all slots, in its declared shape and dtype.

        Args:
            name: an argument with role state or info, such as `score` or an array of `Encoding.encode`.
        """
        return self._engine.read(name)

    def best_scores(self) -> NDArray[np.int64]:
        """Return the best score of every slot's chain: int64, shape (slots,), in units of 2^-f nat."""
        return self.read_all("best_score")

    def _fields(
        self, state: ChainState, info: ChainInfo | None, there: ChainState | None = None
    ) -> dict[str, ArrayLike]:
        """Return one slot's part of every argument that is computed from a chain's state, by name.

        Args:
            state, info: as for `put`.
            there: the state that is in the slot; what it shares with the other one may be left out.
        """
        self._check_rates(state)
        values: dict[str, ArrayLike] = {
            "score": state.score,
            "best_score": state.best_score,
            "weights": state.rates.weights,
            "log_shares": self.encoding.encode_shares(state.rates.log_shares),
            "tallies": no_tallies(len(self.plan.kinds)) if info is None else info.tallies,
            **state.tables,
            **self._trees(state, there),
        }
        if there is None or _time_of(there) != _time_of(state):
            values.update(chain=state.chain, step=state.step, last_step=state.step)
            values.update(self._logarithms(state.gamma))
        if there is None or _places_of(there) != _places_of(state) or there.settings is not state.settings:
            rates = self.encoding.learned_rates
            values.update(rate_at=state.rate_at[:rates], best_rate_at=state.best_rate_at[:rates])
            values.update(self.plan.settings_at(state.rate_at, state.settings))
        return {name: value for name, value in values.items() if name in self._engine}

    def _check_rates(self, state: ChainState) -> None:
        """Check that the rates fit the problem's unit of scores; the same weights only once."""
        key = (state.rates.weights, bool(state.rates.log_shares))
        if key == self._scored or state.rates == self.plan.problem.rates_at(state.rate_at):
            return
        reason = self.encoding.can_score(state.rates)
        if reason is not None:
            raise ValueError(f"chain {state.chain} cannot have these rates: {reason}")
        self._scored = key

    def _trees(self, state: ChainState, there: ChainState | None) -> dict[str, ArrayLike]:
        """Return the arrays of the current tree and of the best one, but for trees that are in the slot."""
        values: dict[str, ArrayLike] = {"tables_made": 0}
        tree: dict[str, ArrayLike] = {}
        if there is None or state.parents is not there.parents:
            tree = self.encoding.encode(state.parents)
            values.update(tree)
        if there is None or state.best_parents is not there.best_parents:
            best = tree if state.best_parents is state.parents else {}
            best = best or self.encoding.encode(state.best_parents)
            values.update({f"best_{name}": part for name, part in best.items()})
        return values

    def _logarithms(self, gamma: float) -> dict[str, NDArray[np.int64]]:
        """Return the tables of the accept test, by argument name."""
        problem = self.plan.problem
        tables = log_tables(self.plan.labels, problem.unit, gamma)
        return {"log_table": tables.log_table, "log_sizes": tables.log_sizes}

    def _take_events(self) -> list[Event]:
        """Return the events in the rings, and empty the rings."""
        counts = self._engine.read("event_count")
        events: list[Event] = []
        nodes = self.plan.labels + 1
        for slot in np.flatnonzero(counts).tolist():
            count = int(counts[slot])
            step, score, why, key, parents = (
                self._engine.read(f"event_{name}", slot)[:count]
                for name in ("step", "score", "why", "key", "parents")
            )
            rates = self._engine.read("event_rates", slot) if "event_rates" in self._engine else None
            chain = self._put[slot].chain
            trees = parents[:, :nodes].copy()
            places = [NOWHERE] * count if rates is None else [_places(rates[at]) for at in range(count)]
            columns = (step.tolist(), score.tolist(), why.tolist(), key.tolist(), trees, places)
            events += [Event(chain, *column) for column in zip(*columns, strict=True)]
        if counts.any():
            self._engine.write("event_count", np.zeros_like(counts))
        return events


def _time_of(state: ChainState) -> tuple[int, int, float]:
    return state.chain, state.step, state.gamma


def _places_of(state: ChainState) -> tuple[Places, Places]:
    return state.rate_at, state.best_rate_at


def _places(array: NDArray[np.int64]) -> Places:
    """Return the grid indices of the rates; kernels without a learned rate of doublets have none of it."""
    fn, fp, *doublets = array.tolist()
    return fn, fp, *(doublets or (0,))


class Slots(Protocol):
    """Slots of chain states, for one plan and seed; the methods are those of `Runner`.

    Attributes:
        plan: the parts of the chains.
        seed: seed of the random numbers.
        slots: number of chain states.
        returns_early: whether `advance` returns before all slots are at their targets, to report progress.
            It is then called again with the same targets.
    """

    plan: Plan
    seed: int
    slots: int
    returns_early: bool

    @property
    def round_seconds(self) -> float:
        """Target length of a round between whose ends checkpoints are written."""

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The steps so far."""

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """See `Runner.put`."""

    def put_all(self, states: Sequence[ChainState]) -> None:
        """See `Runner.put_all`."""

    def get(self, slot: int) -> ChainState:
        """See `Runner.get`."""

    def info(self, slot: int) -> ChainInfo:
        """See `Runner.info`."""

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """See `Runner.advance`."""

    def best_scores(self) -> NDArray[np.int64]:
        """See `Runner.best_scores`."""

    def close(self) -> None:
        """See `Runner.close`."""
