"""Processes of the pipeline: which arrays travel between which of them, and their text in C.

The processes form a ring: io, then the five stages. An array of a chain's state leaves io, visits the stages
that read or write it, and returns. An array that one stage makes for later ones goes from each to the next.
Tables are the same for all states: io sends them once, before the first state. All this follows from the
stages' arguments.

The text uses macros that a flavour defines: RECEIVE and SEND for an array and a stream, the same in packets,
COPY from and to global memory, FOR_EACH_STATE, BEGIN_STATE and END_STATE around all that is done for a state,
and BEGIN_STAGE and END_STAGE around a stage's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from syclade.host.commands.export.hls.values import C_TYPES
from syclade.kernels.ancestor.stage_arguments import STAGES
from syclade.kernels.arguments import PROBLEM, SCRATCH, SETTING, Argument

__all__ = [
    "IO",
    "LOAD",
    "PROCESSES",
    "Hop",
    "Memory",
    "circulating",
    "hops",
    "io_body",
    "io_parameters",
    "memories",
    "stage_body",
    "streams_of",
    "tables",
]

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


PROCESSES = (IO, *STAGES)


def streams_of(process: str) -> tuple[Hop, ...]:
    """Return the streams that a process reads, then those that it writes."""
    read = [hop for hop in hops() if hop.receiver == process]
    return (*read, *(hop for hop in hops() if hop.sender == process))


def stage_body(stage: str, partition: str = "") -> str:
    """Return the body of a stage's process.

    Args:
        stage: one of `STAGES`.
        partition: line after the declaration of an array whose rows are read in parallel; NAME is its name.
    """
    own = memories(stage)
    received = [hop for hop in hops() if hop.receiver == stage]
    named = [hop for hop in received if not hop.is_table and hop.memory != LOAD]
    lines = [*_declared(own, partition)]
    first = [hop for hop in received if hop.memory == LOAD]
    lines += [*_declared([LOAD], "")] if first else []
    lines += ["FOR_EACH_STATE {", "    BEGIN_STATE();"]
    lines += [f"    {_receive(hop)}" for hop in first]
    if first:
        loaded = [f"        {_receive(hop)}" for hop in received if hop.is_table]
        lines += ["    if (load[0]) {", *loaded, "    }"]
    lines += [f"    {_receive(hop)}" for hop in named]
    arguments = ", ".join(memory.name for memory in own)
    lines += [f"    BEGIN_STAGE({PROCESSES.index(stage)});", f"    ancestor_{stage}({arguments});"]
    lines.append(f"    END_STAGE({PROCESSES.index(stage)});")
    lines += [f"    {_send(hop)}" for hop in hops() if hop.sender == stage]
    lines.append(f"    END_STATE({PROCESSES.index(stage)});")
    return _indented([*lines, "}"])


def io_parameters() -> tuple[Memory, ...]:
    """Return the arrays in global memory that io takes: tables, then the states of all chains."""
    return (*tables(), *circulating())


def io_body(partition: str = "") -> str:
    """Return the body of io: algorithm 3.10 of the thesis, for any number of chains and states in flight.

    Its parameters are `chains`, `states`, and pointers ``all_NAME`` to the arrays of `io_parameters`.

    Args:
        partition: as for `stage_body`.
    """
    own = circulating()
    back = [hop for hop in hops() if hop.receiver == IO]
    lines = [*_declared((*own, LOAD), partition)]
    lines += [
        "u64 queue[STATES];  /* numbers of the chains in flight, in the order in which they come back */",
        "u64 head = 0, tail = 0;",
        "u64 started = 0, in_flight = 0, done = 0;",
        "while (done < chains) {",
        "    BEGIN_STATE();",
        "    const int starts = started < chains && in_flight < states;",
        "    u64 number = started;",
        "    if (starts) {",
        *(f"        COPY({one.name}, all_{one.name} + {_offset(one)}, {one.length});" for one in own),
        "    } else {",
        "        number = queue[head];",
        "        head = head + 1 == STATES ? 0 : head + 1;",
        *(f"        {_receive(hop)}" for hop in back),
        "    }",
        "    if (!starts && step[0] >= last_step[0]) {",
        *(f"        COPY(all_{one.name} + {_offset(one)}, {one.name}, {one.length});" for one in own),
        "        in_flight--;",
        "        done++;",
        "        continue;",
        "    }",
        "    load[0] = started == 0;",
        "    queue[tail] = number;",
        "    tail = tail + 1 == STATES ? 0 : tail + 1;",
        "    started += starts;",
        "    in_flight += starts;",
    ]
    for stage in STAGES:
        lines += [f"    {line}" for line in _sends_to(stage)]
    lines.append(f"    END_STATE({PROCESSES.index(IO)});")
    return _indented([*lines, "}"])


def _sends_to(stage: str) -> list[str]:
    sent = [hop for hop in hops() if hop.sender == IO and hop.receiver == stage]
    lines = [_send(hop) for hop in sent if hop.memory == LOAD]
    once = [
        f"    SEND(all_{hop.memory.name}, {hop.memory.length}, {hop.name});" for hop in sent if hop.is_table
    ]
    lines += ["if (load[0]) {", *once, "}"] if once else []
    return lines + [_send(hop) for hop in sent if hop.memory != LOAD and not hop.is_table]


def _offset(memory: Memory) -> str:
    return "number" if memory.length == "1" else f"number * {memory.length}"


def _receive(hop: Hop) -> str:
    return f"RECEIVE{'_PACKED' * hop.is_packed}({hop.memory.name}, {hop.memory.length}, {hop.name});"


def _send(hop: Hop) -> str:
    return f"SEND{'_PACKED' * hop.is_packed}({hop.memory.name}, {hop.memory.length}, {hop.name});"


def _declared(own: Iterable[Memory], partition: str) -> Sequence[str]:
    lines = []
    for memory in own:
        lines.append(f"{memory.c_type} {memory.name}[{memory.length}];  /* {memory.meaning} */")
        if partition and "NODES" in memory.length:
            lines.append(partition.replace("NAME", memory.name))
    return lines


def _indented(lines: Sequence[str]) -> str:
    return "".join(f"    {line}\n" if not line.startswith("#") else f"{line}\n" for line in lines)
