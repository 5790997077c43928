"""Options shared by several commands, so that meaning and help text are the same everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from syclade.host.model.defaults import DEFAULT_SEED

if TYPE_CHECKING:
    from syclade.host.model.rates import Rates

__all__ = [
    "INPUT_FILE",
    "MATRIX",
    "SEED",
    "MatrixSource",
    "Probability",
    "cell_names_option",
    "device_option",
    "encoding_option",
    "fn_rate_option",
    "force_option",
    "fp_rate_option",
    "json_option",
    "names_option",
    "out_option",
    "rates_of",
    "seed_option",
    "tree_option",
    "zygosity_options",
]

Command = TypeVar("Command", bound=Callable[..., Any])


class Probability(click.ParamType[float]):
    """A number from 0 to 1; with ``inside``, both ends are excluded."""

    name = "probability"

    def __init__(self, *, inside: bool) -> None:
        self.inside = inside

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; fail with a usage error that names the range."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number.", param, ctx)
        if not (0 < number < 1 if self.inside else 0 <= number <= 1):  # NaN is neither
            ends = ", both excluded" if self.inside else ""
            self.fail(f"{value} is not between 0 and 1{ends}.", param, ctx)
        return number


class MatrixSource(click.ParamType[Any]):
    """A path, or ``-`` for standard input, which error messages call ``<stdin>``."""

    name = "matrix"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or the stream of standard input."""
        if value == "":
            self.fail("the name is empty.", param, ctx)
        if value != "-":
            return Path(value)
        if sys.stdin is None:
            self.fail("standard input is closed.", param, ctx)
        return sys.stdin.buffer


SEED = click.IntRange(0, 2**64 - 1)


class _Name(click.Path):
    """A path. Access is checked at open time, which gives a better error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; refuse an empty text, which would mean the current folder."""
        if value == "":
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


INPUT_FILE = _Name(path_type=Path)
MATRIX = MatrixSource()


def fp_rate_option() -> Callable[[Command], Command]:
    """Add ``--fp-rate``, required."""
    return click.option(
        "--fp-rate",
        type=Probability(inside=True),
        required=True,
        help="Probability of observing a mutation that is not there (SCITE's -fd).",
    )


def fn_rate_option() -> Callable[[Command], Command]:
    """Add ``--fn-rate``, required."""
    return click.option(
        "--fn-rate",
        type=Probability(inside=True),
        required=True,
        help="Probability of not observing a mutation (SCITE's -ad).",
    )


def score_option() -> Callable[[Command], Command]:
    """Add ``--score``, ``max`` by default."""
    return click.option(
        "--score",
        type=click.Choice(("max", "sum")),
        default="max",
        show_default=True,
        help="What a tree is worth: every cell at its best node, or at all nodes, each with its likelihood "
        "(SCITE's -s).",
    )


def zygosity_options(*, merge: bool = True) -> Callable[[Command], Command]:
    """Add ``--fn-rate-hom``, ``--hom-rate`` and, with ``merge``, ``--merge-homozygous``."""
    both = [
        click.option(
            "--fn-rate-hom",
            type=Probability(inside=True),
            metavar="RATE",
            help="Probability of observing a mutation as homozygous (2), as SCITE's second -ad.",
        ),
        click.option(
            "--hom-rate",
            type=Probability(inside=True),
            metavar="RATE",
            help="Probability of observing a homozygous mutation that is not there (SCITE's -cc).",
        ),
    ]
    if merge:
        both.append(click.option("--merge-homozygous", is_flag=True, help="Take 2 (homozygous) for 1."))

    def add(command: Command) -> Command:
        for option in reversed(both):
            command = option(command)
        return command

    return add


def rates_of(given: Mapping[str, Any]) -> Rates:
    """Return the error rates from the parameters of a command."""
    from dataclasses import fields

    from syclade.host.model.rates import Rates

    return Rates(**{field.name: given[field.name] for field in fields(Rates) if field.name in given})


def seed_option() -> Callable[[Command], Command]:
    """Add ``--seed``, 0 to 2^64 - 1."""
    return click.option(
        "--seed",
        type=SEED,
        default=DEFAULT_SEED,
        show_default=True,
        metavar="INTEGER",
        help="Seed of the random numbers; equal seeds give equal results.",
    )


def names_option() -> Callable[[Command], Command]:
    """Add ``--names``."""
    return click.option(
        "--names",
        type=INPUT_FILE,
        metavar="FILE",
        help="Names of the mutations, one a line, blanks included. Without it those of the matrix, which for "
        "SCITE's format are in x.geneNames beside x.csv; else they are numbered from 1.",
    )


def cell_names_option() -> Callable[[Command], Command]:
    """Add ``--cell-names``."""
    return click.option(
        "--cell-names",
        type=INPUT_FILE,
        metavar="FILE",
        help="Names of the cells, one a line. Without it those of the matrix, or in x.cellNames; else they "
        "are called s0, s1, … as by SCITE.",
    )


def device_option() -> Callable[[Command], Command]:
    """Add ``--device``, ``auto`` by default, and ``--threads``, which is not passed to the command."""
    device = click.option(
        "--device",
        default="auto",
        show_default=True,
        metavar="auto|cpu|native|fpga-emu|fpga|numpy|FILTER",
        help="Where to run; FILTER as 'syclade devices' lists it.",
    )
    threads = click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        expose_value=False,
        callback=_limit_threads,
        help="Cores to use at most; else as many as this process may (also: SYCLADE_THREADS).",
    )
    return lambda command: device(threads(command))


def _limit_threads(_context: click.Context, _option: click.Parameter, number: int | None) -> None:
    if number is not None:
        os.environ["SYCLADE_THREADS"] = str(number)


def encoding_option() -> Callable[[Command], Command]:
    """Add ``--encoding``, ``auto`` by default."""
    return click.option(
        "--encoding",
        type=click.Choice(["auto", "preorder", "ancestor", "clade", "plain"]),
        default="auto",
        show_default=True,
        help="How trees stand in the device's memory; changes the speed only.",
    )


def stages_options() -> Callable[[Command], Command]:
    """Add ``--stages``, ``fused`` by default, and ``--trace``."""
    stages = click.option(
        "--stages",
        type=click.Choice(("fused", "separate")),
        default="fused",
        show_default=True,
        help="How the stages of a chain step run: in one kernel, or as five kernels that the host keeps full "
        "of chain states (to check an FPGA design; slow). Changes the speed only.",
    )
    trace = click.option(
        "--trace",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write the timeline of the first 1000 steps of --stages separate, in Chrome's trace format.",
    )
    return lambda command: stages(trace(command))


def tree_option(parameter: str = "tree") -> Callable[[Command], Command]:
    """Add ``--tree``, ``mutation`` by default, as the parameter of the given name."""
    return click.option(
        "--tree",
        parameter,
        type=click.Choice(["mutation", "leaf"]),
        default="mutation",
        show_default=True,
        help="Trees of mutations; or binary trees whose leaves are the cells (leaf, SCITE's -transpose).",
    )


def out_option(*, required: bool = False) -> Callable[[Command], Command]:
    """Add ``--out``, a directory."""
    return click.option(
        "--out",
        type=INPUT_FILE,
        required=required,
        metavar="DIR",
        help="Directory for the files; made if need be.",
    )


def force_option() -> Callable[[Command], Command]:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Replace files that exist in the directory.")


def json_option() -> Callable[[Command], Command]:
    """Add ``--json``, as the parameter ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")
