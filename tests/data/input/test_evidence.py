"""Evidence of entries besides their calls: likelihoods of callers, and numbers of reads."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.input import read_matrix as door
from syclade.host.data.input.annotations import Likelihoods, Reads
from syclade.host.data.input.formats.likelihoods import odds_of
from syclade.host.data.input.matrix import Matrix
from syclade.host.ground.errors import MatrixError, OptionError

HASH = "f6684bed82cf9a22159d9ecc992dc3ceee1efefb36bea4fb156b45be11b34957"
SCISTREE = "HAPLOID 2 3 a b c\nm1 0.9 0.5 0\nm2 1 0.2 1e-9\n"


def text(folder: Path, content: str, name: str = "matrix.txt") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def odds(matrix: Matrix) -> NDArray[np.float64]:
    assert isinstance(matrix.evidence, Likelihoods)
    return matrix.evidence.log_odds


def test_probabilities_are_not_rounded(tmp_path: Path) -> None:
    path = text(tmp_path, SCISTREE)
    found = syclade.read_matrix(path, evidence="likelihoods")
    wild = np.array([[0.9, 0.5, 0.0], [1.0, 0.2, 1e-9]])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(odds(found), np.log((1 - wild) / wild), atol=1e-12)
    assert found.values.tolist() == syclade.read_matrix(path).values.tolist() == [[0, 3, 1], [0, 1, 1]]


def test_log_odds_have_the_same_bits_on_every_processor() -> None:
    """The hash is that of any processor; that of numpy's own logarithm is not."""
    random = np.random.default_rng(1)
    mutated, absent = random.random((2, 20_000)) * random.random((2, 20_000))
    found, own = odds_of(mutated, absent), np.log(mutated) - np.log(absent)
    np.testing.assert_allclose(found, own, rtol=1e-13, atol=1e-13)
    assert Likelihoods(found[None]).sha256 == HASH


def test_evidence_that_is_not_used_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = text(tmp_path, SCISTREE)
    with caplog.at_level(logging.INFO, "syclade.input"):
        assert syclade.read_matrix(path).evidence is None
        assert "there are also likelihoods (--evidence likelihoods uses them)" in caplog.text
        caplog.clear()
        syclade.read_matrix(path, evidence="likelihoods")
    assert not caplog.text


def test_the_digest_of_a_matrix_covers_its_evidence(tmp_path: Path) -> None:
    calls = syclade.read_matrix(text(tmp_path, SCISTREE))
    one, other = (
        syclade.read_matrix(text(tmp_path, SCISTREE.replace("0.9", wild)), evidence="likelihoods")
        for wild in ("0.9", "0.8")
    )
    assert calls.values.tobytes() == one.values.tobytes() == other.values.tobytes()
    assert len({calls.sha256, one.sha256, other.sha256}) == 3
    again = syclade.read_matrix(text(tmp_path, SCISTREE, "other.txt"), evidence="likelihoods")
    assert again.sha256 == one.sha256


def test_evidence_follows_what_is_left_out(tmp_path: Path) -> None:
    found = syclade.read_matrix(text(tmp_path, SCISTREE), evidence="likelihoods", min_cells=2)
    assert found.mutations == ("m2",)
    assert odds(found).shape == (1, 3)


def test_formats_without_such_evidence_refuse_it(tmp_path: Path) -> None:
    for format, path in (
        ("scite", text(tmp_path, "0 1\n", "x.csv")),
        ("scistree2", text(tmp_path, SCISTREE)),
    ):
        with pytest.raises(OptionError, match=f"--evidence reads does not go with --format {format}"):
            syclade.read_matrix(path, evidence="reads")
    with pytest.raises(OptionError, match="--evidence is 'guess'"):
        syclade.read_matrix(text(tmp_path, SCISTREE), evidence="guess")


COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
HEAD = "##fileformat=VCFv4.2\n##contig=<ID=1>\n" + "".join(
    f'##FORMAT=<ID={name},Number={number},Type={kind},Description="x">\n'
    for name, number, kind in (
        ("GT", "1", "String"), ("DP", "1", "Integer"), ("AD", ".", "Integer"), ("PL", ".", "Integer"),
        ("GL", ".", "Float"), ("GP", ".", "Float"), ("FPL", ".", "Integer"),
    )
)  # fmt: skip


def vcf(folder: Path, *records: str, head: str = HEAD) -> Path:
    """Write records, each given as ALT, FORMAT and two cells between blanks."""
    rows = []
    for number, record in enumerate(records, 1):
        alternates, *cells = record.split()
        rows.append("\t".join(("1", str(number), ".", "A", alternates, ".", ".", ".", *cells)))
    return text(folder, head + COLUMNS + "\n".join(rows) + "\n", "x.vcf")


def with_bcf(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return a VCF and the same as BCF, which is read in this process."""
    cyvcf2 = pytest.importorskip("cyvcf2")
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))
    reader = cyvcf2.VCF(str(path))
    writer = cyvcf2.Writer(str(path.with_suffix(".bcf")), reader, mode="wb")
    for record in reader:
        writer.write_record(record)
    writer.close()
    return path, path.with_suffix(".bcf")


def phred(*numbers: float) -> float:
    """Return the mean of likelihoods given as phred numbers."""
    return float(np.mean([10 ** (-number / 10) for number in numbers]))


def test_likelihoods_of_genotypes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Genotypes with the allele against those without, of one alternate allele and of two, haploid or not."""
    path = vcf(
        tmp_path,
        "C GT:PL 0/0:0,30,200 0/1:50,0,60",
        "C,G GT:PL 0/1:20,0,40,50,70,90 1/2:90,40,50,35,0,45",
        "C GT:GL 0/0:-1.5,-2,-9.25 ./.:.",
        "C GT:GP 0/0:0.9,0.08,0.02 1/1:.,.,.",
        "C GT:GP 0/0:0,20,30 0/1:0,20,30",
        "C GT:PL 1:33,0 0:0,12",
        "C PL 200,60,0 0,7,9",
    )
    one, two, three, four, five, six = (
        [phred(30, 200) / phred(0), phred(0, 60) / phred(50)],
        [phred(0, 40, 70) / phred(20, 50, 90), phred(40, 50, 0) / phred(90, 35, 45)],
        [phred(50, 70, 90) / phred(20, 0, 40), phred(35, 0, 45) / phred(90, 40, 50)],
        [phred(20, 92.5) / phred(15), 1.0],
        [0.05 / 0.9, 1.0],
        [phred(20, 30), phred(20, 30)],
    )
    seven, eight = [phred(0) / phred(33), phred(12)], [phred(60, 0) / phred(200), phred(7, 9)]
    for file in with_bcf(path, monkeypatch):
        found = syclade.read_matrix(file, evidence="likelihoods")
        expected = np.log([one, two, three, four, five, six, seven, eight])
        np.testing.assert_allclose(odds(found), expected, rtol=1e-6)
        assert found.values[-1].tolist() == [2, 0]  # without GT
        assert found.values[:3].tolist() == [[0, 1], [1, 1], [0, 1]]


def test_genotypes_without_numbers_are_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As files that were merged have of alleles of other cells; numbers may begin with their point."""
    path = vcf(
        tmp_path,
        "C,G GT:PL 0/1:90,0,80,.,.,. 0/2:70,.,.,0,.,95",
        "C,G GT:PL ./.:90,0,80,.,.,. 0/0:0,60,255,60,255,255",
        "C GT:GL 0/0:0,-.3,-3 0/1:-2,0,-2",
    )
    expected = [
        [phred(0, 80) / phred(90), 1.0],
        [1.0, phred(0, 95) / phred(70)],
        [phred(0, 80) / phred(90), phred(60, 255, 255) / phred(0, 60, 255)],
        [1.0, phred(60, 255, 255) / phred(0, 60, 255)],
        [phred(3, 30), phred(0, 20) / phred(20)],
    ]
    for file in with_bcf(path, monkeypatch):
        found = syclade.read_matrix(file, evidence="likelihoods")
        np.testing.assert_allclose(odds(found), np.log(expected), rtol=1e-6)


@pytest.mark.parametrize("none", ["<NON_REF>", "<*>"])
def test_alleles_that_are_none_do_not_change_likelihoods(
    none: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A control: one that is an allele does, since genotypes with it are without the other one."""
    plain = ("C GT:PL 0/0:0,3,30 0/1:30,0,30", "C PL 30,0 0,9")
    more = ("0/0:0,3,30,90,90,90 0/1:30,0,30,90,90,90", "30,0,40 0,9,40")
    expected = odds(syclade.read_matrix(vcf(tmp_path, *plain), evidence="likelihoods"))
    path = vcf(tmp_path, f"C,{none} GT:PL {more[0]}", f"C,{none} PL {more[1]}")
    for file in with_bcf(path, monkeypatch):
        np.testing.assert_allclose(odds(syclade.read_matrix(file, evidence="likelihoods")), expected)
    other = odds(syclade.read_matrix(vcf(tmp_path, f"C,G GT:PL {more[0]}"), evidence="likelihoods"))
    assert (abs(other[0] - expected[0]) > 0.6).all()


def test_likelihoods_of_haploid_genotypes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = vcf(tmp_path, "C GT:PL 1:33,0 0:0,12", "C GT:PL 1:40,0 .:0,0", "C PL 40,0 .")
    expected = np.log(10) / 10 * np.array([[33, -12], [40, 0], [40, 0]])
    for file in with_bcf(path, monkeypatch):
        np.testing.assert_allclose(odds(syclade.read_matrix(file, evidence="likelihoods")), expected)


def test_likelihoods_that_callers_write_wrongly(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for records, words in (
        (("C GT:PL 0/0:60 0/1:9",), ":11: the record has 1 numbers of PL, not 3.*SCIPhI"),
        (("C GT:PL 0/0:0,0,0 0/1:0,0,0",), "PL says nothing: its numbers are equal"),
        (("C GT:PL 0:0,0 1:0,0",), "PL says nothing: its numbers are equal"),
        (("C GT:PL 0/0:0,40,90 0/1:40,0", "C GT:PL 1/1:40,0 0:0,40"), "in 2 entries whose GT has two"),
        (("C GT:PL 0/0:200,20,0 1/1:0,20,200",), "PL contradicts GT in 2 of 2 entries; .* reversed"),
        (("C GT:PL 0/0:10,0,99 1/1:0,9,2",), "PL contradicts GT in 2 of 2 entries\n"),
        (("C GT:GP 0/0:0.5,0.1,0.1 0/1:0,1,0",), ":11: the record has GP that add up to 0.7"),
        (("C GT:PL 0/0:-1,2,3 0/1:1,0,1",), ":11: '-1' .* is no value of PL"),
        (("C GT:AD 0/0:1,2 0/1:1,0",), ":11: the record has no PL, GL, GP or FPL"),
    ):
        with pytest.raises(MatrixError, match=f"(?s){words}"):
            syclade.read_matrix(vcf(tmp_path, *records), evidence="likelihoods")
    shifted = "C GT:PL 0/0:10,40,255 0/1:255,3,9"
    with caplog.at_level(logging.INFO, "syclade.input"):
        syclade.read_matrix(vcf(tmp_path, shifted, "C GT:PL 0/1:0,2,4 ./.:."), evidence="likelihoods")
    for words in (
        "contradicts GT in 1 of 3",
        "in 2 of 3 entries, no genotype has PL 0",
        "cut off at 255 in 2 of 3",
    ):
        assert words in caplog.text


def test_four_likelihoods_of_sccaller(tmp_path: Path) -> None:
    """Noise and artifact are the wild type; some versions write them as PL, which the header describes."""
    numbers = "0/0:1,0,50,90 0/1:80,60,0,20"
    report = (
        '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="sequencing noise, amplification artifact, het">\n'
    )
    expected = np.log([[phred(50, 90) / phred(1, 0), phred(0, 20) / phred(80, 60)]])
    for path in (vcf(tmp_path, f"C GT:FPL {numbers}"), vcf(tmp_path, f"C GT:PL {numbers}", head=report)):
        np.testing.assert_allclose(odds(syclade.read_matrix(path, evidence="likelihoods")), expected)


def reads(matrix: Matrix) -> tuple[list[list[int]], list[list[int]]]:
    assert isinstance(matrix.evidence, Reads)
    return matrix.evidence.alternate.tolist(), matrix.evidence.total.tolist()


def test_reads_of_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AD of all alleles, or of the alternate one with DP; all reads count, and missing ones are 0."""
    path = vcf(
        tmp_path,
        "C GT:AD:DP 0/0:9,1:12 0/1:.:7",
        "C,G GT:AD 0/1:5,3,1 1/2:0,4,1000000",
        "C GT:AD:DP 0/1:3:9 ./.:.:.",
        "C AD 8,0 0,6",
    )
    for file in with_bcf(path, monkeypatch):
        found = syclade.read_matrix(file, evidence="reads")
        alternate = [[1, 0], [3, 4], [1, 10**6], [3, 0], [0, 6]]
        total = [[10, 0], [9, 10**6 + 4], [9, 10**6 + 4], [9, 0], [8, 6]]
        assert reads(found) == (alternate, total)
        assert found.values.tolist() == [[0, 1], [1, 1], [0, 1], [1, 3], [0, 2]]


def test_reads_of_other_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields RO and AO of freebayes, and the bases of Strelka, of which the first tier counts."""
    counts = [
        ("AU", 2, "Integer"), ("CU", 2, "Integer"), ("GU", 2, "Integer"), ("TU", 2, "Integer"),
        ("RO", 1, "Integer"), ("AO", "A", "Integer"),
    ]  # fmt: skip
    described = "".join(
        f'##FORMAT=<ID={name},Number={number},Type={kind},Description="x">\n' for name, number, kind in counts
    )
    path = vcf(
        tmp_path,
        "C GT:RO:AO 0/0:9:1 0/1:.:.",
        "C,G GT:RO:AO 0/1:5:3,1 1/2:0:4,6",
        "G AU:CU:GU:TU 8,9:1,1:3,4:0,0 0,0:0,0:7,7:0,0",
        head=HEAD + described,
    )
    for file in with_bcf(path, monkeypatch):
        found = syclade.read_matrix(file, evidence="reads")
        alternate = [[1, 0], [3, 4], [1, 6], [3, 7]]
        total = [[10, 0], [9, 10], [9, 10], [11, 7]]
        assert reads(found) == (alternate, total)
        assert found.values.tolist() == [[0, 1], [1, 1], [0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("C GT:AD:DP 0/0:0:9 0/1:12:7", ":11: mutation 1 has 12 alternate reads of 7 in cell 2"),
        ("C GT:AD 0/0:4 0/1:5", ":11: the record has no AD"),
        ("C,G GT:AD 0/0:4,3 0/1:5,3", ":11: the record has 2 numbers of AD, not 3"),
        ("C,G GT:AD:DP 0/1:30:50 0/2:20:40", ":11: the record has 1 number of AD, not 3"),
        ("C GT:AD 0/0:1.5,3 0/1:5,3", ":11: mutation 1 has 3 alternate reads of 4.5"),
        ("C GT:AD 0/0:4000000,3e9 0/1:5,3", ":11: mutation 1 has 3e.09 alternate reads"),
    ],
)
def test_reads_of_records_that_are_wrong(tmp_path: Path, record: str, words: str) -> None:
    with pytest.raises(MatrixError, match=words):
        syclade.read_matrix(vcf(tmp_path, record), evidence="reads")


def test_shares_of_reads_need_a_number_for_each_allele(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in with_bcf(vcf(tmp_path, "C,G GT:AD:DP 0/1:30,0:50 0/2:0,20:40"), monkeypatch):
        for option in ("min_vaf", "vaf_ref", "vaf_het", "vaf_hom"):
            chosen: dict[str, Any] = {option: 20.0}
            with pytest.raises(MatrixError, match="has 2 numbers of AD, not 3"):
                syclade.read_matrix(path, **chosen)
        assert syclade.read_matrix(path).values.tolist() == [[1, 0], [0, 1]], "the control: calls alone"


def test_numbers_of_reads_that_are_partly_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DP has those that AD lacks, and AD those that DP lacks, each of the same cell."""
    records = ("C GT:AD:DP 0/1:.,5:22 0/0:7,.:9", "C GT:AD:DP 0/1:10,12:. 0/0:20,0:20")
    for path in with_bcf(vcf(tmp_path, *records), monkeypatch):
        found = syclade.read_matrix(path, evidence="reads")
        assert reads(found) == ([[5, 0], [12, 0]], [[22, 0], [22, 20]])
        assert syclade.read_matrix(path, min_depth=15).values.tolist() == [[1, 3], [1, 0]]


def test_records_without_genotypes_that_have_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in with_bcf(vcf(tmp_path, "C AD:DP 2,3:5 9,0:9"), monkeypatch):
        with pytest.raises(MatrixError, match="no record has genotypes") as refused:
            syclade.read_matrix(path)
        assert "--evidence reads uses" in str(refused.value.hint)


def test_reads_of_tables(tmp_path: Path) -> None:
    """Pairs of tables, long tables and COMPASS' files need no limits of calls; errors have lines."""
    total = text(tmp_path, "cell\tm1\tm2\na\t9\t0\nb\t1000000\t2\n", "total.tsv")
    alternate = "cell\tm1\tm2\na\t4\t0\nb\tNA\t2\n"
    long = "cell,mutation,ad,dp\na,m1,4,9\nb,m2,2,2\n"
    compass = "NAME,a,b\nm1,5:4:1,0:0:3\nm2,0:0,0:2\n"
    expected = [[4, 0], [0, 2]], [[9, 0], [0, 2]]
    content: str
    options: Any
    for content, options in (
        (alternate, {"format": "tsv", "rows": "cells", "total_reads": total}), (long, {}), (compass, {}),
    ):  # fmt: skip
        found = syclade.read_matrix(text(tmp_path, content), evidence="reads", **options)
        assert reads(found) == expected
        assert found.values.tolist() == [[1, 3], [3, 2]]
        assert syclade.read_matrix(text(tmp_path, content), min_depth=1, **options).evidence is None
    for content, options, words in (
        (alternate.replace("4", "10"), {"total_reads": total}, ":2: mutation 1 has 10 alternate reads of 9"),
        (alternate.replace("4", "4,3"), {"total_reads": total}, ":2: '4,3' .*a row of its own"),
        (alternate.replace("4", "-4"), {"total_reads": total}, ":2: '-4' is not a number"),
        (alternate.replace("4", "4.5"), {"total_reads": total}, ":2: '4.5' is not a number"),
        (alternate, {}, "--evidence reads is for numbers of reads.*--total-reads"),
    ):
        given: Any = {"format": "tsv", "rows": "cells", **options}
        with pytest.raises(MatrixError, match=f"(?s){words}"):
            syclade.read_matrix(text(tmp_path, content), evidence="reads", **given)
    with pytest.raises(MatrixError, match=":3: mutation 2 has 3 alternate reads of 2 in cell 2"):
        syclade.read_matrix(text(tmp_path, long.replace(",2,2", ",3,2")), evidence="reads")


def folder_of_reads(folder: Path, alternate: str = "2 2 2\n1 1 4\n2 2 2\n") -> Path:
    """Write a folder of cellsnp-lite with two variants and two cells."""
    pytest.importorskip("scipy")
    text(folder, "##fileformat=VCFv4.2\n1\t5\t.\tA\tC\n1\t6\t.\tA\tC\n", "cellSNP.base.vcf")
    text(folder, "a\nb\n", "cellSNP.samples.tsv")
    head = "%%MatrixMarket matrix coordinate real general\n%\n"
    text(folder, f"{head}{alternate}", "cellSNP.tag.AD.mtx")
    text(folder, f"{head}2 2 3\n1 1 9\n2 2 2\n1 2 1000000\n", "cellSNP.tag.DP.mtx")
    return folder


def test_a_part_of_a_folder_is_told(tmp_path: Path) -> None:
    """One of its files, or the folder without one."""
    folder = folder_of_reads(tmp_path)
    with pytest.raises(MatrixError, match="one table of several") as refused:
        syclade.read_matrix(folder / "cellSNP.tag.AD.mtx")
    assert "give the folder" in str(refused.value.hint)
    (folder / "cellSNP.samples.tsv").unlink()
    with pytest.raises(MatrixError, match=r"the folder has no cellSNP\.samples\.tsv"):
        syclade.read_matrix(folder, min_depth=1)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix"])
def test_a_sparse_table_in_a_file_is_read(form: str, tmp_path: Path) -> None:
    anndata, sparse = pytest.importorskip("anndata"), pytest.importorskip("scipy.sparse")
    values = np.array([[1, 0, 1], [0, 1, 0]], dtype=np.float32)
    anndata.AnnData(getattr(sparse, form)(values)).write_h5ad(tmp_path / "x.h5ad")
    opened = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    assert syclade.read_matrix(opened).values.tolist() == values.T.tolist()
    opened.file.close()


def test_reads_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))
    found = syclade.read_matrix(folder_of_reads(tmp_path), evidence="reads")
    assert reads(found) == ([[4, 0], [0, 2]], [[9, 10**6], [0, 2]])
    with pytest.raises(MatrixError, match=r"AD.mtx:5: mutation 2 has 3 alternate reads of 2 in cell 2"):
        syclade.read_matrix(folder_of_reads(tmp_path, "2 2 2\n1 1 4\n2 2 3\n"), evidence="reads")


@pytest.mark.parametrize("kind", ["real", "integer"])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("2 2 2\n1 1 4\n2 2 nan\n", "AD.mtx:5: nan is no number of reads"),
        ("2 2 2\n1 1 -4\n2 2 1\n", "AD.mtx:4: -4 is no number of reads"),
        ("2 2 2\n1 1 4\n2 2 1.9\n", "AD.mtx:5: 1.9 is no number of reads"),
        ("2 2 2\n1 1 4\n", "AD.mtx:4: the file ends after 1 of 2 entries"),
        ("2 2 2\n1 1 4\n2 2 1.0e", "AD.mtx:5: the file ends after 1 of 2 entries"),
        ("2 2 2", "AD.mtx:3: the file ends after 0 of 2 entries"),
    ],
)
def test_a_wrong_entry_of_reads_is_named(tmp_path: Path, table: str, message: str, kind: str) -> None:
    """A file that ends in a number's exponent crashes scipy's reader, so the end is checked before.

    Of a file of integers, that reader leaves fractions out.
    """
    folder = folder_of_reads(tmp_path, table)
    file = folder / "cellSNP.tag.AD.mtx"
    file.write_text(file.read_text().replace(" real ", f" {kind} "))
    with pytest.raises(
        MatrixError, match="cannot be read" if kind == "integer" and "nan" in table else message
    ):
        syclade.read_matrix(folder, evidence="reads")


def test_whole_numbers_may_have_a_point(tmp_path: Path) -> None:
    found = syclade.read_matrix(folder_of_reads(tmp_path, "2 2 2\n1 1 4.0\n2 2 2\n"), evidence="reads")
    assert reads(found)[0] == [[4, 0], [0, 2]]


def test_reads_of_frames_and_annotated_data() -> None:
    pandas, anndata = pytest.importorskip("pandas"), pytest.importorskip("anndata")
    alternate, total = np.array([[4.0, 0.0], [np.nan, 2.0]]), np.array([[9.0, 0.0], [5.0, 2.0]])
    frame, other = (
        pandas.DataFrame(one, index=["a", "b"], columns=["m1", "m2"]) for one in (alternate, total)
    )
    expected = [[4, 0], [0, 2]], [[9, 0], [0, 2]]
    assert reads(syclade.read_matrix(frame, rows="cells", total_reads=other, evidence="reads")) == expected
    data = anndata.AnnData(np.nan_to_num(alternate), layers={"DP": total})
    assert reads(syclade.read_matrix(data, total_layer="DP", evidence="reads")) == (
        [[4, 0], [0, 2]],
        [[9, 5], [0, 2]],
    )
    for wrong, words in (
        (-frame, "has -4 alternate"),
        (frame / 8, "has 0.5 alternate"),
        (frame * 9, "has 36 alt"),
    ):
        with pytest.raises(MatrixError, match=words):
            syclade.read_matrix(wrong, rows="cells", total_reads=other, evidence="reads")
    with pytest.raises(MatrixError, match="--evidence reads is for numbers of reads"):
        syclade.read_matrix(frame, rows="cells", evidence="reads")


@pytest.mark.parametrize("names", [("AD", "DP"), ("AF", "DP")])
def test_reads_of_tapestri(tmp_path: Path, names: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the pipeline have shares (AF) in place of alternate reads."""
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        assay = file.create_group("assays/dna_variants")
        total = np.array([[7, 3], [0, 59]])
        alternate = np.array([[2, 3], [0, 20]])
        share = np.round(100 * alternate / np.maximum(total, 1), 4)
        for name, table in (
            ("NGT", [[1, 2], [3, 1]]),
            ("DP", total),
            (names[0], share if names[0] == "AF" else alternate),
        ):
            assay[f"layers/{name}"] = table
        assay["ca/id"], assay["ra/barcode"] = ["m1", "m2"], ["a", "b"]
    found = syclade.read_matrix(path, evidence="reads")
    assert reads(found) == (alternate.T.tolist(), total.T.tolist())
    assert found.values.tolist() == [[1, 3], [2, 1]]


def test_likelihoods_of_tables(tmp_path: Path) -> None:
    """Probabilities, log odds, likelihoods of both, and their logarithms; missing ones say nothing."""
    head = "\tm1\tm2\n"
    probability = f"{head}a\t0.9\tNA\nb\t0\t1e-3\n"
    log = f"{head}a\t2.5\t\nb\t-inf\t-1\n"
    other = text(tmp_path, "\tm2\tm1\nb\t4e-3\t0.5\na\t.\t0.2\n", "absent.tsv")
    logs = text(tmp_path, "\tm1,m2\na,-1,-2\nb,0,-2\n".replace("\t", ","), "logs.csv")
    inf = np.inf
    content: str
    given: Any
    for content, given, expected in (
        (probability, {"coding": "probability"}, [[np.log(9), -inf], [0.0, np.log(1e-3 / 0.999)]]),
        (probability, {"coding": "probability", "absent": other}, [[np.log(4.5), -inf], [0.0, np.log(0.25)]]),
        (log, {"coding": "log"}, [[2.5, -inf], [0.0, -1.0]]),
        (log, {"coding": "log", "absent": logs}, [[3.5, -inf], [0.0, 1.0]]),
    ):
        path = text(tmp_path, content, "x.tsv")
        found = syclade.read_matrix(path, evidence="likelihoods", rows="cells", **given)
        np.testing.assert_allclose(odds(found), expected)
        assert found.values.tolist() == [[1, 0], [3, int(expected[1][1] > 0)]]
        assert found.mutations == ("m1", "m2")
    for content, given, words in (
        (probability, {}, "the meaning of the numbers is not given.*--coding probability or --coding log"),
        (probability.replace("0.9", "1.5"), {"coding": "probability"}, ":2: 1.5 .*is not a probability"),
        (log, {"coding": "probability", "absent": other}, "-inf .*is not a likelihood"),
        (log.replace("2.5", "2..5"), {"coding": "log"}, ":2: '2..5' is not a number"),
        (log, {"coding": "log", "min_depth": 3}, "--min-depth is for numbers of reads"),
    ):
        path = text(tmp_path, content, "x.tsv")
        with pytest.raises(MatrixError, match=f"(?s){words}"):
            syclade.read_matrix(path, evidence="likelihoods", rows="cells", format="tsv", **given)
    for given, words in (
        ({"coding": "log"}, "--coding log is for --evidence"),
        ({"absent": other}, "without the mutation is for"),
        ({"coding": "scite"}, "--coding scite is for layers"),
    ):
        with pytest.raises(OptionError, match=words):
            syclade.read_matrix(path, rows="cells", format="tsv", **given)


def test_likelihoods_of_frames_and_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas, anndata = pytest.importorskip("pandas"), pytest.importorskip("anndata")
    monkeypatch.setattr(door, "read_in_subprocess", lambda reader, *given: reader(*given))
    mutated, absent = np.array([[-1.0, np.nan], [-3.0, 0.0]]), np.array([[-4.0, -1.0], [-1.0, -0.5]])
    expected = [[3.0, -2.0], [0.0, 0.5]]
    one, two = (
        pandas.DataFrame(table, index=["a", "b"], columns=["m1", "m2"]) for table in (mutated, absent)
    )
    frames: Any = {"evidence": "likelihoods", "rows": "cells", "coding": "log"}
    assert odds(syclade.read_matrix(one, absent=two.loc[["b", "a"]], **frames)).tolist() == expected
    assert odds(
        syclade.read_matrix(np.exp(one), absent=np.exp(two), **frames | {"coding": "probability"})
    ) == (pytest.approx(np.array(expected)))
    data = anndata.AnnData(np.zeros((2, 2)), layers={"with": mutated, "without": absent})
    data.write_h5ad(tmp_path / "x.h5ad")
    for source in (data, tmp_path / "x.h5ad"):
        both: Any = {"layer": "with", "absent_layer": "without", "coding": "log"}
        found = syclade.read_matrix(source, evidence="likelihoods", **both)
        assert odds(found).tolist() == expected
        assert found.values.tolist() == [[1, 0], [3, 1]]
        with pytest.raises(MatrixError, match="the meaning of the numbers is not given"):
            syclade.read_matrix(source, evidence="likelihoods", layer="with")


def convert(*given: object) -> str:
    """Return the messages of a conversion."""
    done = CliRunner().invoke(cli, ["convert", *map(str, given)])
    assert done.exit_code == 0, done.output
    return done.stderr


def test_conversions_keep_evidence(tmp_path: Path) -> None:
    """In tables that are read again, with names that are numbers, too; and as ScisTree2's probabilities."""
    likely = text(tmp_path, SCISTREE.replace("m1", "1").replace("m2", "2"))
    counts = vcf(tmp_path, "C GT:AD 0/0:9,1 0/1:5,1000000", "C AD . 7,8")
    for source, kind, files in (
        (likely, "likelihoods", {"log_odds.tsv"}), (counts, "reads", {"alternate.tsv", "total.tsv"}),
    ):  # fmt: skip
        out, given = tmp_path / kind, ("--evidence", kind)
        convert(source, *given, "--out", out)
        plain = {"matrix.csv", "matrix.geneNames", "matrix.cellNames"}
        assert {one.name for one in out.iterdir()} == plain | files
        first, again = (syclade.read_matrix(path, evidence=kind) for path in (source, out))
        assert first.sha256 == again.sha256
        assert (first.mutations, first.cells) == (again.mutations, again.cells)
        assert syclade.read_matrix(out).evidence is None
        report = convert(out, *given, "--to", "sc", "--out", tmp_path / f"{kind}3")
        assert "matrix.SC has the calls alone" in report
        with pytest.raises(
            MatrixError, match=f"{'total' if kind == 'likelihoods' else 'log_odds'}|alternate"
        ):
            syclade.read_matrix(
                out, format="folder", evidence="reads" if kind == "likelihoods" else "likelihoods"
            )
    convert(likely, "--evidence", "likelihoods", "--to", "scistree2", "--out", tmp_path / "out")
    back = syclade.read_matrix(tmp_path / "out" / "matrix.haploid", evidence="likelihoods")
    np.testing.assert_allclose(
        odds(back), odds(syclade.read_matrix(likely, evidence="likelihoods")), rtol=1e-6
    )
    refused = CliRunner().invoke(
        cli, ["convert", str(counts), "--to", "scistree2", "--out", str(tmp_path / "no")]
    )
    assert "has none" in str(refused.exception) + refused.output


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("alternate.tsv", "\t1\t", "\t11\t", r"alternate.tsv:2: mutation 1 has 11 alternate reads of 10"),
        ("total.tsv", "\t10\t", "\tx\t", r"total.tsv:2: 'x' is not a number of reads"),
        ("total.tsv", "\t10\t", "\t", r"total.tsv:2: the row has 1 numbers, but matrix.csv has 2 cells"),
        ("total.tsv", "1:2:A/C\t0\t15\n", "", r"total.tsv:2: 1 rows, but matrix.csv has 2 mutations"),
    ],
)
def test_damaged_folders(tmp_path: Path, file: str, old: str, new: str, words: str) -> None:
    counts = vcf(tmp_path, "C GT:AD 0/0:9,1 0/1:5,1000000", "C AD . 7,8")
    convert(counts, "--evidence", "reads", "--out", tmp_path / "out")
    content = (tmp_path / "out" / file).read_text()
    assert old in content
    text(tmp_path / "out", content.replace(old, new), file)
    with pytest.raises(MatrixError, match=words):
        syclade.read_matrix(tmp_path / "out", evidence="reads")


def test_pairs_of_tables_without_names(tmp_path: Path) -> None:
    """Both tables are in the same order."""
    path, total = text(tmp_path, "0\t0\t1\n" * 3), text(tmp_path, "2\t2\t1\n2\t3\t1\n2\t2\t1\n", "total.tsv")
    found = syclade.read_matrix(path, format="tsv", rows="mutations", total_reads=total, evidence="reads")
    assert reads(found) == ([[0, 0, 1]] * 3, [[2, 2, 1], [2, 3, 1], [2, 2, 1]])


def test_rows_of_reads_whose_names_are_numbers(tmp_path: Path) -> None:
    """The first numbers of reads are no names, and the row numbers in front of names are none, either."""
    table = "NAME,c0,c1\n0,52,50\n1,46,60\n"
    path = text(tmp_path, table.replace("5", "2"), "alternate.csv")
    total = text(tmp_path, table, "total.csv")
    found = syclade.read_matrix(path, rows="cells", total_reads=total, evidence="reads")
    assert (found.mutations, found.cells) == (("c0", "c1"), ("0", "1"))
    assert reads(found) == ([[22, 46], [20, 60]], [[52, 46], [50, 60]])
    total = text(
        tmp_path, "n,NAME,c0,c1\n0,0,52,50\n1,1,46,60\n".replace(",0,5", ",a,5").replace(",1,4", ",b,4")
    )
    path = text(tmp_path, total.read_text().replace("5", "2"), "alternate.csv")
    found = syclade.read_matrix(path, rows="cells", total_reads=total, evidence="reads", format="csv")
    assert (found.mutations, found.cells) == (("c0", "c1"), ("a", "b"))


def test_arrays_of_numbers() -> None:
    alternate, total = np.array([[4, 0], [np.nan, 2]]), np.array([[9, 0], [5, 2]])
    found = syclade.read_matrix(alternate, total_reads=total, evidence="reads", names=["x", "y"])
    assert reads(found) == ([[4, 0], [0, 2]], [[9, 0], [0, 2]])
    assert (found.mutations, found.values.tolist()) == (("x", "y"), [[1, 3], [3, 2]])
    assert reads(syclade.read_matrix([[1]], ref_reads=[[2]], evidence="reads")) == ([[1]], [[3]])
    calls = syclade.read_matrix(alternate, total_reads=total, min_depth=3)
    assert (calls.evidence, calls.values.tolist()) == (None, [[1, 3], [3, 3]])
    given: Any = {"evidence": "likelihoods", "coding": "probability"}
    assert odds(syclade.read_matrix([[0.5, 0.9]], absent=[[0.25, 0.9]], **given)).tolist() == [
        [np.log(2), 0.0]
    ]
    given["coding"] = "log"
    assert odds(syclade.read_matrix([[-np.inf, 2]], **given)).tolist() == [[-np.inf, 2.0]]
    for source, options, words in (
        (alternate, {"evidence": "reads"}, "--evidence reads is for numbers of reads.*total_reads"),
        (alternate, {"total_reads": total[:1], "evidence": "reads"}, "total_reads has the shape"),
        (alternate, {"evidence": "likelihoods"}, "the meaning of the numbers is not given"),
        (alternate, {"rows": "cells"}, "--rows does not go with an array"),
        ([["a"]], {"total_reads": [[1]], "evidence": "reads"}, "cannot be read as an array of numbers"),
    ):
        with pytest.raises(syclade.SycladeError, match=f"(?s){words}"):
            syclade.read_matrix(source, **options)


def test_likelihoods_of_sciphi_are_refused(tmp_path: Path) -> None:
    path = vcf(tmp_path, "C GT:AD:DP:PL 0/0:0:0:60 0/1:3:9:9", head=HEAD + "##source=SCIPhI\n")
    with pytest.raises(MatrixError, match="SCIPhI's PL are posterior probabilities"):
        syclade.read_matrix(path, evidence="likelihoods")
    found = syclade.read_matrix(path, evidence="reads")
    assert reads(found) == ([[0, 3]], [[0, 9]])
    assert found.values.tolist() == [[3, 1]]  # its call without reads is none


def test_filters_of_calls_keep_evidence(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = vcf(tmp_path, "C GT:AD 0/0:9,1 0/1:2,1", "C GT:AD 0/1:9,9 ./.:0,0")
    with caplog.at_level(logging.INFO, "syclade.input"):
        found = syclade.read_matrix(path, evidence="reads", min_depth=10, max_missing_cell=0.4)
    assert found.values.tolist() == [[0], [1]]
    assert reads(found) == ([[1], [9]], [[10], [18]])
    assert "--min-depth: of calls alone; the evidence of all entries is used" in caplog.text
    assert reads(syclade.read_matrix(path, evidence="reads", min_depth=10))[1] == [[10, 3], [18, 0]]
