"""Every command refuses a file in a directory that does not exist; only directories of results are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.commands import printed_by

MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
CALLS = ROOT / "host" / "calls" / "example"
RATES = "--fp-rate 0.001 --fn-rate 0.2"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (f"call -f {CALLS}/reference.fa {CALLS}/reads.bam -o", "calls.vcf"),
        (f"call -f {CALLS}/reference.fa {CALLS}/reads.bam -o", "calls.vcf.gz"),
        (f"infer {MATRIX} {RATES} --checkpoint", "run"),
        (f"infer {MATRIX} {RATES} --samples 5 --chains 2 --steps 20 --checkpoint", "run"),
        (f"infer {MATRIX} {RATES} --stages separate --encoding ancestor --steps 20 --trace", "trace.json"),
        (f"scite -i {MATRIX} -n 20 -m 40 -r 1 -l 20 -fd 0.001 -ad 0.2 -o", "base"),
        (f"infscite -i {MATRIX} -n 20 -m 40 -r 1 -l 20 -fd 0.001 -ad 0.2 -o", "base"),
        ("bench --suite thesis --plot", "plot.png"),
    ],
)
def test_a_file_needs_a_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, file: str
) -> None:
    path = tmp_path / "new" / file
    status, printed, said = printed_by(capsys, *command.split(), path)
    assert (status, printed) == (2, [])
    assert f"cannot write {path}: there is no directory {path.parent}" in said
    assert list(tmp_path.iterdir()) == []
