"""Measured numbers in place of a preset's: of a testbench, Vitis HLS, aoc and oneAPI; unusable files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import syclade
from syclade.host.ground.errors import OptionError
from syclade.quality.cli.design import command
from syclade.quality.design.intel_reports import intel_report
from syclade.quality.design.measured import apply_measured, compare, kernel_sums, with_sizes
from syclade.quality.design.model import Resources
from syclade.quality.design.reader import load_design
from syclade.quality.design.reports import read_measured
from syclade.quality.design.throughput import predict
from tests.commands.export.hls.projects import Simulation, export, needs_compiler

STUBS = Path(__file__).parents[1] / "commands" / "export" / "hls" / "stubs" / "oneapi"

COUNTS = {
    "nodes": 64, "cells": 64, "unroll": 8,
    "lines": {"count_row": 277, "share_of_node": 799},
    "runs": [
        {"states": 6, "trips": None},
        {
            "states": 1,
            "loops": {
                "io": {"receive": 143, "send": 146},
                "propose": {"receive": 67, "count_row": 8, "relations_select_other": 8, "send": 72},
                "score_mapping": {"ancestor_score_mapping_part": 512},
                "reduction": {"receive": 725, "share_of_node": 1024, "spare": 3, "send": 142},
            },
            "longest_transfer": {"reduction": {"receive": 512, "send": 64}},
        },
    ],
}  # fmt: skip

VITIS = """<profile>
<UserAssignments><unit>ns</unit><Part>xcu250</Part><TopModelName>pipeline</TopModelName></UserAssignments>
<PerformanceEstimates>
  <SummaryOfTimingAnalysis><EstimatedClockPeriod>2.500</EstimatedClockPeriod></SummaryOfTimingAnalysis>
  <SummaryOfOverallLatency><Interval-min>undef</Interval-min></SummaryOfOverallLatency>
</PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>100</BRAM_18K><DSP>40</DSP><FF>50000</FF><LUT>60000</LUT><URAM>0</URAM></Resources>
</AreaEstimates>
<ModuleInformation><Module><Name>reduction_process_Pipeline_share_of_part_share_of_node</Name>
  <PerformanceEstimates>
  <SummaryOfTimingAnalysis><EstimatedClockPeriod>9.9</EstimatedClockPeriod></SummaryOfTimingAnalysis>
  <SummaryOfLoopLatency><share_of_part_share_of_node><Name>share_of_part_share_of_node</Name><TripCount>512</TripCount>
    <PipelineII>3</PipelineII><PipelineDepth>21</PipelineDepth></share_of_part_share_of_node></SummaryOfLoopLatency>
</PerformanceEstimates></Module></ModuleInformation>
</profile>
"""


def loop(line: int, ii: str, *children: Any, file: str = "/p/stages.h") -> dict[str, Any]:
    debug = [[{"filename": file, "line": line}]]
    return {
        "name": "B",
        "type": "loop",
        "ii": ii,
        "lt": "9.000000",
        "debug": debug,
        "children": list(children),
    }


INTEL = {
    "name": "loop_attributes",
    "nodes": [
        {
            "name": "propose_process", "type": "kernel", "fmax": "350.00",
            "children": [
                {"name": "B0", "type": "bb", "ii": "1"},
                loop(60, "n/a", loop(275, "2"), loop(260, "7"), file="/p/pipeline.cl"),
            ],
        },
        {
            "name": "reduction_process", "type": "kernel", "fmax": "310.50",
            "children": [loop(790, "1", loop(797, "4"))],
        },
    ],
}  # fmt: skip

QUARTUS = {
    "quartusFitClockSummary": {"nodes": [{"name": "Kernel", "kernel clock": "295.83"}]},
    "quartusFitResourceUsageSummary": {
        "nodes": [
            {"name": "all", "type": "other", "alm": "1", "reg": "1", "ram": "1", "dsp": "1"},
            {"name": "system", "type": "system", "alm": "400,000.5", "reg": "1200000", "ram": "2400",
             "dsp": "382", "mlab": "2400"},
        ]
    },
}  # fmt: skip

QUARTUS_TEXT = """ALUTs: 1,299,000
Registers: 2,110,500
Logic utilization: 700,000 / 933,120 ( 75 % )
DSP blocks: 1,430 / 5,760 ( 25 % )
Memory bits: 61,000,000 / 240,046,080 ( 25 % )
RAM blocks: 5,027 / 11,721 ( 43 % )
Kernel fmax: 295.83
"""


INTEL_LINES: list[dict[str, Any]] = [
    {"name": "loop_attributes", "id": 9, "nodes": [1, 2]},
    {"name": "propose_process", "id": 1, "clk": "No", "fmax": "350.00", "type": "kernel", "children": [3, 4]},
    {"name": "propose_process.B0", "id": 3, "af": "350.00", "ii": "1", "lt": "17.000000", "type": "bb"},
    {"name": "propose_process.B1", "id": 4, "ii": "n/a", "lt": "8.000000", "type": "loop", "children": [5],
     "debug": [[{"filename": "/p/pipeline.cl", "line": 60}]]},
    {"name": "propose_process.B2", "id": 5, "ii": "~2", "lt": "9.000000", "type": "loop",
     "debug": [[{"filename": "/p/stages.h", "line": 275}]]},
    {"name": "reduction_process", "id": 2, "fmax": "310.50", "type": "kernel", "children": [6]},
    {"name": "reduction_process.B1", "id": 6, "ii": "4", "lt": "9.000000", "type": "loop",
     "debug": [[{"filename": "/p/stages.h", "line": 797}]]},
]  # fmt: skip
"""The loops of INTEL, as compilers since 2024 write them: a record in each line, numbers for children."""


def old_loop(name: str, pipelined: str, ii: str, line: int, *children: Any) -> dict[str, Any]:
    place = {"filename": "/p/stages.h", "line": line}
    data = [pipelined, ii, "n/a"]
    return {"name": name, "data": data, "debug": [[place], [place]], "children": list(children)}


INTEL_OLD = {
    "columns": ["", "Pipelined", "II", "Bottleneck", "Details"],
    "children": [
        {
            "name": "Kernel: propose_process",
            "data": ["", "", ""],
            "children": [old_loop("propose_process.B1", "Yes", ">=1", 60, old_loop("B2", "Yes", "~2", 275))],
        },
        {
            "name": "Kernel: reduction_process",
            "data": ["", "", ""],
            "children": [
                old_loop("Fully unrolled loop", "n/a", "n/a", 796),
                old_loop("reduction_process.B1", "No", "n/a", 790, old_loop("B2", "Yes", "4", 797)),
            ],
        },
    ],
}
"""The same loops, as aoc up to 19 writes them: without a clock."""

ESTIMATE = {
    "performanceSummary": {"name": "Kernel Summary", "columns": [], "children": []},
    "estimatedResources": {
        "name": "Estimated Resource Usage",
        "columns": ["Kernel Name", "ALUTs ", "FFs  ", "RAMs ", "DSPs ", "MLABs"],
        "children": [
            {"name": "reduction_process", "data": [100_000, 200_000, 50, 30, 40]},
            {"name": "Kernel Subtotal", "data": [100_000, 200_000, 50, 30, 40]},
            {"name": "Board Interface", "data": [300_000, 600_000, 1500, 700, 0]},
            {"name": "Total", "data": [410_000, 810_000, 1560, 730, 40], "data_percent": [1.0]},
            {"name": "Available", "data": [1_405_440, 2_810_880, 6847, 3960, 0]},
        ],
    },
}

ESTIMATE_LINES: list[dict[str, Any]] = [
    {"name": "Kernel Summary", "summary_type": "performanceSummary", "columns": ["Kernel Name"]},
    {"name": "Total", "parent": "performanceSummary", "data": ["Single work-item"]},
    {"name": "Estimated Resource Usage", "summary_type": "estimatedResources", "dsp_packing_factor": 2,
     "columns": ["Kernel Name", "ALUTs ", "FFs  ", "RAMs ", "DSPs ", "MLABs", "Frac. DSPs"]},
    {"name": "Total", "parent": "estimatedResources", "data": [110_000, 210_000, 60, 10, 40, 40]},
    {"name": "Available", "parent": "estimatedResources", "data": ["974400", "1948800", "7110", "4510"]},
]  # fmt: skip


def lines(records: Any) -> str:
    return "\n".join(json.dumps(one) for one in records)


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def report(*arguments: object) -> Any:
    result = CliRunner().invoke(command, [*map(str, arguments), "--json"])
    assert result.exception is None, result.exception
    return json.loads(result.output)


def differences(found: Any) -> dict[str, tuple[float | None, float | None]]:
    return {one["what"]: (one["preset"], one["measured"]) for one in found["measured"]["differences"]}


def test_counts_take_the_place_of_trips(tmp_path: Path) -> None:
    found = report("syclade-ancestor", "--measured", written(tmp_path, "counts.json", COUNTS))
    rows = differences(found)
    assert rows["subtree sizes, cycles"] == (8, 8)
    assert rows["reduction, cycles"] == (512, 1024)
    assert rows["reduction receive, cycles"] == (512, 725)
    assert rows["tree update, cycles"] == (8, None)
    assert rows["propose: send, cycles"] == (None, 72)
    assert rows["cycles per step"] == (512, 1024)
    assert rows["clock, MHz"] == (300, None)
    assert found["bottleneck"] == "reduction"
    names = [stage["name"] for stage in found["stages"]]
    assert names.index("propose: send") == names.index("selection") + 1
    assert names.index("reduction: spare") == names.index("worker send") + 1
    # Transfers beyond the longest one take time in the round trip, but not of the bottleneck.
    assert next(one for one in found["stages"] if one["name"] == "reduction receive")["cycles"] == 512
    sums = found["measured"]["cycles_if_loops_follow_one_another"]
    assert sums["reduction"] == 725 + 1024 + 8 + 3 + 142
    assert sums["io"] == 143 + 146


def test_other_parameters_may_still_be_given(tmp_path: Path) -> None:
    counts = written(tmp_path, "counts.json", COUNTS)
    found = report("syclade-ancestor", "--measured", counts, "--clock-mhz", "200", "--proposer-ii", "2000")
    assert (found["clock_mhz"], found["cycles_per_step"]) == (200, 2000)
    assert found["parameters"]["mapping"]["value"] == 8
    assert "counts.json" in found["parameters"]["n_max"]["source"]


def test_a_report_of_vitis(tmp_path: Path) -> None:
    counts, xml = written(tmp_path, "counts.json", COUNTS), written(tmp_path, "csynth.xml", VITIS)
    found = report("syclade-ancestor", "--device", "alveo-u250", "--measured", counts, "--measured", xml)
    assert found["clock_mhz"] == 400
    assert differences(found)["reduction, cycles"] == (512, 3072)
    assert differences(found)["score mapping, cycles"] == (512, 512)
    total = found["resources"]["total"]
    assert (total["luts"], total["ffs"], total["rams"], total["dsps"]) == (60_000, 50_000, 50, 40)
    assert differences(found)["luts"][1] == 60_000
    assert [row["name"] for row in found["resources"]["rows"]] == ["static partition", "as synthesised"]


def test_a_report_of_intels_compiler(tmp_path: Path) -> None:
    """Loops are found by their lines in stages.h, of loops that enclose one another the innermost."""
    counts, loops = written(tmp_path, "counts.json", COUNTS), written(tmp_path, "loop_attr.json", INTEL)
    found = report("syclade-ancestor", "--measured", counts, "--measured", loops)
    assert found["clock_mhz"] == 310.5
    ii = {stage["name"]: stage["ii"] for stage in found["stages"]}
    assert (ii["subtree sizes"], ii["selection"], ii["reduction"]) == (2, 1, 4)


@pytest.mark.parametrize(
    ("content", "clock"), [(INTEL, 310.5), (lines(INTEL_LINES), 310.5), (INTEL_OLD, None)]
)
def test_loops_in_all_forms_of_intels_reports(tmp_path: Path, content: Any, clock: float | None) -> None:
    counts, loops = written(tmp_path, "counts.json", COUNTS), written(tmp_path, "loops.json", content)
    found = report("syclade-ancestor", "--measured", counts, "--measured", loops)
    ii = {stage["name"]: stage["ii"] for stage in found["stages"]}
    assert (ii["subtree sizes"], ii["reduction"]) == (2, 4)
    assert differences(found)["clock, MHz"][1] == clock


def test_numbers_of_children_may_not_go_in_circles() -> None:
    kernel, inner = {**INTEL_LINES[1], "children": [4]}, {**INTEL_LINES[3], "children": [1, 4]}
    records = [{**INTEL_LINES[0], "nodes": [1]}, kernel, inner]
    assert intel_report(records, "loop_attr.ndjson") == {"loops": (), "clock_mhz": 350.0}


@pytest.mark.parametrize(("content", "luts"), [(ESTIMATE, 110_000), (lines(ESTIMATE_LINES), 110_000)])
def test_resources_estimated_before_the_compilation(tmp_path: Path, content: Any, luts: int) -> None:
    """The board's part is in the model as the device's static partition."""
    path = written(tmp_path, "summary.json", content)
    measured = read_measured([path])
    assert measured.resources == Resources(luts, 210_000, 60, 40, 30)
    row = report("ffscite-64", "--measured", path)["resources"]["rows"][1]
    assert row["name"] == "as estimated by the compiler"
    # A report of the fitted chip takes its place, and again the other way round.
    text = written(tmp_path, "acl_quartus_report.txt", QUARTUS_TEXT)
    fitted = read_measured([path, text])
    assert (fitted.resources, fitted.has_static, fitted.is_estimate) == (
        Resources(1_299_000, 2_110_500, 5027, 0, 1430), True, False,
    )  # fmt: skip
    assert read_measured([text, path]).has_static is False


def test_names_in_reports_of_other_versions(tmp_path: Path) -> None:
    """Vivado HLS, Stratix V, and the look-up tables that oneAPI counts since 2024."""
    xml = VITIS.replace("<DSP>40</DSP>", "<DSP48E>41</DSP48E>")
    found = read_measured([written(tmp_path, "csynth.xml", xml)])
    assert found.resources is not None
    assert found.resources.dsps == 41
    text = QUARTUS_TEXT.replace("RAM blocks", "M20K blocks") + "Actual clock freq: 294.99996\n"
    found = read_measured([written(tmp_path, "acl_quartus_report.txt", text)])
    assert found.resources is not None
    assert (found.resources.rams, found.clock_mhz) == (5027, 294.99996)
    nodes = [{"type": "system", "alm": "4520.5", "alut": "4182", "reg": "1", "ram": "1", "dsp": "1"}]
    content = QUARTUS | {"quartusFitResourceUsageSummary": {"nodes": nodes}}
    found = read_measured([written(tmp_path, "quartus.ndjson", lines([{k: v} for k, v in content.items()]))])
    assert found.resources is not None
    assert (found.resources.luts, found.clock_mhz) == (4182, 295.83)


def test_resources_by_quartus(tmp_path: Path) -> None:
    """One file has the kernels alone, the other the whole chip: the static partition counts once."""
    for name, content, luts, ffs in (
        ("quartus.json", QUARTUS, 455_200 + 800_001, 910_500 + 1_200_000),
        ("acl_quartus_report.txt", QUARTUS_TEXT, 1_299_000, 2_110_500),
    ):
        found = report("ffscite-64", "--measured", written(tmp_path, name, content), "--replication", "2")
        assert found["resources"]["total"]["luts"] == pytest.approx(luts)
        assert found["resources"]["total"]["ffs"] == pytest.approx(ffs)
        assert found["clock_mhz"] == 295.83


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", "{", "quotes (line 1, column 2)"),
        ("a.json", {"a": 1}, "a.json: this is no file of measurements that is known"),
        ("a.json", {**COUNTS, "nodes": "many"}, "a.json: nodes: expected a number"),
        ("a.json", {**COUNTS, "runs": [{"states": 1}]}, "a.json: runs: no run has counts"),
        ("a.json", {**COUNTS, "runs": [{"loops": {"io": {"send": -1}}}]}, "runs[0].loops.io.send: expected"),
        ("a.json", {**INTEL, "nodes": [{"name": "k", "fmax": "fast"}]}, "nodes[0].fmax: expected a number"),
        ("a.json", {**INTEL, "nodes": [{"name": "k", "children": [loop(1, "x")]}]}, "found 'x'"),
        ("a.json", {**INTEL_OLD, "columns": ["", "ALUTs"]}, "a.json: this is no file of measurements"),
        ("a.json", lines([*INTEL_LINES, 3, 4]) + "\n{", "a.json: this is not JSON"),
        ("a.json", lines(ESTIMATE_LINES[:3]), "there is no row Total"),
        ("a.json", lines([ESTIMATE_LINES[2], ESTIMATE_LINES[3] | {"data": ["TBD"]}]), "data.ALUTs: expected"),
        ("a.json", lines([ESTIMATE_LINES[2], ESTIMATE_LINES[3] | {"data": 5}]), "expected a number for each"),
        ("a.json", QUARTUS | {"quartusFitClockSummary": {"nodes": [{"clock": "TBD"}]}}, "nodes[0].clock"),
        ("a.xml", "<profile>", "a.xml: this is not XML"),
        ("a.xml", "<profile/>", "a.xml: this is no file of measurements"),
        ("a.xml", VITIS.replace("EstimatedClockPeriod", "Clock"), "ClockPeriod: this key is missing"),
        ("a.xml", VITIS.replace("<LUT>60000", "<LUT>n/a"), "AreaEstimates.Resources.LUT: expected a number"),
        ("a.txt", "ALUTs: 5\n", "a.txt: Registers: this line is missing"),
        ("a.txt", "hello\n", "a.txt: this is no file of measurements"),
    ],
)  # fmt: skip
def test_unusable_files_are_refused_with_file_and_key(
    tmp_path: Path, name: str, content: Any, words: str
) -> None:
    result = CliRunner().invoke(command, ["ffscite-64", "--measured", str(written(tmp_path, name, content))])
    assert isinstance(result.exception, OptionError)
    assert words in str(result.exception)


def test_a_missing_key_of_a_report_has_a_hint_of_its_own(tmp_path: Path) -> None:
    """Not that of a design's file, which names the presets."""
    path = written(tmp_path, "quartus.json", {"quartusFitResourceUsageSummary": {}})
    result = CliRunner().invoke(command, ["ffscite-64", "--measured", str(path)])
    assert isinstance(result.exception, OptionError)
    assert "quartusFitClockSummary: this key is missing" in str(result.exception)
    assert result.exception.hint is not None
    assert "Reports of other versions" in result.exception.hint


def test_what_does_not_go_together(tmp_path: Path) -> None:
    counts = str(written(tmp_path, "counts.json", COUNTS))
    for given, words in (
        (["syclade-ancestor", "--sweep"], "--measured and --sweep"),
        (["I/S/8"], "no report of a column unit: it has no block"),
        (["syclade-ancestor", "--measured", "nowhere"], "nowhere: cannot read"),
    ):
        result = CliRunner().invoke(command, [*given, "--measured", counts])
        assert isinstance(result.exception, OptionError)
        assert words in str(result.exception)


def test_table_and_figure(tmp_path: Path) -> None:
    figure = tmp_path / "stages.svg"
    given = ["--measured", str(written(tmp_path, "counts.json", COUNTS)), "--plot", str(figure)]
    text = CliRunner().invoke(command, ["syclade-ancestor", *given]).output
    assert "not measured" in text
    assert "follow one another for each state: 1902 cycles a step (bottleneck: reduction)" in text
    assert "<svg" in figure.read_text()


@needs_compiler
@pytest.mark.parametrize("nodes", [16, 72])
def test_the_preset_has_the_loops_of_an_exported_project(tmp_path: Path, nodes: int) -> None:
    """All loops of the stages have the trips of the preset; what it lacks are further transfers."""
    size = ("--mutations", str(nodes - 1), "--cells", "8", "--states", "1", "--steps", "4", "--chains", "1")
    export(tmp_path / "p", "--hls", "oneapi", *size)
    status, counted = Simulation(tmp_path / "p", "pipeline.cpp", STUBS, "-DCOUNT").run("1")
    assert status == 0
    measured = read_measured([written(tmp_path, "counts.json", counted)])
    own = with_sizes(load_design("syclade-ancestor"), measured)
    made = apply_measured(own, measured)
    rows = {one.what.removesuffix(", cycles"): one for one in compare(own, made)}
    words = -(-nodes // 64)
    for name in ("subtree sizes", "selection", "tree update", "score mapping", "reduction", "take rows"):
        assert rows[name].ratio == (words if name in ("tree update", "take rows") else 1), name
    assert all(stage.trips is not None for stage in made.stages if stage.counted)
    sums = {one.kernel: one.cycles for one in kernel_sums(predict(made))}
    assert sums["reduction"] == sum(counted["runs"][0]["loops"]["reduction"].values())


def test_the_model_from_python(tmp_path: Path) -> None:
    """The function gives what the command prints as JSON."""
    counts = written(tmp_path, "counts.json", COUNTS)
    plain = syclade.design(
        "ffscite-64", cells=32, parameters={"mapping": 16}, without=["find parent"], device="alveo-u250"
    )
    given = ("--cells", 32, "--unroll", 16, "--without", "find parent", "--device", "alveo-u250")
    assert plain.to_dict() == report("ffscite-64", *given)
    measured = syclade.design("syclade-ancestor", measured=[counts])
    assert measured.to_dict() == report("syclade-ancestor", "--measured", counts)
    assert measured.prediction.bottleneck == "reduction"
    with pytest.raises(OptionError, match="no parameter 'colour'"):
        syclade.design("ffscite-64", parameters={"colour": 1})
