"""--true-tree: the result is compared with the true tree, which has no influence on it."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.distances import compare
from syclade.host.data.trees.newick import to_newick
from syclade.host.ground.errors import TreeError

FP_RATE, FN_RATE = 0.001, 0.2
SIMULATION = simulate(cells=20, mutations=6, fp_rate=0.001, fn_rate=0.2, missing=0.1, seed=3)


def test_a_result_is_compared_with_the_true_tree(tmp_path: Path) -> None:
    matrix, tree, out = tmp_path / "matrix.csv", tmp_path / "true.newick", tmp_path / "out"
    np.savetxt(matrix, SIMULATION.matrix.values, fmt="%d")
    tree.write_text(to_newick(SIMULATION.parents, [str(at + 1) for at in range(6)]))
    options = [
        "infer",
        str(matrix),
        "--fp-rate",
        "0.001",
        "--fn-rate",
        "0.2",
        "--device",
        "numpy",
        "--steps",
        "300",
    ]
    said = CliRunner().invoke(
        cli, [*options, "--true-tree", str(tree), "--out", str(out)], catch_exceptions=False
    )
    summary = json.loads((out / "summary.json").read_text())
    assert summary["true_tree"] == compare(np.array(summary["parents"], dtype=np.int32), SIMULATION.parents)
    assert f"precision {summary['true_tree']['ancestors']['precision']:.4f}" in said.stdout
    plain = syclade.infer(matrix, device="numpy", steps=300, fp_rate=FP_RATE, fn_rate=FN_RATE)
    assert plain.true_tree is None
    assert plain.parents.tolist() == summary["parents"]


def test_a_tree_of_other_mutations_is_refused() -> None:
    with pytest.raises(TreeError, match="2 mutations, and the matrix 6"):
        syclade.infer(
            SIMULATION.matrix, device="numpy", steps=1, true_tree=[2, 2, 2], fp_rate=FP_RATE, fn_rate=FN_RATE
        )
