"""Aligned reads, regions and sites: damaged files are refused, or give records."""

from __future__ import annotations

import contextlib
import shutil
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pysam

from syclade.host.calls.reference import Reference
from syclade.host.calls.regions import merged, read_bed, read_sites, whole
from syclade.host.calls.run import call_variants, samples_of
from syclade.host.calls.vcf import vcf_lines
from syclade.host.ground.options.calls import CallOptions
from tests.calls.support import EXAMPLE
from tests.fuzz.damage import damaged, soup

__all__ = ["Places", "Reads"]

READS = 60
"""Reads of the example that are damaged: the others would take the same path."""

_BED = (
    b"simulated\t0\t50\nsimulated\t100\t700\n",
    b"simulated 5\nsimulated 6\n",
    b"#x\nsimulated\t1\t2\tname\t0\t+\n",
)
_SITES = (
    b"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\nsimulated\t10\t.\tA\tC\nsimulated\t11\t.\tCC\tC\n",
    b"##fileformat=VCFv4.2\nsimulated\t1\t.\tT\tC,G\t5\tPASS\t.\nsimulated\t2\t.\tA\tG\n",
)
_PIECES = (
    b"simulated",
    b"\t",
    b"\n",
    b" ",
    b"1",
    b"700",
    b"-1",
    b".",
    b"A",
    b"C",
    b",",
    b"#",
    b"##fileformat=VCFv4.2\n",
    b"\x1f\x8b",
)


class Reads:
    """Inputs of this kind: a BAM file, or the content of one before its compression."""

    name = "reads"

    def __init__(self, folder: Path) -> None:
        self._bam = folder / "reads.bam"
        self._reference = Reference(EXAMPLE / "reference.fa")
        self._index = folder / "good.bai"
        good = folder / "good.bam"
        with (
            pysam.AlignmentFile(str(EXAMPLE / "reads.bam")) as source,
            pysam.AlignmentFile(str(good), "wb", template=source) as out,
        ):
            for number, read in enumerate(source):
                if number % 20 == 0 and number < 20 * READS:
                    out.write(read)
        pysam.index(str(good), str(self._index))
        self._packed = good.read_bytes()
        with pysam.BGZFile(str(good)) as file:
            self._content = file.read()

    def make(self, draw: Random) -> Any:
        """Return the bytes, and whether they are to be compressed."""
        if draw.random() < 0.2:
            return damaged(self._packed, draw), False
        return damaged(self._content, draw), True

    def take(self, given: Any) -> None:
        """Write the file, and call its variants."""
        data, plain = given
        if plain:
            with pysam.BGZFile(str(self._bam), "wb") as file:
                file.write(data)
        else:
            self._bam.write_bytes(data)
        index = self._bam.with_name("reads.bam.bai")
        index.unlink(missing_ok=True)
        with contextlib.suppress(pysam.SamtoolsError, OSError):
            pysam.index(str(self._bam))
        if not index.exists():
            shutil.copy(self._index, index)
        samples = samples_of([self._bam], self._reference)
        options = CallOptions()
        called = call_variants(self._reference, samples, whole(samples[0].contigs), options, threads=1)
        assert all(line.endswith("\n") for line in vcf_lines(called, "reference.fa", options))


class Places:
    """Inputs of this kind: bytes of a file of regions, or of sites."""

    name = "places"

    def __init__(self, folder: Path) -> None:
        self._file = folder / "places"
        self._reference = Reference(EXAMPLE / "reference.fa")

    def make(self, draw: Random) -> Any:
        """Return the bytes, and whether they are sites."""
        sites = draw.random() < 0.5
        good = _SITES if sites else _BED
        return (soup(_PIECES, draw) if draw.random() < 0.1 else damaged(draw.choice(good), draw, 2)), sites

    def take(self, given: Any) -> None:
        """Read the file; places are positions of the reference."""
        data, is_sites = given
        self._file.write_bytes(data)
        if is_sites:
            sites, _ = read_sites(self._file, self._reference)
            assert all(0 <= at < 700 for places in sites.values() for at in places)
            return
        intervals = merged(read_bed(self._file, self._reference.lengths), self._reference.lengths)
        assert all(0 <= one.begin < one.end <= 700 for one in intervals)
        assert all(one.end < other.begin for one, other in pairwise(intervals))
