"""`--json` prints exactly one value for every command; `--threads` and `--multiqc` take effect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from syclade.host.commands.main import cli
from tests.conftest import ROOT

MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
CALLS = ROOT / "host" / "calls" / "example"
RATES = ("--fp-rate=0.001", "--fn-rate=0.2")
QUICK = (*RATES, "--device=numpy", "--chains=2", "--steps=50")

GIVEN: dict[str, tuple[Any, ...]] = {
    "infer": (MATRIX, *QUICK),
    "infer --tree leaf": (MATRIX, *QUICK),
    "simulate": ("--cells=4", "--mutations=3", *RATES, "--out=OUT"),
    "convert": (MATRIX, "--out=OUT"),
    "export": ("OUT", "--tails", "--columns=4"),
    "call": (f"--ref={CALLS / 'reference.fa'}", "--out=OUT/calls.vcf", CALLS / "reads.bam"),
    "devices": (),
    "quality posterior": ("--mutations=2", "--samples=1000", "--device=numpy", "--out=OUT"),
    "quality race": ("--size=6x4", "--chains=0", "--device=native", "--out=OUT"),
}


def report(command: str, tmp_path: Path) -> Any:
    words = [str(word).replace("OUT", str(tmp_path / "out")) for word in (*command.split(), *GIVEN[command])]
    if any("OUT/" in str(word) for word in GIVEN[command]):  # a file in a folder, which is not made for it
        (tmp_path / "out").mkdir()
    done = CliRunner().invoke(cli, [*words, "--json"], standalone_mode=False)
    assert done.exception is None, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", GIVEN)
def test_one_value_and_nothing_else(command: str, tmp_path: Path) -> None:
    assert report(command, tmp_path)


def test_an_inference(tmp_path: Path) -> None:
    found = report("infer", tmp_path)
    assert set(found) == {"summary", "run", "newick"}
    assert found["summary"]["n_mutations"] == 20
    assert found["newick"].endswith(";\n")


def test_a_conversion(tmp_path: Path) -> None:
    found = report("convert", tmp_path)
    assert (found["n_mutations"], found["n_cells"]) == (20, 40)
    assert sum(found["values"].values()) == 800
    assert all(Path(name).is_file() for name in found["files"])


def commands(group: click.Group, above: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= commands(command, f"{above}{name} ")
        else:
            found[above + name] = command
    return found


def test_every_command_has_it() -> None:
    without = {
        name
        for name, command in commands(cli).items()
        if not any("--json" in option.opts for option in command.params)
    }
    assert without == {"scite", "infscite"}, "whose lines are SCITE's and ∞SCITE's"


def test_threads(tmp_path: Path) -> None:
    """Use a separate process, since drivers read the number of threads only once."""
    program = (
        "import os; from syclade.host.commands.main import cli\n"
        f"cli(['infer', {str(MATRIX)!r}, *{QUICK!r}, '--threads', '1', '--quiet'], standalone_mode=False)\n"
        "from syclade.host.device.device import usable_cores; print(usable_cores())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "1"
    for number in ("0", "x"):
        refused = CliRunner().invoke(cli, ["infer", str(MATRIX), *QUICK, "--threads", number])
        assert refused.exit_code == 2


@pytest.mark.skipif(sys.platform != "linux", reason="the driver is there on Linux only")
def test_the_cpu_device_heeds_threads() -> None:
    """With one thread, processor time hardly exceeds wall time; other threads run only briefly."""
    import resource

    words = [
        str(MATRIX),
        *RATES,
        "--device=cpu",
        "--method=chain",
        "--chains=64",
        "--steps=400000",
        "--quiet",
    ]
    environment = {name: value for name, value in os.environ.items() if name != "DPCPP_CPU_NUM_CUS"}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "syclade", "infer", *words, "--threads", "1"],
        check=True, capture_output=True, env=environment,
    )  # fmt: skip
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 1.5 * seconds


def test_a_table_for_multiqc(tmp_path: Path) -> None:
    out = tmp_path / "patient 7"
    words = ["infer", str(MATRIX), *QUICK, "--quiet"]
    assert "--multiqc without --out" in str(CliRunner().invoke(cli, [*words, "--multiqc"]).exception)
    assert CliRunner().invoke(cli, [*words, "--multiqc", "--out", str(out)]).exit_code == 0
    found = json.loads((out / "syclade_mqc.json").read_text())
    (row,) = found["data"].values()
    assert list(found["data"]) == ["patient 7"]
    assert set(row) == set(found["headers"])
    assert (row["mutations"], row["cells"], row["converged"]) == (20, 40, row["converged"])
    assert CliRunner().invoke(cli, [*words, "--multiqc", "--out", str(out)]).exit_code != 0, "it is there"
