"""Files of a VCF: plain text, or compressed by bgzip with an index; written whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from syclade.host.calls.pysam_loader import pysam_of
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import check_file, refuse_same, write_file, write_files

__all__ = ["check_vcf", "index_of", "write_vcf"]

_TABIX_LENGTH = 2**29
"""Positions that an index of tabix (.tbi) can hold; longer contigs need another one (.csi)."""


def index_of(path: Path, longest: int) -> Path | None:
    """Return the file of the index; None for a plain VCF, which has none.

    Args:
        path: the VCF.
        longest: length of the longest contig.
    """
    if path.suffix != ".gz":
        return None
    return path.with_name(path.name + (".tbi" if longest < _TABIX_LENGTH else ".csi"))


def check_vcf(path: Path, longest: int, force: bool, protected: Mapping[str, object]) -> None:
    """Check that a VCF and its index can be written, before anything is computed.

    Args:
        path: the VCF, compressed if its name ends in .gz.
        longest: length of the longest contig.
        force: whether existing files may be replaced.
        protected: the inputs, by `alignments.inputs_of`; they are never overwritten.

    Raises:
        OutputError: they cannot be written, are inputs, or exist already.
    """
    if path.suffix == ".bcf":
        raise OutputError(
            f"{path} would be BCF, which is not written", hint="end the name in .vcf or .vcf.gz"
        )
    names = _names(path, longest)
    refuse_same([path.with_name(name) for name in names], protected)
    check_file(path, force, names[1:])


def write_vcf(
    path: Path, text: str, longest: int, *, force: bool, protected: Mapping[str, object] | None = None
) -> list[Path]:
    """Write a VCF, and its index if it is compressed; return the files.

    Args:
        path: the VCF, compressed if its name ends in .gz.
        text: its lines.
        longest: length of the longest contig.
        force: whether existing files may be replaced.
        protected: the inputs, by `alignments.inputs_of`; they are never overwritten.

    Raises:
        OutputError: as for `write_files`.
    """
    names = _names(path, longest)
    if len(names) == 1:
        write_file(path, text, force, protected)
        return [path]
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder) / "calls.vcf.gz"
        index = _compressed(packed, text, csi=names[1].endswith(".csi"))
        files: dict[str, Callable[[Path], None]] = {
            names[0]: lambda place: _copy(packed, place),
            names[1]: lambda place: _copy(index, place),
        }
        write_files(path.parent, files, force, protected, links=True)
    return [path.with_name(name) for name in names]


def _names(path: Path, longest: int) -> list[str]:
    index = index_of(path, longest)
    return [path.name] if index is None else [path.name, index.name]


def _compressed(path: Path, text: str, *, csi: bool) -> Path:
    """Write a compressed VCF and its index; return the index."""
    pysam = pysam_of()
    try:
        with pysam.BGZFile(str(path), "wb") as file:
            file.write(text.encode("utf-8"))
        pysam.tabix_index(str(path), preset="vcf", force=True, csi=csi)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise OutputError(
            f"the temporary file {path} cannot be written: {reason}", hint="free some space, or set TMPDIR"
        ) from problem
    return path.with_name(path.name + (".csi" if csi else ".tbi"))


def _copy(source: Path, place: Path) -> None:
    place.write_bytes(source.read_bytes())
