"""C text of the pipeline's processes: each stage, and io, with loops that receive and send arrays.

The text uses macros that a flavour defines: RECEIVE and SEND for an array and a stream, the same in packets,
COPY from and to global memory, FOR_EACH_STATE, BEGIN_STATE and END_STATE around all that is done for a state,
and BEGIN_STAGE and END_STAGE around a stage's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from syclade.host.commands.export.hls.layout import (
    IO,
    LOAD,
    Hop,
    Memory,
    circulating,
    hops,
    memories,
    tables,
)
from syclade.kernels.ancestor.stage_arguments import STAGES

__all__ = ["PROCESSES", "io_body", "io_parameters", "stage_body", "streams_of"]

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
