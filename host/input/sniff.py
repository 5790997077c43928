"""Format detection from the first bytes of a file, never from its name; codings are never guessed."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from syclade.host.common.errors import MatrixError
from syclade.host.options import flag_of

__all__ = ["HEAD", "sniff", "sniff_folder"]

HEAD = 2**16
"""Number of bytes that are inspected."""

_HDF5 = b"\x89HDF\r\n\x1a\n"
_PARTS = {"tapestri": (b"assays",), "loom": (b"matrix", b"row_attrs"), "h5ad": (b"obs", b"var")}
_BARE = re.compile(r"[-+0-9.?nNaA \t\v\f]*")
_TABLES = {"\t": "tsv", ",": "csv"}
_COMPASS = re.compile(rb"(?:^|,)NAME(?:,|$)")


def sniff(head: bytes, path: str) -> str:
    """Return the format of a file, a name in `FORMATS`; SCITE's if no other format matches.

    Args:
        head: the first bytes of the file, decompressed.
        path: the file, for messages.

    Raises:
        MatrixError: a table with names, whose rows may be cells or mutations; HDF5 of an unknown kind.
    """
    if head.startswith(_HDF5):
        return _sniff_hdf5(head, path)
    if head.startswith(b"BCF\2"):
        return "bcf"
    lines = head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    first = lines[0].rstrip()
    if first.startswith((b"##fileformat=VCF", b"#CHROM\t")):
        return "vcf"
    if first.startswith(b"HAPLOID"):
        return "scistree2"
    if re.fullmatch(rb"\s*[0-9]+\s*#\s*cells", first):
        return "sphyr"
    return _sniff_table(first, lines[1:] or [b""], path)


def _sniff_table(first: bytes, below: list[bytes], path: str) -> str:
    """Return the format of a table, from its header and the lines below."""
    if first.split(b"\t")[0] in (b"cellIDxmutID", b"cellID/mutID"):
        return "sc"
    if first.endswith(b",cluster_id"):
        return "condor"
    entries = next((line for line in below if line.strip()), b"").split(b",")
    if _COMPASS.search(first) and re.fullmatch(rb"[0-9]+:[0-9]+(?::[0-9])?", entries[-1].strip()):
        return "compass"
    for separator, form in _TABLES.items():
        names, values = ([*csv.reader([_text(line)], delimiter=separator)] for line in (first, below[0]))
        if (
            len(names[0]) > 1
            and len(values[0]) == len(names[0])
            and not _BARE.fullmatch(names[0][-1].strip())
        ):
            raise MatrixError(
                "this is a table with names, whose rows may be cells or mutations",
                path=path,
                line=1,
                hint=f"give {flag_of('format', form)} {flag_of('rows', 'cells')}, or "
                f"{flag_of('rows', 'mutations')}",
            )
    return "scite"


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").replace("\0", "")


def _sniff_hdf5(head: bytes, path: str) -> str:
    """Return the kind of an HDF5 file, from the names of its groups, which are stored near its beginning."""
    for form, parts in _PARTS.items():
        if all(part in head for part in parts):
            return form
    raise MatrixError(
        "this HDF5 file looks neither like AnnData nor like Tapestri's nor like a loom",
        path=path,
        hint=f"if it is one of these, give {flag_of('format')} h5ad, tapestri or loom",
    )


def sniff_folder(name: str) -> str:
    """Return the format of a folder.

    Raises:
        MatrixError: the folder has no known format.
    """
    if (Path(name) / "cellSNP.samples.tsv").exists():
        return "cellsnp"
    raise MatrixError(
        "this is a directory, not a file", path=name, hint="of folders, those of cellsnp-lite are read"
    )
