"""Shared parts of the readers: options, the returned grid, and decoding of symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.input.annotations import About, Evidence
from syclade.host.data.input.matrix import Marks
from syclade.host.data.input.names import check_names, distinct_names
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.host.ground.options.types import AnyPath
from syclade.host.ground.values import excerpt

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "MISSING",
    "PLAIN",
    "UNKNOWN",
    "Grid",
    "ReadOptions",
    "code",
    "is_symbol",
    "named_grid",
    "of_sasc",
    "refuse_rows",
    "refuse_two",
    "unused_evidence",
    "with_two",
    "words_hint",
]  # fmt: skip

PLAIN = {"0": 0, "1": 1, "2": 2, "3": 3}
"""Values of symbols; `code` also takes them with a decimal point or comma, such as 1.0 or 1,00."""

MISSING = dict.fromkeys(("-1", "NA", "NAN", "NULL", "NONE", "?", ".", "-", "N/A", "#N/A", "<NA>", ""), 3)
"""Symbols of missing values, in upper case: `code` ignores the case."""

UNKNOWN = frozenset(MISSING) - {"-1"}
"""Those of numbers of reads and of log odds, in upper case: of these, -1 is a number."""


_PROBABILITY = re.compile(r"[01][.,][0-9]+(?:[eE]-?[0-9]{1,3})?|[0-9](?:[.,][0-9]+)?[eE]-[0-9]{1,3}")
_GENOTYPE = re.compile(r"[0-9.][/|][0-9.]")
_WHOLE = re.compile(r"(-?[0-9])[.,]0*")


@dataclass(frozen=True)
class ReadOptions:
    """Options for what cannot be detected from a file.

    Attributes:
        two: the meaning of 2, "homozygous" or "missing"; None if not given.
        rows: the meaning of rows, "cells" or "mutations"; None if not given.
        evidence: what is read of each entry besides its call: "likelihoods", "reads", or nothing ("calls").
        min_depth: minimum number of reads of a call; calls with fewer are missing. None if not given.
        min_gq: minimum quality (GQ) of a call; calls below it are missing. None for no minimum.
        min_vaf: minimum percentage of alternate reads of a mutation; below it, a call is 0. None for no
            minimum, or 10 where there are reads and no genotypes.
        vaf_ref: maximum percentage of alternate reads of a wild type; calls above it are missing. None for
            no maximum.
        vaf_het: minimum percentage of a heterozygous call; None for no minimum.
        vaf_hom: minimum percentage of a homozygous call; None for no minimum. Without genotypes, the
            percentage from which a call is homozygous; None for 90.
        total_reads: table with numbers of all reads, beside one with numbers of alternate reads; or None.
        ref_reads: the same with numbers of reference reads.
        absent: table with likelihoods without the mutation, beside one with likelihoods with it; or None.
        columns: columns of a long table; None finds them by their names.
        layer: the layer of an AnnData file; None takes X.
        total_layer: the layer with numbers of all reads, if the layer has those of alternate ones; else None.
        absent_layer: the layer with likelihoods without the mutation, if the layer has those with it.
        coding: the coding of a layer, "scite" or "cyvcf2", or of likelihoods in a table or layer,
            "probability" or "log"; None if not given.
        name_by: names of the mutations of a VCF, "site" or "id"; None takes the site.
        filter: which records of a VCF to read, "pass" or "all"; None reads all.
        drop_filtered: whether to mark variants and cells that the pipeline filtered.
        obs_mask, var_mask: columns of an AnnData's obs and var; where they are false is marked.
    """

    two: str | None = None
    rows: str | None = None
    evidence: str = "calls"
    min_depth: int | None = None
    min_gq: int | None = None
    min_vaf: float | None = None
    vaf_ref: float | None = None
    vaf_het: float | None = None
    vaf_hom: float | None = None
    total_reads: AnyPath | DataFrame | None = None
    ref_reads: AnyPath | DataFrame | None = None
    absent: AnyPath | DataFrame | None = None
    columns: str | None = None
    layer: str | None = None
    total_layer: str | None = None
    absent_layer: str | None = None
    coding: str | None = None
    name_by: str | None = None
    filter: str | None = None
    drop_filtered: bool = False
    obs_mask: str | None = None
    var_mask: str | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the options that are given."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.evidence == "calls":
            del values["evidence"]
        return tuple(name for name, value in values.items() if value is not None and value is not False)

    def with_two(self, meaning: str) -> ReadOptions:
        """Return the same options, with the meaning of 2 if it is not given."""
        return self if self.two is not None else replace(self, two=meaning)


@dataclass(frozen=True)
class Grid:
    """The content of a matrix file.

    Attributes:
        values: uint8, shape (n_mutations, n_cells), C-contiguous; 0, 1, 2 or 3.
        mutations: names of the rows; None if the file has none.
        cells: names of the columns; None if the file has none.
        notes: lines for the log.
        also: SHA-256 of further files that were read, in hexadecimal.
        marks: mutations and cells to leave out.
        evidence: what is known of each entry besides its call; None if it was not requested.
        labels: labels of the cells by column; texts, empty for none.
        places: position and alleles of mutations, by their names.
        about: columns of the file about its mutations, such as their frequency in the population.
    """

    values: NDArray[np.uint8]
    mutations: tuple[str, ...] | None = None
    cells: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    marks: Marks = field(default_factory=Marks)
    evidence: Evidence | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    about: About = field(default_factory=dict)


def named_grid(
    values: ArrayLike,
    mutations: Sequence[str],
    cells: Sequence[str],
    details: Sequence[str] = (),
    *,
    evidence: Evidence | None = None,
    notes: Sequence[str] = (),
) -> Grid:
    """Return a grid with checked names.

    Args:
        values: shape (n_mutations, n_cells); 0, 1, 2 or 3.
        mutations, cells: names of the rows and columns; empty if the file has none.
        details: what distinguishes rows with equal names, such as position and alleles; empty if nothing.
        evidence: what is known of each entry besides its call.
        notes: lines for the log, before those on names.

    Raises:
        MatrixError: an invalid name.
    """
    mutations, renamed = distinct_names(mutations, details)
    check_names(mutations, what="mutation")
    check_names(cells, what="cell")
    return Grid(
        np.ascontiguousarray(values, np.uint8),
        tuple(mutations) or None,
        tuple(cells) or None,
        (*notes, *renamed),
        evidence=evidence,
        places={name: place for name, place in zip(mutations, details, strict=False) if place},
    )


def unused_evidence(options: ReadOptions, *kinds: str) -> tuple[str, ...]:
    """Return a line for the log if a file has evidence, and only calls are used; else nothing.

    Args:
        options: the options.
        kinds: the evidence of the file: "likelihoods", "reads".
    """
    if options.evidence != "calls" or not kinds:
        return ()
    what = {"likelihoods": "likelihoods", "reads": "numbers of reads"}
    unused = " and ".join(f"{what[kind]} ({flag_of('evidence', kind)} uses them)" for kind in kinds)
    return (f"only calls are used; there are also {unused}",)


def _folded(symbol: str) -> str:
    """Return a symbol in upper case without blanks, and a whole number without decimals."""
    text = symbol.strip().upper()
    found = _WHOLE.fullmatch(text)
    return found[1] if found else text


def is_symbol(text: str) -> bool:
    """Return whether a text is a value of a table, or missing; the empty text is."""
    folded = _folded(text)
    return folded in PLAIN or folded in MISSING


def code(
    rows: Sequence[Sequence[str]], symbols: Mapping[str, int], lines: Sequence[int], path: str
) -> NDArray[np.uint8]:
    """Return the values of symbols.

    Args:
        rows: the symbols of each row of the file.
        symbols: the value of each symbol, in upper case; symbols of the file may be in lower case, and
            numbers may have decimals that are 0.
        lines: the line number of each row, from 1.
        path: the file, for messages.

    Returns:
        uint8, shape (rows, symbols per row).

    Raises:
        MatrixError: no rows, rows of different lengths, or an unknown symbol, with the line.
    """
    if not rows or not rows[0]:
        raise MatrixError("the file has no values", path=path)
    values: dict[str, int] = {}
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise MatrixError(
                f"the row has {len(row)} values, but the first has {len(rows[0])}", path=path, line=line
            )
        for symbol in [one for one in dict.fromkeys(row) if one not in values]:
            folded = _folded(symbol)
            if folded not in symbols:
                number = row.index(symbol) + 1
                raise MatrixError(
                    f"{excerpt(symbol)} (value {number} of the row) is not a value of this format",
                    path=path,
                    line=line,
                    hint=f"values are {', '.join(name for name in symbols if name)}{_of_others(symbol)}",
                )
            values[symbol] = symbols[folded]
    return np.array([[values[symbol] for symbol in row] for row in rows], np.uint8)


def _of_others(symbol: str) -> str:
    """Return a hint how to read a symbol that is no value: a probability, a word, a genotype."""
    if _PROBABILITY.fullmatch(symbol.strip()):
        reads = f"{flag_of('evidence', 'likelihoods')} {flag_of('coding', 'probability')}"
        return f"; of probabilities, {reads} reads a table"
    if symbol.strip().isdecimal():
        return (
            f"; a table of numbers of alternate reads needs one of all reads, {flag_of('total_reads')} FILE"
        )
    return words_hint(symbol)


def words_hint(symbol: str) -> str:
    """Return the hint for a table's symbol that is a word or a genotype."""
    if _GENOTYPE.fullmatch(symbol.strip()):
        return "; genotypes are read from VCF: in a table, write 0 for 0/0, 1 for 0/1, 2 for 1/1, NA for ./."
    if re.fullmatch(r"[A-Za-z]+", symbol.strip()):
        return "; write 1 for words such as MUT or TRUE, 0 for WT or FALSE, and NA for missing"
    return ""


def of_sasc() -> str:
    """Return the hint at SASC's format, whose files look like SCITE's."""
    return f"SASC's files, of cells: {flag_of('format')} sasc"


def with_two(values: NDArray[np.uint8], options: ReadOptions, path: str, hint: str = "") -> NDArray[np.uint8]:
    """Return the values with 2 replaced by missing (3) if the option `two` is "missing".

    Args:
        values: uint8, of any shape; entries 0, 1, 2 or 3.
        options: the options.
        path: the file, for messages.
        hint: text to append to the hint of the error.

    Raises:
        MatrixError: 2 occurs, and `two` is not given.
    """
    if options.two == "missing":
        return np.where(values == 2, np.uint8(3), values)
    if options.two is None and (values == 2).any():
        raise MatrixError(
            "2 occurs, which may be homozygous or missing",
            path=path,
            hint=f"give {flag_of('two')} homozygous or {flag_of('two')} missing{hint}",
        )
    return values


def refuse_two(options: ReadOptions, rows: str, path: str) -> None:
    """Refuse the options `two` and `rows` for formats that define the meaning of 2 and of rows.

    In these formats 2 is homozygous. So the same option can be given for them and for a file of another
    format, with which they are joined or in one batch.

    Args:
        options: the options.
        rows: the rows of the format: "cells" or "mutations".
        path: the file, for messages.

    Raises:
        MatrixError: `two` or `rows` differs from the format.
    """
    if options.two not in (None, "homozygous"):
        raise MatrixError(
            "2 is homozygous in this format",
            path=path,
            hint=f"leave out {flag_of('two')}, or give {flag_of('two', 'homozygous')}",
        )
    refuse_rows(options, rows, path)


def refuse_rows(options: ReadOptions, rows: str, path: str, hint: str = "") -> None:
    """Raise a MatrixError if the option `rows` differs from the rows of the format.

    Args:
        options: the options.
        rows: the rows of the format: "cells" or "mutations".
        path: the file, for messages.
        hint: what to do; by default, to leave out the option.
    """
    if options.rows not in (None, rows):
        leave_out = f"leave out {flag_of('rows')}, or give {flag_of('rows', rows)}"
        raise MatrixError(f"rows are {rows} in this format", path=path, hint=hint or leave_out)
