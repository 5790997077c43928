from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from syclade.host.commands import compare, infer
from syclade.host.commands.main import main

ROWS = ["1 1 0 0 1", "1 0 0 3 1", "0 1 1 0 0"]
RATES = ["--fp-rate", "0.01", "--fn-rate", "0.2"]
QUICK = ["--device", "numpy", "--chains", "2", "--steps", "200"]


@pytest.fixture
def forms(tmp_path: Path) -> dict[str, Path]:
    """Write one matrix in three formats, and return the files by format."""
    values = [row.split() for row in ROWS]
    cells = ["c1", "c2", "c3", "c4", "c5"]
    genotypes = {"0": "0/0", "1": "0/1", "3": "./."}
    texts = {
        "scite": "\n".join(ROWS) + "\n",
        "sc": "\n".join(
            ["\t".join(("x", "1", "2", "3"))]
            + ["\t".join((cell, *(row[at] for row in values))) for at, cell in enumerate(cells)]
        ),
        "vcf": "\n".join(
            ["\t".join(("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *cells))]
            + [
                "\t".join(("1", str(at), ".", "A", "G", ".", ".", ".", "GT", *(genotypes[v] for v in row)))
                for at, row in enumerate(values)
            ]
        ),
    }
    for form, text in texts.items():
        (tmp_path / form).write_text(text)
    return {form: tmp_path / form for form in texts}


def test_one_matrix_in_three_formats_has_one_tree(forms: dict[str, Path], tmp_path: Path) -> None:
    report = {}
    for form, file in forms.items():
        out = tmp_path / f"out-{form}"
        given = [str(file), "--format", form, *RATES, *QUICK, "--out", str(out), "--quiet"]
        done = CliRunner().invoke(infer.command, given)
        assert done.exit_code == 0, done.output
        summary = json.loads((out / "summary.json").read_text())
        report[form] = (summary["log_likelihood"], summary["parents"])
        assert json.loads((out / "run.json").read_text())["options"]["format"] == form
        if form == "vcf":
            scored = CliRunner().invoke(
                compare.score, [str(file), str(out / "tree.newick"), "--format", form, *RATES]
            )
            assert scored.exit_code == 0, scored.output
            assert float(scored.output) == pytest.approx(summary["log_likelihood"], abs=1e-6)
    assert report["scite"] == report["sc"] == report["vcf"]


@pytest.mark.parametrize("option", [["--layer", "x"], ["--rows", "cells"], ["--min-depth", "1"]])
def test_an_option_that_does_not_go_with_the_format_is_refused(
    forms: dict[str, Path], option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["infer", str(forms["scite"]), *RATES, *option])
    assert caught.value.code == 2
    assert option[0] in capsys.readouterr().err
