"""Clones in specimens: panels, fish plots, and files for other programs, as these document them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.answer.figures.clone_shares import panels_of, specimens_of
from syclade.host.answer.figures.exports import PROGRAMS, export_of, shares_by_prior
from syclade.host.answer.figures.fish import bands_of, divided_as_known, is_to_scale, positions_of, runs_of
from syclade.host.answer.figures.kinds import draw_figure
from syclade.host.answer.figures.scene import Polygon, Text, svg_of
from syclade.host.answer.figures.source import ResultFiles
from syclade.host.answer.figures.style import Style
from syclade.host.commands import plot as plot_command
from syclade.host.commands.main import cli
from syclade.host.findings.joint_shares import JointShare
from syclade.host.ground.errors import OptionError, SycladeError, TableError

MUTATIONS = ["A", "B b", "C,c", "D"]
PARENTS = [0, 0, 1, 1, 0]
OWN = {"P1": (0.5, 0.25, 0.125, 0.125, 0.0), "P2": (0.1, 0.2, 0.3, 0.3, 0.1), "P3": (0.0, 0.1, 0.1, 0.2, 0.6)}


def files(times: dict[str, str] | None, **changes: str) -> ResultFiles:
    """Return the files of a made result: clone 1 above clones 2 and 3, and clone 4."""
    names = ["", *MUTATIONS]
    clones = ["clone\tparent\tsupport\tcells\tprevalence\tlow\thigh\tmutations"]
    clones += [f"{at}\t{PARENTS[at] if at else ''}\t0.9\t2\t0.2\t0.1\t0.3\t{names[at]}" for at in range(5)]
    lines = ["sample\ttime\tclone\tcells\tshare\tlow\thigh\tmutations"]
    for sample, shares in OWN.items():
        time = times[sample] if times else ""
        lines += [
            f"{sample}\t{time}\t{at}\t3\t{share}\t{share / 2}\t{min(1, share * 2)}\t{names[at]}"
            for at, share in enumerate(shares)
        ]
    contents = {
        "summary.json": json.dumps({"mutations": MUTATIONS, "cells": ["x", "y"], "tree": "mutation"}),
        "clones.tsv": "\n".join(clones) + "\n",
        "cells.tsv": "cell\tclone\nx\t1\ny\t2\n",
        "clones_by_sample.tsv": "\n".join(lines) + "\n",
        **changes,
    }
    return ResultFiles("made", contents.get)


DAYS = {"P1": "0", "P2": "30", "P3": "150"}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def test_shares_are_those_of_the_table() -> None:
    found = specimens_of(files(DAYS))
    assert found is not None
    np.testing.assert_allclose(found.share, list(OWN.values()))
    points, shares = found.by_time()
    assert points == ["0", "30", "150"]
    np.testing.assert_array_equal(shares, found.share)
    twice = specimens_of(files({"P1": "0", "P2": "7", "P3": "7"}))
    assert twice is not None
    np.testing.assert_allclose(twice.by_time()[1][1], np.mean([OWN["P2"], OWN["P3"]], axis=0))
    assert specimens_of(ResultFiles("made", {"summary.json": "{}"}.get)) is None
    with pytest.raises(TableError, match="there is no clone '9'"):
        specimens_of(
            files(
                DAYS, **{"clones_by_sample.tsv": "sample\ttime\tclone\tshare\tlow\thigh\nP\t\t9\t1\t1\t1\n"}
            )
        )


def test_clones_that_a_specimen_does_not_tell_apart_are_named_and_have_no_dot() -> None:
    made = files(DAYS)
    marked = with_groups(("P2", "2+3"))
    found = specimens_of(marked)
    assert found is not None
    words = "P2 does not tell clones 2+3 (together 40.0%, 90 %: 30.0% to 50.0%) from each other"
    assert [one.startswith(f"{words}: ") for one in found.notes] == [True]
    assert [[one is None for one in shares] for _, shares, _ in panels_of(found)] == [
        [False] * 5, [False, False, True, True, False], [False] * 5
    ]  # fmt: skip
    for kind in ("clones", "fish"):
        assert "does not tell clones 2+3" in svg_of(draw_figure(marked, kind, Style()))
        assert "does not tell" not in svg_of(draw_figure(made, kind, Style()))


def test_each_clone_of_a_fish_plot_is_inside_its_parent() -> None:
    made = files(DAYS)
    tree, own = made.published, np.array(list(OWN.values()))
    bands = bands_of(tree, own)
    heights = bands[:, :, 1] - bands[:, :, 0]
    np.testing.assert_allclose(heights, (own @ tree.within.T).T)
    for at, clone in enumerate(tree.clones[1:], 1):
        assert (bands[at, :, 0] >= bands[clone.parent, :, 0] - 1e-12).all()
        assert (bands[at, :, 1] <= bands[clone.parent, :, 1] + 1e-12).all()
    assert (bands[2, :, 1] <= bands[3, :, 0] + 1e-12).all(), "siblings do not overlap"
    scene = draw_figure(made, "fish", Style())
    fills = [item.fill for item in scene.items if isinstance(item, Polygon)]
    assert fills == [Style().colour(number) for number in range(1, 5)]
    assert all("nan" not in svg_of(draw_figure(made, kind, Style())) for kind in ("fish", "clones", "tree"))


def test_time_points_are_spaced_by_their_numbers() -> None:
    np.testing.assert_allclose(positions_of(["0", "30", "150"]), [0, 0.2, 1])
    np.testing.assert_allclose(positions_of(["0", "1", "150"]), [0, 0.5, 1])
    np.testing.assert_allclose(positions_of(["before", "after"]), [0, 1])
    evenly = {
        ("0", "30", "150"): True,
        ("0", "1", "150"): False,
        ("1", "2", "3"): True,
        ("a", "b", "c"): True,
    }
    assert {points: is_to_scale(points) for points in evenly} == evenly


def test_fishplot_has_nested_fractions_that_sum_without_rounding() -> None:
    found = export_of(files(DAYS), "fishplot", Style(), "made")
    table, clones = rows(found["fractions.tsv"]), rows(found["clones.tsv"])
    parents = [int(row["parent_row"]) for row in clones]
    assert parents == [0, 1, 1, 0], "rows of the table, and 0 for none"
    for day, own in zip(DAYS.values(), OWN.values(), strict=True):
        parts = [float(row[day]) for row in table]
        np.testing.assert_allclose(parts[0], 100 * sum(own[1:4]), atol=0.01)
        for parent in set(parents):
            below = sum(part for part, above in zip(parts, parents, strict=True) if above == parent)
            assert below <= (parts[parent - 1] if parent else 100.0), "as createFishObject checks"
    named = export_of(files({"P1": "before", "P2": "on", "P3": "after"}), "fishplot", Style(), "made")
    assert list(rows(named["fractions.tsv"])[0]) == ["clone", "0", "1", "2"], "numbers, as fishplot needs"
    assert [row["label"] for row in rows(named["timepoints.tsv"])] == ["before", "on", "after"]


def test_timescape_has_its_columns() -> None:
    found = export_of(files(DAYS), "timescape", Style(), "made")
    prevalence = rows(found["clonal_prev.tsv"])
    assert list(prevalence[0]) == ["timepoint", "clone_id", "clonal_prev"]
    for day in DAYS.values():
        total = sum(float(row["clonal_prev"]) for row in prevalence if row["timepoint"] == day)
        assert 0.9999 < total <= 1
    edges = {(row["source"], row["target"]) for row in rows(found["tree_edges.tsv"])}
    assert edges == {("0", "1"), ("1", "2"), ("1", "3"), ("0", "4")}
    assert rows(found["clone_colours.tsv"])[1]["colour"] == Style().colour(1)[1:]


def test_clonevol_has_names_of_rows_and_events() -> None:
    found = export_of(files(None), "clonevol", Style(highlight=("B b",)), "made")
    tree, variants = rows(found["tree.tsv"]), rows(found["variants.tsv"])
    assert [(row["clone"], row["parent"]) for row in tree] == [
        ("C0", "-1"), ("C1", "C0"), ("C2", "C1"), ("C3", "C1"), ("C4", "C0"),
    ]  # fmt: skip
    assert tree[4]["sample.with.nonzero.cell.frac.ci"] == "P2,P3"
    assert [row["events"] for row in tree] == ["", "", "B b", "", ""]
    assert [row["gene"] for row in variants if row["is.driver"] == "TRUE"] == ["B b"]
    assert float(variants[0]["P1"]) == 25.0, "half of the cells of clone 1 and those below it"


def test_jellyfish_has_compositions_that_sum_to_one() -> None:
    found = export_of(files(DAYS), "jellyfish", Style(), "made")
    assert [row["rank"] for row in rows(found["samples.tsv"])] == ["1", "2", "3"]
    assert [row["parent"] for row in rows(found["phylogeny.tsv"])] == ["", "0", "1", "1", "0"]
    for sample in OWN:
        parts = [row for row in rows(found["compositions.tsv"]) if row["sample"] == sample]
        assert sum(float(row["clonalPrevalence"]) for row in parts) == pytest.approx(1.0, abs=1e-9)


def test_jellyfish_has_the_shares_of_the_table() -> None:
    """The largest remainders are rounded up: all of them at the root would double its share."""
    shares = [units / (100 * 1024) for units in (3.4, 25599.9, 25599.9, 25599.9, 25596.9)]
    lines = ["sample\ttime\tclone\tcells\tshare\tlow\thigh\tmutations"]
    lines += [f"P1\t\t{at}\t3\t{share}\t0\t1\t" for at, share in enumerate(shares)]
    made = files(None, **{"clones_by_sample.tsv": "\n".join(lines) + "\n"})
    parts = rows(export_of(made, "jellyfish", Style(), "made")["compositions.tsv"])
    given = [float(row["clonalPrevalence"]) for row in parts]
    np.testing.assert_allclose(given, shares, atol=1.0 / (100 * 1024))
    assert sum(given) == pytest.approx(1.0, abs=1e-9)


def test_oncotreevis_has_the_keys_that_it_requires() -> None:
    found = json.loads(
        export_of(files(None), "oncotreevis", Style(highlight=("A",)), "patient ü")["trees.json"]
    )
    seen: list[int] = []
    sizes: list[float] = []

    def walk(node: dict[str, Any]) -> None:
        assert {"node_id", "matching_label", "children"} <= node.keys()
        seen.append(node["node_id"])
        sizes.append(node["size_percent"])
        for child in node["children"]:
            walk(child)

    walk(found["trees"]["patient ü"]["tree"])
    assert seen == [0, 1, 2, 3, 4]
    assert sizes == [0.2] * 5, "those of all cells, not a mean of specimens of different sizes"
    assert found["highlighted_genes"] == {"A": "bold"}


def test_programs_over_time_need_time_points() -> None:
    for program in ("fishplot", "timescape"):
        with pytest.raises(OptionError, match="no time points") as refused:
            export_of(files(None), program, Style(), "made")
        assert "--time-column" in str(refused.value)
    with pytest.raises(OptionError, match="no two time points"):
        draw_figure(files(dict.fromkeys(OWN, "0")), "fish", Style())


@pytest.mark.parametrize("program", ["fishplot", "timescape"])
def test_shares_of_nodes_are_no_clones_over_time(program: str, tmp_path: Path) -> None:
    """The refusal names what is missing: the result has time points, and no consensus."""
    values = np.repeat([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], 5, axis=1)
    labels = {
        "cell": [f"s{cell}" for cell in range(20)],
        "sample": ["P1", "P2"] * 10,
        "day": ["0", "30"] * 10,
    }
    result = syclade.infer(
        values, metadata=labels, time_column="day", support="none", fp_rate=0.01, fn_rate=0.1, device="native"
    )
    with pytest.raises(OptionError, match="of nodes of the most likely tree") as refused:
        result.export_clones(program, tmp_path)
    assert "--support quick" in str(refused.value)


def test_the_command_writes_a_folder(tmp_path: Path) -> None:
    assert set(plot_command.PROGRAMS) == set(PROGRAMS)
    made = files(DAYS)
    (tmp_path / "a result").mkdir()
    for name in ("summary.json", "clones.tsv", "cells.tsv", "clones_by_sample.tsv"):
        (tmp_path / "a result" / name).write_text(made.read(name) or "", encoding="utf-8")
    words = ["plot", str(tmp_path / "a result"), "--to", "jellyfish", "--out", str(tmp_path / "new")]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.output == f"wrote samples.tsv, phylogeny.tsv, compositions.tsv to {tmp_path / 'new'}\n"
    again = CliRunner().invoke(cli, words, standalone_mode=False).exception
    assert isinstance(again, SycladeError)
    report = CliRunner().invoke(cli, [*words, "--force", "--json"], catch_exceptions=False)
    assert json.loads(report.output)["to"] == "jellyfish"


def test_shares_that_specimens_do_not_tell_are_marked() -> None:
    made = files(DAYS)
    head, *lines = (made.read("clones.tsv") or "").splitlines()
    joint = ["", "", "2+3", "2+3", ""]
    rows_of = [
        f"{line}\t{one}" + ("\t0.4\t0.3\t0.5" if one else "\t\t\t")
        for line, one in zip(lines, joint, strict=True)
    ]
    table = "\n".join([f"{head}\tjoint\tjoint_prevalence\tjoint_low\tjoint_high", *rows_of])
    marked = files(DAYS, **{"clones.tsv": f"{table}\n"})
    assert [clone.joint is not None for clone in marked.published.clones] == [one != "" for one in joint]
    words = "Some specimens do not tell clones 2+3 (together 40.0%, 90 %: 30.0% to 50.0%) from each other"
    text = " ".join(
        item.text for item in draw_figure(marked, "tree", Style()).items if isinstance(item, Text)
    )
    assert words in text
    assert text.count("†") == 3, "both shares, and the note"
    assert "not identifiable: clones 2+3 together 40.0%" in svg_of(draw_figure(marked, "tree", Style()))
    assert "†" not in svg_of(draw_figure(made, "tree", Style()))


def with_groups(*groups: tuple[str, str]) -> ResultFiles:
    """Return the made result in which specimens do not tell some clones from each other."""
    head, *lines = (files(DAYS).read("clones_by_sample.tsv") or "").splitlines()
    table = [f"{head}\tidentifiable\tjoint\tjoint_share\tjoint_low\tjoint_high"]
    for line in lines:
        sample, _, clone = line.split("\t")[:3]
        mine = [group for specimen, group in groups if specimen == sample and clone in group.split("+")]
        table.append(f"{line}\t" + (f"no\t{mine[0]}\t0.4\t0.3\t0.5" if mine else "yes\t\t\t\t"))
    return files(DAYS, **{"clones_by_sample.tsv": "\n".join(table) + "\n"})


def test_groups_are_one_band_of_stripes_in_a_fish_plot() -> None:
    style = Style()
    scene = draw_figure(with_groups(("P2", "1+2"), ("P3", "0+1+2")), "fish", style)
    fills = [item.fill for item in scene.items if isinstance(item, Polygon)]
    zero, one, two, three, four = (style.colour(number) for number in range(5))
    stripes = {colour: [at for at, fill in enumerate(fills) if fill == colour] for colour in (zero, one, two)}
    assert fills[0] == zero, "the root's group comes first, and all others are above it"
    assert len(stripes[zero]) >= 1
    assert len(stripes[one]) >= 3, "its own band up to the half way, and stripes at both other points"
    assert len(stripes[two]) >= 3
    assert fills.count(three) == fills.count(four) == 1, "those that all points tell have one band"
    assert fills.index(three) > max(stripes[one]), "and are above the stripes"
    texts = [item.text for item in scene.items if isinstance(item, Text)]
    assert {"1+2", "0+1+2"} <= {*texts}
    assert "P2 does not tell clones 1+2 (together 40.0%, 90 %: 30.0% to 50.0%)" in " ".join(texts)
    assert "Stripes:" in " ".join(texts)


def test_bands_end_half_way_to_points_that_do_not_tell_them() -> None:
    groups: list[list[tuple[int, ...]]] = [[], [(1, 2)], [(0, 1, 2)], [(0, 1, 2)]]
    assert runs_of(0, groups) == [(0.0, 1.5, ()), (1.5, 3.0, (0, 1, 2))]
    assert runs_of(1, groups) == [(0.0, 0.5, ()), (0.5, 1.5, (1, 2))]
    assert runs_of(2, groups) == [(0.0, 0.5, ())]
    assert runs_of(3, groups) == [(0.0, 3.0, ())]
    shares = np.array(
        [[0.1, 0.6, 0.2, 0.1], [0.1, 0.0, 0.4, 0.5], [0.2, 0.2, 0.2, 0.4], [0.0, 0.0, 0.0, 1.0]]
    )
    found = divided_as_known(shares, groups)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[:2], [[0.1, 0.6, 0.2, 0.1], [0.1, 0.3, 0.1, 0.5]])
    np.testing.assert_allclose(found[2:, :3], [[0.6 * 0.1 / 0.9, 0.4, 0.4 / 3], [0.0, 0.0, 0.0]])
    never = divided_as_known(shares, [[(1, 2)]] * 4)
    np.testing.assert_allclose(never[0], [0.1, 0.4, 0.4, 0.1])


def test_a_bracket_shows_the_share_of_clones_together() -> None:
    made = with_groups(("P2", "1+2"))
    found = specimens_of(made)
    assert found is not None
    first, second, third = panels_of(found)
    assert not first.groups
    assert not third.groups
    assert second.groups == (JointShare((1, 2), 0.4, 0.3, 0.5),)
    assert second.groups[0].name == "1+2"
    assert [one is None for one in second.shares] == [False, True, True, False, False]
    texts = [item.text for item in draw_figure(made, "clones", Style()).items if isinstance(item, Text)]
    assert texts.count("1+2") == 1


@pytest.mark.parametrize(("group", "words"), [("1+9", "there is no clone 9"), ("1+x", "do not fit together")])
@pytest.mark.parametrize("kind", ["clones", "fish"])
def test_groups_of_clones_that_the_tree_lacks_are_damage(group: str, words: str, kind: str) -> None:
    damaged = with_groups(("P2", "1+2"), ("P3", group))
    with pytest.raises(TableError, match=words):
        draw_figure(damaged, kind, Style())


def test_exports_say_which_shares_follow_from_the_prior() -> None:
    words = "P2 does not tell clones 1+2 (together 40.0%, 90 %: 30.0% to 50.0%) from each other"
    (note,) = shares_by_prior(with_groups(("P2", "1+2")))
    assert note.startswith(f"{words}: ")
    assert note.endswith("follows from the prior, also in these files")
    assert shares_by_prior(files(DAYS)) == []
