"""Temporary files of killed processes: the next writer removes those of its own files, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from syclade.host.ground import atomic
from syclade.host.ground.atomic import has_locks, make_temporary, remove_stale, remove_temporary
from syclade.host.ground.cache import cache_folder, write_cached
from syclade.host.ground.files import write_files

pytestmark = pytest.mark.skipif(not has_locks(), reason="without locks nothing is removed")

WRITER = """
import sys, time
from pathlib import Path
from syclade.host.ground.files import write_files

def wait(place):
    place.write_text("half")
    print("writing", flush=True)
    time.sleep(600)

write_files(Path(sys.argv[1]), {**dict.fromkeys(sys.argv[2:], "new"), "last": wait})
"""
SLOW = """
import os, sys, time
from pathlib import Path

folder = Path(sys.argv.pop())

def wait(_):
    if any(folder.rglob(".syclade-*.tmp/*")):
        print("writing", flush=True)
        time.sleep(600)

os.fsync = wait
from syclade.__main__ import main
main()
"""


@contextmanager
def writing(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Start a process that stops in the middle of writing; kill it at the end."""
    command = [sys.executable, "-c", program, *(str(one) for one in arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "writing\n"
            yield process
        finally:
            process.kill()


def hidden(folder: Path) -> set[str]:
    """Return the paths of the temporary files, without the random names of their folders."""
    return {path.name for path in folder.glob(".syclade-*.tmp/*")}


def test_files_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    with writing(WRITER, tmp_path, "a", "b"):
        write_files(tmp_path, {"a": "of another process"})
        assert hidden(tmp_path) == {"a", "b", "last"}, "its writer is alive"
    assert hidden(tmp_path) == {"a", "b", "last"}
    write_files(tmp_path, {"c": "other"})
    assert hidden(tmp_path) == {"a", "b", "last"}, "they are files of another run"
    write_files(tmp_path, {"b": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "of another process",
        "b": "new",
        "c": "other",
    }


def test_files_of_users_stay(tmp_path: Path) -> None:
    names = {".a.tmp", "a.tmp", ".a.0123456789ab.tmp", ".syclade-0123456789ab.tmp", ".syclade-mine.tmp"}
    for name in names:
        (tmp_path / name).write_text("mine")
    folder = tmp_path / ".syclade-ba9876543210.tmp"
    (folder / "a" / "deeper").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("mine")
    (tmp_path / ".syclade-111111111111.tmp").symlink_to(outside)
    write_files(tmp_path, {"a": "new"})
    assert {path.name for path in tmp_path.iterdir()} == {
        *names, "a", "outside", folder.name, ".syclade-111111111111.tmp",
    }  # fmt: skip
    assert (outside / "a").exists()


def test_an_empty_folder_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".syclade-0123456789ab.tmp").mkdir()
    remove_stale(tmp_path, ["a"])
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_taken_for_a_stale_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process looks for stale folders before this one has locked its own."""
    before, turns = atomic._open, iter((True, True, False))

    def open_late(path: Path) -> int:
        if next(turns):
            monkeypatch.setattr(atomic, "_open", before)
            remove_stale(tmp_path, ["a"])
            monkeypatch.setattr(atomic, "_open", open_late)
        return before(path)

    monkeypatch.setattr(atomic, "_open", open_late)
    made = make_temporary(tmp_path)
    assert [*tmp_path.iterdir()] == [made.path]
    remove_temporary(made)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_opened_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> int:
        raise PermissionError

    monkeypatch.setattr(atomic, "_open", refuse)
    with pytest.raises(PermissionError):
        make_temporary(tmp_path)
    assert not list(tmp_path.iterdir())


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("the system does not list open files")
    before = len(os.listdir(folder))  # noqa: PTH208 - the folder itself is one
    for _ in range(3):
        (tmp_path / ".syclade-0123456789ab.tmp").mkdir()
        write_files(tmp_path, {"a": "new"}, force=True)
    assert len(os.listdir(folder)) == before  # noqa: PTH208


@pytest.mark.usefixtures("own_cache")
def test_the_cache() -> None:
    cache_folder().mkdir(parents=True, exist_ok=True)
    made = make_temporary(cache_folder())
    (made.path / "a").write_text("half")
    assert made.lock is not None
    os.close(made.lock)  # as if the process had been killed
    assert write_cached("a", b"content")
    assert not [*cache_folder().glob(".*")]


QUICK = ("--fp-rate", "0.01", "--fn-rate", "0.2", "--quiet", "--device", "native", "--chains", "2")


@pytest.mark.parametrize("target", ["out", "checkpoint"])
def test_a_killed_run_leaves_nothing_to_the_next(tmp_path: Path, target: str) -> None:
    """Kill the program when its first file waits to be on the disk; then run the same command again."""
    from tests.kills.runs import EXAMPLE

    more = ("--steps", "3000", "--samples", "100", f"--{target}", tmp_path / "made" / "x")
    command = ("infer", EXAMPLE, *QUICK, *more)
    (tmp_path / "made").mkdir()
    with writing(SLOW, *command, tmp_path / "made"):
        pass
    left = {path.name for path in (tmp_path / "made").rglob("*")}
    assert any(name.endswith(".tmp") for name in left), left
    assert any(name.endswith(".lock") for name in left), left
    again = [sys.executable, "-m", "syclade", *(str(one) for one in command)]
    if target == "checkpoint":
        done = subprocess.run(again, capture_output=True, text=True, check=False)
        assert (done.returncode, "x.events already exists" in done.stderr) == (2, True), done.stderr
        again.append("--force")
    subprocess.run(again, check=True)
    names = {path.name for path in (tmp_path / "made").rglob("*") if path.is_file()}
    assert not [name for name in names if name.startswith(".")], names
    assert not [*(tmp_path / "made").rglob(".*")]
