"""Atomic writes: files are complete or absent, whatever happens during writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from syclade.host.ground.atomic import temporary_files


@pytest.mark.parametrize("sync", [True, False])
def test_files_move_together(tmp_path: Path, sync: bool) -> None:
    (tmp_path / "a").write_text("old")
    with temporary_files(tmp_path, "ab") as files:
        files.write(tmp_path / "a", "n\u00e8w\n", sync=sync)
        files.write(tmp_path / "b", b"\0\n", sync=sync)
        assert (tmp_path / "a").read_text() == "old"
        assert not (tmp_path / "b").exists()
        files.move(tmp_path / "a")
        files.move(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == b"n\xc3\xa8w\n"
    assert (tmp_path / "b").read_bytes() == b"\0\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError, ValueError])
def test_an_interruption_leaves_what_was_there(tmp_path: Path, interruption: type[BaseException]) -> None:
    def interrupted() -> None:
        with temporary_files(tmp_path, "a") as files:
            files.write(tmp_path / "a", "new", sync=False)
            raise interruption

    (tmp_path / "a").write_text("old")
    with pytest.raises(interruption):
        interrupted()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
