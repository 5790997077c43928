"""`syclade quality tost`, reduced: our optima against SCITE's, mostly with a folder of ours as SCITE's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.commands import main as main_module
from syclade.host.data.input.matrix import format_matrix, matrix_from_array
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.treefile import read_tree
from syclade.quality import extras
from syclade.quality.tost import runs as tost_runs

RATES = Rates(0.01, 0.2)
INPUTS, MUTATIONS, CELLS = 5, 7, 12
SMALL = ("--chains", 4, "--steps", 400)

Trees = Callable[[Any], Any]


def star(matrix: Any) -> Any:
    return np.full(MUTATIONS + 1, MUTATIONS, dtype=np.int32)


def searched(matrix: Any) -> Any:
    settings: dict[str, Any] = {"chains": 8, "steps": 500, "seed": 77, "device": "native", "support": "none"}
    return syclade.infer(matrix, fp_rate=RATES.fp_rate, fn_rate=RATES.fn_rate, **settings).parents


def make_reference(folder: Path, trees: Trees, settings: dict[str, Any] | None, rates: Rates = RATES) -> Path:
    for name in ("inputs", "scite"):
        (folder / name).mkdir(parents=True)
    for number in range(1, INPUTS + 1):
        made = simulate(CELLS, MUTATIONS, missing=0.1, seed=number, **rates.to_dict())
        # A repeated column lets all inputs share one kernel: compiling takes most of the time.
        matrix = matrix_from_array(np.hstack([made.matrix.values, made.matrix.values[:, :1]]))
        parents = trees(matrix)
        (folder / "inputs" / f"{number:02}.csv").write_text(format_matrix(matrix.values))
        (folder / "scite" / f"{number:02}_ml0.newick").write_text(to_newick(parents, matrix.mutations))
        score = log_likelihood(matrix, rates, parents)
        (folder / "scite" / f"{number:02}.log").write_text(f"best log score for tree:\t{score:.17g}\n")
    if settings is not None:
        (folder / "reference.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = {"fp_rate": RATES.fp_rate, "fn_rate": RATES.fn_rate, "chains": 4, "steps": 400}
    return make_reference(tmp_path_factory.mktemp("reference"), searched, settings)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    def run(folder: Path | None, *arguments: object, out: str = "out") -> tuple[int, str]:
        reference = [] if folder is None else ["--reference", folder]
        fixed = ["quality", "tost", *reference, "--out", tmp_path / out]
        with pytest.raises(SystemExit) as caught:
            main_module.main([str(each) for each in [*fixed, *arguments]])
        assert isinstance(caught.value.code, int)
        streams = capsys.readouterr()
        return caught.value.code, streams.out + streams.err

    return run


def test_searches_are_compared_too(run: Any, reference: Path, tmp_path: Path) -> None:
    status, said = run(reference, "--method", "search", "--device", "native")
    assert status == 0, said
    assert "5 inputs, searches on native" in said
    report = report_of(tmp_path / "out")
    assert (report["settings"]["method"], report["settings"]["chains"]) == ("search", None)
    assert " 0 worse than SCITE" in said
    status, said = run(reference, "--method", "search", "--chains", 3, out="other")
    assert status == 2
    assert "(--chains) is for chains" in said


def report_of(folder: Path) -> dict[str, Any]:
    report = json.loads((folder / "tost.json").read_text())
    assert isinstance(report, dict)
    return report


@pytest.mark.parametrize(
    "device",
    ["numpy", pytest.param("cpu", marks=pytest.mark.sycl), pytest.param("fpga-emu", marks=pytest.mark.sycl)],
)
def test_as_good_a_program_is_equivalent(run: Any, reference: Path, tmp_path: Path, device: str) -> None:
    status, said = run(reference, "--device", device)
    assert status == 0, said
    assert "5 inputs: 5 equal, 0 better, 0 worse than SCITE" in said
    assert "verdict: equivalent; not inferior" in said
    report = report_of(tmp_path / "out")
    assert report["holds"] is True
    assert report["result"]["delta"] == RATES.flip_effect()
    assert (report["settings"]["chains"], report["settings"]["steps"]) == (4, 400)
    assert [each["flips"] for each in report["inputs"]] == [0] * 5
    assert (tmp_path / "out" / "tost.png").read_bytes().startswith(b"\x89PNG")


def test_a_worse_program_is_found_out(run: Any, reference: Path, tmp_path: Path) -> None:
    status, said = run(reference, "--device", "native", "--chains", 1, "--steps", 1)
    assert status == 1
    assert "5 worse than SCITE" in said
    assert "NOT SHOWN TO BE EQUIVALENT; NOT SHOWN TO BE NOT INFERIOR" in said
    report = report_of(tmp_path / "out")
    assert (report["holds"], report["result"]["non_inferior"]) == (False, False)


def test_a_better_program_is_not_inferior(run: Any, tmp_path: Path) -> None:
    folder = make_reference(tmp_path / "stars", star, None)
    rates = ("--fp-rate", RATES.fp_rate, "--fn-rate", RATES.fn_rate)
    status, said = run(folder, "--device", "native", *rates, *SMALL)
    assert status == 1
    assert "5 better" in said
    assert "verdict: NOT SHOWN TO BE EQUIVALENT; not inferior" in said
    assert report_of(tmp_path / "out")["result"]["non_inferior"] is True


@pytest.mark.parametrize("name", ["{}.gv", "{}_ml0.newick", "{}/tree.newick"])
def test_trees_of_another_program_are_compared(run: Any, reference: Path, tmp_path: Path, name: str) -> None:
    """SCITE's own trees are equal to SCITE's; nothing is run, and no device is named."""
    put_trees(tmp_path / "theirs", reference, name, lambda parents: parents)
    status, said = run(reference, "--ours", tmp_path / "theirs")
    assert status == 0, said
    assert f"5 inputs, trees of {tmp_path / 'theirs'}, error rates 0.01 and 0.2" in said
    assert "5 inputs: 5 equal, 0 better, 0 worse than SCITE" in said
    assert "work done by" not in said
    report = report_of(tmp_path / "out")
    assert report["settings"]["trees"] == str(tmp_path / "theirs")
    assert "device" not in report["settings"]
    assert [each["given"] for each in report["inputs"]] == [each["scite"] for each in report["inputs"]]
    assert not (tmp_path / "out" / "inputs").exists()


def test_warnings_of_single_inputs_are_left_out(
    run: Any, reference: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Few steps give chains that do not agree, of which `infer` warns."""
    with caplog.at_level("WARNING", logger="syclade"):
        status, said = run(reference, "--device", "native", "--chains", 2, "--steps", 2, "--limit", 2)
    assert status in (0, 1), said
    assert not caplog.records
    settings: dict[str, Any] = {"chains": 2, "steps": 2, "method": "chain", "device": "native"}
    with caplog.at_level("WARNING", logger="syclade"):
        syclade.infer(reference / "inputs" / "01.csv", fp_rate=0.01, fn_rate=0.2, support="none", **settings)
    assert "do not agree" in caplog.text


def flat(folder: Path, rates: Sequence[Rates], named: str) -> Path:
    """Make a flat reference without logs, of stars; each input has its own error rates."""
    folder.mkdir()
    rows = ["input\tfn_rate\tfp_rate"]
    for number, one in enumerate(rates, 1):
        made = simulate(CELLS, MUTATIONS, missing=0.1, seed=number, **one.to_dict())
        matrix = matrix_from_array(made.matrix.values)
        (folder / f"{number:02}.csv").write_text(format_matrix(matrix.values))
        (folder / named.format(f"{number:02}")).write_text(to_graphviz(star(matrix), matrix.mutations))
        rows.append(f"{number:02}\t{one.fn_rate}\t{one.fp_rate}")
    (folder / "rates.tsv").write_text("\n".join(rows) + "\n")
    return folder


def test_a_flat_reference_with_rates_of_each_input(run: Any, tmp_path: Path) -> None:
    rates = [Rates(0.01, 0.2), Rates(0.05, 0.1), Rates(0.02, 0.3)]
    folder = flat(tmp_path / "flat", rates, "{}.gv")
    status, said = run(folder, "--device", "native", *SMALL)
    assert status == 1, said
    assert "3 inputs, 4 chains of 400 steps on native" in said
    assert "error rates of each input" in said
    assert "there are no logs to compare them with" in said
    report = report_of(tmp_path / "out")
    assert report["settings"]["rates"] == "of each input"
    assert report["largest_discrepancy_from_scites_logs"] is None
    assert report["result"]["delta"] == pytest.approx(np.mean([one.flip_effect() for one in rates]))
    for each, one in zip(report["inputs"], rates, strict=True):
        matrix = folder / f"{each['name']}.csv"
        again = syclade.infer(
            matrix, fp_rate=one.fp_rate, fn_rate=one.fn_rate, chains=4, steps=400, method="chain",
            device="native", support="none",
        )  # fmt: skip
        assert each["syclade"] == pytest.approx(again.log_likelihood)
    status, said = run(folder, "--device", "native", *SMALL, "--fn-rate", 0.2, out="other")
    assert (status, "rates.tsv has those of each input" in said) == (2, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("input\tfp_rate\tfn_rate\n01\t0.1\t0.1\n", "rates.tsv has no 02"),
        ("input\tfp_rate\n01\t0.1\n02\t0.1\n03\t0.1\n", "rates.tsv has no fn_rate"),
        ("input\tfp_rate\tfn_rate\n01\tx\t0.1\n02\t0.1\t0.1\n03\t0.1\t0.1\n", "could not convert"),
        ("input\tfp_rate\tfn_rate\n01\t7\t0.1\n02\t0.1\t0.1\n03\t0.1\t0.1\n", "7"),
    ],
)
def test_rates_that_are_none(run: Any, tmp_path: Path, text: str, words: str) -> None:
    folder = flat(tmp_path / "flat", [RATES] * 3, "{}_ml0.gv")
    (folder / "rates.tsv").write_text(text)
    status, said = run(folder, "--device", "native", *SMALL)
    assert (status, words in said) == (2, True), said


def test_trees_of_a_broken_device_are_found_out(run: Any, reference: Path, tmp_path: Path) -> None:
    put_trees(tmp_path / "broken", reference, "{}.gv", star)
    status, said = run(reference, "--ours", tmp_path / "broken")
    assert status == 1
    assert "5 worse than SCITE" in said
    assert "NOT SHOWN TO BE EQUIVALENT" in said


def test_trees_of_our_own_runs_are_those_of_the_device(run: Any, reference: Path, tmp_path: Path) -> None:
    """Trees that `infer` writes give the comparison of runs with the same options."""
    run(reference, "--device", "native", out="runs")
    for path in sorted((reference / "inputs").glob("*.csv")):
        settings: dict[str, Any] = {"chains": 4, "steps": 400, "support": "none", "device": "native"}
        rates: dict[str, Any] = {"fp_rate": RATES.fp_rate, "fn_rate": RATES.fn_rate}
        syclade.infer(path, **rates, **settings).write(tmp_path / "theirs" / path.stem)
    status, said = run(reference, "--ours", tmp_path / "theirs")
    assert status == 0, said
    ours, given = report_of(tmp_path / "runs")["inputs"], report_of(tmp_path / "out")["inputs"]
    assert [each["syclade"] for each in ours] == [each["given"] for each in given]


@pytest.fixture(scope="module")
def circuits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with images of the fused kernel and of the stages, for the CPU device."""
    folder = tmp_path_factory.mktemp("circuits")
    syclade.export(folder, cells=CELLS + 1, mutations=MUTATIONS, steps=2, images=["cpu"])
    return folder


@pytest.mark.sycl
@pytest.mark.compiler
@pytest.mark.parametrize(
    "circuit", [("--image", "chain_steps.cpu.image"), ("--stages", "separate", "--image", "stages.cpu.image"),
                ("--stages", "overlapping", "--device", "cpu")],
    ids=["image", "stages", "overlapping"],
)  # fmt: skip
def test_a_circuit_has_the_trees_of_a_device(
    run: Any, reference: Path, circuits: Path, tmp_path: Path, circuit: tuple[str, ...]
) -> None:
    given = [str(circuits / word) if word.endswith(".image") else word for word in circuit]
    common = ("--chains", 3, "--steps", 60, "--limit", 2)
    run(reference, "--device", "native", *common, out="runs")
    status, said = run(reference, *given, *common)
    assert status in (0, 1), said
    assert "work done by: opencl:cpu:0 100 %" in said
    found, usual = report_of(tmp_path / "out"), report_of(tmp_path / "runs")
    assert [each["syclade"] for each in found["inputs"]] == [each["syclade"] for each in usual["inputs"]]
    assert found["settings"]["encoding"] == "ancestor"
    assert ("image" in found["settings"], "stages" in found["settings"]) == (
        "--image" in circuit,
        "--stages" in circuit,
    )
    assert not {"image", "stages"} & set(usual["settings"])


@pytest.mark.sycl
@pytest.mark.compiler
def test_results_of_another_image_are_not_taken(
    run: Any, reference: Path, circuits: Path, tmp_path: Path
) -> None:
    image = tmp_path / "circuit.image"
    image.write_bytes((circuits / "chain_steps.cpu.image").read_bytes())
    given = ("--image", image, "--chains", 3, "--steps", 60, "--limit", 2)
    assert run(reference, *given)[0] in (0, 1)
    syclade.export(tmp_path / "larger", cells=20, mutations=9, steps=2, images=["cpu"])
    image.write_bytes((tmp_path / "larger" / "chain_steps.cpu.image").read_bytes())
    (tmp_path / "out" / "tost.json").unlink()
    (tmp_path / "out" / "tost.png").unlink()
    status, said = run(reference, *given)
    assert (status, "01.json is of a run with another image" in said) == (2, True)


def test_trees_that_are_missing_or_of_others_are_refused(run: Any, reference: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    status, said = run(reference, "--ours", tmp_path / "none")
    assert (status, "has no tree of input 01" in said) == (2, True)
    status, said = run(reference, "--ours", tmp_path / "none", "--steps", 7)
    assert (status, "steps (--steps) is for runs" in said) == (2, True)
    status, said = run(reference, "--ours", tmp_path / "none", "--stages", "separate")
    assert (status, "stages (--stages) is for runs" in said) == (2, True)
    put_trees(tmp_path / "cut", reference, "{}.gv", lambda parents: parents)
    (tmp_path / "cut" / "03.gv").write_text("digraph G {\n1 -> ;\n")
    status, said = run(reference, "--ours", tmp_path / "cut")
    assert (status, "03.gv" in said) == (2, True)


def put_trees(folder: Path, reference: Path, name: str, changed: Callable[[Any], Any]) -> None:
    """Write SCITE's trees, changed, to a folder of another program."""
    for number in range(1, INPUTS + 1):
        stem = f"{number:02}"
        names = [str(mutation + 1) for mutation in range(MUTATIONS)]
        place = folder / name.format(stem)
        place.parent.mkdir(parents=True, exist_ok=True)
        parents = changed(read_tree(reference / "scite" / f"{stem}_ml0.newick", names))
        text = to_graphviz(parents, names) if place.suffix == ".gv" else to_newick(parents, names)
        place.write_text(text)


def test_inputs_with_zygosity(run: Any, tmp_path: Path) -> None:
    """The rates come from reference.json or from options; without them a 2 is an error."""
    rates = Rates(0.01, 0.2, 0.3, 0.002)
    folder = make_reference(tmp_path / "stars", star, {"fp_rate": 0.01, "fn_rate": 0.2}, rates)
    status, said = run(folder, "--device", "native", *SMALL)
    assert status == 2
    assert "--fn-rate-hom" in said
    given = ("--fn-rate-hom", rates.fn_rate_hom, "--hom-rate", rates.hom_rate)
    status, said = run(folder, "--device", "native", *SMALL, *given)
    assert status == 1, said
    assert "error rates 0.01 and 0.2 and 0.3 and 0.002" in said
    assert "5 better" in said
    report = report_of(tmp_path / "out")
    assert report["result"]["delta"] == rates.flip_effect()
    (folder / "reference.json").write_text(json.dumps(rates.to_dict()))
    status, said = run(folder, "--device", "native", *SMALL, "--force")
    assert status == 1
    assert "(5 inputs from an earlier run)" in said


def test_the_rates_must_be_scites(run: Any, tmp_path: Path) -> None:
    folder = make_reference(tmp_path / "stars", star, None)
    status, said = run(folder, "--device", "native", *SMALL)  # uses the thesis's rates
    assert status == 2
    assert "input 01: SCITE's tree has the log-likelihood" in said
    assert "--fp-rate" in said
    assert not (tmp_path / "out" / "inputs").exists()


def test_rates_other_than_the_folders_are_refused(run: Any, reference: Path) -> None:
    status, said = run(reference, "--fn-rate", "0.3")
    assert status == 2
    assert "reference.json has 0.2" in said


def test_missing_extras_are_told_before_anything_is_run(
    run: Any, reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "statsmodels" else object())
    status, said = run(reference)
    assert status == 2
    assert "this needs statsmodels" in said
    assert re.search(r"pip install '\.\[[a-z,]*quality[a-z,]*\]'", said)


def test_help_comes_without_heavy_imports() -> None:
    code = (
        "import sys; from syclade.host.commands.main import main\n"
        "try: main(['quality', '--help'])\n"
        "except SystemExit as end: print(end.code, *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    for name in ("tost", "reference", "posterior"):
        assert name in done.stdout
    status, *modules = done.stdout.splitlines()[-1].split()
    assert status == "0"
    assert {"numpy", "scipy", "matplotlib", "statsmodels", "rich"}.isdisjoint(modules)


# ---- resuming


def stop_after(monkeypatch: pytest.MonkeyPatch, inputs: int) -> list[str]:
    """Count the inferences, and interrupt the one after `inputs`."""
    counted: list[str] = []

    def counting(matrix: Any, **settings: Any) -> Any:
        if len(counted) == inputs:
            raise KeyboardInterrupt
        counted.append(matrix.source)
        return syclade.infer(matrix, **settings)

    monkeypatch.setattr(tost_runs, "infer", counting)
    return counted


def test_goes_on_after_an_interruption(
    run: Any, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(reference, "--device", "native", *SMALL, out="whole")
    assert whole[0] == 0
    stop_after(monkeypatch, 2)
    assert run(reference, "--device", "native", *SMALL)[0] == 130
    assert not (tmp_path / "out" / "tost.json").exists()
    counted = stop_after(monkeypatch, 3)
    status, said = run(reference, "--device", "native", *SMALL)
    assert (status, len(counted)) == (0, 3)
    assert "(2 inputs from an earlier run)" in said
    left, right = (report_of(tmp_path / name) for name in ("out", "whole"))
    assert left["result"] == right["result"]


def test_results_of_other_settings_need_force(
    run: Any, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = ("--device", "native", "--chains", 4, "--limit", 2)
    assert run(reference, *common, "--steps", 400)[0] == 0
    counted = stop_after(monkeypatch, 9)
    status, said = run(reference, *common, "--steps", 400)
    assert status == 2
    assert "already has tost.json, tost.png" in said
    assert run(reference, *common, "--steps", 400, "--force")[0] == 0
    assert counted == []
    for name in ("tost.json", "tost.png"):
        (tmp_path / "out" / name).unlink()
    status, said = run(reference, *common, "--steps", 401)
    assert status == 2
    assert "01.json is of a run with another steps" in said
    assert run(reference, *common, "--steps", 401, "--force")[0] == 0
    assert len(counted) == 2


@pytest.mark.parametrize(
    "content", ["", "[]", '{"settings": {}, "result": {}}', '{"settings": 1, "result": 2}']
)
def test_damaged_results_are_told(run: Any, reference: Path, tmp_path: Path, content: str) -> None:
    kept = tmp_path / "out" / "inputs" / "01.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(content)
    status, said = run(reference, "--device", "native", *SMALL, "--limit", 2)
    assert status == 2
    assert f"{kept} is of a run with another" in said


# ---- packaged SCITE results


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
def test_reduced_comparison_with_scite(run: Any, tmp_path: Path, device: str) -> None:
    """With a twentieth of SCITE's steps each input is slightly worse, but by far less than a bit flip."""
    status, said = run(None, "--device", device, "--limit", 6, "--steps", 50_000)
    assert status == 0, said
    report = report_of(tmp_path / "out")
    assert report["largest_discrepancy_from_scites_logs"] < 1e-9
    assert max(report["result"]["p_worse"], report["result"]["p_better"]) < 1e-4
    assert report["result"]["mean_flips"] == pytest.approx(-0.222, abs=5e-4)  # equal on every device


@pytest.mark.parametrize(
    "device",
    ["numpy", pytest.param("cpu", marks=pytest.mark.sycl), pytest.param("fpga-emu", marks=pytest.mark.sycl)],
)
def test_too_few_steps_do_not_reach_scite(run: Any, tmp_path: Path, device: str) -> None:
    status, _ = run(None, "--device", device, "--limit", 2, "--steps", 300)
    assert status == 1
    result = report_of(tmp_path / "out")["result"]
    assert (result["worse"], result["non_inferior"]) == (2, False)
    assert result["mean_flips"] == pytest.approx(-67.962, abs=5e-4)  # equal on every device
