"""A runner keeps c chain states in slots and takes them forward; every technology has one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.arrays import Arrays
from syclade.host.chains.acceptance import log_tables
from syclade.host.chains.events import Event
from syclade.host.chains.plan import Plan, check_gamma
from syclade.host.chains.state import ChainInfo, ChainState, no_tallies
from syclade.host.encodings.base import Encoding
from syclade.kernels.arguments import STATE

__all__ = ["Advanced", "Runner", "chain_arrays"]


@dataclass(frozen=True, eq=False)
class Advanced:
    """How far a launch has got.

    Attributes:
        steps: int64, shape (slots,): each slot's step number. Short of its target where a ring was full.
        events: what left the chains, slot by slot, in the order of their steps.
    """

    steps: NDArray[np.int64]
    events: list[Event]


class Runner(ABC):
    """c slots of chain states on one device, for one plan and seed.

    States go in and come out as values; what they look like inside is the encoding's business.
    Results depend on neither the number of slots nor how steps are cut into launches.
    """

    def __init__(self, plan: Plan, encoding: Encoding, slots: int, seed: int) -> None:
        self.plan = plan
        self.encoding = encoding
        self.slots = slots
        self.seed = seed
        self._arrays: Arrays
        self._put: dict[int, ChainState] = {}

    @abstractmethod
    def _launch(self) -> None:
        """Take every slot from its `step` to its `last_step`, or until its ring is full, and wait."""

    @property
    def memory_bytes(self) -> int:
        """What the chains' states and tables take, on the device or in the fallback."""
        return self._arrays.memory_bytes

    def cpu_seconds(self) -> float:
        """Processor time so far of this process and of those that work for it."""
        return time.process_time()

    def close(self) -> None:
        """Give the device's memory back."""
        self._arrays.close()

    def put(self, slot: int, state: ChainState, info: ChainInfo | None = None) -> None:
        """Place a chain's state in a slot. Its tree must be valid.

        Raises:
            ValueError: its rates do not go with the problem's unit of scores.
        """
        self._put[slot] = state
        for name, value in self._values(state, info).items():
            self._arrays.write(name, value, slot)

    def put_all(self, states: Sequence[ChainState]) -> None:
        """Place a chain's state in every slot at once: far faster for many slots than one `put` each.

        Args:
            states: as many as there are slots; their trees must be valid.

        Raises:
            ValueError: another number of states, or see `put`.
        """
        if len(states) != self.slots:
            raise ValueError(f"{len(states)} states for {self.slots} slots")
        self._put = dict(enumerate(states))
        values = [self._values(state, None) for state in states]
        for name in values[0]:
            self._arrays.write(name, np.array([each[name] for each in values]))

    def set_gamma(self, slot: int, gamma: float) -> None:
        """Give the chain in a slot another exponent for the steps to come, as annealing and tempering do.

        Raises:
            OptionError: it makes no sense.
        """
        gamma = check_gamma(gamma)
        self._put[slot] = replace(self._put[slot], gamma=gamma)
        for name, table in self._logarithms(gamma).items():
            self._arrays.write(name, table, slot)

    def get(self, slot: int) -> ChainState:
        """The state of the chain in a slot."""
        put = self._put[slot]
        part = {
            name: self._arrays.read(name, slot)
            for name, argument in self._arrays.arguments.items()
            if argument.role == STATE
        }
        best = {name.removeprefix("best_"): array for name, array in part.items() if name.startswith("best_")}
        return ChainState(
            chain=put.chain,
            step=int(part["step"]),
            parents=self.encoding.decode(part),
            score=int(part["score"]),
            best_parents=self.encoding.decode(best),
            best_score=int(part["best_score"]),
            rates=put.rates,
            gamma=put.gamma,
            settings=put.settings,
        )

    def info(self, slot: int) -> ChainInfo:
        """What is told of the chain in a slot."""
        return ChainInfo(self._arrays.read("tallies", slot))

    def advance(self, targets: NDArray[np.int64]) -> Advanced:
        """Take each slot's chain forward until its step number is its target (at or below: not at all).

        A slot whose ring of events is full stops before its target, and goes on at the next call.

        Args:
            targets: int64, shape (slots,).
        """
        self._arrays.write("last_step", targets)
        self._launch()
        steps = self._arrays.read("step")
        return Advanced(steps, self._take_events() if self.plan.recorders else [])

    def read_all(self, name: str) -> NDArray[Any]:
        """A copy of one argument for all slots, as the kernel's declaration describes it.

        Args:
            name: an argument with role state or info, such as `score` or what `Encoding.encode` names.
        """
        return self._arrays.read(name)

    def best_scores(self) -> NDArray[np.int64]:
        """The best score of every slot's chain, in units of 2^-f nat, shape (slots,)."""
        return self._arrays.read("best_score")

    def _values(self, state: ChainState, info: ChainInfo | None) -> dict[str, Any]:
        """One slot's part of every argument that follows from a chain's state, by name."""
        if state.rates != self.plan.problem.rates:
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
            "tallies": no_tallies(len(self.plan.kinds)) if info is None else info.tallies,
            **self.plan.settings,
            **state.settings,
            **self.encoding.encode(state.parents),
        }
        best = self.encoding.encode(state.best_parents)
        values |= {f"best_{name}": part for name, part in best.items()}
        return {name: value for name, value in values.items() if name in self._arrays}

    def _logarithms(self, gamma: float) -> dict[str, NDArray[np.int64]]:
        """The tables of the accept test, by the names of the arguments."""
        problem = self.plan.problem
        tables = log_tables(problem.mutations, problem.scale_bits, gamma)
        return {"log_table": tables.log_table, "log_sizes": tables.log_sizes}

    def _take_events(self) -> list[Event]:
        """Empty the rings."""
        counts = self._arrays.read("event_count")
        events: list[Event] = []
        nodes = self.plan.problem.nodes
        for slot in np.flatnonzero(counts).tolist():
            count = int(counts[slot])
            step, score, why, key, parents = (
                self._arrays.read(f"event_{name}", slot)[:count]
                for name in ("step", "score", "why", "key", "parents")
            )
            chain = self._put[slot].chain
            events += [
                Event(
                    chain,
                    int(step[at]),
                    int(score[at]),
                    int(why[at]),
                    int(key[at]),
                    parents[at, :nodes].copy(),
                )
                for at in range(count)
            ]
        if counts.any():
            self._arrays.write("event_count", np.zeros_like(counts))
        return events


def chain_arrays(plan: Plan, encoding: Encoding, seed: int) -> dict[str, NDArray[Any]]:
    """The arguments with role `problem`, by name."""
    # A seed of 2^63 and above is stored as its two's complement.
    parameters = np.array((plan.problem.mutations, seed, len(plan.kinds)), dtype=np.uint64).view(np.int64)
    below = np.array(plan.move_below, dtype=np.int64)
    return {"parameters": parameters, "move_below": below, **encoding.problem_arrays()}
