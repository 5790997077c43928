"""SCITE's arguments: flags with one dash, several values per flag. Arguments that SCITE misreads are refused.

The flags are those of the ``scite`` program (Jahn, Kuipers, Beerenwinkel 2016; its README).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import FLAG, flag_of
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole

__all__ = [
    "FLAGS",
    "Flag",
    "Given",
    "SciteCall",
    "naming_flags",
    "number",
    "parse_arguments",
    "read_flags",
    "scite_values",
    "text",
    "unknown_flag",
    "whole_number",
]

Flag = tuple[int, int, Callable[[str, str], Any]]
"""The fewest and the most values of a flag, and the function that reads one."""

Given = dict[str, list[Any]]
"""Values of each given flag, as its function reads them."""

_REQUIRED = ("-i", "-n", "-m", "-r", "-l", "-fd", "-ad")
_DIGITS = re.compile(r"[+-]?[0-9]{1,40}")
_OF_OPTIONS = {
    "fp_rate": "-fd", "fn_rate": "-ad", "fn_rate_hom": "-ad", "hom_rate": "-cc", "chains": "-r",
    "steps": "-l",
    "gamma": "-g", "seed": "-seed", "move_probabilities": "-move_probs", "names": "-names", "samples": "-p",
    "max_trees": "-max_treelist_size", "true_tree": "-t", "attach": "-a", "learn_fn": "-e", "learn_fp": "-z",
    "fn_step": "-x", "fp_sd": "-sd_alpha", "doublets": "-d", "learn_doublets": "-d", "recurrent": "-rec",
}  # fmt: skip
"""SCITE's flags of options, which messages name."""

_INFINITE = ("-d", "-rec", "-sd_alpha", "-sd_beta", "-z")
"""Flags of ∞SCITE, whose model is larger."""


@dataclass(frozen=True)
class SciteCall:
    """SCITE's arguments, parsed.

    Attributes:
        matrix, mutations, cells: -i, -n, -m: the file, its rows and its columns.
        chains, steps: -r and -l.
        fp_rate, fn_rates, hom_rate: -fd; -ad, one or two values; -cc, None if not given.
        gamma, move_probabilities, seed: -g, -move_probs (None for the defaults), -seed.
        names, attach: -names, -a.
        max_trees: -max_treelist_size; None for all.
        tree_list: False with -no_tree_list.
        samples: -p: steps between samples; None for none.
        true_tree: -t.
        prefix: beginning of the files' names: -o, or the matrix's name without its extension.
        learn: -e: probability that a step changes the error rate.
        prior_sd, step_divisor: -sd and -x, for the prior and the steps of that rate.
        sum_score, cell_tree: -s, -transpose.
        device, force: syclade's own --device and --force.
    """

    matrix: Path
    mutations: int
    cells: int
    chains: int
    steps: int
    fp_rate: float
    fn_rates: tuple[float, ...]
    hom_rate: float | None
    gamma: float
    move_probabilities: tuple[float, ...] | None
    seed: int
    names: Path | None
    attach: bool
    max_trees: int | None
    tree_list: bool
    samples: int | None
    true_tree: Path | None
    prefix: Path
    learn: float
    prior_sd: float
    step_divisor: float
    sum_score: bool
    cell_tree: bool
    device: str
    force: bool


def number(flag: str, text: str) -> float:
    """Return a number."""
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{flag} is {text!r}, which is not a number", hint="SCITE would read 0") from None


def whole_number(flag: str, text: str) -> int:
    """Return a whole number, which may also be written as 1e6."""
    if _DIGITS.fullmatch(text):
        return int(text)
    found = number(flag, text)
    if not abs(found) < 2**53 or found != int(found):  # also refuses NaN
        raise OptionError(f"{flag} is {text!r}, which is not a whole number")
    return int(found)


def text(_flag: str, text: str) -> str:
    """Return the text as it is."""
    return text


FLAGS: Mapping[str, Flag] = {
    "-i": (1, 1, text),
    "-n": (1, 1, whole_number),
    "-m": (1, 1, whole_number),
    "-r": (1, 1, whole_number),
    "-l": (1, 1, whole_number),
    "-fd": (1, 1, number),
    "-ad": (1, 2, number),
    "-cc": (1, 1, number),
    "-e": (1, 1, number),
    "-x": (1, 1, number),
    "-sd": (1, 1, number),
    "-g": (1, 1, number),
    "-o": (1, 1, text),
    "-names": (1, 1, text),
    "-t": (1, 1, text),
    "-p": (0, 1, whole_number),
    "-seed": (1, 1, whole_number),
    "-max_treelist_size": (1, 1, whole_number),
    "-move_probs": (2, 3, number),
    "-a": (0, 0, text),
    "-s": (0, 0, text),
    "-transpose": (0, 0, text),
    "-no_tree_list": (0, 0, text),
    "--device": (1, 1, text),
    "--force": (0, 0, text),
}
"""Flags of SCITE, and syclade's own."""


def parse_arguments(arguments: Sequence[str]) -> SciteCall:
    """Parse SCITE's arguments. If a flag occurs twice, the last one counts, as in SCITE.

    Raises:
        OptionError: an argument is invalid; the message names the flag.
    """
    return SciteCall(**scite_values(read_flags(list(arguments), FLAGS, _unknown)))


def scite_values(given: Given) -> dict[str, Any]:
    """Return the attributes of a call from the values of its flags.

    Raises:
        OptionError: a value is out of range, or a flag is missing.
    """
    missing = [flag for flag in _REQUIRED if flag not in given]
    if missing:
        raise OptionError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            hint="SCITE wants -i FILE -n ROWS -m COLUMNS -r CHAINS -l STEPS -fd RATE -ad RATE",
        )

    def one(flag: str, default: Any = None) -> Any:
        return given[flag][0] if given.get(flag) else default

    matrix, limit = Path(one("-i")), one("-max_treelist_size", -1)
    return dict(
        matrix=matrix,
        mutations=whole("-n", one("-n"), 1, 2**31 - 2),
        cells=whole("-m", one("-m"), 1, 2**31 - 2),
        chains=whole("-r", one("-r"), 1, 2**32 - 1),
        steps=whole("-l", one("-l"), 1, 2**62 - 1),
        fp_rate=one("-fd"),
        fn_rates=tuple(given["-ad"]),
        hom_rate=one("-cc"),
        gamma=one("-g", 1.0),
        move_probabilities=tuple(given["-move_probs"]) if "-move_probs" in given else None,
        seed=whole("-seed", one("-seed", DEFAULT_SEED), 0, 2**64 - 1),
        names=_path(one("-names")),
        attach="-a" in given,
        max_trees=None if limit < 0 else limit,
        tree_list="-no_tree_list" not in given,
        samples=whole("-p", one("-p", 1), 1, 2**62 - 1) if "-p" in given else None,
        true_tree=_path(one("-t")),
        prefix=Path(one("-o", matrix.with_suffix("") if matrix.name else "")),
        learn=one("-e", 0.0),
        prior_sd=one("-sd", 0.1),
        step_divisor=one("-x", 10.0),
        sum_score="-s" in given,
        cell_tree="-transpose" in given,
        device=one("--device", "auto"),
        force="--force" in given,
    )


def read_flags(words: list[str], flags: Mapping[str, Flag], unknown: Callable[[str], OptionError]) -> Given:
    """Return the values of each flag. If a flag occurs twice, the last one counts, as in SCITE.

    Args:
        words: the arguments.
        flags: the flags of the program.
        unknown: (word) -> the error for a word that is none of them.

    Raises:
        OptionError: a word belongs to no flag, or a flag has too few values.
    """
    given: Given = {}
    at = 0
    while at < len(words):
        flag = words[at]
        if flag not in flags:
            raise unknown(flag)
        fewest, most, read = flags[flag]
        end = at + 1
        while end < len(words) and end - at <= most and not _is_flag(words[end]):
            end += 1
        if end - at - 1 < fewest:
            wanted = f"{fewest} value{'s' if fewest > 1 else ''}"
            raise OptionError(f"{flag} wants {wanted}", hint=f"after {' '.join(words[: at + 1][-6:])}")
        given[flag] = [read(flag, word) for word in words[at + 1 : end]]
        at = end
    return given


def _is_flag(word: str) -> bool:
    """Return whether a word begins a flag; negative numbers do not."""
    return word.startswith("-") and not word[1:2].isdigit() and word[1:2] != "."


def _unknown(flag: str) -> OptionError:
    if flag in _INFINITE:
        return OptionError(f"{flag} is a flag of ∞SCITE", hint="use `syclade infscite`")
    return unknown_flag(flag, "scite")


def unknown_flag(flag: str, command: str) -> OptionError:
    """Return the error for a word that is no flag of a command."""
    what = f"there is no flag {flag}" if _is_flag(flag) else f"{flag!r} belongs to no flag"
    return OptionError(what, hint=f"`syclade {command} --help` lists the flags")


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


@contextmanager
def naming_flags(prior_sd: str) -> Iterator[None]:
    """Name SCITE's flags in errors of options, in place of those that its commands do not have.

    Args:
        prior_sd: flag of the standard deviation of the prior of false negatives.
    """
    flags = {flag_of(name): flag for name, flag in (_OF_OPTIONS | {"fn_sd": prior_sd}).items()}

    def named(text: str) -> str:
        return FLAG.sub(lambda found: flags.get(found[0], found[0]), text)

    try:
        yield
    except OptionError as error:
        raise type(error)(named(error.message), hint=error.hint and named(error.hint)) from error
