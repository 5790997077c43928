"""Chain states in the arrays that a kernel works on: common base of the runners of all technologies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.arrays import Arrays
from syclade.host.backends.base import Advanced, Runner
from syclade.host.chains.acceptance import log_tables
from syclade.host.chains.events import Event
from syclade.host.chains.plan import Plan
from syclade.host.chains.state import ChainInfo, ChainState, no_tallies
from syclade.host.encodings.base import Encoding
from syclade.host.options import checked
from syclade.kernels.arguments import STATE

__all__ = ["ArrayRunner", "chain_arrays"]


class ArrayRunner(Runner):
    """A runner that stores chain states in arrays; the encoding converts the trees."""

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        super().__init__(plan, encoding, slots, seed)
        self._arrays: Arrays
        self._put: dict[int, ChainState] = {}

    @abstractmethod
    def _launch(self) -> None:
        """Advance every slot from its `step` to its `last_step`, or until its ring is full, and wait."""

    @property
    def memory_bytes(self) -> int:
        """See `Runner.memory_bytes`."""
        return self._arrays.memory_bytes

    def close(self) -> None:
        """See `Runner.close`."""
        self._arrays.close()

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """See `Runner.put`."""
        self._put[slot] = state
        for name, value in self._values(state, info).items():
            self._arrays.write(name, value, slot)

    def put_all(self, states: Sequence[ChainState]) -> None:
        """See `Runner.put_all`."""
        if len(states) != self.slots:
            raise ValueError(f"{len(states)} states for {self.slots} slots")
        self._put = dict(enumerate(states))
        values = [self._values(state, None) for state in states]
        for name in values[0]:
            self._arrays.write(name, np.array([each[name] for each in values]))

    def set_gamma(self, slot: int, gamma: float) -> None:
        """See `Runner.set_gamma`."""
        gamma = checked("gamma", gamma)
        self._put[slot] = replace(self._put[slot], gamma=gamma)
        for name, table in self._logarithms(gamma).items():
            self._arrays.write(name, table, slot)

    def get(self, slot: int) -> ChainState:
        """See `Runner.get`."""
        put = self._put[slot]
        part = {
            name: self._arrays.read(name, slot)
            for name, argument in self._arrays.arguments.items()
            if argument.role == STATE
        }
        places, best_places = put.rate_at, put.best_rate_at
        rates = put.rates
        if self.plan.problem.learns:
            places, best_places = _places(part["rate_at"]), _places(part["best_rate_at"])
            rates = self.plan.problem.rates_at(places)
        best = {name.removeprefix("best_"): array for name, array in part.items() if name.startswith("best_")}
        return ChainState(
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
        )

    def info(self, slot: int) -> ChainInfo:
        """See `Runner.info`."""
        return ChainInfo(self._arrays.read("tallies", slot))

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """See `Runner.advance`."""
        self._arrays.write("last_step", targets)
        self._launch()
        steps = self._arrays.read("step")
        return Advanced(steps, self._take_events() if self.plan.recorders else [])

    def read_all(self, name: str) -> NDArray[Any]:
        """See `Runner.read_all`."""
        return self._arrays.read(name)

    def _values(self, state: ChainState, info: ChainInfo | None) -> dict[str, Any]:
        """Return one slot's part of every argument that is computed from a chain's state, by name."""
        if state.rates != self.plan.problem.rates_at(state.rate_at):
            reason = self.encoding.can_score(state.rates)
            if reason is not None:
                raise ValueError(f"chain {state.chain} cannot have these rates: {reason}")
        values = {
            "chain": state.chain,
            "step": state.step,
            "last_step": state.step,
            "score": state.score,
            "best_score": state.best_score,
            **self._logarithms(state.gamma),
            "weights": state.rates.weights,
            "rate_at": state.rate_at,
            "best_rate_at": state.best_rate_at,
            "tallies": no_tallies(len(self.plan.kinds)) if info is None else info.tallies,
            **self.plan.settings,
            **state.settings,
            **self.encoding.encode(state.parents),
        }
        best = self.encoding.encode(state.best_parents)
        values |= {f"best_{name}": part for name, part in best.items()}
        return {name: value for name, value in values.items() if name in self._arrays}

    def _logarithms(self, gamma: float) -> dict[str, NDArray[np.int64]]:
        """Return the tables of the accept test, by argument name."""
        problem = self.plan.problem
        tables = log_tables(self.plan.labels, problem.unit, gamma)
        return {"log_table": tables.log_table, "log_sizes": tables.log_sizes}

    def _take_events(self) -> list[Event]:
        """Return the events in the rings, and empty the rings."""
        counts = self._arrays.read("event_count")
        events: list[Event] = []
        nodes = self.plan.labels + 1
        for slot in np.flatnonzero(counts).tolist():
            count = int(counts[slot])
            step, score, why, key, parents = (
                self._arrays.read(f"event_{name}", slot)[:count]
                for name in ("step", "score", "why", "key", "parents")
            )
            rates = self._arrays.read("event_rates", slot) if "event_rates" in self._arrays else None
            chain = self._put[slot].chain
            events += [
                Event(
                    chain,
                    int(step[at]),
                    int(score[at]),
                    int(why[at]),
                    int(key[at]),
                    parents[at, :nodes].copy(),
                    (0, 0) if rates is None else _places(rates[at]),
                )
                for at in range(count)
            ]
        if counts.any():
            self._arrays.write("event_count", np.zeros_like(counts))
        return events


def _places(array: NDArray[np.int64]) -> tuple[int, int]:
    """Return the grid indices (fn, fp) of both rates as a tuple."""
    fn, fp = array.tolist()
    return fn, fp


def chain_arrays(plan: Plan, encoding: Encoding, seed: int) -> dict[str, NDArray[Any]]:
    """Return the arguments with role `problem` by name, each in its declared shape."""
    # A seed of 2^63 and above is stored as its two's complement.
    parameters = np.array((plan.labels, seed, len(plan.kinds)), dtype=np.uint64).view(np.int64)
    below = np.array(plan.move_below, dtype=np.int64)
    arrays = {"parameters": parameters, "move_below": below, **encoding.problem_arrays()}
    if plan.recorders:
        arrays["ring"] = np.array((plan.events, encoding.sizes["nodes"] // encoding.lanes), dtype=np.int64)
    tables = plan.problem.rate_tables
    names = ("fn_weights", "fp_weights", "fn_worth", "fp_worth")
    arrays |= {name: getattr(tables, name) for name in names}
    arrays["rate_points"] = np.array(tables.model.points, dtype=np.int64)
    arrays["rate_jumps"] = tables.model.jumps
    return arrays
