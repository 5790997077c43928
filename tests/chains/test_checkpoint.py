"""Checkpoints: chains resume bit for bit from a file, on any backend; any other file is an error."""

from __future__ import annotations

import os
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.checkpoints.archive import NO_DIGEST, make_block
from syclade.host.chains.checkpoints.chains import Checkpoint, _layout, read_checkpoint, write_checkpoint
from syclade.host.chains.moves import MOVES
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.state import every
from syclade.host.ground.errors import CheckpointError, OutputError
from tests.support.additions.tempered import TEMPERED
from tests.support.additions.with_parent import WITH_PARENT
from tests.support.backends import (
    NUMPY,
    WITH_GENERAL,
    Backend,
    Case,
    Seen,
    assert_equal_chains,
    run_alone,
    seen,
)
from tests.support.blocks import contents_of, packed
from tests.support.own_sizes import OWN_SIZES, by_backend

CASE = Case(12, 15, gamma=0.7)
CHAINS, FIRST, LAST = 3, 70, 160


def run_to(backend: Backend, plan: Plan, stop: int, chains: list[Any] | None = None) -> list[Seen]:
    """Advance new chains, or the given ones, to a step."""
    with backend.runner(plan, CHAINS, CASE.seed) as runner:
        for slot in range(CHAINS):
            runner.put(slot, *(chains[slot] if chains else (initial_state(plan, CASE.seed, slot),)))
        runner.advance(np.full(CHAINS, stop))
        return [seen(runner, slot) for slot in range(CHAINS)]


def pairs(chains: list[Seen]) -> tuple[Any, ...]:
    return tuple((one.state, one.info) for one in chains)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a checkpoint of CASE's chains, and return its path."""
    place, plan = tmp_path / "chains.checkpoint", CASE.plan()
    write_checkpoint(place, plan, Checkpoint(CASE.seed, pairs(run_to(NUMPY, plan, FIRST))))
    return place


@by_backend(WITH_GENERAL, compiles=lambda backend: backend == OWN_SIZES)
def test_chains_go_on_bit_for_bit(backend: Backend, tmp_path: Path) -> None:
    """Resume on another backend than the one that wrote the file."""
    plan, file = CASE.plan(), tmp_path / "file"
    begun = run_to(backend, plan, FIRST)
    write_checkpoint(file, plan, Checkpoint(CASE.seed, pairs(begun)))
    others = [one for one in WITH_GENERAL if one not in (backend, OWN_SIZES)]
    other = others[(WITH_GENERAL.index(backend) + 2) % len(others)]
    found = read_checkpoint(file, CASE.plan(), CHAINS)
    assert found.seed == CASE.seed
    for chain, ended in enumerate(run_to(other, plan, LAST, list(found.chains))):
        assert_equal_chains(ended, run_alone(NUMPY, CASE, chain, LAST))


def test_everything_comes_back(tmp_path: Path) -> None:
    """Cover gamma, rates and settings per chain, large numbers, an added move and score, and a large seed."""
    plan = CASE.plan(
        moves=(*MOVES, WITH_PARENT), move_probabilities=(1, 1, 1, 1), score=TEMPERED, recorders=[every(9)]
    )
    chains = []
    for number, one in enumerate(run_to(NUMPY, plan, 20)):
        settings = {"temper": 256, "every": 9 + number, "first_sample": 9}
        state = replace(one.state, chain=2**31 + number, step=2**40 + number, gamma=0.1 * (number + 1))
        chains.append((replace(state, settings=settings), one.info))
    given = Checkpoint(2**64 - 1, tuple(chains))
    write_checkpoint(tmp_path / "file", plan, given)
    found = read_checkpoint(tmp_path / "file", plan, CHAINS)
    assert found.seed == 2**64 - 1
    for (state, info), (other, other_info) in zip(given.chains, found.chains, strict=True):
        assert_equal_chains(Seen(state, info), Seen(other, other_info))
        assert dict(other.settings) == dict(state.settings)


def test_equal_chains_make_equal_files(file: Path, tmp_path: Path) -> None:
    plan = CASE.plan()
    again = tmp_path / "again"
    write_checkpoint(again, plan, read_checkpoint(file, plan, CHAINS))
    assert again.read_bytes() == file.read_bytes()


def test_a_file_is_replaced_on_request_only(file: Path) -> None:
    plan = CASE.plan()
    found = read_checkpoint(file, plan, CHAINS)
    with pytest.raises(OutputError, match="already has"):
        write_checkpoint(file, plan, found)
    write_checkpoint(file, plan, found, force=True)
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Case(12, 16).plan(), "another matrix"),
        (
            CASE.plan(moves=(*MOVES, WITH_PARENT), move_probabilities=(1, 1, 1, 1)),
            "another moves and another",
        ),
        (CASE.plan(move_probabilities=(1, 1, 1)), "another move probabilities"),
        (CASE.plan(score=TEMPERED), "another score and another settings"),
        (CASE.plan(recorders=[every(3)]), "another settings and another recorders"),
    ],
)
def test_chains_of_another_plan_are_refused(file: Path, plan: Plan, words: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(file, plan, CHAINS)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert caught.value.hint


def rewritten(file: Path, **changes: Any) -> None:
    """Change arrays, or the metadata, and make all digests anew."""
    layout = _layout(CASE.plan(), CHAINS)
    about, *contents = contents_of(file.read_bytes())
    arrays = {
        name: np.frombuffer(content, dtype).reshape(shape)
        for (name, (dtype, shape)), content in zip(layout.items(), contents, strict=True)
    }
    values: dict[str, Any] = {"about": about, **arrays}
    values |= {name: change(values[name]) for name, change in changes.items()}
    file.write_bytes(
        packed([value if isinstance(value, bytes) else value.tobytes() for value in values.values()])
    )


def plus_one(array: Any) -> Any:
    return array + 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"score": plus_one}, "is not that of its tree"),
        ({"best_score": plus_one}, "is not that of its tree"),
        ({"parents": plus_one}, "damaged in its values"),
        ({"parents": lambda array: array[:, :-1]}, "parents has another size"),
        ({"gamma": lambda array: array * np.nan}, "damaged in its values: --gamma is nan"),
        ({"chain": lambda array: array[:2]}, "chain has another size"),
        ({"tallies": lambda array: array[:, :4]}, "tallies has another size"),
        ({"tallies": lambda array: np.concatenate([array, array])}, "no block begins there"),
        ({"weights": lambda array: array[:, :2]}, "weights has another size"),
        ({"about": lambda _: b"{}"}, "no checkpoint"),
        ({"about": lambda _: b"[1]"}, "no checkpoint"),
        ({"about": lambda _: b"[" * 2**17}, "no checkpoint"),
        ({"about": lambda _: b'{"syclade_checkpoint": 5}'}, "has format 5, this syclade reads 6"),
        ({"about": lambda _: b'{"syclade_checkpoint": 6}'}, "does not describe its chains"),
    ],
)
def test_what_was_changed_is_refused(file: Path, changes: dict[str, Any], words: str) -> None:
    rewritten(file, **changes)
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(file, CASE.plan(), CHAINS)
    assert words in str(caught.value)


def test_damaged_files_are_refused(file: Path) -> None:
    """Cut the file anywhere, or flip any bit: reading fails, or returns the same chains."""
    good, plan = file.read_bytes(), CASE.plan()
    expected = read_checkpoint(file, plan, CHAINS)
    draws = np.random.default_rng(2)
    for turn in range(400):
        at = int(draws.integers(len(good)))
        damaged = bytearray(good[:at] if turn % 2 else good)
        if not turn % 2:
            damaged[at] ^= 1 << int(draws.integers(8))
        file.write_bytes(bytes(damaged))
        try:
            found = read_checkpoint(file, plan, CHAINS)
        except CheckpointError:
            continue
        for (state, info), (other, other_info) in zip(expected.chains, found.chains, strict=True):
            assert_equal_chains(Seen(state, info), Seen(other, other_info))


@pytest.mark.parametrize("first", [b"", b"about"])
def test_no_more_is_read_than_the_chains_need(file: Path, first: bytes) -> None:
    """A file that claims an array of 1.5 GB, with zeros to fill it, costs neither time nor memory."""
    about = contents_of(file.read_bytes())[0]
    begun = packed([about]) if first else b""
    head = bytearray(make_block(NO_DIGEST, 1, 3 * 2**29, b"")[0])
    with file.open("wb") as stream:
        stream.write(begun + head)
        stream.truncate(len(begun) + len(head) + 3 * 2**29)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match=f"damaged at byte {len(begun)}"):
            read_checkpoint(file, CASE.plan(), CHAINS)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CheckpointError, match="no regular file"):
        read_checkpoint(tmp_path / "pipe", CASE.plan(), CHAINS)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04", np.arange(3).tobytes()])
def test_what_is_no_checkpoint(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        read_checkpoint(file, CASE.plan(), CHAINS)
    with pytest.raises(CheckpointError, match="cannot be read: No such file"):
        read_checkpoint(tmp_path / "absent", CASE.plan(), CHAINS)
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_checkpoint(tmp_path, CASE.plan(), CHAINS)
