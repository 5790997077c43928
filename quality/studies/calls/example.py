"""Write the bundled example of calls: a reference, reads with their index, and the true variants."""

from __future__ import annotations

import sys
from pathlib import Path

from syclade.host.calls.reference import BASES
from syclade.quality.studies.calls.simulation import CONTIG, simulate_reads, write_reads

__all__ = ["write_example"]

LENGTH, DEPTH, SEED = 700, 200, 3
FREQUENCIES = (0.05, 0.1, 0.2, 0.5, 1.0)


def write_example(folder: Path) -> None:
    """Write `reference.fa`, `reads.bam`, their indexes and `truth.tsv` to a folder."""
    made = simulate_reads(LENGTH, DEPTH, FREQUENCIES, SEED)
    write_reads(made, folder, sample="example")
    lines = ["contig\tposition\treference\talternative\tfrequency"]
    for variant in made.variants:
        bases = BASES[made.reference[variant.position]], BASES[variant.alternative]
        lines.append("\t".join((CONTIG, str(variant.position + 1), *bases, str(variant.frequency))))
    (folder / "truth.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_example(Path(sys.argv[1]))
