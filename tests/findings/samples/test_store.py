"""The store of samples: what was taken is read again, in order; what was changed or cut is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.chains import sample_store as store_module
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.state import Event
from syclade.host.ground.errors import CheckpointError, OutputError

NODES = 4
numbers = st.integers(-(2**62), 2**62)
events = st.builds(
    lambda chain, step, why, tree: Event(
        chain, step, -step, why, 0, np.array(tree, np.int32), (step % 7, step % 5, step % 3)
    ),
    st.integers(0, 3),
    numbers,
    st.integers(0, 3),
    st.permutations(range(NODES)),
)

Plain = tuple[int, int, tuple[int, ...], tuple[int, ...]]


def plain(event: Event) -> Plain:
    return event.step, event.score, event.rate_at, tuple(event.parents.tolist())


def read(store: SampleStore) -> dict[int, list[Plain]]:
    return {
        chain: [
            (
                int(one["step"]),
                int(one["score"]),
                tuple(one["rate_at"].tolist()),
                tuple(one["parents"].tolist()),
            )
            for records in store.of_chain(chain)
            for one in records
        ]
        for chain in store.chains
    }


def some(count: int, first: int = 0) -> list[Event]:
    tree = np.array([3, 0, 1, 3], np.int32)
    return [Event(step % 2, step, -step, 1, 0, tree) for step in range(first, first + count)]


@given(st.lists(st.lists(events, max_size=9), max_size=6), st.integers(1, 20))
def test_samples_are_read_as_they_were_taken(launches: list[list[Event]], waiting: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "WAITING", waiting)
        store, expected = SampleStore(NODES), dict[int, list[Plain]]()
        for launch in launches:
            store.take(launch)
            for event in launch:
                if event.why & 1:
                    expected.setdefault(event.chain, []).append(plain(event))
        assert read(store) == expected
        assert {chain: store.count(chain) for chain in store.chains} == {
            chain: len(taken) for chain, taken in expected.items()
        }
        copy = SampleStore(NODES)
        store.copy_to(copy)
        assert read(copy) == expected
        some = SampleStore(NODES)
        store.copy_to(some, every=3)
        assert read(some) == {chain: taken[2::3] for chain, taken in expected.items() if taken[2:]}
        for one in (store, copy, some):
            one.close()


@pytest.mark.parametrize("content", ["mine", None], ids=["a file", "nothing"])
def test_a_store_that_is_a_link_is_replaced(tmp_path: Path, content: str | None) -> None:
    """The file behind the link is neither emptied nor made."""
    path, other = tmp_path / "run.events", tmp_path / "other"
    if content is not None:
        other.write_text(content)
    path.symlink_to(other)
    with pytest.raises(OutputError, match="there already"):
        SampleStore(NODES, path)
    SampleStore(NODES, path, force=True).close()
    assert not path.is_symlink()
    assert (other.read_text() if other.exists() else None) == content


def closed(folder: Path, samples: Sequence[Event]) -> tuple[Path, int, str]:
    """Return the file of a store with these samples, closed, with its length and digest."""
    path = folder / "run.events"
    store = SampleStore(NODES, path)
    store.take(samples)
    length, digest = store.length, store.digest
    store.close()
    return path, length, digest


def resumed(path: Path, length: int, digest: str, *, to_extend: bool = False) -> SampleStore:
    return SampleStore.resumed(NODES, path, length, digest, to_extend=to_extend)


def test_a_resumed_store_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.events"
    store = SampleStore(NODES, path)
    store.take(some(10))
    length, digest = store.length, store.digest
    store.take(some(4, first=10))
    store.sync()
    store.close()
    assert path.stat().st_size > length
    read_only = resumed(path, length, digest)
    assert sum(map(len, read(read_only).values())) == 10
    read_only.close()
    assert path.stat().st_size > length, "nothing is cut off where only reading was asked for"
    again = resumed(path, length, digest, to_extend=True)
    again.take(some(4, first=10))
    whole = SampleStore(NODES)
    whole.take(some(10))
    assert whole.length == length
    whole.take(some(4, first=10))
    assert (again.digest, read(whole)[1][-1][0]) == (whole.digest, 13)
    for one in (again, whole):
        one.close()


@pytest.mark.parametrize("place", [0, 5, 20, 30, 60, 61, 100, 150, 200, 299])
def test_no_flipped_bit_goes_unnoticed(tmp_path: Path, place: int) -> None:
    path, length, digest = closed(tmp_path, some(8))
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="damaged"):
        resumed(path, length, digest)


def test_other_samples_and_missing_ones_are_refused(tmp_path: Path) -> None:
    path, length, digest = closed(tmp_path, some(8))
    with pytest.raises(CheckpointError, match="not those of the checkpoint"):
        resumed(path, length, digest[::-1])
    with pytest.raises(CheckpointError, match="it ends there"):
        resumed(path, length + 5, digest)
    with pytest.raises(CheckpointError, match="damaged"):
        resumed(path, length - 5, digest)
    path.unlink()
    with pytest.raises(CheckpointError, match="cannot be read"):
        resumed(path, length, digest)


def test_a_change_while_it_is_in_use_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "run.events"
    store = SampleStore(NODES, path)
    store.take(some(8))
    store.sync()
    with path.open("r+b") as file:
        file.seek(60)
        file.write(b"??")
    with pytest.raises(CheckpointError, match="changed meanwhile"):
        read(store)
    store.close()


def test_existing_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.events"
    path.write_bytes(b"mine")
    with pytest.raises(OutputError, match="is there already"):
        SampleStore(NODES, path)
    assert path.read_bytes() == b"mine"
    SampleStore(NODES, path, force=True).close()


@pytest.mark.parametrize("tree", [[1, 0, 3, 3], [3, 3, 3, 2], [0, 3, 3, 3], [3, 4, 3, 3], [3, -1, 3, 3]])
def test_samples_that_are_no_trees_are_refused(tmp_path: Path, tree: list[int]) -> None:
    """Nobody shall climb such a tree: the digests fit, so somebody made them for it."""
    no_tree = Event(0, 4, 0, 1, 0, np.array(tree, np.int32))
    path, length, digest = closed(tmp_path, [*some(3), no_tree])
    with pytest.raises(CheckpointError, match="a stored sample is not a tree"):
        resumed(path, length, digest)


def test_a_length_beyond_the_file_allocates_nothing(tmp_path: Path) -> None:
    path, length, digest = closed(tmp_path, some(8))
    with pytest.raises(CheckpointError, match=f"damaged at byte {length}: it ends there"):
        resumed(path, 2**60, digest)
