from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from syclade.host.ground.errors import OutputError
from syclade.host.ground.files import check_output, write_files

FILES = {"tree.newick": "(1)2;\n", "summary.json": '{"é": 1}\n'}


def contents(folder: Path) -> dict[str, str]:
    return {file.name: file.read_bytes().decode() for file in folder.iterdir()}


def test_writes_into_a_new_directory(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    write_files(folder, FILES)
    assert contents(folder) == FILES


def test_refuses_and_lists_what_exists(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    with pytest.raises(OutputError) as caught:
        check_output(tmp_path, ["tree.newick", "tree.gv", "summary.json"])
    assert "already has tree.newick, summary.json" in str(caught.value)
    assert "--force" in str(caught.value)
    with pytest.raises(OutputError):
        write_files(tmp_path, {"tree.newick": "x"})
    assert contents(tmp_path) == FILES


def test_force_replaces_and_leaves_the_rest(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    write_files(tmp_path, FILES)
    write_files(tmp_path, {"tree.newick": "new"}, force=True)
    assert contents(tmp_path) == FILES | {"tree.newick": "new", "other": "mine"}


def test_checking_writes_nothing(tmp_path: Path) -> None:
    assert check_output(tmp_path / "new", FILES) == tmp_path / "new"
    assert contents(tmp_path / "new") == {}


def test_places_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file, not a directory"):
        check_output(tmp_path / "file", FILES)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="is a link to nothing, not a directory"):
        check_output(tmp_path / "link", FILES)
    with pytest.raises(OutputError, match="Not a directory"):
        check_output(tmp_path / "file" / "below", FILES)
    with pytest.raises(OutputError, match="cannot make the directory"):
        check_output("a\0b", FILES)
    (tmp_path / "tree.newick").mkdir()
    with pytest.raises(OutputError, match=r"directories called tree\.newick"):
        check_output(tmp_path, FILES, force=True)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind this user")
def test_a_directory_without_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="may not be written to"):
        check_output(tmp_path, FILES)


def test_rights_are_those_of_any_new_file(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    (tmp_path / "plain").touch()
    assert (tmp_path / "tree.newick").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_trouble_leaves_the_old_files_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: BaseException, call: str
) -> None:
    write_files(tmp_path, FILES)

    def fail(*_: Any) -> None:
        raise problem

    if call == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    expected = KeyboardInterrupt if isinstance(problem, KeyboardInterrupt) else OutputError
    with pytest.raises(expected) as caught:
        write_files(tmp_path, dict.fromkeys(FILES, "new"), force=True)
    if expected is OutputError:
        assert "tree.newick: No space left on device" in str(caught.value)
    assert contents(tmp_path) == FILES


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def to_full_device(path: Path, *args: Any, **options: Any) -> Any:
        return open("/dev/full", "wb")  # noqa: PTH123

    monkeypatch.setattr(Path, "open", to_full_device)
    with pytest.raises(OutputError, match="No space left"):
        write_files(tmp_path, FILES)
    assert contents(tmp_path) == {}
