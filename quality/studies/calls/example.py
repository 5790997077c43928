"""Write the bundled example of calls: a reference, reads of a tumour and a normal sample, true variants."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from syclade.host.calls.reference import BASES
from syclade.quality.studies.calls.simulation import CONTIG, sequence, simulate_reads, write_reads

__all__ = ["write_example"]

LENGTH, DEPTH, SEED = 700, 200, 3
FREQUENCIES = (0.05, 0.1, 0.2, 0.5, 1.0)
NORMAL_DEPTH, GERMLINE = 60, 0.5
"""Depth of the normal sample; it has the variants from this frequency on."""


def write_example(folder: Path) -> None:
    """Write `reference.fa`, `reads.bam`, `normal.bam`, their indexes and `truth.tsv` to a folder."""
    made = simulate_reads(LENGTH, DEPTH, FREQUENCIES, SEED)
    write_reads(made, folder, sample="example")
    germline = [one for one in made.variants if one.frequency >= GERMLINE]
    normal = sequence(made.reference, germline, NORMAL_DEPTH, np.random.default_rng(SEED + 1))
    write_reads(normal, folder, "normal", sample="normal")
    lines = ["contig\tposition\treference\talternative\tfrequency"]
    for variant in made.variants:
        bases = BASES[made.reference[variant.position]], BASES[variant.alternative]
        lines.append("\t".join((CONTIG, str(variant.position + 1), *bases, str(variant.frequency))))
    (folder / "truth.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
