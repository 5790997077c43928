"""Results read from their folders, and clones of a consensus by names: both say what the files say."""

from __future__ import annotations

import itertools
import math
import re
import signal
from pathlib import Path
from typing import Any

import pytest

import syclade
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import OptionError, TableError
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    values = simulate(40, 8, 0.01, 0.1, 0.1, seed=2).matrix.values.copy()
    values[3], values[:, 5] = 0, 3
    return syclade.infer(values, fp_rate=0.01, fn_rate=0.1, device="native")


def test_a_folder_says_what_the_result_says(result: syclade.Result, tmp_path: Path) -> None:
    result.write(tmp_path)
    loaded, consensus = syclade.load_result(tmp_path), result.consensus
    assert consensus is not None
    assert (loaded.mutations, loaded.cells) == (result.mutations, result.cells)
    assert loaded.log_likelihood == result.log_likelihood
    assert loaded.parents.tolist() == result.parents.tolist()
    assert loaded.options["fn_rate"] == 0.1
    assert loaded.clones_of_mutations == consensus.clones_of_mutations
    assert list(loaded.clones_of_mutations) == list(result.mutations)
    assert loaded.clones_of_mutations["4"] is None
    assert {row["cell"]: row["clone"] for row in loaded.cell_table} == consensus.clones_of_cells
    assert consensus.clones_of_cells["s5"] is None
    assert len(loaded.clone_table) == len(consensus.clone_records) == consensus.tree.clones
    for row, record in zip(loaded.clone_table, consensus.clone_records, strict=True):
        assert (row["clone"], row["mutations"]) == (record.number, record.mutations)
        assert row["parent"] == record.parent
        assert row["open"] == record.open
        for name in ("support", "descent", "cells", "below", "prevalence", "low", "high"):
            value = getattr(record, name)
            written = row[name]
            if written is None:
                assert math.isnan(value) or name == "support"
            else:
                assert written == pytest.approx(value, rel=1e-2)
        assert row["seen"] == "|".join(f"{share:.3g}" for share in record.seen)
    assert loaded.table("no.tsv") == []
    assert str(tmp_path) in repr(loaded)
    with pytest.raises(OptionError, match=r"has no summary\.json"):
        syclade.load_result(tmp_path.parent)


def test_a_folder_is_drawn_as_its_result(result: syclade.Result, tmp_path: Path) -> None:
    """Figures, forms of the tree and files for other programs are the same, byte for byte."""
    result.write(tmp_path / "r")
    loaded = syclade.load_result(tmp_path / "r")
    for form in ("nhx", "figtree", "phylo"):
        assert loaded.to_form(form) == result.to_form(form)
    for name, one in (("a", loaded), ("b", result)):
        one.export_clones("clonevol", tmp_path / name, highlight=["1"])
        one.plot("clones", tmp_path / f"{name}.svg", title="clones")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    for name in ("tree.tsv", "variants.tsv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    with pytest.raises(OptionError, match="matrix") as refused:
        loaded.plot("matrix")  # of an array, which is in no file
    assert "load_result(folder, matrix=FILE)" in str(refused.value)
    written = tmp_path / "matrix.csv"
    syclade.convert(result.observed, tmp_path / "m")
    (tmp_path / "m" / "matrix.csv").rename(written)
    moved = syclade.load_result(tmp_path / "r", matrix=written)
    moved.plot("matrix", tmp_path / "a.svg", force=True)
    result.plot("matrix", tmp_path / "b.svg", force=True)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_relations_are_those_of_the_consensus(result: syclade.Result, tmp_path: Path) -> None:
    """In either order, with numbers as numbers and names, which are numbers here, as texts."""
    result.write(tmp_path)
    loaded, consensus = syclade.load_result(tmp_path), result.consensus
    assert consensus is not None
    for pair in itertools.permutations(consensus.mutations, 2):
        found, expected = loaded.relation(*pair), consensus.relation(*pair)
        assert found.consensus == expected.consensus
        assert found[:3] == pytest.approx(expected[:3], abs=1e-3)
        assert found[4:] == expected[4:]
    line = loaded.table("relations.tsv")[0]
    assert isinstance(line["first"], str)
    assert {type(line["before"]), type(line["both"])} == {float, int}
    assert all(isinstance(row["p_clade"], float | None) for row in loaded.table("support.tsv"))
    with pytest.raises(TableError, match=r"relations\.tsv has no line of '1' and '4'"):
        loaded.relation("1", "4")


def test_edges_have_support(result: syclade.Result) -> None:
    assert result.support is not None
    graph = result.to_networkx()
    shares = {below: values.get("support") for _, below, values in graph.edges(data=True)}
    assert shares.pop("4") is None
    assert shares == {name: result.support.edges[int(name) - 1] for name in shares}


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("host").symlink_to(ROOT / "host")
    page = (ROOT / "docs" / "samples.md").read_text("utf-8")
    (example,) = (
        one for one in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if "load_result" in one
    )
    names: dict[str, object] = {}
    exec(example, names)
    assert names["sure"]


def test_the_page_of_python_runs_and_names_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("host").symlink_to(ROOT / "host")
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    first, second = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    names: dict[str, Any] = {}
    exec(first, names)
    assert (tmp_path / "results" / "report.html").exists()
    for path in set(re.findall(r"`\[?result\.([a-z_.]+)", page)):
        found: object = names["result"]
        for name in path.split("."):
            assert hasattr(found, name), path
            found = getattr(found, name)
            if found is None:  # this result has no doublets, recurrences, genotypes or specimens
                assert name in ("doublets", "recurrences", "genotypes", "clones_by_sample"), path
                break
    assert set(re.findall(r"`syclade\.([a-zA-Z_]+)", page)) <= set(syclade.__all__)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        exec(second, names)
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert names["result"].interrupted is False
    assert names["result"].chains == 4
