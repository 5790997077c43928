"""Checkpoints and stores of samples: a damaged one is refused, or the run ends with an equal result."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import syclade
from syclade.host.chains.sample_store import store_of
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.signals import Stop
from tests.fuzz.damage import damaged
from tests.support.blocks import blocks_of, contents_of, packed, packed_samples, sample_type

__all__ = ["Checkpoints"]

MATRIX = simulate(cells=9, mutations=5, fp_rate=0.01, fn_rate=0.2, missing=0.1, seed=3).matrix
SAMPLED: dict[str, Any] = {"chains": 2, "steps": 3000, "samples": 50}
RUNS: dict[str, dict[str, Any]] = {
    "chains": SAMPLED,
    "learned": {**SAMPLED, "learn_fn": 0.2},
    "shares": {**SAMPLED, "score": "shares"},
    "leaf": {**SAMPLED, "tree": "leaf"},
    "search": {"method": "search"},
}
NODES = {"chains": 6, "learned": 6, "shares": 6, "leaf": 17}
"""Nodes of the trees of the samples."""

SEED, OTHER_SEED = 1, 2


class Files(NamedTuple):
    """A checkpoint and the store of samples beside it, which is empty for searches."""

    state: bytes
    samples: bytes


class Given(NamedTuple):
    """An input: the run, its files, whether it goes on to write them, and whether their digests fit."""

    run: str
    files: Files
    writes: bool
    forged: bool


class Checkpoints:
    """Inputs of this kind: see `Given`."""

    name = "checkpoints"

    def __init__(self, folder: Path) -> None:
        self._place = folder / "run"
        self._whole = {run: _outcome(_infer(run, SEED)) for run in RUNS}
        self._files = {run: self._files_of(run) for run in RUNS}

    def make(self, draw: Random) -> Given:
        """Return the files of one moment of a run: damaged, spliced or paired with those of another one."""
        run = draw.choice(tuple(RUNS))
        files, other = draw.choices(self._files[run], k=2)
        way, writes = draw.randrange(11), draw.random() < 0.5
        if way < 2:
            files = files._replace(state=damaged(files.state, draw))
        elif way < 4:
            files = files._replace(samples=damaged(files.samples, draw))
        elif way == 4:
            files = files._replace(state=_spliced(files.state, other.state, draw))
        elif way == 5:
            files = files._replace(samples=_spliced(files.samples, other.samples, draw))
        elif way == 6:
            files = files._replace(samples=other.samples)
        elif way == 10 and files.samples:
            return Given(run, _forged_samples(files, NODES[run], draw), writes, forged=True)
        else:
            contents = contents_of(files.state)
            which = draw.randrange(len(contents))
            change = damaged if which == 0 or way == 7 else _renumbered
            contents[which] = change(contents[which], draw)
            return Given(run, files._replace(state=packed(contents)), writes, forged=True)
        return Given(run, files, writes, forged=False)

    def take(self, given: Given) -> None:
        """Resume the run; compare its result, unless somebody made new digests for other content."""
        self._place.write_bytes(given.files.state)
        store_of(self._place).write_bytes(given.files.samples)
        found = _infer(given.run, SEED, resume=self._place, checkpoint=self._place if given.writes else None)
        assert given.forged or _outcome(found) == self._whole[given.run], "another result"

    def _files_of(self, run: str) -> list[Files]:
        """Return the files of an early moment of a run, of its end, and of the end of another run."""
        found = []
        for seed, launches in ((SEED, 3), (SEED, None), (OTHER_SEED, None)):
            for place in (self._place, store_of(self._place)):
                place.unlink(missing_ok=True)
            _infer(run, seed, launches, checkpoint=self._place, checkpoint_every=0)
            if self._place.exists():  # searches have none before their first phase ends
                samples = store_of(self._place)
                found.append(
                    Files(self._place.read_bytes(), samples.read_bytes() if samples.exists() else b"")
                )
        return found


def _infer(run: str, seed: int, launches: int | None = None, **options: Any) -> syclade.Result:
    """Return the result of a run, which stops after some launches."""
    stop, seen = Stop(), 0

    def count(_: object) -> None:
        nonlocal seen
        seen += 1
        stop.wanted = seen == launches

    rates: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "device": "native"}
    return syclade.infer(MATRIX, seed=seed, stop=stop, progress=count, **rates, **RUNS[run], **options)


def _outcome(result: syclade.Result) -> str:
    lines = "" if result.samples is None else "".join(result.samples.lines())
    return json.dumps(result.summary()) + lines


def _renumbered(content: bytes, draw: Random) -> bytes:
    """Return an array with other numbers at some places, all of 4 or all of 8 bytes."""
    numbers = np.frombuffer(content, draw.choice(("<i4", "<i8")) if len(content) % 8 == 0 else "<i4").copy()
    for _ in range(draw.randint(1, 3) if len(numbers) else 0):
        at = draw.randrange(len(numbers))
        low, high = int(np.iinfo(numbers.dtype).min), int(np.iinfo(numbers.dtype).max)
        near = min(max(int(numbers[at]) + draw.choice((-1, 1)), low), high)
        numbers[at] = draw.choice((0, 1, -1, near, int(draw.choice(numbers)), low, high))
    return numbers.tobytes()


def _forged_samples(files: Files, nodes: int, draw: Random) -> Files:
    """Return a checkpoint with other samples: renumbered, in other blocks, or without some of them."""
    unit = sample_type(nodes).itemsize
    length = json.loads(contents_of(files.state)[0])["run"]["events"]
    blocks = blocks_of(files.samples[:length], unit)
    for _ in range(draw.randint(1, 3) if blocks else 0):
        at, way = draw.randrange(len(blocks)), draw.randrange(5)
        chain, content = blocks[at]
        if way == 0:
            blocks.insert(draw.randint(0, len(blocks)), blocks[at])
        elif way == 1:
            blocks[at] = chain + draw.choice((-1, 1, 2**40)), content
        elif way == 2:
            blocks[at] = chain, content[: unit * draw.randint(0, len(content) // unit)]
        else:
            blocks[at] = chain, _renumbered(content, draw)
    return Files(*packed_samples(files.state, blocks, unit))


def _spliced(one: bytes, other: bytes, draw: Random) -> bytes:
    """Return the beginning of a file and the end of another, mostly of the same place."""
    at = draw.randint(0, min(len(one), len(other)))
    return one[:at] + other[at if draw.random() < 0.7 else draw.randint(0, len(other)) :]
