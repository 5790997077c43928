"""Bootstrap: draws, what a replicate's tree says, support, and `syclade bootstrap`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.answer.batch.bootstrap import Resampling, draws_of, replicate_of, resampled, support_of
from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.simulate import random_parents
from syclade.host.data.trees.tree import node_labels
from tests.answer.batch.cohort import OPTIONS, content_of, write_cohort
from tests.golden.commands import call


def vector(*parents: int) -> NDArray[np.int32]:
    return np.array(parents, dtype=np.int32)


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines(), delimiter="\t"))


def test_draws_are_the_same_everywhere() -> None:
    """The words are those of Philox 4x64 by Random123, so these numbers hold for any version of numpy."""
    cells = Resampling("cells", 5, 7)
    assert draws_of(cells, 1, 10).tolist() == DRAWS
    assert draws_of(cells, 2, 10).tolist() != DRAWS
    assert draws_of(Resampling("cells", 5, 8), 1, 10).tolist() != DRAWS


DRAWS = [8, 3, 5, 3, 7, 7, 3, 9, 8, 3]


def test_draws_are_uniform() -> None:
    """Each of 10 indices is drawn 1,000 times of 10,000 in the mean: within five standard deviations."""
    some = Resampling("cells", 1000, 1)
    counts = np.bincount(np.concatenate([draws_of(some, number, 10) for number in range(1, 1001)]))
    assert len(counts) == 10
    assert (abs(counts - 1000) < 5 * np.sqrt(900)).all()


def test_matrices_of_replicates() -> None:
    values = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert resampled(values, "cells", np.array([2, 0, 2])).tolist() == [[2, 0, 2], [5, 3, 5]]
    assert resampled(values, "mutations", np.array([1, 1])).tolist() == [[3, 4, 5], [3, 4, 5]]


def test_all_mutations_are_in_replicates_of_cells() -> None:
    parents = vector(1, 4, 1, 4, 4)  # 1 above 0 and 2; 3 at the root
    one = replicate_of(parents, "cells", np.zeros(0, dtype=np.int64))
    assert one.parents.tolist() == [1, 4, 1, 4]
    assert np.argwhere(one.above).tolist() == [[1, 0], [1, 2]]
    assert one.drawn.all()


def test_copies_and_missing_mutations() -> None:
    """Rows 0 … 4 are mutations 3, 1, 3, 0, 1; the chain is root-2-0-1-4-3."""
    draws = np.array([3, 1, 3, 0, 1])
    one = replicate_of(vector(2, 0, 5, 4, 1, 5), "mutations", draws)
    # first copies: 3 is row 0, 1 is row 1, 0 is row 3; the chain without the others is root-3-1-0
    assert one.drawn.tolist() == [True, True, False, True, False]
    assert one.parents.tolist() == [1, 3, -1, 5, -1]
    assert np.argwhere(one.above).tolist() == [[1, 0], [3, 0], [3, 1]]


@pytest.mark.parametrize("seed", range(20))
def test_replicates_by_the_definition(seed: int) -> None:
    """Against a walk to the root from the first copy of each mutation."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    parents, draws = random_parents(n, rng), rng.integers(0, n, n)
    one = replicate_of(parents, "mutations", draws)
    first = {int(mutation): draws.tolist().index(mutation) for mutation in draws}
    for mutation in range(n):
        assert one.drawn[mutation] == (mutation in first)
        above = []
        node = first.get(mutation, n)
        while node != n:
            node = int(parents[node])
            above += [int(draws[node])] if node != n and first[int(draws[node])] == node else []
        assert set(np.flatnonzero(one.above[:, mutation]).tolist()) == set(above)
        if mutation in first:
            assert one.parents[mutation] == (above[0] if above else n)


def test_support_counts_replicates_with_both() -> None:
    tree = vector(2, 0, 2)  # root-0-1
    same = replicate_of(tree, "mutations", np.array([0, 1]))
    turned = replicate_of(vector(1, 2, 2), "mutations", np.array([0, 1]))
    only_0 = replicate_of(vector(2, 0, 2), "mutations", np.array([0, 0]))
    support = support_of(tree, [same, turned, only_0])
    assert support.counts.tolist() == [3, 2]
    assert support.edges.tolist() == [2 / 3, 1 / 2]
    assert support.pair_counts.tolist() == [[3, 2], [2, 2]]
    assert support.pairs[0, 1] == 1 / 2
    assert np.isnan(support_of(tree, [only_0]).edges[1])


def clear(folder: Path) -> Path:
    """Write a matrix of a chain of four mutations beside another one, without errors, ten cells each."""
    cells = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 1]]
    values = np.repeat(np.array(cells, dtype=np.uint8).T, 10, axis=1)
    path = folder / "clear.csv"
    path.write_text(format_matrix(values))
    return path


def run(path: Path, out: Path, axis: str, *words: str, replicates: int = 10) -> int:
    options = ["bootstrap", str(path), "--resample", axis, "--replicates", str(replicates), "--out", str(out)]
    return call([*options, *OPTIONS, *words]).status


def test_clear_and_noisy_matrices(tmp_path: Path) -> None:
    """A matrix without errors has full support; the negative control, with shuffled rows, has little."""
    path = clear(tmp_path)
    assert run(path, tmp_path / "clear", "cells") == 0
    assert [float(row["support"]) for row in read(tmp_path / "clear" / "bootstrap.tsv")] == [1.0] * 5
    assert [row["support"] for row in read(tmp_path / "clear" / "ancestors.tsv")] == ["1"] * 6
    values = np.array([line.split() for line in path.read_text().splitlines()], dtype=np.uint8)
    shuffled = np.random.default_rng(3).permuted(values, axis=1)
    path.write_text(format_matrix(shuffled))
    assert run(path, tmp_path / "noisy", "cells") == 0
    assert np.mean([float(row["support"]) for row in read(tmp_path / "noisy" / "bootstrap.tsv")]) < 0.8


@pytest.mark.parametrize("axis", ["cells", "mutations"])
def test_command(tmp_path: Path, axis: str) -> None:
    (path,) = write_cohort(tmp_path / "in", 1)
    (tmp_path / "in" / "m0.geneNames").write_text("".join(f"g{number}\n" for number in range(8)))
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert run(path, out, axis) == 0
    out.rename(whole)  # the results have the same paths of matrices
    assert run(path, out, axis, "--prepare") == 0
    assert not (out / "bootstrap.tsv").exists()
    for part in ("2/2", "1/2"):
        assert call(["run", str(out), "--part", part]).status == 0
    assert call(["gather", str(out)]).status == 0
    one, other = content_of(whole), content_of(out)
    assert one == other
    found = {name for name in one if "/" not in name}
    tables = {"batch.json", "results.tsv", "bootstrap.tsv", "bootstrap.gv", "ancestors.tsv"}
    consensus = {"consensus.newick", "clones.tsv", "relations.tsv", "cells.tsv"}
    assert found == (tables | consensus if axis == "cells" else tables)
    report = json.loads((whole / "original" / "summary.json").read_text())
    assert call(["infer", str(path), "--out", str(tmp_path / "alone"), *OPTIONS]).status == 0
    assert report == json.loads((tmp_path / "alone" / "summary.json").read_text())
    labels = node_labels(report["mutations"])
    rows = read(whole / "bootstrap.tsv")
    assert [row["parent"] for row in rows] == [labels[parent] for parent in report["parents"][:-1]]
    numbers = {int(row["replicates"]) for row in rows}
    assert numbers == {10} if axis == "cells" else max(numbers) < 10


def test_other_draws_are_refused(tmp_path: Path) -> None:
    (path,) = write_cohort(tmp_path / "in", 1)
    assert run(path, tmp_path / "out", "cells", replicates=2) == 0
    before = (tmp_path / "out" / "matrices" / "replicate_1.csv").read_bytes()
    assert run(path, tmp_path / "out", "mutations", replicates=2) == 2
    assert run(path, tmp_path / "out", "cells", "--seed", "5", replicates=2) == 2
    path.write_text(path.read_text().replace("0", "1", 1))
    assert run(path, tmp_path / "out", "cells", replicates=2) == 2
    assert (tmp_path / "out" / "matrices" / "replicate_1.csv").read_bytes() == before
    assert run(path, tmp_path / "out", "mutations", "--force", replicates=2) == 0


def test_a_folder_of_matrices_that_is_there_is_not_written_to(tmp_path: Path) -> None:
    (path,) = write_cohort(tmp_path / "in", 1)
    (tmp_path / "out" / "matrices").mkdir(parents=True)
    assert run(path, tmp_path / "out", "cells", replicates=2) == 2
    assert not list((tmp_path / "out" / "matrices").iterdir())


def test_replicates_may_be_added(tmp_path: Path) -> None:
    (path,) = write_cohort(tmp_path / "in", 1)
    assert run(path, tmp_path / "out", "cells", replicates=2) == 0
    kept = (tmp_path / "out" / "replicate_2" / "run.json").read_bytes()
    assert run(path, tmp_path / "out", "cells", replicates=3) == 0
    assert (tmp_path / "out" / "replicate_2" / "run.json").read_bytes() == kept


@pytest.mark.parametrize("words", [("--tree", "leaf"), ("--recurrent", "1"), ("--replicates", "0")])
def test_what_has_no_support(tmp_path: Path, words: tuple[str, ...]) -> None:
    (path,) = write_cohort(tmp_path / "in", 1)
    assert run(path, tmp_path / "out", "cells", *words) == 2


@pytest.mark.parametrize("axis", ["cells", "mutations"])
def test_replicates_draw_evidence(tmp_path: Path, axis: str) -> None:
    """Sure likelihoods of a clear matrix give full support; those of drawn entries are in its replicates."""
    values = np.array([line.split() for line in clear(tmp_path).read_text().splitlines()], dtype=np.int64)
    n, m = values.shape
    wild = np.where(values == 1, 1e-4, 0.999) - np.arange(n * m).reshape(n, m) / 1e7
    path, out = tmp_path / "likely.txt", tmp_path / "out"
    rows = [" ".join((str(row), *map(repr, line))) for row, line in enumerate(wild.tolist(), 1)]
    cells = " ".join(f"c{cell}" for cell in range(m))
    path.write_text("\n".join((f"HAPLOID {n} {m} {cells}", *rows)) + "\n")
    words = [
        "bootstrap",
        path,
        "--resample",
        axis,
        "--replicates",
        "3",
        "--out",
        out,
        "--evidence",
        "likelihoods",
    ]
    words += ["--support", "none", "--device", "native"]
    assert call([*map(str, words), "--fp-rate", "0.1"]).status == 2
    assert call([*map(str, words)]).status == 0
    matrices = {one.stem: read_matrix(one, **LOG_ODDS) for one in (out / "matrices").iterdir()}
    odds = np.log(1 - wild) - np.log(wild)
    assert isinstance(matrices["original"].evidence, Likelihoods)
    np.testing.assert_allclose(matrices["original"].evidence.log_odds, odds)
    assert matrices["original"].mutations == ("1", "2", "3", "4", "5")
    draws = draws_of(Resampling(axis, 3, 1), 2, m if axis == "cells" else n)
    assert isinstance(matrices["replicate_2"].evidence, Likelihoods)
    drawn = odds[:, draws] if axis == "cells" else odds[draws]
    np.testing.assert_allclose(matrices["replicate_2"].evidence.log_odds, drawn)
    supports = {row["support"] for row in read(out / "bootstrap.tsv")} - {"nan", ""}
    if axis == "cells":
        assert supports == {"1"}
        assert (out / "consensus.newick").exists()


LOG_ODDS: dict[str, Any] = {"evidence": "likelihoods", "rows": "mutations", "coding": "log"}
