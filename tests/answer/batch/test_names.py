"""Matrices from paths, and their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from syclade.host.answer.batch.task import check_name, matrices_of, named
from syclade.host.ground.errors import OptionError


def touch(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return paths


def test_files_folders_and_patterns(tmp_path: Path) -> None:
    a, b, _, c, d = touch(tmp_path, "x/a.csv", "x/b.vcf", "x/a.geneNames", "y/1/c.csv", "y/2/d.csv")
    touch(tmp_path, "x/.hidden", "x/below/e.csv")
    assert matrices_of([str(tmp_path / "x")]) == [a, b]
    assert matrices_of([str(tmp_path / "y" / "*" / "*.csv"), str(a), str(a)]) == [c, d, a]
    assert matrices_of([str(tmp_path / "y" / "**" / "c.csv")]) == [c]


def test_missing_files_are_refused(tmp_path: Path) -> None:
    (path,) = touch(tmp_path, "a.csv")
    none = tmp_path / "none.csv"
    with pytest.raises(OptionError, match=f"no file or folder {none}\n") as caught:
        matrices_of([str(path), str(none)])
    assert "a table of matrices, or matrices" in str(caught.value.hint)
    with pytest.raises(OptionError, match=f"{none} \\(nor 2 other inputs\\)"):
        matrices_of([str(none), str(path), str(tmp_path / "b"), str(path / "c")])
    none.symlink_to("nowhere")
    with pytest.raises(OptionError, match="no file or folder"):
        matrices_of([str(none)])


@pytest.mark.parametrize("given", ["*.csv", "empty"])
def test_nothing_found(tmp_path: Path, given: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(OptionError, match="no matrices"):
        matrices_of([str(tmp_path / given)])


def test_a_file_may_have_the_name_of_a_pattern(tmp_path: Path) -> None:
    (path,) = touch(tmp_path, "a[1].csv")
    assert matrices_of([str(path)]) == [path]


def test_names_have_folders_only_where_files_are_alike(tmp_path: Path) -> None:
    paths = touch(tmp_path, "p1/matrix.csv", "p2/matrix.csv")
    assert list(named(paths)) == ["p1", "p2"]
    paths = touch(tmp_path, "p1/calls.csv", "p2/calls.csv")
    assert list(named(paths)) == ["p1_calls", "p2_calls"]
    assert list(named(touch(tmp_path, "p1/a.csv", "p2/b.csv.gz"))) == ["a", "b"]


def test_names_that_are_alike_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="same name"):
        named(touch(tmp_path, "a.csv", "a.vcf"))


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".a", "-a", "a.", "a ", " a", "a/b", "a\\b", "a:b", "a\nb", "x" * 201, "batch.json"],
)
def test_names_that_no_folder_should_have(name: str) -> None:
    with pytest.raises(OptionError, match="name"):
        check_name(name)
    assert check_name("Zürich 1_a-b.c") == "Zürich 1_a-b.c"
