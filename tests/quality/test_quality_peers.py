"""`syclade quality peers`: claims and bootstrap by definition, stored answers, and the command."""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from syclade.host.commands.main import main
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.clone_tree import clone_tree_of
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.quality.peers.ahead import LEVEL, ahead_by
from syclade.quality.peers.answers import BOOTSTRAP, COMPASS, Answers, Programs
from syclade.quality.peers.bootstrap import cells_on_tree, resampled, shares_of_trees
from syclade.quality.peers.claims import (
    Claims,
    agreement,
    claims_of_cells,
    claims_of_tree,
    without_ties,
)
from syclade.quality.peers.result import EQUAL_NODES, ESTIMATED, OF_READS, OURS, Found, PeersStudy, f1_of
from syclade.quality.peers.simulators import Simulator, from_model, from_reads, scsim
from syclade.quality.peers.stored import stored_or_new
from syclade.quality.race import peers
from syclade.quality.race.inputs import RaceInput
from tests.support.searches import shorten_support
from tests.support.tree_strategies import trees

ONE = from_model(RaceInput(12, 6, seed=1))


# ---- claims


@settings(max_examples=60)
@given(trees(max_mutations=9))
def test_one_cell_at_each_node_shows_all_claims(parents: Any) -> None:
    cells = ancestor_matrix(parents)[:-1].astype(bool)
    by_cells, by_tree = claims_of_cells(cells), claims_of_tree(clone_tree_of(parents))
    np.testing.assert_array_equal(by_cells.before, by_tree.before)
    np.testing.assert_array_equal(by_cells.apart, by_tree.apart)
    np.testing.assert_array_equal(without_ties(by_tree, cells).before, by_tree.before)


def test_nothing_is_claimed_inside_a_clone_and_of_a_mutation_without_cells() -> None:
    cells = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]], bool)
    found = claims_of_cells(cells)
    assert np.argwhere(found.before).tolist() == [[0, 1], [0, 2]]
    assert np.argwhere(np.triu(found.apart)).tolist() == [[0, 3], [1, 3], [2, 3]]
    path = claims_of_tree(clone_tree_of(np.array([5, 0, 1, 5, 2, 5], np.int32)))
    tied = without_ties(path, cells)
    assert np.argwhere(path.before & ~tied.before).tolist() == [[1, 2]]


def test_pairs_that_no_cell_tells_apart_do_not_count_as_seen() -> None:
    def claims(*before: tuple[int, int]) -> Claims:
        table = np.zeros((3, 3), bool)
        table[tuple(zip(*before, strict=True))] = True
        return Claims(table, np.zeros((3, 3), bool))

    true, seen = claims((0, 1), (0, 2), (1, 2)), claims((0, 1), (0, 2))
    report = agreement(claims((0, 1), (2, 1)), true, seen)
    assert (report["ancestors"].shared, report["ancestors"].found, report["ancestors"].true) == (1, 2, 3)
    assert (report["seen_ancestors"].shared, report["seen_ancestors"].found) == (1, 1)
    assert report["seen_ancestors"].true == 2


# ---- bootstrap


def test_each_mutation_is_on_its_most_likely_edge() -> None:
    """Compare with all edges of a tree of six cells, one by one."""
    tree = "(((1,2),3),(4,(5,6)));"
    edges = [{1}, {2}, {3}, {4}, {5}, {6}, {1, 2}, {1, 2, 3}, {5, 6}, {4, 5, 6}, set(range(1, 7))]
    made = RaceInput(6, 8, 0.05, 0.3, 0.2, 3)
    matrix = made.simulated().matrix

    def likelihood(row: Any, below: set[int]) -> float:
        total = 0.0
        for cell, value in enumerate(row.tolist(), start=1):
            wrong = made.fn_rate if cell in below else made.fp_rate
            right = (value == 1) == (cell in below)
            total += 0.0 if value == 3 else float(np.log(1 - wrong if right else wrong))
        return total

    for row, cells in zip(matrix.values, cells_on_tree(tree, matrix, made.rates), strict=True):
        best = max(likelihood(row, below) for below in edges)
        chosen = set((np.flatnonzero(cells) + 1).tolist())
        assert chosen in edges
        assert likelihood(row, chosen) == pytest.approx(best)


def test_shares_are_means_over_trees() -> None:
    matrix, rates = ONE.simulation.matrix, ONE.given.rates
    one, two = (
        "(" * 11 + "1," + "),".join(map(str, range(2, 13))) + ");",
        "(" + ",".join(map(str, range(1, 13))) + ");",
    )
    (before, apart), parts = shares_of_trees([one, two, two], matrix, rates), []
    for tree in (one, two):
        parts.append(claims_of_cells(cells_on_tree(tree, matrix, rates)))
    np.testing.assert_allclose(before, (parts[0].before + 2.0 * parts[1].before) / 3)
    np.testing.assert_allclose(apart, (parts[0].apart + 2.0 * parts[1].apart) / 3)


def test_mutations_are_drawn_with_replacement() -> None:
    drawn = resampled(50, 40, 7)
    assert drawn == resampled(50, 40, 7) != resampled(50, 40, 8)
    assert {len(one) for one in drawn} == {50}
    assert np.mean([len(set(one)) for one in drawn]) / 50 == pytest.approx(1 - np.exp(-1), abs=0.02)


# ---- answers

FAKE = """
import json, sys
request = json.load(sys.stdin)
{body}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the scripts that call ScisTree2."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def write(body: str) -> None:
        for name in ("scistree2.py", "scistree2_trees.py"):
            (folder / name).write_text(FAKE.format(body=body))

    monkeypatch.setattr(peers, "_PROGRAMS", folder)
    return write


ANSWER = (
    'print(json.dumps({"cells": [[int(v == 1) for v in row] for row in request["matrix"]], "trees": "ab"}))'
)


def test_answers_are_stored_and_read_again(program: Any, tmp_path: Path) -> None:
    program(ANSWER)
    folder = tmp_path / "answers"
    asking = Answers(folder, Programs(Path(sys.executable), ("ScisTree2",), 2))
    ones = ONE.simulation.matrix.values == 1
    cells = asking.cells_of("ScisTree2", ONE)
    assert cells is not None
    np.testing.assert_array_equal(cells, ones)
    assert asking.trees_of(ONE) == ["a", "b"]
    program("raise SystemExit('must not run')")
    for again in (asking, Answers(folder, Programs())):
        assert again.names == ["ScisTree2"]
        stored = again.cells_of("ScisTree2", ONE)
        assert stored is not None
        np.testing.assert_array_equal(stored, ones)
        assert again.trees_of(ONE) == ["a", "b"]
    for other in (from_model(RaceInput(12, 6, seed=2)), replace(ONE, simulator="scsim")):
        assert Answers(folder, Programs()).cells_of("ScisTree2", other) is None
        assert Answers(None, Programs()).trees_of(other) is None


@pytest.mark.parametrize("text", ["01\n" * 6, "0" * 12 + "\n", ("0" * 11 + "2\n") * 6])
def test_stored_answers_that_do_not_fit_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "Mine").mkdir()
    (tmp_path / "Mine" / "12x6-1.txt").write_text(text)
    with pytest.raises(MatrixError, match="expected 6 lines of 12 characters 0 or 1"):
        Answers(tmp_path, Programs()).cells_of("Mine", ONE)


FAKE_COMPASS = """#!{python}
import sys
from pathlib import Path
given = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
assert (given["--CNA"], given["-d"], given["--dropoutrate"]) == ("0", "0", "0.25"), given
head, *rows = (line.split(",") for line in Path(given["-i"] + "_variants.csv").read_text().splitlines())
cells, names = head[3:], [row[2] for row in rows]
seen = [[int(entry.split(":")[1]) > 1 for entry in row[3:]] for row in rows]
lines = [["node", *names]]
assigned = [["cell", "node", "doublet"]]
for number, cell in enumerate(cells):
    lines.append([f"Node {{number}}", *(str(2 * row[number]) for row in seen)])
    assigned.append([cell, str(number), "no"])
for name, table in (("nodes_genotypes", lines), ("cellAssignments", assigned)):
    text = "".join("\\t".join(row) + "\\n" for row in table)
    Path(given["-o"] + "_" + name + ".tsv").write_text(text)
"""


def test_compass_is_given_reads(tmp_path: Path) -> None:
    compass = tmp_path / "compass"
    compass.write_text(FAKE_COMPASS.format(python=sys.executable))
    compass.chmod(0o755)
    asking = Answers(tmp_path / "answers", Programs(compass=compass))
    reads = from_reads(RaceInput(12, 6, seed=1))
    one = replace(reads, given=replace(reads.given, fn_rate=0.2))
    assert asking.names == [COMPASS]
    cells = asking.cells_of(COMPASS, one)
    assert cells is not None
    assert one.reads is not None
    np.testing.assert_array_equal(cells, one.reads[:, :, 1] > 1)
    compass.write_text("#!/bin/sh\nexit 1\n")
    stored = asking.cells_of(COMPASS, one)
    assert stored is not None
    np.testing.assert_array_equal(stored, cells)
    with pytest.raises(OptionError, match="COMPASS needs numbers of reads"):
        asking.cells_of(COMPASS, ONE)


# ---- outcomes


def test_outcomes_are_stored_and_computed_again_for_other_options(tmp_path: Path) -> None:
    claims, count = ONE.true, itertools.count()

    def run() -> list[Found]:
        next(count)
        return [ONE.found("mine", claims, 1.5, ONE.true.before * 0.9, True, {"fn_rate": False})]

    (first,) = stored_or_new(tmp_path, "1.json", {"seed": 1}, run)
    (again,) = stored_or_new(tmp_path, "1.json", {"seed": 1}, run)
    assert first.to_dict() == again.to_dict()
    assert again.pairs is not None
    assert again.pairs.error == pytest.approx(0.1)
    assert f1_of(again.agreement["ancestors"]) == 1.0
    stored_or_new(tmp_path, "1.json", {"seed": 2}, run)
    (tmp_path / "1.json").write_text("{")
    stored_or_new(tmp_path, "1.json", {"seed": 2}, run)
    assert next(count) == 3


def study(rival: float, estimated: float, share: float = 0.99) -> PeersStudy:
    """Return a study in which the consensus has four in five claims right, and others parts of these."""
    above = ONE.true.before
    right = np.argwhere(above)

    def claims(part: float) -> Claims:
        kept = np.zeros_like(above)
        kept[tuple(right[: round(part * len(right))].T)] = True
        apart = np.argwhere(np.triu(ONE.true.apart))
        sides = np.zeros_like(above)
        sides[tuple(apart[: round(part * len(apart))].T)] = True
        return Claims(kept, sides | sides.T)

    shares = np.where(above, share, 0.0)
    methods = dict.fromkeys(OURS, 0.8) | {ESTIMATED: estimated, "Rival": rival}
    return PeersStudy(tuple(ONE.found(name, claims(part), 1.0, shares) for name, part in methods.items()), {})


def test_it_holds_where_the_consensus_is_ahead_and_calibrated() -> None:
    assert study(0.5, 0.8).holds
    assert study(0.5, 0.8).rivals == ["Rival"]
    assert not study(1.0, 0.8).holds
    assert not study(0.5, 0.5).holds
    assert not study(0.5, 0.8, share=0.6).holds
    ahead = study(0.5, 0.8).ahead("Rival", "ancestors")
    assert ahead.mean > 0
    assert ahead.to_dict()["interval"] is None
    assert ahead.text == f"{ahead.mean:+.3f}"


def test_the_control_has_to_be_worse_where_clones_are_of_unequal_sizes() -> None:
    one = study(1.0, 0.8)
    same = [replace(each, method=EQUAL_NODES) if each.method == "Rival" else each for each in one.found]
    assert PeersStudy(tuple(same), {"shares": "equal"}).holds
    assert not PeersStudy(tuple(same), {"shares": "zipf"}).holds


@pytest.mark.statistical
def test_intervals_of_differences_contain_the_mean() -> None:
    rng = np.random.default_rng(3)
    found = [ahead_by(rng.normal(0.02, 0.05, 5).tolist()) for _ in range(4000)]
    assert np.mean([one.low < 0.02 < one.high for one in found]) == pytest.approx(LEVEL, abs=0.01)
    assert ahead_by([0.01, 0.03]).mean == pytest.approx(0.02)
    assert ahead_by([0.01, 0.03]).error == pytest.approx(0.01)
    assert ahead_by([0.02] * 3).text == "+0.020 (+0.020 to +0.020)"


# ---- the command


def test_the_command(
    program: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_support(monkeypatch)
    program(
        'cells = [[int(v == 1) for v in row] for row in request["matrix"]]\n'
        'star = "(" + ",".join(map(str, range(1, 21))) + ");"\n'
        'print(json.dumps({"cells": cells, "trees": [star] * len(request.get("resampled", ()))}))'
    )
    out, words = tmp_path / "out", ["--cells=20", "--mutations=8", "--inputs=2", "--device=native"]
    words += ["--estimate", "--control", "--shares=zipf", f"--answers={tmp_path / 'answers'}", f"--out={out}"]
    running = [f"--peers={sys.executable}", "--peer=ScisTree2", "--bootstrap=3"]
    with pytest.raises(SystemExit) as ended:
        main(["quality", "peers", *words, *running])
    report = json.loads((out / "peers.json").read_text())
    assert ended.value.code == (0 if report["holds"] else 1)
    assert list(report["means"]) == [*OURS, ESTIMATED, EQUAL_NODES, "ScisTree2", BOOTSTRAP]
    assert report["settings"]["shares"] == "zipf"
    names = {path.stem for path in (tmp_path / "answers" / "ScisTree2").iterdir()}
    assert names == {f"zipf-20x8-{report['settings']['seed'] + number}" for number in range(2)}
    assert {one["seed"] for one in report["found"]} == {
        report["settings"]["seed"],
        report["settings"]["seed"] + 1,
    }
    true = {one["ancestors"]["true"] for one in report["found"] if one["seed"] == report["settings"]["seed"]}
    assert len(true) == 1
    assert report["rates_inside"]["fn_rate"][1] == 2
    star = [one["lineages"]["found"] for one in report["found"] if one["method"] == BOOTSTRAP]
    assert all(found <= 28 for found in star)
    table = (out / "peers.md").read_text()
    assert table in capsys.readouterr().out
    # Again without programs: nothing is computed, and the outcome is the same.
    program("raise SystemExit('must not run')")
    with pytest.raises(SystemExit):
        main(["quality", "peers", *words, "--force"])
    again = json.loads((out / "peers.json").read_text())
    own = (*OURS, ESTIMATED, EQUAL_NODES)
    ours = [one for one in report["found"] if one["method"] in own]
    assert [one for one in again["found"] if one["method"] in own] == ours
    assert list(again["means"]) == list(report["means"])


def test_a_program_needs_an_interpreter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["quality", "peers", "--peer=ScisTree2", f"--out={tmp_path}"])
    assert ended.value.code == 2
    assert "give --peers PYTHON" in capsys.readouterr().err


# ---- inputs with clones of unequal sizes, with reads, and of another simulator


def test_inputs_have_shares() -> None:
    sizes = [
        np.sort(np.bincount(from_model(RaceInput(2000, 3, seed=1, shares=shares)).simulation.attachments))
        for shares in ("equal", "zipf", 0.3)
    ]
    assert sizes[0][0] > 450
    np.testing.assert_allclose(sizes[1], np.array([0.12, 0.16, 0.24, 0.48]) * 2000, atol=80)
    assert from_model(RaceInput(20, 3, seed=1, shares=0.3)).name == "0.3-20x3-1"


def test_reads_are_of_two_alleles_of_which_each_may_drop_out() -> None:
    given = RaceInput(4000, 5, 0.001, 0.2, 0.1, seed=4, shares="zipf")
    one, again = from_reads(given), from_reads(given)
    values, truth, reads = one.simulation.matrix.values, one.simulation.truth, one.reads
    assert reads is not None
    np.testing.assert_array_equal(values, again.simulation.matrix.values)
    np.testing.assert_array_equal(truth, given.simulated().truth)
    depth = reads.sum(axis=2)
    assert np.mean(depth[depth > 0]) == pytest.approx(30, abs=0.2)
    np.testing.assert_array_equal(values == 3, depth < 4)
    assert one.given.missing == pytest.approx(1 - 0.9 * (1 - 0.2**2), abs=0.01)  # both alleles drop out
    assert one.given.fn_rate == pytest.approx(0.2 / 1.2, abs=0.01)  # that of the mutation alone
    assert one.given.fp_rate < 1e-3
    alone = reads[(truth == 1) & (depth > 0)]
    assert np.mean(alone[:, 0] <= 2) == pytest.approx(0.2 / 1.2, abs=0.02)  # that of the wild type alone
    assert one.name == "reads-zipf-4000x5-4"


SIMULATED = """
reads = [
    [[6, 4], [9, 1], [2, 1], [0, 5]], [[17, 4], [5, 5], [9, 0], [4, 1]], [[8, 0], [3, 3], [0, 2], [5, 0]],
]
truth = [[1, 1, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0]]
genotypes = [[[2 - one, one] for one in row] for row in truth]
assert (request["cells"], request["sites"]) == (4, 3)
print(json.dumps({"simulated": {"genotypes": genotypes, "reads": reads}}))
"""


@pytest.fixture
def simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the script that calls scsim."""

    def write(body: str) -> Simulator:
        (tmp_path / "scsim.py").write_text(FAKE.format(body=body))
        monkeypatch.setattr(peers, "_PROGRAMS", tmp_path)
        return scsim(Path(sys.executable), 60.0)

    return write


def test_values_and_rates_come_from_reads(simulator: Any) -> None:
    one = simulator(SIMULATED)(RaceInput(4, 3, seed=9))
    assert one.simulation.matrix.values.tolist() == [[1, 0, 3, 1], [0, 1, 0, 0], [0, 1, 3, 0]]
    assert one.given.missing == pytest.approx(2 / 12)
    assert one.given.fn_rate == pytest.approx(1.5 / 6)  # one of five
    assert one.given.fp_rate == pytest.approx(0.5 / 6)  # none of five
    assert np.argwhere(one.seen.before).tolist() == [[0, 1], [0, 2]]
    assert one.name == "scsim-4x3-9"


def test_mutations_on_one_branch_are_in_random_order(simulator: Any) -> None:
    """The second and the third mutation have the same cells; the last of them has the cell."""
    simulate = simulator(SIMULATED)
    found = [simulate(RaceInput(4, 3, seed=seed)).simulation for seed in range(8)]
    trees = {(tuple(one.parents.tolist()), tuple(one.attachments.tolist())) for one in found}
    assert trees == {((3, 0, 1, 3), (0, 2, 3, 0)), ((3, 2, 0, 3), (0, 1, 3, 0))}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (SIMULATED.replace("[0, 1, 0, 0]]", "[0, 1, 1, 0]]"), "fit no tree"),
        (SIMULATED.replace(", [5, 0]],", "],"), "gave no reads of 3 sites and 4 cells"),
        (SIMULATED.replace('"reads": reads', '"read": reads'), "gave no reads of 3 sites and 4 cells"),
        ("raise SystemExit('no tree')", "scsim failed: no tree"),
    ],
)
def test_answers_that_are_no_input_are_refused(simulator: Any, body: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        simulator(body)(RaceInput(4, 3, seed=9))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--simulator=scsim"], "no interpreter to run scsim with"),
        (["--shares=pareto"], "there are no shares 'pareto'"),
        ([f"--compass={sys.executable}"], "COMPASS needs numbers of reads"),
        (["--simulator=scsim", f"--peers={sys.executable}", "--shares=zipf"], "scsim has no shares"),
        (["--simulator=scsim", f"--peers={sys.executable}", "--rates=.1", ".1", ".1"], "rates of its own"),
    ],
)
def test_options_that_do_not_go_with_simulators(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["quality", "peers", *options, f"--out={tmp_path / 'out'}"])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.skipif(
    find_spec("scsim") is None, reason="scsim is not installed here (pip install scsim==1.0.0)"
)
def test_scsim_simulates_inputs(tmp_path: Path) -> None:
    """The real program: sizes, errors, seeds, and a study of its inputs."""
    simulate = scsim(Path(sys.executable), 60.0)
    one, again, other = (simulate(RaceInput(30, 40, seed=seed)) for seed in (5, 5, 6))
    truth, values = one.simulation.truth, one.simulation.matrix.values
    assert values.shape == truth.shape == (40, 30)
    assert truth.any(axis=1).all()
    np.testing.assert_array_equal(values, again.simulation.matrix.values)
    assert not np.array_equal(truth, other.simulation.truth)
    assert one.given.fn_rate == pytest.approx(0.2, abs=0.08)  # an allele drops out in one of five
    assert one.given.fp_rate < 0.01
    assert 0.02 < one.given.missing < 0.2
    with pytest.raises(SystemExit):
        main([
            "quality", "peers", "--cells=30", "--mutations=20", "--inputs=1", "--device=native",
            "--simulator=scsim", f"--peers={sys.executable}", f"--out={tmp_path}",
        ])  # fmt: skip
    report = json.loads((tmp_path / "peers.json").read_text())
    assert report["settings"]["simulator"] == "scsim"
    assert report["settings"]["rates"] is None
    assert report["means"]["consensus"]["seen_lineages"]["f1"] > 0.5


def test_reads_are_used_where_the_simulator_makes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_support(monkeypatch)
    words = ["--cells=60", "--mutations=6", "--inputs=1", "--device=native", "--reads", f"--out={tmp_path}"]
    with pytest.raises(SystemExit) as ended:
        main(["quality", "peers", *words])
    assert ended.value.code == 2
    assert "the simulator model makes no reads" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["quality", "peers", *words, "--simulator=reads"])
    means = json.loads((tmp_path / "peers.json").read_text())["means"]
    assert list(means) == [*OURS, *OF_READS]
    assert means[OF_READS[1]]["ancestors"]["precision"] > 0.8
