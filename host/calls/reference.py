"""The reference: sequences of a FASTA file, one at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
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
                    hint="make the index anew: samtools faidx",
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
    try:
        if Path(f"{path}.fai").exists():
            return pysam.FastaFile(str(path))
        with tempfile.TemporaryDirectory() as folder:  # the open file keeps its index in memory
            index = str(Path(folder) / "reference.fai")
            pysam.faidx(_INDEX_OPTION, index, str(path))
            return pysam.FastaFile(str(path), filepath_index=index)
    except (OSError, ValueError, pysam.SamtoolsError) as problem:
        raise ReadsError(
            f"not a FASTA file that can be indexed: {problem}",
            path=path,
            hint="each sequence needs a line with > and its name, and lines of equal length",
        ) from problem
