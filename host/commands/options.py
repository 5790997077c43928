"""Options of commands, from `host/ground/options/table.py`: the same meaning and help text everywhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, TypeVar

import click

from syclade.host.ground.options import CODING, OPTIONS, Options, flag_of, options_of, quoted_names
from syclade.host.ground.options.types import WEIGHTS_GIVEN, Type
from syclade.host.ground.values import DOWNLOAD, at_home, is_address

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix
    from syclade.host.data.model.rates import Rates

__all__ = [
    "CODING",
    "INPUT_FILE",
    "MATRIX",
    "RATES",
    "Given",
    "GivenMatrix",
    "Probability",
    "coding_of",
    "files_of",
    "options_from",
    "rates_of",
    "take",
    "take_one_device",
    "take_rates",
]  # fmt: skip

Command = TypeVar("Command", bound=Callable[..., object])

GivenMatrix: TypeAlias = "Path | BinaryIO"
"""Argument MATRIX of a command: a path, or the stream of standard input."""

Given: TypeAlias = dict[str, Any]
"""Parameters of a command, or settings of an option, by name, as click takes them."""

GIVEN = {
    "fp_rate": "Probability of observing a mutation that is not there (SCITE's -fd).",
    "fn_rate": "Probability of not observing a mutation (SCITE's -ad).",
}
"""Rates that only `infer` estimates, and their help elsewhere."""

RATES = ("fp_rate", "fn_rate", "fn_rate_hom", "hom_rate", "merge_homozygous")
"""Options of fixed error rates."""


class Probability(click.ParamType["float | str"]):
    """A number from 0 to 1; with ``inside``, both ends are excluded; or one of ``words``."""

    name = "probability"

    def __init__(self, *, inside: bool, words: tuple[str, ...] = ()) -> None:
        self.inside, self.words = inside, words

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        """Return the number or the word; fail with a usage error that names the range."""
        if value in self.words:
            return value
        try:
            number = float(value)
        except ValueError:
            words = "".join(f", nor {word}" for word in self.words)
            self.fail(f"{value!r} is not a number{words}.", param, ctx)
        if not (0 < number < 1 if self.inside else 0 <= number <= 1):  # NaN is neither
            ends = ", both excluded" if self.inside else ""
            ends += "".join(f", nor {word}" for word in self.words)
            self.fail(f"{value} is not between 0 and 1{ends}.", param, ctx)
        return number


class MatrixSource(click.ParamType[GivenMatrix]):
    """A path, or ``-`` for standard input, which error messages call ``<stdin>``."""

    name = "matrix"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> GivenMatrix:
        """Return the path, or the stream of standard input."""
        if value == "":
            self.fail("the name is empty.", param, ctx)
        if is_address(value):
            self.fail(f"{value} is an address; {DOWNLOAD}", param, ctx)
        if value != "-":
            return at_home(value)
        if sys.stdin is None:
            self.fail("standard input is closed.", param, ctx)
        return sys.stdin.buffer


class _Name(click.Path):
    """A path. Access is checked at open time, which gives a better error."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; refuse an empty text, which would mean the current folder, and an address."""
        if value == "":
            self.fail("the name is empty.", param, ctx)
        if isinstance(value, str) and is_address(value):
            self.fail(f"{value} is an address; {DOWNLOAD}", param, ctx)
        return super().convert(str(at_home(value)) if isinstance(value, str) else value, param, ctx)


class _NameList(click.ParamType[str]):
    """Names with commas between, or `@` and a file of names, which is read: runs record the names."""

    name = "list"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the names with commas between."""
        from syclade.host.data.input.names import names_of_list, split_if_present

        flag = param.opts[0] if param is not None else self.name
        prefix, text = split_if_present(value)
        if not text.startswith("@"):
            return value
        return prefix + quoted_names(names_of_list(f"@{at_home(text[1:])}", flag))


INPUT_FILE = _Name(path_type=Path)
MATRIX = MatrixSource()

_TECHNICAL = (2**31 - 1, 2**32 - 1, 10**12, 2**62 - 1)
"""Upper limits that the help does not show: no run comes near them. `checked` refuses what is above them."""


def take(*names: str, **changes: object) -> Callable[[Command], Command]:
    """Add options of the table to a command, in the given order.

    Args:
        names: names of the options, which are also the parameters of the command; `json` is `as_json`.
        changes: settings of `click.option` that differ in this command: `default`, `help`, `required`, or
            `parameter`, another name of the parameter.
    """

    def add(command: Command) -> Command:
        for name in reversed(names):
            command = _option(name, dict(changes))(command)
        return command

    return add


def take_one_device(command: Command) -> Command:
    """Add the options for one device and for threads to a command that does not share its work."""
    one = take("device", help="Where to run; FILTER as 'syclade devices' lists it.")
    return one(take("threads")(command))


def take_rates(*names: str, required: bool = True) -> Callable[[Command], Command]:
    """Add options for error rates to a command that does not estimate them.

    Args:
        names: as for `take`.
        required: whether fp_rate and fn_rate are required; not where a matrix may have evidence instead.
    """

    def add(command: Command) -> Command:
        for name in reversed(names):
            changes: dict[str, object] = {"required": required, "help": GIVEN[name]} if name in GIVEN else {}
            command = take(name, **changes)(command)
        return command

    return add


def _option(name: str, changes: Given) -> Callable[[Command], Command]:
    """Return the decorator for an option of the table; see `take`."""
    option = OPTIONS[name]
    flags = [f"-{option.letter}", flag_of(name)] if option.letter else [flag_of(name)]
    parameter = changes.pop("parameter", {"json": "as_json"}.get(name, name))
    settings: Given = {
        "help": option.help,
        "required": False,
        "default": option.default,
        "metavar": option.metavar,
    }
    if name == "threads":
        settings |= {"expose_value": False, "callback": _limit_threads}
    if option.type.name == "weights":
        settings["nargs"] = WEIGHTS_GIVEN
    if option.type.name == "pair":
        settings["nargs"] = 2
    settings |= {"is_flag": True} if option.type.name == "flag" else {"type": _type_of(option.type)}
    settings |= changes
    settings["show_default"] = settings["default"] not in (None, False)
    if settings["required"]:
        del settings["default"]  # None, which click would take for the value
    return click.option(*flags, parameter, **settings)


def _type_of(kind: Type) -> click.ParamType[object]:
    """Return click's type for a type of the table."""
    if kind.name == "choice":
        return click.Choice(kind.choices)
    if kind.name in ("whole", "pair"):
        return click.IntRange(kind.low, None if kind.high in _TECHNICAL else kind.high)
    if kind.open_low:
        return Probability(inside=True, words=kind.choices)
    if kind.name in ("number", "weights"):
        limits = {"min": kind.low, "max": kind.high, "max_open": kind.open_high}
        return click.FLOAT if kind.low is None else click.FloatRange(**limits)
    if kind.name == "list":
        return _NameList()
    return click.STRING if kind.name == "text" else _Name(dir_okay=kind.name != "output", path_type=Path)


def _limit_threads(_context: click.Context, _option: click.Parameter, number: int | None) -> None:
    if number is not None:
        os.environ["SYCLADE_THREADS"] = str(number)


def options_from(given: Given) -> Options:
    """Return the options among the parameters of a command."""
    return options_of({{"as_json": "json"}.get(name, name): value for name, value in given.items()})


def rates_of(given: Given) -> Rates:
    """Return the error rates from the parameters of a command."""
    from syclade.host.data.model.rates import Rates

    return Rates(**{name: given[name] for name in RATES if name in given})


def files_of(given: Options, matrix: object) -> dict[str, object]:
    """Return the files of a command besides its folder, by their names on the command line.

    Args:
        given: the options of the command.
        matrix: its matrix.
    """
    from syclade.host.chains.sample_store import store_of

    kinds = ("file", "output", "names", "tree", "labels")
    names = [name for name, option in OPTIONS.items() if option.type.name in kinds and name != "out"]
    files = {flag_of(name): getattr(given, name) for name in names}
    kept = {"checkpoint": given.checkpoint, "resume": given.resume}
    stores = {
        f"the samples of {flag_of(name)}": store_of(Path(path))
        for name, path in kept.items()
        if path is not None
    }
    return {**files, **stores, "MATRIX": matrix}


def coding_of(
    given: Given, matrix: GivenMatrix, names: Path | None, cell_names: Path | None
) -> tuple[GivenMatrix | Matrix, Given]:
    """Read MATRIX if options of its format were given.

    Args:
        given: the options of the command; those in CODING are removed.
        matrix: a path or a stream.
        names, cell_names: files of names, or None.

    Returns:
        The matrix, with its names, and the given options of CODING. Without any, the path or stream is
        returned unread.

    Raises:
        OptionError: an option does not apply to the format.
        MatrixError: the file has an error.
    """
    coding = {name: given.pop(name) for name in CODING}
    coding = {
        name: str(value) if isinstance(value, Path) else value  # for run.json
        for name, value in coding.items()
        if value is not None and value != OPTIONS[name].default
    }
    if not coding:
        return matrix, coding
    from syclade.host.data.input.read_matrix import read_matrix

    return read_matrix(matrix, names, cell_names=cell_names, **coding), coding
