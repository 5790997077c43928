"""Forged checkpoints: all digests are valid, but a value is not that of the run that resumes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.answer.inference import InferenceProgress
from syclade.host.chains.sample_store import store_of
from syclade.host.ground.errors import CheckpointError
from syclade.host.ground.signals import Stop
from tests.chains.checkpoints.test_resume import MATRIX, infer
from tests.support.blocks import blocks_of, contents_of, packed, packed_samples, sample_type

CHAINS = 3
OPTIONS: dict[str, Any] = {"chains": CHAINS, "steps": 20_000, "samples": 40, "burn_in": 0.1}
RUNS: dict[str, dict[str, Any]] = {
    "mutation": OPTIONS,
    "learned": {**OPTIONS, "learn_fn": 0.2},
    "leaf": {**OPTIONS, "tree": "leaf"},
    "shares": {**OPTIONS, "score": "shares"},
    "rule": {"method": "chain", "chains": CHAINS},
    "search": {"method": "search", "support": "none"},
}
NODES = {
    "mutation": MATRIX.n_mutations + 1,
    "learned": MATRIX.n_mutations + 1,
    "leaf": 2 * MATRIX.n_cells - 1,
}
WHOLE = ("<i8", 0)
ARRAYS = {
    **dict.fromkeys(("chain", "step", "score", "best_score"), WHOLE),
    **dict.fromkeys(("parents", "best_parents"), ("<i4", 0)),
    **dict.fromkeys(("rate_at", "best_rate_at", "weights", "base"), WHOLE),
    "gamma": ("<f8", 0),
    **dict.fromkeys(("settings", "tallies"), WHOLE),
}
"""Arrays of a checkpoint of chains, in order: their types."""

OF_SEARCHES = ("search", "sweep", "score", "best_score", "parents", "best_parents", "best_scores", "tallies")

Change = Callable[[NDArray[Any]], object]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bytes, bytes]]:
    """Return checkpoint and samples of each run, in its middle."""
    made = {}
    for kind, options in RUNS.items():
        place = tmp_path_factory.mktemp(kind) / "run"
        stop = Stop()

        def progress(state: InferenceProgress, stop: Stop = stop, place: Path = place) -> None:
            stop.wanted = place.exists() and state.steps_done >= 6000 * CHAINS

        infer("native", stop=stop, progress=progress, checkpoint=place, checkpoint_every=0, **options)
        assert stop.wanted
        samples = store_of(place)
        state = place.read_bytes()
        length = json.loads(contents_of(state)[0])["run"].get("events", 0)
        made[kind] = state, samples.read_bytes()[:length] if samples.exists() else b""
    return made


def began(_: object) -> None:
    pytest.fail("the run has begun")


def refusal(folder: Path, kind: str, state: bytes, samples: bytes) -> str:
    """Return the message with which a run refuses to resume these files."""
    place = folder / "run"
    place.write_bytes(state)
    store_of(place).write_bytes(samples)
    with pytest.raises(CheckpointError) as caught:
        infer("native", resume=place, progress=began, **RUNS[kind])
    assert str(place) in str(caught.value)
    return caught.value.message


def with_array(state: bytes, kind: str, name: str, change: Change) -> bytes:
    """Return a checkpoint with one array changed in place."""
    names = [*OF_SEARCHES] if kind == "search" else [*ARRAYS]
    if kind == "shares":
        names.insert(names.index("gamma"), "log_shares")
    contents = contents_of(state)
    at = 1 + names.index(name)
    dtype = "<i4" if "parents" in name or name == "log_shares" else "<f8" if name == "gamma" else "<i8"
    array = np.frombuffer(contents[at], dtype).copy()
    change(array)
    contents[at] = array.tobytes()
    return packed(contents)


def with_value(state: bytes, name: str, value: Any) -> bytes:
    """Return a checkpoint with another value of the run (or of the seed)."""
    head, *contents = contents_of(state)
    about = json.loads(head)
    (about if name in about else about["run"])[name] = value
    return packed([json.dumps(about).encode(), *contents])


def test_the_files_themselves_are_resumed(tmp_path: Path, files: dict[str, tuple[bytes, bytes]]) -> None:
    for kind, (state, samples) in files.items():
        place = tmp_path / kind
        place.write_bytes(packed(contents_of(state)))
        store_of(place).write_bytes(samples)
        resumed, whole = infer("native", resume=place, **RUNS[kind]), infer("native", **RUNS[kind])
        assert resumed.summary() == whole.summary()
        if whole.samples is not None and resumed.samples is not None:
            assert [*resumed.samples.lines()] == [*whole.samples.lines()]


@dataclass(frozen=True)
class SetAll:
    """A change of one setting (0: every, 1: first_sample) of all chains."""

    entry: int
    value: int

    def __call__(self, array: NDArray[Any]) -> None:
        array.reshape(CHAINS, -1)[:, self.entry] = self.value


@dataclass(frozen=True)
class Add:
    """A change that adds a number to one entry, or to all."""

    number: float
    at: int | None = None

    def __call__(self, array: NDArray[Any]) -> None:
        array[... if self.at is None else self.at] += array.dtype.type(self.number)


@pytest.mark.parametrize("kind", ["mutation", "learned", "leaf"])
@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("settings", SetAll(0, 0), "the settings of chain 0"),
        ("settings", SetAll(0, 20), "the settings of chain 0"),
        ("settings", SetAll(1, 7), "the settings of chain 0"),
        ("settings", SetAll(1, 2**62), "the settings of chain 0"),
        ("settings", Add(1, -1), "the settings of chain 2"),
        ("gamma", Add(0.5, 1), "the gamma of chain 1"),
        ("chain", Add(1), "the number of chain 0"),
        ("step", Add(1), "counted steps of chain 0"),
        ("step", Add(-1, 0), "counted steps of chain 0"),
        ("tallies", Add(1, 0), "counted steps of chain 0"),
        ("base", Add(1), "rates of chain 0"),
    ],
)
def test_values_of_chains(
    tmp_path: Path, files: dict[str, tuple[bytes, bytes]], kind: str, name: str, change: Change, words: str
) -> None:
    state, samples = files[kind]
    assert words in refusal(tmp_path, kind, with_array(state, kind, name, change), samples)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("log_shares", Add(1), "the score of chain 0"),
        ("log_shares", Add(2**20, 3), "the shares of the nodes"),
        ("log_shares", Add(-(2**18)), "the shares of the nodes"),
        ("score", Add(1, 1), "the score of chain 1"),
        ("best_score", Add(2**24, 2), "the score of chain 2"),
        ("best_score", Add(-(2**24), 2), "the best score of chain 2"),
        ("base", Add(1), "the rates of chain 0"),
    ],
)
def test_values_of_chains_with_shares(
    tmp_path: Path, files: dict[str, tuple[bytes, bytes]], name: str, change: Change, words: str
) -> None:
    state, samples = files["shares"]
    assert words in refusal(tmp_path, "shares", with_array(state, "shares", name, change), samples)


def all_steps(array: NDArray[Any]) -> None:
    array[:] = 10**6


def all_counts(array: NDArray[Any]) -> None:
    array.reshape(CHAINS, 2, -1)[:] = 0
    array.reshape(CHAINS, 2, -1)[:, 0, 0] = 10**6


def test_more_steps_than_the_run_has(tmp_path: Path, files: dict[str, tuple[bytes, bytes]]) -> None:
    state, samples = files["mutation"]
    forged = with_array(with_array(state, "mutation", "step", all_steps), "mutation", "tallies", all_counts)
    assert "its chains have done 1000000 steps" in refusal(tmp_path, "mutation", forged, samples)


def test_steps_between_two_rounds_of_the_rule(tmp_path: Path, files: dict[str, tuple[bytes, bytes]]) -> None:
    def shorter(array: NDArray[Any]) -> None:
        array.reshape(CHAINS, 2, -1)[:, 0, 0] += 7

    state, samples = files["rule"]
    forged = with_array(with_array(state, "rule", "step", Add(7)), "rule", "tallies", shorter)
    assert "its chains have done" in refusal(tmp_path, "rule", forged, samples)


def test_accepted_steps_that_were_not_proposed(tmp_path: Path, files: dict[str, tuple[bytes, bytes]]) -> None:
    state, samples = files["mutation"]
    for number in (10**9, -(10**9)):
        forged = with_array(state, "mutation", "tallies", Add(number, -1))
        assert "chain 2 has accepted other steps" in refusal(tmp_path, "mutation", forged, samples)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("seed", 9, "its seed is 9 instead of 8"),
        ("best", 0, "its best score"),
        ("best", None, "its best score"),
        ("best_since", 10**9, "its best score"),
        ("best_since", -1, "its best score"),
        ("best_since", "3", "damaged in its values"),
        ("events", -1, "have the length -1"),
        ("events", 1.5, "have the length 1.5"),
        ("events", "7", "have the length '7'"),
        ("events", None, "have the length None"),
        ("events", 0, "are not those of the checkpoint"),
        ("events", 10**15, "it ends there"),
        ("events_digest", "00", "are not those of the checkpoint"),
    ],
)
def test_values_of_the_run(
    tmp_path: Path, files: dict[str, tuple[bytes, bytes]], name: str, value: Any, words: str
) -> None:
    state, samples = files["mutation"]
    assert words in refusal(tmp_path, "mutation", with_value(state, name, value), samples)


Samples = list[tuple[int, NDArray[Any]]]


def shifted(blocks: Samples) -> Samples:
    blocks[0][1]["step"][-1] += 1
    return blocks


def to_grid(blocks: Samples) -> Samples:
    blocks[0][1]["rate_at"][0] = (10**6, 0, 0)
    return blocks


def to_no_tree(blocks: Samples) -> Samples:
    blocks[0][1]["parents"][0, 0] = 0
    return blocks


def doubled(blocks: Samples) -> Samples:
    return [*blocks, blocks[-1]]


@pytest.mark.parametrize("kind", ["mutation", "learned", "leaf"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (shifted, "are at other steps"),
        (doubled, "has more than"),
        (lambda blocks: blocks[:-1], "samples of"),
        (lambda blocks: [(chain + 1, records) for chain, records in blocks], "the run has no chain 3"),
        (lambda _: [], "chain 0 has 0 samples of"),
        (to_grid, "are not on their grids"),
        (to_no_tree, "a stored sample is not a tree"),
    ],
)
def test_samples(
    tmp_path: Path,
    files: dict[str, tuple[bytes, bytes]],
    kind: str,
    change: Callable[[Samples], Samples],
    words: str,
) -> None:
    state, samples = files[kind]
    record = sample_type(NODES[kind])
    blocks = [
        (chain, np.frombuffer(content, record).copy())
        for chain, content in blocks_of(samples, record.itemsize)
    ]
    assert len(blocks) >= CHAINS
    changed = [(chain, records.tobytes()) for chain, records in change(blocks)]
    assert words in refusal(tmp_path, kind, *packed_samples(state, changed, record.itemsize))


def test_cell_trees_of_samples_are_binary(tmp_path: Path, files: dict[str, tuple[bytes, bytes]]) -> None:
    """A star is a tree, but no cell tree."""
    state, samples = files["leaf"]
    record = sample_type(NODES["leaf"])
    blocks = blocks_of(samples, record.itemsize)
    chain, records = blocks[0][0], np.frombuffer(blocks[0][1], record).copy()
    records["parents"][-1] = NODES["leaf"] - 1
    forged = packed_samples(state, [(chain, records.tobytes()), *blocks[1:]], record.itemsize)
    assert "a stored sample is not a tree" in refusal(tmp_path, "leaf", *forged)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("score", Add(1, 0), "the score of search 0"),
        ("best_score", Add(1, 2), "the score of search 2"),
        ("search", Add(1), "search 0 has the number 1"),
        ("sweep", Add(-(10**9)), "search 0 has the number 0"),
        ("tallies", Add(1, 0), "counted steps"),
        ("tallies", Add(10**9, -1), "accepted"),
    ],
)
def test_values_of_searches(
    tmp_path: Path, files: dict[str, tuple[bytes, bytes]], name: str, change: Change, words: str
) -> None:
    assert words in refusal(tmp_path, "search", with_array(files["search"][0], "search", name, change), b"")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tops", [], "phases"),
        ("tops", [0] * 1000, "phases"),
        ("tops", [-(10**9)], "best scores"),
        ("tops", 3, "damaged in its values"),
        ("encoding", "unknown", "encoding"),
        ("encoding", None, "encoding"),
    ],
)
def test_values_of_a_run_of_searches(
    tmp_path: Path, files: dict[str, tuple[bytes, bytes]], name: str, value: Any, words: str
) -> None:
    assert words in refusal(tmp_path, "search", with_value(files["search"][0], name, value), b"")
