"""The reference: sequences of a FASTA file, one at a time."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.library import pysam_of
from syclade.host.common.errors import ReadsError

__all__ = ["BASES", "Reference", "codes_of"]

BASES = "ACGT"
"""Bases by their numbers; 4 is any other letter."""

_CODES = np.full(256, 4, dtype=np.uint8)
for _number, _letter in enumerate(BASES):
    _CODES[[ord(_letter), ord(_letter.lower())]] = _number


_INDEX_OPTION = "--" + "fai-idx"
"""Option of samtools faidx."""

_ANEW = "make the index anew: samtools faidx"


def codes_of(sequence: str) -> NDArray[np.uint8]:
    """Return the numbers of the bases of a sequence; 4 for anything but A, C, G, T."""
    return _CODES[np.frombuffer(sequence.encode("latin-1", "replace"), dtype=np.uint8)]


class Reference:
    """Sequences of a FASTA file, plain or compressed by bgzip.

    An index beside the file (`.fai`) is used. Without one, an index is made in a temporary folder.

    Attributes:
        path: the file.
        lengths: length of each contig, by name, in the order of the file.

    Args:
        path: the file.

    Raises:
        ReadsError: the file cannot be read, or is no FASTA file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file = _opened(self.path)
        self.lengths: Mapping[str, int] = dict(zip(self._file.references, self._file.lengths, strict=True))
        self._last: tuple[str, str] = ("", "")

    def sequence(self, contig: str) -> str:
        """Return the sequence of a contig, in capitals; the last one is kept.

        Raises:
            ReadsError: the file is damaged.
        """
        if self._last[0] != contig:
            try:
                self._last = (contig, self._file.fetch(contig).upper())
            except (OSError, ValueError, KeyError) as problem:
                raise ReadsError(f"cannot read {contig}: {problem}", path=self.path) from problem
            if len(self._last[1]) != self.lengths[contig]:
                raise ReadsError(
                    f"{contig} has {len(self._last[1])} bases, and its index says {self.lengths[contig]}",
                    path=self.path,
                    hint=_ANEW,
                )
        return self._last[1]

    def codes(self, contig: str) -> NDArray[np.uint8]:
        """Return the numbers of a contig's bases; see `codes_of`."""
        return codes_of(self.sequence(contig))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _opened(path: Path) -> Any:
    pysam = pysam_of()
    if not path.is_file():
        raise ReadsError("there is no such file" if not path.exists() else "this is not a file", path=path)
    index = Path(f"{path}.fai")
    try:
        if index.exists():
            return pysam.FastaFile(str(path))
        with tempfile.TemporaryDirectory() as folder:  # the open file keeps its index in memory
            made = str(Path(folder) / "reference.fai")
            pysam.faidx(_INDEX_OPTION, made, str(path))
            return pysam.FastaFile(str(path), filepath_index=made)
    except (OSError, ValueError, pysam.SamtoolsError) as problem:
        raise _explained(path, index if index.exists() else None) from problem


def _explained(path: Path, index: Path | None) -> ReadsError:
    """Return the error for a file that pysam does not open, whose messages name temporary files only.

    Args:
        path: the file.
        index: its index; None if it has none.
    """
    lines = "each sequence needs a line with > and its name, and lines of equal length"
    try:
        with path.open("rb") as file:
            begin = file.read(2)
            problem = None if begin[:1] != b">" else _uneven_line(itertools.chain([begin], file))
    except OSError as error:
        return ReadsError(f"cannot be read: {error.strerror or error}", path=path)
    if begin[:2] == b"\x1f\x8b" and index is None:
        hint = "the reference may be plain, or compressed by bgzip; gzip is another format"
        return ReadsError("this is not a FASTA file, or not compressed by bgzip", path=path, hint=hint)
    if index is not None:
        return ReadsError(f"its index {index} does not fit it, or is damaged", path=path, hint=_ANEW)
    if not begin:
        return ReadsError("the file is empty", path=path, hint=lines)
    if problem is None:
        return ReadsError("this is not a FASTA file", path=path, hint=lines)
    return ReadsError(problem[1], path=path, line=problem[0], hint=lines)


def _uneven_line(parts: Iterable[bytes]) -> tuple[int, str] | None:
    """Return number and problem of the first line that an index cannot describe; None if there is none.

    Args:
        parts: the parts of a file that begins with >; a part is a line's begin or the rest of it.
    """
    number, length, is_last, left = 1, 0, False, b""
    for part in parts:
        left += part
        if not part.endswith(b"\n"):
            continue
        line, left = left.rstrip(b"\r\n"), b""
        if line.startswith(b">"):
            length, is_last = 0, False
        elif is_last and line:
            return number, "the line before this one is shorter than those before it"
        elif length and len(line) > length:
            return number, f"this line has {len(line)} letters, and the first one of its sequence {length}"
        else:
            is_last = bool(length) and len(line) < length
            length = length or len(line)
        number += 1
    return None
