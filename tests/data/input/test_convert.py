"""`syclade.convert`: the files of the command, of what `read_matrix` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.ground.errors import OptionError, OutputError

VCF = """##fileformat=VCFv4.2
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\tc
1\t10\t.\tA\tC\t.\tPASS\t.\tGT:AD:PL\t0/1:4,5:60,0,60\t0/0:9,0:0,30,60\t./.:0,0:0,0,0
1\t20\t.\tA\tC\t.\tPASS\t.\tGT:AD:PL\t1/1:0,9:60,30,0\t0/1:4,4:50,0,50\t0/0:8,0:0,30,60
"""


@pytest.mark.parametrize(
    ("to", "given"),
    [
        ("scite", {}),
        ("scite", {"evidence": "reads"}),
        ("scite", {"evidence": "likelihoods", "exclude_mutations": "1:20:A/C"}),
        ("sc", {"min_depth": 9}),
        ("scistree2", {"evidence": "likelihoods"}),
    ],
    ids=str,
)
def test_files_are_those_of_the_command(tmp_path: Path, to: str, given: dict[str, Any]) -> None:
    path = tmp_path / "cells.vcf"
    path.write_text(VCF)
    words = [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    command = ["convert", str(path), *words, "--to", to, "-o", str(tmp_path / "command")]
    done = CliRunner().invoke(cli, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    names = syclade.convert(path, tmp_path / "python", to, **given)
    syclade.convert(syclade.read_matrix(path, **given), tmp_path / "matrix", to)
    for folder in ("python", "matrix"):
        assert sorted(one.name for one in (tmp_path / folder).iterdir()) == sorted(names)
        for name in names:
            assert (tmp_path / folder / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    assert ("left_out.tsv" in names) == ("exclude_mutations" in given)


def test_files_are_kept_unless_forced(tmp_path: Path) -> None:
    values = np.array([[0, 1], [1, 3]])
    assert syclade.convert(values, tmp_path) == ["matrix.csv", "matrix.geneNames", "matrix.cellNames"]
    with pytest.raises(OutputError, match="already has"):
        syclade.convert(values, tmp_path)
    syclade.convert(values.T, tmp_path, force=True)
    matrix = syclade.read_matrix(tmp_path / "matrix.csv")
    assert matrix.values.tolist() == values.T.tolist()
    with pytest.raises(OutputError):
        syclade.convert(matrix, tmp_path, force=True)  # its own file
    with pytest.raises(OptionError, match="the format is 'nhx'"):
        syclade.convert(matrix, tmp_path / "new", "nhx")
