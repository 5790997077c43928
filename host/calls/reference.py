"""The reference: sequences of a FASTA file, one at a time."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.errors import ReadsError
from syclade.host.ground.files import is_file, problem_of
from syclade.host.ground.options.calls import call_flag
from syclade.host.ground.packages import pysam_of

if TYPE_CHECKING:
    from pysam import FastaFile

__all__ = ["BASES", "Reference", "codes_of", "index_of", "problem_of_index"]

BASES = "ACGT"
"""Bases by their numbers; 4 is any other letter."""

_CODES = np.full(256, 4, dtype=np.uint8)
for _number, _letter in enumerate(BASES):
    _CODES[[ord(_letter), ord(_letter.lower())]] = _number


_REMAKE = "make the index again: samtools faidx"

_LETTERS = b"ABCDGHKMNRSTUVWXY-.*"
"""Letters of a sequence, in capitals: bases, IUPAC's codes of several, masked ones and gaps."""

_HEADER_BYTES = 1 << 16
"""Bytes before a sequence in which its line with > is looked for."""


def codes_of(sequence: str) -> NDArray[np.uint8]:
    """Return the numbers of the bases of a sequence; 4 for anything but A, C, G, T."""
    return _CODES[np.frombuffer(sequence.encode("latin-1", "replace"), dtype=np.uint8)]


class Reference:
    """Sequences of a FASTA file, plain or compressed by bgzip.

    An index beside the file (`.fai`) is used if it fits the file. Otherwise an index is made in a temporary
    folder.

    Attributes:
        path: the file.
        readable: a path of the file with a fitting index beside it: `path`, or a link in a temporary folder.
        index_problem: why the index beside the file is not used; None if it is, or if there is none.
        lengths: length of each contig, by name, in the order of the file.
        ignores_digests: whether a contig with another MD5 than expected is used, and listed in `misfits`.
        misfits: what is wrong with such contigs, by name.

    Args:
        path: the file.

    Raises:
        ReadsError: the file cannot be read, or is no FASTA file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file, self.readable, self.index_problem = _opened(self.path)
        folder = None if self.readable == self.path else self.readable.parent
        self._remove = None if folder is None else weakref.finalize(self, shutil.rmtree, folder, True)
        self.lengths: Mapping[str, int] = dict(zip(self._file.references, self._file.lengths, strict=True))
        self.ignores_digests = False
        self.misfits: dict[str, str] = {}
        self._expected: dict[str, dict[str, Path]] = {}
        self._last: tuple[str, str] = ("", "")

    def expect(self, digests: Mapping[str, str], reads: Path) -> None:
        """Compare contigs with the MD5 that a file of reads has for them (`@SQ M5`), when they are read.

        Args:
            digests: hexadecimal MD5 of contigs, by name.
            reads: the file, for messages.
        """
        for contig, digest in digests.items():
            self._expected.setdefault(contig, {}).setdefault(digest.lower(), reads)

    def sequence(self, contig: str) -> str:
        """Return the sequence of a contig, in capitals; the last one is kept.

        Raises:
            ReadsError: the file is damaged, or the contig has another MD5 than expected.
        """
        if self._last[0] != contig:
            try:
                found = self._file.fetch(contig).upper()
            except (OSError, ValueError, KeyError) as problem:
                raise ReadsError(f"cannot read {contig}: {problem}", path=self.path) from problem
            self._check(contig, found.encode("latin-1", "replace"))
            self._last = (contig, found)
        return self._last[1]

    def _check(self, contig: str, letters: bytes) -> None:
        """Raise an error if a sequence is not one, or not the expected one."""
        if len(letters) != self.lengths[contig]:
            raise ReadsError(
                f"{contig} has {len(letters)} bases, and its index says {self.lengths[contig]}",
                path=self.path,
                hint=_REMAKE,
            )
        if others := letters.translate(None, _LETTERS):
            at, letter = letters.index(others[:1]) + 1, chr(others[0])
            hint = "the index may be of another file, or the sequences are not of DNA: " + _REMAKE
            raise ReadsError(
                f"{contig} has the letter {letter!r} at position {at}, which is not a base",
                path=self.path,
                hint=hint,
            )
        expected = self._expected.get(contig, {})
        digest = hashlib.md5(letters, usedforsecurity=False).hexdigest() if expected else ""
        for other, reads in expected.items():
            if other == digest:
                continue
            self.misfits[contig] = (
                f"{contig} of {self.path} is not the sequence that the reads were aligned to: its MD5 is "
                f"{digest}, and the header of the reads (@SQ M5) says {other}"
            )
            if not self.ignores_digests:
                hint = "give the reference that the reads were aligned to"
                hint += f"; {call_flag('ignore_md5')} uses this one, such as a part of it with the old header"
                raise ReadsError(self.misfits[contig], path=reads, hint=hint)

    def codes(self, contig: str) -> NDArray[np.uint8]:
        """Return the numbers of a contig's bases; see `codes_of`."""
        return codes_of(self.sequence(contig))

    def close(self) -> None:
        """Close the file; remove the temporary index."""
        self._file.close()
        if self._remove is not None:
            self._remove()


def _opened(path: Path) -> tuple[FastaFile, Path, str | None]:
    """Return the open file, a path of it with a fitting index, and why the index beside it is not used."""
    pysam = pysam_of()
    if not is_file(path):
        raise ReadsError(problem_of(path) or "this is not a file", path=path)
    index, problem = index_of(path), None
    if index.exists():
        problem = problem_of_index(path, index)
        if problem is None:
            try:
                return pysam.FastaFile(str(path)), path, None
            except (OSError, ValueError):
                problem = "cannot be read"
    folder = tempfile.mkdtemp()
    link = Path(folder) / path.name
    try:
        link.symlink_to(path.absolute())
        pysam.faidx(str(link))
        return pysam.FastaFile(str(link)), link, problem
    except (OSError, ValueError, pysam.SamtoolsError) as error:
        shutil.rmtree(folder, True)
        raise _explained(path) from error


def index_of(path: Path) -> Path:
    """Return the path of a FASTA file's index."""
    return Path(f"{path}.fai")


class _Entry(NamedTuple):
    """Line of an index. Source: faidx(5)."""

    name: str
    length: int
    offset: int
    bases: int  # of a line
    width: int  # of a line, with its end

    @property
    def end(self) -> int:
        """Where the sequence ends."""
        lines, rest = divmod(self.length, self.bases) if self.bases else (0, 0)
        return (
            self.offset + lines * self.width + rest - (self.width - self.bases if lines and not rest else 0)
        )


def problem_of_index(path: Path, index: Path) -> str | None:
    """Return why an index does not fit a FASTA file, as the end of a sentence; None if it fits.

    Of a plain file, every sequence must begin behind a line with > and its name, and end before the next one.
    The sequence itself is checked when it is read. Of a compressed file, only times are compared.
    """
    try:
        with path.open("rb") as file:
            if file.read(2) == b"\x1f\x8b":
                is_older = index.stat().st_mtime_ns < path.stat().st_mtime_ns
                return "is older than the file" if is_older else None
            rows = [line.split("\t") for line in index.read_text("utf-8").splitlines()]
            entries = sorted((_Entry(row[0], *map(int, row[1:])) for row in rows), key=lambda one: one.offset)
            if not entries:
                return "is empty"
            last, size = len(entries) - 1, file.seek(0, os.SEEK_END)
            misfit = next(
                (one for at, one in enumerate(entries) if one.end > size or not _fits(file, one, at == last)),
                None,
            )
            return None if misfit is None else f"does not fit the file, where {misfit.name} is elsewhere"
    except (OSError, ValueError, TypeError, UnicodeDecodeError):
        return "is damaged"


def _fits(file: BinaryIO, entry: _Entry, is_last: bool) -> bool:
    """Return whether a sequence begins and ends in a plain file where its index says."""
    begin = max(0, entry.offset - _HEADER_BYTES)
    file.seek(begin)
    before = file.read(entry.offset - begin)
    header = before.rstrip(b"\r\n").rpartition(b"\n")[2]
    words = header[1:].split(maxsplit=1)
    if not before.endswith(b"\n") or header[:1] != b">" or [entry.name.encode()] != words[:1]:
        return False
    file.seek(entry.end)
    after = file.read(_HEADER_BYTES if is_last else 64)
    following = after.lstrip()
    ends = not entry.length or not after[:1].strip()
    return ends and (not following if is_last else following[:1] == b">")


def _explained(path: Path) -> ReadsError:
    """Return the error for a file that pysam does not open, whose messages name temporary files only."""
    lines = "each sequence needs a line with > and its name, and lines of equal length"
    try:
        with path.open("rb") as file:
            begin = file.read(2)
            problem = None if begin[:1] != b">" else _uneven_line(itertools.chain([begin], file))
    except OSError as error:
        return ReadsError(f"cannot be read: {error.strerror or error}", path=path)
    if begin[:2] == b"\x1f\x8b":
        hint = "the reference may be plain, or compressed by bgzip; gzip is another format"
        return ReadsError("this is not a FASTA file, or not compressed by bgzip", path=path, hint=hint)
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
