"""The exported pipeline against SCITE: its trees, judged by `quality tost --ours`, are those of a device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from syclade.host.commands.export.hls.opencl_testbench import best_tree
from syclade.host.data.trees.treefile import read_tree
from syclade.quality import tost
from syclade.quality.reference.packaged import reference_at
from tests.commands.export.hls.projects import export, run_opencl


def test_the_best_tree_of_all_chains(tmp_path: Path) -> None:
    """Mutation 3 is the root's only child; 1 and 2 are below it. Rows of padding do not count."""
    best = np.array([0b1101, 0b1110, 0b1100, 0b1000, 0], dtype=np.int64)
    worse = np.array([0b1001, 0b1010, 0b1100, 0b1000, 0], dtype=np.int64)
    states = {
        "parameters": np.array([3, 1, 4]),
        "best_score": np.array([-9, -5, -5]),
        "best_ancestors": np.concatenate([worse, best, worse]),
    }
    (tmp_path / "tree.newick").write_text(best_tree(states, nodes=5))
    assert read_tree(tmp_path / "tree.newick", ("1", "2", "3")).tolist() == [2, 2, 3, 3]


@pytest.mark.sycl
@pytest.mark.emulator
@pytest.mark.verification
def test_trees_of_the_pipeline_are_those_of_a_device(tmp_path: Path) -> None:
    """On 8 inputs of the reference, for the same seed."""
    (tmp_path / "trees").mkdir()
    with reference_at(None) as folder:
        for each in folder.inputs[:8]:
            size = ("--states", "6", "--chains", "6", "--steps", "300", "--seed", "1")
            given = ("--matrix", str(each.matrix), "--fp-rate", "1e-6", "--fn-rate", "0.25", *size)
            export(tmp_path / each.name, "--hls", "opencl", *given)
            tree = tmp_path / "trees" / f"{each.name}.newick"
            status, _, said = run_opencl(tmp_path / each.name, "--states", "6", "--newick", str(tree))
            assert status == 0, said
    ours = tost(ours=tmp_path / "trees", limit=8)
    runs = tost(device="fpga-emu", encoding="ancestor", chains=6, steps=300, seed=1, limit=8)
    assert [one.ours for one in ours.comparisons] == [one.ours for one in runs.comparisons]
    assert [one.parents for one in ours.comparisons] == [one.parents for one in runs.comparisons]
    assert len({one.ours for one in ours.comparisons}) == 8
