"""A full disk costs the checkpoints of a run, not its result."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from syclade.host.chains import sample_store as store_module
from syclade.host.chains.sample_store import SampleStore
from syclade.host.ground.errors import OutputError
from tests.chains.checkpoints.test_resume import KINDS, assert_equal, infer
from tests.findings.samples.test_store import NODES, read, some

resource = pytest.importorskip("resource", reason="there are no limits on the sizes of files here")
LIMIT = 64
"""Bytes that a file may have: a head of a block and the beginning of its content."""


@pytest.fixture
def without_limit() -> Iterator[None]:
    yield
    fill_disk(None)


def fill_disk(limit: int | None) -> None:
    """Let no file grow beyond the limit: writes then fail, the first of them halfway."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if limit is None else limit, hard))


@pytest.mark.usefixtures("without_limit")
@pytest.mark.parametrize("kind", ["steps", "search", "samples"])
def test_a_run_goes_on_without_checkpoints(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place, whole = tmp_path / "run", infer("native", **KINDS[kind])

    def progress(_: object) -> None:
        if place.exists():
            fill_disk(LIMIT)

    with caplog.at_level(logging.WARNING, "syclade.checkpoints"):
        result = infer("native", checkpoint=place, checkpoint_every=0, progress=progress, **KINDS[kind])
    fill_disk(None)
    assert_equal(result, whole)
    (message,) = (one.message for one in caplog.records if one.name == "syclade.checkpoints")
    assert "cannot be written" in message or "cannot write" in message
    assert "the run continues without checkpoints" in message
    assert f"--resume {place}" in message
    assert [one.name for one in tmp_path.iterdir() if one.name.endswith(".tmp")] == []
    assert_equal(infer("native", resume=place, **KINDS[kind]), whole)


@pytest.mark.usefixtures("without_limit")
def test_a_disk_that_is_full_from_the_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = infer("native", **KINDS["samples"])
    fill_disk(LIMIT)
    result = infer("native", checkpoint=tmp_path / "run", checkpoint_every=0, **KINDS["samples"])
    fill_disk(None)
    assert_equal(result, whole)
    assert "it has none so far" in caplog.text
    assert not (tmp_path / "run").exists()


def test_a_folder_that_does_not_take_checkpoints_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="is a file"):
        infer("native", checkpoint=tmp_path / "file" / "run", **KINDS["steps"])


@pytest.mark.usefixtures("without_limit")
def test_samples_go_on_in_a_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "WAITING", 5)
    path, whole = tmp_path / "run.events", SampleStore(NODES)
    store = SampleStore(NODES, path)
    for one in (whole, store):
        one.take(some(20))
    length, digest = store.length, store.digest
    assert (length, digest) == (whole.length, whole.digest)
    fill_disk(length + 30)
    for one in (whole, store):
        one.take(some(20, first=20))
    assert (store.length, store.digest) == (whole.length, whole.digest)
    assert store.failure is not None
    assert "File too large" in str(store.failure)
    assert read(store) == read(whole)
    fill_disk(None)
    earlier = SampleStore.resumed(NODES, path, length, digest, to_extend=True)
    earlier.take(some(20, first=20))
    assert read(earlier) == read(whole)
    for one in (store, whole, earlier):
        one.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_samples_that_find_no_place_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr(store_module, "_temporary_file", lambda: full)
        store = SampleStore(NODES)
        store.take(some(5))
        with pytest.raises(OutputError, match="temporary file of samples cannot be written: No space left"):
            store.sync()
