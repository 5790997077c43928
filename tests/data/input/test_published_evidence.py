"""Evidence of files that others publish, and of one matrix in all formats that have reads."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.data.input import read_matrix as door
from syclade.host.data.input.annotations import Likelihoods, Reads
from syclade.host.data.input.matrix import Matrix

pytestmark = pytest.mark.shared

TOY: dict[str, dict[str, Any]] = {
    "toy.vcf": {}, "toy.bcf": {}, "toy.monovar.vcf": {}, "toy.sciphi.vcf": {}, "toy.cellsnp": {},
    "toy.cellsnp/cellSNP.cells.vcf": {}, "toy_variants.csv": {}, "toy.nogt_variants.csv": {},
    "toy.tapestri.loom": {}, "toy.scphylo-readcount.h5ad": {"layer": "mutant", "total_layer": "total"},
    "toy.condor_variant.csv": {"rows": "cells", "total_reads": "toy.condor_total.csv"},
    "toy.tapestri.h5": {}, "toy.tapestri-merged.h5": {},
}  # fmt: skip


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files by libraries in this process, which takes no half a second to start."""
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))


def reads(matrix: Matrix) -> Reads:
    assert isinstance(matrix.evidence, Reads)
    return matrix.evidence


def rows(found: Reads) -> NDArray[np.int32]:
    """Return the reads of all mutations, sorted: formats have them in another order."""
    table = np.concatenate((found.total, found.alternate), axis=1)
    return np.asarray(table[np.lexsort(table.T)])


def test_the_same_reads_in_every_format(shared_dir: Path) -> None:
    folder = shared_dir / "formats" / "give"
    expected = rows(reads(syclade.read_matrix(folder / "toy_variants.csv", evidence="reads")))
    assert (expected[:, 24:] > 0).sum() > 40
    for name, said in TOY.items():
        given = {key: folder / value if key == "total_reads" else value for key, value in said.items()}
        found = rows(reads(syclade.read_matrix(folder / name, evidence="reads", **given)))
        np.testing.assert_array_equal(found, expected, name)


def test_likelihoods_of_a_published_caller(shared_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    """CellPhy's file, whose PL have been made from SCcaller's numbers: its oddities are in messages."""
    with caplog.at_level(logging.INFO, "syclade.input"):
        found = syclade.read_matrix(
            shared_dir / "reality" / "formats" / "cellphy_crc24.vcf", evidence="likelihoods"
        )
    assert "PL contradicts GT in 954 of 8607 entries" in caplog.text
    assert "in 5264 of 8607 entries, no genotype has PL 0" in caplog.text
    assert isinstance(found.evidence, Likelihoods)
    known = found.evidence.log_odds != 0
    np.testing.assert_array_equal(known, found.values != 3)
    agree = (found.evidence.log_odds > 0) == np.isin(found.values, (1, 2))
    assert 0.88 < agree[known].mean() < 0.95


def test_reads_and_likelihoods_of_mquad(shared_dir: Path) -> None:
    """Its 12 variants are among the 510 of the VCF, with the same reads in all cells."""
    folder = shared_dir / "reality" / "formats" / "mquad"
    chosen, whole = (
        reads(syclade.read_matrix(folder / one, evidence="reads")) for one in ("", "example.vcf.gz")
    )
    known = {
        (total.tobytes(), alternate.tobytes())
        for total, alternate in zip(whole.total, whole.alternate, strict=True)
    }
    for total, alternate in zip(chosen.total, chosen.alternate, strict=True):
        assert (total.tobytes(), alternate.tobytes()) in known
    found = syclade.read_matrix(folder / "example.vcf.gz", evidence="likelihoods").evidence
    assert isinstance(found, Likelihoods)
    share = whole.alternate / np.maximum(whole.total, 1)
    deep = whole.total > 100
    assert (found.log_odds[deep & (share > 0.3)] > 0).all()
    assert (found.log_odds[deep & (share < 0.01)] < 0).all()


def test_reads_of_other_published_files(shared_dir: Path) -> None:
    columns: Any = {"format": "long", "columns": "cell=3,mutation=1+2,alt=5,total=6"}
    long = shared_dir / "reality" / "formats" / "phertilizer_variant_counts.tsv.gz"
    found = reads(syclade.read_matrix(long, evidence="reads", **columns))
    with gzip.open(long, "rt") as lines:
        numbers = np.array([line.split("\t")[4:6] for line in lines], dtype=np.int64)
    assert (found.alternate.sum(), found.total.sum()) == tuple(numbers.sum(axis=0).tolist())
    droplets = reads(
        syclade.read_matrix(shared_dir / "formats" / "real" / "cellsnp_csp_mode1", evidence="reads")
    )
    assert droplets.total.shape == (40, 60)
    for path in sorted((shared_dir / "reality" / "panel").glob("AML-1*_variants.csv.gz"))[:4]:
        panel = syclade.read_matrix(path, evidence="reads")
        assert (reads(panel).total[panel.values == 3] < 30).mean() > 0.5
        share = reads(panel).alternate / np.maximum(reads(panel).total, 1)
        assert share[panel.values == 0].mean() < 0.1 < 0.3 < share[panel.values == 1].mean()
