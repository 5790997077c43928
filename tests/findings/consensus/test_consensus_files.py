"""Consensus of an inference: its files, its numbers, and where there is none."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.distances import tree_distances
from syclade.host.data.trees.newick import to_newick
from syclade.host.findings.consensus import tables
from syclade.host.findings.consensus.clone_records import CLONES
from syclade.host.findings.consensus.clone_tree import agreement_with, clone_tree_of
from syclade.host.findings.consensus.consensus import FILES, CloneConsensus
from syclade.host.findings.consensus.evidence import count_pairs
from syclade.host.findings.consensus.find_consensus import find_consensus
from syclade.host.findings.consensus.finding import ConsensusFinding
from syclade.host.findings.consensus.relations import count_relations
from syclade.host.findings.consensus.tables import (
    CELLS,
    RELATIONS,
    clone_tree_from_newick,
    relations_table,
)
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.ground.errors import MatrixError
from tests.support.clone_trees import samples_of

MADE = simulate(cells=20, mutations=7, fp_rate=0.02, fn_rate=0.2, missing=0.1, seed=3)


def infer(**options: Any) -> syclade.Result:
    arguments: dict[str, Any] = {"chains": 2, "steps": 4000, "samples": 20, "device": "native", **options}
    return syclade.infer(MADE.matrix, fp_rate=0.02, fn_rate=0.2, seed=2, **arguments)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


def consensus_of(result: syclade.Result) -> CloneConsensus:
    assert result.consensus is not None
    return result.consensus


def test_tables_are_of_the_tree() -> None:
    found = consensus_of(infer())
    names, tree = MADE.matrix.mutations, found.tree
    clones = rows_of(found.to_clones())
    assert tuple(clones[0]) == CLONES
    assert [int(row["clone"]) for row in clones] == list(range(tree.clones))
    assert [row["parent"] for row in clones] == ["", *map(str, tree.parents[1:].tolist())]
    assert [row["mutations"] for row in clones] == ["|".join(names[x] for x in of) for of in tree.members]
    assert sum(float(row["cells"]) for row in clones) == pytest.approx(20, abs=0.01)
    assert float(clones[0]["below"]) == pytest.approx(20, abs=0.01)
    assert sum(float(row["prevalence"]) for row in clones) == pytest.approx(1, abs=0.01)
    assert all(float(row["low"]) <= float(row["prevalence"]) <= float(row["high"]) for row in clones)
    for row in clones:
        assert float(row["prevalence"]) == pytest.approx(float(row["cells"]) / 20, rel=2e-3)
    shares, numbers = found.relations.before, {name: at for at, name in enumerate(names)}
    words = set()
    pairs = rows_of(found.to_relations())
    assert tuple(pairs[0]) == RELATIONS
    assert len(pairs) == 7 * 6 // 2
    for row in pairs:
        x, y = numbers[row["first"]], numbers[row["second"]]
        assert float(row["before"]) == pytest.approx(shares[x, y], abs=1e-4)
        assert float(row["after"]) == pytest.approx(shares[y, x], abs=1e-4)
        assert sum(float(row[name]) for name in ("before", "after", "apart")) == pytest.approx(1, abs=1e-3)
        values = MADE.matrix.values[[x, y]]
        for name, seen in {"both": (1, 1), "first_only": (1, 0), "second_only": (0, 1)}.items():
            assert int(row[name]) == sum(tuple(cell) == seen for cell in values.T.tolist())
        claimed = {"before": tree.before[x, y], "after": tree.before[y, x], "apart": tree.apart[x, y]}
        words.add(row["consensus"])
        assert claimed.get(row["consensus"], not any(claimed.values()))
    assert {"before", "after", "apart"} & words
    for row in clones[1:]:
        if row["parent"] == "0":
            assert row["descent"] == ""
            continue
        own, above = tree.members[int(row["clone"])], tree.members[int(row["parent"])]
        assert float(row["descent"]) == pytest.approx(shares[np.ix_(above, own)].min(), rel=0.01)
    cells = rows_of(found.to_cells())
    assert tuple(cells[0]) == CELLS
    assert [row["cell"] for row in cells] == list(found.cell_names)
    assert [int(row["clone"]) for row in cells] == found.cells.best.tolist()
    of_best = found.cells.probability[[int(row["clone"]) for row in cells], np.arange(20)]
    np.testing.assert_allclose([float(row["probability"]) for row in cells], of_best, rtol=1e-3)
    np.testing.assert_allclose(
        [float(row["cells"]) for row in clones], found.cells.probability.sum(axis=1), rtol=1e-3
    )
    again = clone_tree_from_newick(found.to_newick(), names)
    assert again.clone_of.tolist() == tree.clone_of.tolist()


def test_relations_by_name_are_those_of_the_table() -> None:
    found = consensus_of(infer())
    for row in rows_of(found.to_relations()):
        one = found.relation(row["first"], row["second"])
        numbers = (one.before, one.after, one.apart)
        assert [f"{share:.4g}" for share in numbers] == [row[name] for name in ("before", "after", "apart")]
        assert one.consensus == row["consensus"]
        seen = (one.both, one.first_only, one.second_only)
        assert list(map(str, seen)) == [row[name] for name in ("both", "first_only", "second_only")]
        other = found.relation(row["second"], row["first"])
        assert (other.before, other.first_only) == (one.after, one.second_only)
    with pytest.raises(MatrixError, match="the matrix has no mutation 'X'"):
        found.relation("X", found.mutations[0])


def test_one_seed_gives_one_consensus_everywhere() -> None:
    first = consensus_of(infer())
    for options in ({"device": "numpy"}, {"slots": 1}):
        assert consensus_of(infer(**options)).files() == first.files()
    assert consensus_of(infer(steps=400)).files() != first.files()  # control


def test_the_command_writes_and_compares(tmp_path: Path) -> None:
    matrix, true, out = tmp_path / "matrix.csv", tmp_path / "true.newick", tmp_path / "out"
    np.savetxt(matrix, MADE.matrix.values, fmt="%d")
    numbers = tuple(str(number) for number in range(1, 8))
    true.write_text(to_newick(MADE.parents, numbers))
    arguments = ["infer", str(matrix), "--fp-rate=0.02", "--fn-rate=0.2", "--device=native", "--chains=2"]
    arguments += ["--steps=4000", "--samples=20", f"--out={out}"]
    said = CliRunner().invoke(cli, [*arguments, f"--true-tree={true}"], catch_exceptions=False)
    assert said.exit_code == 0
    assert "consensus of the samples: 7 mutations in " in said.stdout
    report = json.loads((out / "summary.json").read_text())["consensus"]
    tree = clone_tree_from_newick((out / "consensus.newick").read_text(), numbers)
    assert (report["clone_of"], report["parents"]) == (tree.clone_of.tolist(), tree.parents.tolist())
    assert (
        report["true_tree"]["ancestors"]["shared"] == agreement_with(tree, MADE.parents)["ancestors"].shared
    )
    assert {path.name for path in out.iterdir()} == {
        *MUTATION.file_names,
        *MUTATION.sample_names,
        *MUTATION.consensus_names,
    }
    assert MUTATION.consensus_names == FILES
    assert set(FILES) <= set(json.loads((out / "run.json").read_text())["files"])
    CliRunner().invoke(cli, [*arguments[:6], f"--out={out}", "--force"], catch_exceptions=False)
    assert {path.name for path in out.iterdir()} == {
        *MUTATION.file_names,
        "cells.tsv",
    }  # those of the first run are gone


def test_learned_rates_are_those_of_the_best_tree() -> None:
    result = infer(learn_fn=0.2, steps=4000)
    found = consensus_of(result)
    rates = result.rates
    assert rates.fn_rate != 0.2
    again = find_consensus(lambda: [MADE.parents[None]], MADE.parents, MADE.matrix, rates)
    assert again is not None
    given = find_consensus(lambda: [MADE.parents[None]], MADE.parents, MADE.matrix, Rates(0.02, 0.2))
    assert given is not None
    assert (again.cells.probability != given.cells.probability).any()
    assert found.cells.probability.shape == (found.tree.clones, 20)


def test_where_there_is_none() -> None:
    assert infer(samples=None).consensus is None
    assert infer(tree="leaf").consensus is None
    assert infer(recurrent="M2").consensus is None
    assert find_consensus(tuple, MADE.parents, MADE.matrix, Rates(0.02, 0.2)) is None


def test_agreement_of_a_mutation_tree_is_that_of_the_distances() -> None:
    one, true = samples_of(9, 2, 1)
    found, known = agreement_with(clone_tree_of(one), true), tree_distances(one, true)
    assert found == {"ancestors": known.ancestors, "lineages": known.lineages}


def test_of_many_pairs_the_unsure_ones_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    trees = samples_of(8, 30, 2)
    relations, tree = count_relations(lambda: [trees]), clone_tree_of(trees[0])
    names = tuple("abcdefgh")
    cells = count_pairs(simulate(5, 8, 0.02, 0.2, 0.1, 1).matrix)
    every = rows_of(relations_table(tree, relations, cells, names))
    monkeypatch.setattr(tables, "MOST_PAIRS", 10)
    some = rows_of(relations_table(tree, relations, cells, names))
    assert len(some) == 10
    assert [row for row in every if row in some] == some  # in the same order

    def surest(row: dict[str, str]) -> float:
        return max(float(row[name]) for name in ("before", "after", "apart"))

    assert max(map(surest, some)) <= min(surest(row) for row in every if row not in some)


def test_cells_and_prevalence_of_a_clone_agree() -> None:
    """The table of cells and that of clones are of one posterior, also where cells fit several clones."""
    found = consensus_of(infer())
    cells, clones = rows_of(found.to_cells()), rows_of(found.to_clones())
    probability = found.cells.probability
    for cell, row in enumerate(cells):
        assert int(row["clone"]) == probability[:, cell].argmax()
        assert float(row["probability"]) == pytest.approx(probability[:, cell].max(), rel=1e-3)
    for clone, row in enumerate(clones):
        assert float(row["cells"]) == pytest.approx(probability[clone].sum(), rel=1e-3)
        assert float(row["prevalence"]) == pytest.approx(probability[clone].mean(), rel=1e-3)
    table = ConsensusFinding(found).section().table
    assert table is not None
    assert sum(float(row[-1].rstrip("%")) for row in table.rows) == pytest.approx(100.0, abs=0.5)
    assert probability.max(axis=0).min() < 0.9  # control: not all cells are clear
