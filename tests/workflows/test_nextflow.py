"""The Nextflow module: its options and outputs are those of the program. Nextflow itself is not run."""

from __future__ import annotations

import re
from pathlib import Path

import syclade
from syclade.host.commands.infer import command
from tests.conftest import ROOT

MODULE = (ROOT / "docs" / "workflows" / "nextflow" / "syclade" / "infer" / "main.nf").read_text()
EXAMPLE = ROOT / "host" / "data" / "example" / "matrix.csv"


def test_its_options_exist() -> None:
    known = {flag for parameter in command.params for flag in parameter.opts}
    script = MODULE[MODULE.index("syclade infer") :].partition("\n\n")[0]
    flags = set(re.findall(r"--[a-z-]+", script + MODULE.partition("names_of =")[2].partition("\n")[0]))
    assert flags == {"--names", "--threads", "--multiqc", "--out"}
    assert flags <= known


def test_its_outputs_are_files_of_a_result(tmp_path: Path) -> None:
    before_script = MODULE.partition("when:")[0]
    outputs = re.findall(r'path\W+\{prefix\}/([\w.]+)"(.*)', before_script)
    syclade.infer(EXAMPLE, fp_rate=0.01, fn_rate=0.2).write(tmp_path, report=True, multiqc=True)
    assert len(outputs) == 8
    assert {name for name, _ in outputs} <= {path.name for path in tmp_path.iterdir()}
    assert {name for name, more in outputs if "optional" not in more} == {
        "tree.newick",
        "summary.json",
        "run.json",
        "syclade_mqc.json",
    }
