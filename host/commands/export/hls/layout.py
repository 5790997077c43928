"""Layout of the pipeline: which arrays travel between which processes, derived from the stages' arguments.

The processes form a ring: io, then the five stages. An array of a chain's state leaves io, visits the stages
that read or write it, and returns. An array that one stage makes for later ones goes from each to the next.
Tables are the same for all states: io sends them once, before the first state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from syclade.host.commands.export.hls.values import C_TYPES
from syclade.kernels.ancestor.stage_arguments import STAGES
from syclade.kernels.arguments import PROBLEM, SCRATCH, SETTING, Argument

__all__ = ["IO", "LOAD", "Hop", "Memory", "circulating", "hops", "memories", "tables"]

IO = "io"
"""The process that starts chains, keeps states circulating, and takes those that are done."""

RING = (IO, *STAGES)


@dataclass(frozen=True)
class Memory:
    """An array on the chip: the part of an argument that belongs to one state, or a table.

    Attributes:
        name: name of the argument.
        dtype: numpy's name of the elements' type.
        length: number of elements, as C text.
        meaning: short description.
    """

    name: str
    dtype: str
    length: str
    meaning: str

    @property
    def c_type(self) -> str:
        """Type of the elements in C."""
        return C_TYPES[self.dtype]


@dataclass(frozen=True)
class Hop:
    """A stream of arrays from one process to another.

    Attributes:
        memory: the array.
        sender, receiver: the processes.
        is_table: whether it is sent once, and not with every state.
    """

    memory: Memory
    sender: str
    receiver: str
    is_table: bool = False

    @property
    def name(self) -> str:
        """Name of the stream."""
        return f"{self.memory.name}_{self.sender}_to_{self.receiver}"

    @property
    def is_packed(self) -> bool:
        """True if packets of UNROLL numbers are sent: arrays of a number for every column and node."""
        return "CELLS" in self.memory.length and "NODES" in self.memory.length

    @property
    def element(self) -> str:
        """Type in C of what the stream holds."""
        return "packet" if self.is_packed else self.memory.c_type

    @property
    def depth(self) -> str:
        """Number of elements that the stream must hold, as C text.

        A stream to the next stage holds one state. One that passes by stages, or returns to io, holds all
        states in flight. So no process waits for room but for the next stage's, and the ring cannot block.
        """
        near = RING.index(self.receiver) - RING.index(self.sender) == 1
        own = f"{self.memory.length} / UNROLL" if self.is_packed else self.memory.length
        return own if near or self.is_table else f"STATES * ({own})"


LOAD = Memory("load", "int64", "1", "1 if tables come before this state, else 0")


def _memory(argument: Argument) -> Memory:
    parts = [str(part).upper() for part in argument.shape if part != "slots"]
    return Memory(argument.name, argument.dtype, " * ".join(parts) or "1", argument.meaning)


@cache
def _arguments() -> dict[str, Argument]:
    return {one.argument.name: one.argument for stage in STAGES.values() for one in stage}


def _is_table(argument: Argument) -> bool:
    return argument.role == PROBLEM or (argument.role == SETTING and len(argument.shape) > 1)


def tables() -> tuple[Memory, ...]:
    """Return the tables, which are the same for all states."""
    return tuple(_memory(one) for one in _arguments().values() if _is_table(one))


def circulating() -> tuple[Memory, ...]:
    """Return the arrays of a chain's state."""
    return tuple(_memory(one) for one in _arguments().values() if not _is_table(one) and one.role != SCRATCH)


def memories(stage: str) -> tuple[Memory, ...]:
    """Return the arrays of a stage, in the order of its function's parameters."""
    return tuple(_memory(one.argument) for one in STAGES[stage])


@cache
def hops() -> tuple[Hop, ...]:
    """Return all streams, ordered by sender and receiver along the ring."""
    found = [*_loads(), *(hop for name in _arguments() for hop in _hops_of(name))]
    return tuple(sorted(found, key=lambda hop: (RING.index(hop.sender), RING.index(hop.receiver))))


def _hops_of(name: str) -> Iterator[Hop]:
    argument = _arguments()[name]
    memory = _memory(argument)
    users = [stage for stage in STAGES if memory in memories(stage)]
    if _is_table(argument):
        yield from (Hop(memory, IO, stage, True) for stage in users)
        return
    places: Sequence[str] = users if argument.role == SCRATCH else (IO, *users, IO)
    yield from (Hop(memory, sender, receiver) for sender, receiver in pairwise(places))


def _loads() -> Iterator[Hop]:
    """Yield the streams that announce tables."""
    own = tables()
    for stage in STAGES:
        if any(memory in own for memory in memories(stage)):
            yield Hop(LOAD, IO, stage)
