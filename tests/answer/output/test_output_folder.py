"""Folder of one run: other runs are refused, inputs stay, and nothing of an earlier run is left."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from syclade.host.ground import atomic
from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import cannot
from syclade.host.ground.output_folder import locked, output_folder

BUSY = OutputError("another run")
FACTS = {"options": {}, "work": [], "version": "1"}


def record(*names: str) -> str:
    return json.dumps({**FACTS, "files": [*names, "run.json"]})


def opened(place: Path, *names: str, **given: Any) -> Any:
    return output_folder(place, names, **{"key": "run.json", "record": "run.json", "protected": {}, **given})


def write(place: Path, *names: str, **given: Any) -> None:
    with opened(place, *names, **given) as folder:
        folder.write({**dict.fromkeys(names, "new"), "run.json": record(*names)})


def contents(place: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in place.iterdir()}


def test_a_second_run_is_refused_while_the_first_lasts(tmp_path: Path) -> None:
    place = tmp_path / "new" / "out"
    with opened(place, "a") as folder:
        with pytest.raises(OutputError, match="another run is writing to"), opened(place, "a"):
            pass
        with opened(place, "b", key="other.json", record=None) as other:
            other.write({"b": "of another command"})
        folder.write({"a": "first"})
    assert contents(place) == {"a": "first", "b": "of another command"}


def test_what_was_made_for_nothing_is_removed(tmp_path: Path) -> None:
    with opened(tmp_path / "new" / "out", "a") as folder:
        assert folder.path.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), opened(tmp_path, "a"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_force_removes_exactly_what_the_earlier_run_recorded(tmp_path: Path) -> None:
    write(tmp_path, "a", "b", "c")
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "c").unlink()
    with pytest.raises(OutputError, match="already has a"):
        write(tmp_path, "a", "d")
    write(tmp_path, "a", "d", force=True)
    assert contents(tmp_path) == {"a": "new", "d": "new", "mine": "mine", "run.json": record("a", "d")}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "no JSON",
        "null",
        json.dumps({"files": ["mine"]}),
        json.dumps({**FACTS, "files": 3}),
        json.dumps({**FACTS, "files": ["../outside", "folder", "..", "", "a\0b", 3, None]}),
        json.dumps(FACTS),
    ],
)
def test_a_record_of_others_removes_nothing(tmp_path: Path, text: str) -> None:
    place = tmp_path / "out"
    (place / "folder").mkdir(parents=True)
    for path in (tmp_path / "outside", place / "mine"):
        path.write_text("mine")
    (place / "run.json").write_text(text)
    write(place, "a", force=True)
    assert {path.name for path in place.iterdir()} == {"a", "folder", "mine", "run.json"}
    assert (tmp_path / "outside").exists()


@pytest.mark.parametrize("link", ["same", "symlink", "hardlink", "stream", "folder"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_an_input_is_never_overwritten_or_removed(tmp_path: Path, link: str, name: str) -> None:
    """`a` would be overwritten, `b` removed: the earlier run has recorded it."""
    place, source = tmp_path / "out", tmp_path / "source"
    write(place, "a", "b")
    if link == "symlink":
        source.symlink_to(place / name)
    elif link == "hardlink":
        source.hardlink_to(place / name)
    else:
        source = place if link == "folder" else place / name
    before = contents(place)
    with (source if source.is_file() else place / name).open() as stream:
        others = {"--true-tree": stream if link == "stream" else source, "--names": None, "x": ["a", "b"]}
        with pytest.raises(OutputError, match=f"{name if link != 'folder' else ''}.* is also --true-tree"):
            write(place, "a", force=True, protected=others)
    assert contents(place) == before


def test_an_output_elsewhere_that_does_not_exist_yet(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "out", target_is_directory=True)
    with pytest.raises(OutputError, match=r"a is also --checkpoint"):
        write(tmp_path / "out", "a", protected={"--checkpoint": tmp_path / "link" / "a"})
    assert not (tmp_path / "out").exists()


# ---- links


def test_a_file_that_is_a_link_is_replaced(tmp_path: Path) -> None:
    """The file behind the link stays, also where it is a recorded file of the earlier run."""
    other = tmp_path / "other"
    other.write_text("mine")
    write(tmp_path / "out", "a", "b")
    for name in "ab":
        (tmp_path / "out" / name).unlink()
        (tmp_path / "out" / name).symlink_to(other)
    write(tmp_path / "out", "a", force=True)
    assert contents(tmp_path / "out") == {"a": "new", "run.json": record("a")}
    assert not (tmp_path / "out" / "a").is_symlink()
    assert other.read_text() == "mine"


@pytest.mark.parametrize("names", ["a", "c"], ids=["replaced", "removed"])
def test_a_folder_that_is_a_link_keeps_its_files(tmp_path: Path, names: str) -> None:
    """New files may be written there; `--force` neither replaces nor removes others."""
    place, link = tmp_path / "place", tmp_path / "link"
    place.mkdir()
    link.symlink_to(place)
    write(link, "a", "b")
    before = contents(place)
    with pytest.raises(OutputError, match=r"link to .*place: --force replaces no files behind a link"):
        write(link, names, force=True)
    assert contents(place) == before
    write(place, names, force=True)
    assert contents(place) == {names: "new", "run.json": record(names)}


# ---- file systems without locks


@pytest.fixture(params=["no locks", "no locks and no links"])
def weak(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the locks away, and hard links."""
    monkeypatch.setattr(atomic, "fcntl", None)

    def refuse(*_: Any) -> None:
        raise PermissionError

    if request.param != "no locks":
        monkeypatch.setattr(os, "link", refuse)


@pytest.mark.usefixtures("weak")
def test_of_two_runs_the_later_one_does_not_replace_the_earlier(tmp_path: Path) -> None:
    with opened(tmp_path, "a", "b") as first, opened(tmp_path, "a", "b") as second:
        first.write({"a": "first", "b": "first"})
        with pytest.raises(OutputError, match="already has a, b"):
            second.write({"a": "second", "b": "second"})
    assert contents(tmp_path) == {"a": "first", "b": "first"}


@pytest.mark.usefixtures("weak")
def test_a_file_that_appears_while_others_are_moved(tmp_path: Path) -> None:
    def appears(passing: Path) -> None:
        passing.write_text("mine")
        (tmp_path / "b").write_text("of another run")

    with opened(tmp_path, "a", "b") as folder, pytest.raises(OutputError, match="b has appeared since"):
        folder.write({"a": "mine", "b": appears})
    assert contents(tmp_path) == {"b": "of another run"}


@pytest.mark.usefixtures("weak")
def test_force_does_not_replace_what_another_run_wrote_meanwhile(tmp_path: Path) -> None:
    write(tmp_path, "a")
    with opened(tmp_path, "a", force=True) as folder:
        write(tmp_path, "a", "b", force=True)
        with pytest.raises(OutputError, match="another run has written to"):
            folder.write({"a": "mine", "run.json": record("a")})
    assert contents(tmp_path) == {"a": "new", "b": "new", "run.json": record("a", "b")}


# ---- locks


def test_a_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with locked(path, BUSY):
        assert path.exists()
    assert not path.exists()


def test_a_lock_that_was_removed_meanwhile_is_not_anothers(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, BUSY):
        path.unlink()
        with (
            locked(path, BUSY),
            pytest.raises(OutputError, match="another run"),
            locked(path, BUSY),
        ):
            pass
        path.touch()
    assert path.exists(), "it belongs to someone else"


def test_space_is_named_where_it_is_short(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"File name too long\nhint: choose a shorter name"):
        write(tmp_path / ("a" * 300), "a")
    for code, words in ((errno.ENOSPC, "or free some space"), (errno.EROFS, "another directory with --out")):
        assert str(cannot("x", OSError(code, "y")).hint).endswith(words)
