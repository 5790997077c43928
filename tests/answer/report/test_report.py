"""The report: complete, without scripts or external resources, whatever the names of the mutations."""

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer.figures.source import files_in_memory
from syclade.host.answer.figures.style import support_of
from syclade.host.answer.report.summary import _limits, _percent, sentences_of
from syclade.host.commands.main import cli
from syclade.host.data.input.matrix import matrix_from_array, with_names
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.cells import clones_of
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.consensus.finding import ConsensusFinding
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees
from syclade.host.findings.support.finding import SupportFinding
from syclade.host.ground.options import command_of
from tests.conftest import ROOT
from tests.support.searches import whole_support

HOSTILE = "</script><img src=x onerror=alert(1)>"
EXAMPLE = ROOT / "host" / "data" / "example"


class Page(HTMLParser):
    """Parsed page: elements, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def result_of(cells: int, mutations: int, names: list[str] | None = None) -> syclade.Result:
    made = simulate(cells, mutations, 0.01, 0.2, 0.1, 3).matrix
    matrix = with_names(matrix_from_array(made.values), names)
    return syclade.infer(matrix, fp_rate=0.01, fn_rate=0.2, chains=2, steps=300, device="native")


@pytest.fixture(scope="module")
def hostile() -> Page:
    return Page(result_of(20, 5, [HOSTILE, 'a"b', "c&d", "<e>", "ß" * 60]).report())


def test_nothing_runs_and_nothing_is_fetched(hostile: Page) -> None:
    assert not {"script", "link", "iframe", "object", "form"} & set(hostile.tags)
    assert hostile.tags.count("image") == 1
    for name, value in hostile.attributes:
        assert not name.startswith("on")
        assert "://" not in (value or "")
        if name in {"src", "href"}:
            assert (value or "").startswith("data:image/")
    policy = next(value for _, value in hostile.attributes if value and value.startswith("default-src"))
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_names_are_text(hostile: Page) -> None:
    assert "</script><img src=x" in hostile.text
    assert "c&d" in hostile.text
    assert ("role", "img") in hostile.attributes
    assert all(value for name, value in hostile.attributes if name in ("alt", "aria-label"))


def test_shares_of_other_trees_are_on_the_edges() -> None:
    made = simulate(20, 6, 0.05, 0.3, 0.2, 3).matrix
    arguments: dict[str, Any] = {
        "fp_rate": 0.05,
        "fn_rate": 0.3,
        "device": "native",
        "steps": 4000,
        "chains": 2,
    }
    sampled = syclade.infer(made, samples=20, **arguments)
    assert isinstance(sampled.samples, SampledMutationTrees)
    clones = clones_of(sampled.parents, sampled.attachment)
    shares, of = support_of(sampled, clones)
    assert shares is not None
    assert of == "the sampled trees"
    for clone, share in zip(clones[1:], shares[1:], strict=True):
        first = clone.mutations[0]
        assert share == sampled.samples.posterior.edges[sampled.parents[first], first]
    page = Page(sampled.report())
    assert "The share of the sampled trees in which some clone has exactly these mutations" in page.text
    assert page.attributes.count(("aria-labelledby", "syclade-trace")) == 1
    assert sampled.report() == sampled.report(), "equal bytes, traces as well"
    equal = syclade.infer(made, fp_rate=0.05, fn_rate=0.3, device="native", max_trees=50, support="none")
    assert equal.co_optimal is not None
    shares, of = support_of(equal, clones_of(equal.parents, equal.attachment))
    assert (shares is None) == (len(equal.co_optimal.trees) == 1)
    assert "Trees that are as likely" in Page(equal.report()).text


def test_error_rates_are_those_of_the_tree() -> None:
    result = result_of(30, 8)
    assert result.observed is not None
    expected = ancestor_matrix(result.parents)[:-1, result.attachment].astype(bool)
    values = result.observed.values
    wrong, lost = int(((values == 1) & ~expected).sum()), int(((values == 0) & expected).sum())
    text = Page(result.report()).text
    assert f"In this tree, {wrong} of {int(((values != 3) & ~expected).sum())} entries" in text
    assert f"and {lost} of {int(((values != 3) & expected).sum())} entries" in text


def test_learned_rates_are_told_from_given_ones() -> None:
    made = simulate(20, 6, 0.01, 0.2, 0.1, 3).matrix
    arguments: dict[str, Any] = {"learn_fn": 0.3, "samples": 10, "chains": 2, "steps": 400, "device": "numpy"}
    result = syclade.infer(made, fp_rate=0.01, fn_rate=0.2, seed=1, **arguments)
    text = Page(result.report()).text
    assert result.learned is not None
    assert "learned with the tree; prior 0.2 ± " in text
    assert f"{result.learned['fn_rate']['value']:.6g}" in text
    assert text.count("given") == 1
    assert "fn_rate: mean" in text
    assert "fn_rate: rhat" in text


def test_estimated_rates_and_the_tree_to_publish() -> None:
    made = simulate(60, 12, 0.01, 0.2, 0.1, 5).matrix
    result = syclade.infer(made, device="native")
    text = Page(result.report()).text
    assert (text.count("estimated from the matrix: "), text.count("given")) == (2, 0)
    assert f"{result.rates.fn_rate:.6g}" in text
    assert "fn_rate over the sampled trees: " in text
    assert result.support is not None
    assert f"{result.total_seconds:.2f} s, of which searches {result.seconds:.2f} s, support " in text
    assert result.total_seconds > result.seconds + result.support.seconds
    assert "--fp-rate" not in text, "the command estimates the rates again"
    assert text.index("The tree to publish") < text.index("The most likely tree")


def test_doublets_have_their_section() -> None:
    made = simulate(60, 10, 0.001, 0.1, 0.0, 5, doublets=0.3)
    arguments: dict[str, Any] = {
        "fp_rate": 0.001,
        "fn_rate": 0.1,
        "doublets": 0.3,
        "chains": 2,
        "steps": 3000,
    }
    result = syclade.infer(made.matrix, **arguments, device="native")
    calls = result.assignment.doublets
    assert calls is not None
    page = Page(result.report())
    likely = np.flatnonzero(calls.probability > 0.5)
    assert len(likely) > 3
    assert "Rate of doublets: 0.3 (given). Given this rate and this tree, " in page.text
    assert f" {calls.expected:.1f} of 60 cells" in page.text
    assert f"{len(likely)} are more likely one than not" in page.text
    assert "two cells of one lineage cannot be seen" in page.text
    has = ancestor_matrix(result.parents)[:-1].astype(bool)
    expected = has[:, result.attachment]
    expected[:, likely] = has[:, calls.first[likely]] | has[:, calls.second[likely]]
    wrong = int(((made.matrix.values == 1) & ~expected).sum())
    alone = int(((made.matrix.values == 1) & ~has[:, result.attachment]).sum())
    assert f"In this tree, {wrong} of {int((~expected).sum())} entries" in page.text
    assert wrong < alone, "with single nodes, doublets would be errors"


def test_contradicted_rates_are_in_the_report() -> None:
    made = simulate(60, 12, 0.02, 0.2, 0.1, 5).matrix
    result = syclade.infer(made, fp_rate=1e-4, fn_rate=0.2, device="native", support="none")
    assert "fp_rate" in result.contradicted
    assert "The matrix contradicts --fp-rate 0.0001: " in Page(result.report()).text


def test_it_stays_small() -> None:
    assert len(result_of(1000, 60).report().encode()) < 10**6


def test_the_command_writes_it(tmp_path: Path) -> None:
    arguments = [str(EXAMPLE / "matrix.csv"), "--fp-rate", "0.001", "--fn-rate", "0.2", "--device", "native"]
    out = tmp_path / "out"
    said = CliRunner().invoke(cli, ["infer", *arguments, "--report"])
    assert said.exit_code != 0
    CliRunner().invoke(
        cli, ["infer", *arguments, "--report", "--max-trees", "3", "--out", str(out)], catch_exceptions=False
    )
    page = Page((out / "report.html").read_text(encoding="utf-8"))
    for heading in (
        "The tree to publish",
        "Tree and matrix",
        "The most likely tree",
        "Convergence",
        "Trees that are as likely",
        "Provenance",
    ):
        assert heading in page.text
    assert re.search(r"syclade infer .*--fp-rate 0.001 --fn-rate 0.2 .*--max-trees 3", page.text)


def test_the_command_repeats_the_run() -> None:
    result = result_of(12, 4)
    command = command_of("MATRIX", result.options)
    assert "--chains 2 --steps 300" in command
    assert "--move-probs" not in command  # those by default


def summary_of(result: syclade.Result) -> tuple[str, str, str]:
    return sentences_of(result, files_in_memory(result))


def test_the_summary_says_how_many_clones_how_sure_and_what_not_to_conclude() -> None:
    made = simulate(60, 12, 0.01, 0.2, 0.1, 5).matrix
    values = np.vstack([made.values, np.zeros((1, 60), np.uint8)])
    result = syclade.infer(values, fp_rate=0.01, fn_rate=0.2, device="native")
    consensus = result.consensus
    assert consensus is not None
    number, sure, limits = summary_of(result)
    clones = consensus.tree.clones - 1
    assert number == (
        f"The tree to publish has {clones} clones with 12 of the 13 mutations; the data do not place 13."
    )
    support = consensus.support[1:]
    weakest = int(np.argmin(support))
    assert sure.startswith(
        f"{int((support >= 0.8).sum())} of {clones} clones are in at least 80% of the sampled"
    )
    assert f"the least sure one, clone {weakest + 1} (" in sure
    assert f"), in {support[weakest]:.0%}" in sure
    assert [_percent(share) for share in (0.0, 0.001, 0.25, 0.998, 1.0)] == [
        "0%", "less than 1%", "25%", "more than 99%", "100%",
    ]  # fmt: skip
    several = [clone for clone in consensus.tree.members if len(clone) > 1]
    assert ("an order of the mutations within" in limits) == bool(several)
    assert "all shares are of the 60 cells here" in limits
    tree = files_in_memory(result).published
    fewer = replace(tree, cells=np.where(np.arange(60) < 3, -1, 1))
    clones_below = fewer.clones[1:]
    assert "all shares are of the 57 placed cells here" in _limits(result, fewer, clones_below)
    assert result.support is not None
    for shares, words in (
        (1.0, "Each of its 12 clones is in all sampled"),
        (0.9999, "more than 99% of the sampled"),
    ):
        found = replace(consensus, support=np.full(clones + 1, shares))
        same = tuple(
            replace(one, consensus=found) if isinstance(one, ConsensusFinding) else one
            for one in result.findings
        )
        assert words.replace("12", str(clones)) in summary_of(replace(result, findings=same))[1]
    rough = replace(result.support, enough=False)
    short = replace(
        result,
        findings=tuple(
            replace(one, support=rough) if isinstance(one, SupportFinding) else one for one in result.findings
        ),
    )
    assert "so these shares are rough" in summary_of(short)[1]


def test_the_summary_names_what_cells_contradict_and_what_is_less_sure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many cells have mutations of different branches, as doublets do: the error rate goes to its limit."""
    whole_support(monkeypatch)
    patterns = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (0, 0, 1), (0, 1, 1)]
    columns = np.repeat(patterns, (370, 90, 20, 60, 170, 50, 30, 10), axis=0)
    result = syclade.infer(columns.T.astype(np.uint8), names=["A", "B", "K"], device="native")
    lines = "".join(line for finding in result.findings for line in finding.lines)
    assert re.search(r"--fp-rate [^,]* to 0\.1\), at the limit of 0\.1, --fn-rate", lines)
    consensus = result.consensus
    assert consensus is not None
    assert consensus.relations.before[0, 1] == pytest.approx(1.0, abs=1e-4)

    def sentences(**changed: Any) -> tuple[str, str, str]:
        found = replace(consensus, **changed)
        return summary_of(
            replace(
                result,
                findings=tuple(
                    replace(one, consensus=found) if isinstance(one, ConsensusFinding) else one
                    for one in result.findings
                ),
            )
        )

    only = consensus.pair_counts.only.copy()
    only[1, 0] = 400
    limits = sentences(pair_counts=replace(consensus.pair_counts, only=only))[2]
    assert "Do not conclude what the cells contradict: A before B (260 cells have A alone, 400 B" in limits
    assert "came before" not in sentences()[1]
    relations = Relations(2 * consensus.relations.samples, consensus.relations.above)
    sure = sentences(relations=relations)[1]
    assert re.search(
        r"; clone \d came before clone (\d) in 50% of the sampled trees, though .* have clone \1", sure
    )


@pytest.mark.parametrize("tree", ["mutation", "leaf"])
def test_the_summary_without_sampled_trees_claims_no_order(tree: str) -> None:
    values = simulate(12, 5, 0.01, 0.2, 0.1, 3).matrix.values
    result = syclade.infer(
        values, fp_rate=0.01, fn_rate=0.2, tree=tree, chains=3, steps=200, device="numpy", support="none"
    )
    number, sure, limits = summary_of(result)
    clones = len(result.kind.clones(result.tree, result.unplaced)) - 1
    assert number.startswith(f"The most likely tree has {clones} clone")
    assert number.endswith("with 5 of the 5 mutations.")
    found = f"{result.agreeing} of 3 chains found a tree of this likelihood."
    assert sure == f"How sure its clones are was not computed; {found}"
    assert limits.startswith("Do not take the order of the mutations as established")
    page = Page(result.report())
    assert "The tree to publish" not in page.text
    assert "The share of" not in page.text


def test_one_mutation_and_one_cell() -> None:
    for values in ([[1, 1, 0]], [[1], [1], [0]]):
        result = syclade.infer(np.array(values), fp_rate=0.01, fn_rate=0.2, device="native")
        number, sure, _ = summary_of(result)
        assert re.search(r" has \d clones? with ", number)
        assert "0 of 0" not in sure
        page = result.report(title="A title")
        assert "<h1>A title</h1>" in page
        assert not re.findall(r"(?<! of )\b1 (?:mutations|cells|clones|trees)\b.{20}", page)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_named_mutations_have_their_order(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [str(EXAMPLE / "matrix.csv"), "--fp-rate", "0.001", "--fn-rate", "0.2", "--device", "native"]
    more = ["--out", str(out), "--report", "--title", "Patient <7>", "--highlight", "M16,M20,M8,M2O"]
    done = CliRunner().invoke(cli, ["infer", *arguments, *more], catch_exceptions=False)
    assert "warning: --highlight: the matrix has no M2O (it has M2, M20, M12)" in done.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h1>Patient &lt;7&gt;</h1>" in page
    assert "The matrix has no M2O." in page
    relations, clones = (table(out / f"{name}.tsv") for name in ("relations", "clones"))
    pair = next(row for row in relations if (row["first"], row["second"]) == ("M16", "M20"))
    apart = float(pair["apart"])
    alone = min(int(pair["first_only"]), int(pair["second_only"]))
    words = f"on different branches: {apart:.0%}{f', rests on {alone} cells' if apart > 0.95 else ''}"
    assert f"<td>{words}</td><td>{float(pair['before']):.1%}</td>" in page
    assert f"<td>{pair['first_only']} / {pair['second_only']} / {pair['both']}</td>" in page
    clone = next(row for row in clones if "M20" in row["mutations"].split("|"))
    share = float(clone["below"]) / 40
    wanted = f'<th scope="row">M20</th><td>{clone["clone"]}</td><td>{float(clone["support"]):.0%}</td>'
    assert f"{wanted}<td>{share:.0%}</td>" in page
    assert '<th scope="row">M8</th><td>not placed</td>' in page
    refused = CliRunner().invoke(cli, ["infer", *arguments, "--out", str(tmp_path / "b"), "--title", "x"])
    assert "--report" in str(refused.exception)


@pytest.mark.parametrize(("name", "long"), [("TP53", False), ("FLT3-ITD chr13:28034109 C/CTCATATTCTC", True)])
def test_long_names_have_a_wider_column(name: str, long: bool) -> None:
    """On a telephone, tables are scrolled; a narrow column would break a long name into ten lines."""
    values = np.array([[1, 1, 0, 0], [1, 0, 0, 1]], np.uint8)
    result = syclade.infer(
        values, names=(name, "B"), fp_rate=0.01, fn_rate=0.2, support="none", device="native"
    )
    assert ('aria-label="Table: Quality of each mutation"><table class="long">' in result.report()) is long


def test_quality_counts_what_contradicts_the_tree() -> None:
    result = result_of(30, 8)
    has = ancestor_matrix(result.parents)[:-1, result.attachment].astype(bool)
    values = result.observed.values
    page = result.report()
    for row, name in enumerate(result.mutations):
        wrong = int(((values[row] == 1) & ~has[row]).sum())
        missed = int(((values[row] == 0) & has[row]).sum())
        missing, seen = int((values[row] == 3).sum()), int((values[row] == 1).sum())
        entry = f"<td>{missing} ({missing / 30:.0%})</td><td>{seen}</td><td>{wrong}</td><td>{missed}</td>"
        assert re.search(rf'<th scope="row">{name}</th><td>\d+</td>{re.escape(entry)}', page)


def test_the_page_can_be_read_by_readers_of_screens() -> None:
    page = result_of(30, 8).report()
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert '<html lang="en">' in page
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert "<th></th>" not in page
    assert '<th scope="row"></th>' not in page
    assert re.search(r"<th(?!ead| scope=)", page) is None
    for drawn in re.findall(r"<svg[^>]*>.*?</title>", page, re.DOTALL):
        assert 'role="img"' in drawn
        label = re.search(r'aria-labelledby="([^"]+)"', drawn)
        assert label is not None
        assert f'<title id="{label[1]}">' in drawn
