"""The column unit of variant calling: its processes and streams, and its functions in C.

The design is that of Xu, Rixner and Cox (2023), Figures 2, 3 and 6, with blocks of entries on the chip and
boundary values in memory. Four processes run at the same time: while the processing elements work on a trial,
the logarithm unit and the prefetcher work on the next ones, and boundary values are stored behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syclade.host.commands.export.hls.body import translated
from syclade.host.commands.export.hls.program import Loop, Program
from syclade.host.commands.export.hls.values import Array, Number
from syclade.kernels.tails.stages.logarithm import logarithms
from syclade.kernels.tails.stages.processing_element import clear_block, process_trial, tail_of

__all__ = ["PROCESSES", "STREAMS", "Process", "Stream", "column_functions", "elements_at_once", "streams_of"]


@dataclass(frozen=True)
class Stream:
    """A stream of records from one process to another.

    Attributes:
        name: of the stream.
        type: in C.
        sender, receiver: the processes.
        depth: how many records it holds.
    """

    name: str
    type: str
    sender: str
    receiver: str
    depth: int = 16


@dataclass(frozen=True)
class Process:
    """A process: a loop over columns, then over blocks of entries, then over trials.

    Attributes:
        name: of the process.
        meaning: what it does.
        memory: its arrays in global memory: (type, name, meaning); arrays of constant type are only read.
        body: what it does with a column, as C text; `own` is the column, `number` its number.
        before: what it does before the first column.
    """

    name: str
    meaning: str
    memory: tuple[tuple[str, str, str], ...]
    body: str
    before: str = ""


STREAMS = (
    Stream("columns_to_logarithm", "column", "fetch", "logarithm"),
    Stream("columns_to_elements", "column", "fetch", "elements"),
    Stream("columns_to_store", "column", "fetch", "store"),
    Stream("errors", "f64", "fetch", "logarithm"),
    Stream("boundaries", "pair", "fetch", "elements", 64),
    Stream("logs", "logarithms_result", "logarithm", "elements"),
    Stream("edges", "pair", "elements", "store"),
    Stream("tails", "f64", "elements", "store"),
    Stream("stored", "i64", "store", "fetch"),
)
"""Streams may be shorter or longer: a process waits only for records that others can send at once."""

_FETCH = """\
WRITE(columns_to_logarithm, own)
WRITE(columns_to_elements, own)
WRITE(columns_to_store, own)
FOR_EACH_BLOCK(own) {
    if (low > 0) {
        i64 block;
        READ(block, stored) /* the boundary values of this many blocks are in memory */
        (void)block;
    }
    for (i64 n = FIRST_TRIAL(low); n < own.trials; n++) {
        const f64 p = all_error[first + (u64)n];
        WRITE(errors, p)
        if (low > 0) {
            const pair before = {edge_in[n], edge_low_in[n]};
            WRITE(boundaries, before)
        }
    }
}
first += (u64)own.trials;
"""

_LOGARITHM = """\
FOR_EACH_BLOCK(own) {
    for (i64 n = FIRST_TRIAL(low); n < own.trials; n++) {
        f64 p;
        READ(p, errors)
        const logarithms_result both = logarithms(p);
        WRITE(logs, both)
    }
}
"""

_ELEMENTS = """\
i64 entries = 0;
FOR_EACH_BLOCK(own) {
    const i64 left = own.at_least + 1 - low;
    const i64 last = left <= BLOCK ? 1 : 0; /* its last entry is that of K or more */
    entries = last ? left : BLOCK;
    clear_block(high, low_part, entries, low > 0 ? LOG_0 : 0.0);
    for (i64 n = FIRST_TRIAL(low); n < own.trials; n++) {
        logarithms_result both;
        READ(both, logs)
        pair before = {LOG_0, 0.0};
        if (low > 0) {
            READ(before, boundaries)
        }
        if (!last) {
            const pair edge = {high[BLOCK - 1], low_part[BLOCK - 1]};
            WRITE(edges, edge)
        }
        COUNT_PASS();
        process_trial(high, low_part, entries, last, n - low, before.high, before.low,
            both.item_0, both.item_1, both.item_2);
    }
}
const f64 tail = tail_of(high[entries - 1], low_part[entries - 1]);
WRITE(tails, tail)
"""

_STORE = """\
FOR_EACH_BLOCK(own) {
    if (low + BLOCK <= own.at_least) {
        for (i64 n = FIRST_TRIAL(low); n < own.trials; n++) {
            pair edge;
            READ(edge, edges)
            edge_out[n] = edge.high;
            edge_low_out[n] = edge.low;
        }
        WAIT_FOR_MEMORY();
        const i64 block = low / BLOCK + 1;
        WRITE(stored, block)
    }
}
f64 tail;
READ(tail, tails)
all_log_tail[number] = tail;
"""

PROCESSES = (
    Process(
        "fetch",
        "Prefetcher: reads the probabilities of trials, and the boundary values of the block before.",
        (
            ("const i64", "all_sizes", "trials of each column"),
            ("const i64", "all_at_least", "K of each column"),
            ("const f64", "all_error", "probability of each trial, column after column"),
            ("const f64", "edge_in", "boundary value of each trial: entry before the block, high part"),
            ("const f64", "edge_low_in", "its low part"),
        ),
        _FETCH,
        before="u64 first = 0; /* trials of the columns before */",
    ),
    Process("logarithm", "Logarithm unit: both logarithms of a probability.", (), _LOGARITHM),
    Process(
        "elements",
        "Processing elements: ELEMENTS entries at once, for one trial after another.",
        (),
        _ELEMENTS,
        before="f64 high[BLOCK], low_part[BLOCK]; /* entries of the block */",
    ),
    Process(
        "store",
        "Stores boundary values for the next block, and the column's result.",
        (
            ("f64", "edge_out", "the memory of edge_in"),
            ("f64", "edge_low_out", "the memory of edge_low_in"),
            ("f64", "all_log_tail", "OUT ln P(X >= K) of each column"),
        ),
        _STORE,
    ),
)


def streams_of(process: Process) -> tuple[Stream, ...]:
    """Return the streams that a process reads, then those that it writes."""
    read = [stream for stream in STREAMS if stream.receiver == process.name]
    return (*read, *(stream for stream in STREAMS if stream.sender == process.name))


def elements_at_once(loop: Loop) -> str:
    """Return by how much a loop over entries is unrolled: one processing element does one of them."""
    return "ELEMENTS" if loop.variable == "k" else ""


class _NoSizes(tuple[()]):
    """Sizes of the column unit are names in its processes; its functions have none."""


def column_functions(
    before_loop: Callable[[Loop], Sequence[str]], in_loop: Callable[[Loop], Sequence[str]]
) -> Program:
    """Translate the functions of the column unit; the processes call them.

    Args:
        before_loop, in_loop: pragmas, as for `Program`.
    """
    program = Program(
        _NoSizes,
        before_loop,
        in_loop,
        {"high": "(BLOCK): high parts of the entries", "low": "(BLOCK): their low parts"},
        unrolled=elements_at_once,
        fixed_trips=False,
    )
    absent = Number("0", "uint64", 0, stable=True, absent=True)
    entries = (Array("high", "float64"), absent, Array("low", "float64"), absent)
    whole, real = Number("number", "int64"), Number("number", "float64")
    translated(program, logarithms, [real])
    translated(program, clear_block, [*entries, whole, real])
    translated(program, process_trial, [*entries, whole, whole, whole, *[real] * 5])
    translated(program, tail_of, [real, real])
    return program
