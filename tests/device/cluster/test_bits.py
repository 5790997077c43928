"""One process, several devices, a pool of processes, and dask: the same bits."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.chains.backends.shared import segment
from syclade.host.device.choice import choose_device
from syclade.host.device.cluster.scheduler import open_scheduler
from syclade.host.ground.signals import Stop
from tests.conftest import ROOT

EXAMPLE = ROOT / "host" / "data" / "example" / "matrix.csv"
RATES: dict[str, Any] = {"fp_rate": 0.001, "fn_rate": 0.2, "seed": 3}
KINDS: dict[str, dict[str, Any]] = {
    "samples": {"chains": 6, "steps": 30_000, "samples": 100},
    "learned": {"chains": 5, "steps": 6_000, "samples": 100, "learn_fn": 0.2},
    "shares": {"score": "shares", "chains": 4, "steps": 30_000, "samples": 100},
    "leaf": {"tree": "leaf", "chains": 4, "steps": 8_000},
    "rule": {"method": "chain", "chains": 7},
    "search": {"method": "search"},
    "anneal": {"method": "anneal", "chains": 4},
}
SHORT = ("samples", "learned", "leaf")
"""Kinds that numpy runs in seconds."""

PAIRS = [
    pytest.param("native,numpy", id="native-numpy"),
    pytest.param("cpu,native", id="cpu-native", marks=pytest.mark.sycl),
    pytest.param("cpu,fpga-emu", id="cpu-fpga-emu", marks=[pytest.mark.sycl, pytest.mark.emulator]),
    pytest.param(
        "fpga-emu,numpy,native,cpu", id="all", marks=[pytest.mark.sycl, pytest.mark.emulator]
    ),
]  # fmt: skip


@cache
def whole(kind: str) -> syclade.Result:
    """Return the result of one process on one device."""
    return syclade.infer(EXAMPLE, **RATES, **KINDS[kind], device="native")


def infer(kind: str, **more: Any) -> syclade.Result:
    """Return the result of a run; its work took no longer in all than the run."""
    begun = time.perf_counter()
    result = syclade.infer(EXAMPLE, **RATES, **KINDS[kind], **more)
    assert sum(one.seconds for one in result.work) < time.perf_counter() - begun
    return result


def assert_same(result: syclade.Result, kind: str) -> None:
    """Compare all that equal runs share; summary.json has all scores, acceptance and diagnostics."""
    other = whole(kind)
    assert result.summary() == other.summary()
    assert (result.parents == other.parents).all()
    assert (result.samples is None, result.support is None) == (other.samples is None, other.support is None)
    if result.samples is not None and other.samples is not None:
        stores = result.samples.store, other.samples.store
        for chain in range(KINDS[kind]["chains"]):
            one, two = (np.concatenate(list(store.of_chain(chain))) for store in stores)
            assert one.tobytes() == two.tobytes()
    if result.support is not None and other.support is not None:
        assert (result.support.trees == other.support.trees).all()


def assert_shares(result: syclade.Result) -> None:
    """The shares of each unit sum to 1."""
    for unit in ("steps", "sweeps"):
        shares = [one[f"share_of_{unit}"] for one in result.run()["work"] if one["unit"] == unit]
        assert not shares or abs(sum(shares) - 1) < 1e-12


@pytest.mark.parametrize(
    ("kind", "devices"),
    [
        pytest.param(
            kind,
            *pair.values,
            id=f"{kind}-{pair.id}",
            # Its driver builds a kernel for each kind; one kind shows that it takes part.
            marks=[*pair.marks, *[pytest.mark.verification] * (pair in PAIRS[2:] and kind != "samples")],
        )
        for kind in SHORT
        for pair in PAIRS
    ],
)
def test_several_devices(devices: str, kind: str) -> None:
    result = infer(kind, device=devices)
    assert_same(result, kind)
    options = {choose_device(name).filter for name in devices.split(",")}
    assert {one.executor.filter for one in result.work} == options  # each has done some of it
    steps = sum(one.count for one in result.work if one.unit == "steps")
    assert steps == KINDS[kind]["chains"] * KINDS[kind]["steps"]
    assert result.run()["device"] in options
    assert_shares(result)


@pytest.mark.parametrize("kind", SHORT)
def test_many_chains_move_at_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "_MANY", 1)
    assert_same(infer(kind, device="native,numpy"), kind)


@pytest.mark.parametrize(
    ("kind", "devices"),
    [
        *(
            pytest.param(kind, *PAIRS[2].values, marks=PAIRS[2].marks)
            for kind in ("search", "rule", "anneal")
        ),
        *(pytest.param(kind, *PAIRS[0].values) for kind in ("rule", "search")),
        pytest.param("anneal", *PAIRS[0].values, marks=pytest.mark.verification),  # numpy needs seconds
    ],
)
def test_several_devices_search(kind: str, devices: str) -> None:
    result = infer(kind, device=devices)
    assert_same(result, kind)
    options = {choose_device(name).filter for name in devices.split(",")}
    assert {one.executor.filter for one in result.work} <= options
    assert_shares(result)


@contextmanager
def pool(workers: int = 2) -> Iterator[Executor]:
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


def dask() -> AbstractContextManager[Executor]:
    return open_scheduler("local:2")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "kinds"),
    [
        pytest.param(pool, tuple(KINDS), id="pool"),
        pytest.param(dask, ("samples", "leaf", "anneal"), id="dask"),
        pytest.param(dask, tuple(KINDS), id="dask-all", marks=pytest.mark.verification),
    ],
)
def test_workers(workers: Callable[[], AbstractContextManager[Executor]], kinds: tuple[str, ...]) -> None:
    """One kind of runs after another by the same workers, which keep the last problems open."""
    with workers() as executor:
        for kind in kinds:
            result = infer(kind, executor=executor)
            assert_same(result, kind)
            assert_shares(result)
            others = {one.executor.name for one in result.work if ", on " not in one.executor.name}
            assert not others or kind in ("search", "anneal")  # their short chains run here


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["samples", "rule"])
def test_a_stopped_run_is_resumed_elsewhere(kind: str, tmp_path: Path) -> None:
    """By workers, then by two devices, then by one process; each but the last is stopped."""
    stop, seen = Stop(), 0

    def after(state: Any) -> None:
        nonlocal seen
        seen += 1
        stop.wanted = seen % 4 == 0

    files = [tmp_path / name for name in ("first", "second")]
    with pool(2) as executor:
        first = infer(
            kind, executor=executor, checkpoint=files[0], checkpoint_every=0, stop=stop, progress=after
        )
    assert first.interrupted
    stop.wanted = False
    more: dict[str, Any] = {"device": "native,numpy", "stop": stop, "progress": after}
    second = infer(kind, resume=files[0], checkpoint=files[1], checkpoint_every=0, **more)
    assert_same(infer(kind, resume=files[1] if second.interrupted else files[0], device="native"), kind)


def test_a_run_that_stops_at_once_has_a_result() -> None:
    stop = Stop()
    stop.wanted = True
    for kind in ("samples", "search"):
        result = infer(kind, device="native,numpy", stop=stop)
        assert result.interrupted
        assert len(result.parents) == len(whole(kind).parents)


def test_two_different_problems_differ() -> None:
    """The negative control of `assert_same`."""
    result = syclade.infer(EXAMPLE, **{**RATES, "seed": 4}, **KINDS["samples"], device="native")
    with pytest.raises(AssertionError):
        assert_same(result, "samples")


def test_progress_counts_all_places() -> None:
    states: list[Any] = []
    infer("samples", device="native,numpy", progress=states.append)
    done = [state.steps_done for state in states]
    assert done == sorted(done)
    assert done[-1] == 6 * 30_000
    assert np.isfinite([state.log_likelihood for state in states]).all()
