"""Resumed runs end as if they had never stopped, on any device."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.answer import inference
from syclade.host.chains.runs.clock import Progress
from syclade.host.chains.sample_store import store_of
from syclade.host.data.model.simulate import simulate
from syclade.host.device.work import STEPS, SWEEPS
from syclade.host.ground.errors import CheckpointError, OptionError, OutputError
from syclade.host.ground.signals import Stop
from tests.support.did_all import assert_did_all

MATRIX = simulate(cells=24, mutations=9, fp_rate=0.01, fn_rate=0.3, missing=0.2, seed=4).matrix
KINDS: dict[str, dict[str, Any]] = {
    "steps": {"chains": 5, "steps": 9000},
    "steps in few slots": {"chains": 5, "steps": 9000, "slots": 2},
    "rule": {"method": "chain", "chains": 3},
    "search": {"method": "search", "support": "none"},
    "samples": {"chains": 4, "steps": 9000, "samples": 40},
    "doublets": {
        "chains": 3,
        "steps": 3000,
        "samples": 25,
        "doublets": 0.2,
        "learn_doublets": 0.1,
        "learn_fn": 0.1,
        "learn_fp": 0.1,
    },
    "samples in few slots": {"chains": 5, "steps": 6000, "samples": 25, "slots": 2},
    "samples of the sum": {"chains": 2, "steps": 4000, "samples": 50, "score": "sum", "burn_in": 0.5},
    "shares": {"chains": 3, "steps": 2300, "samples": 50, "score": "shares", "slots": 2},
    "learned rates": {"chains": 3, "steps": 6000, "learn_fn": 0.2, "samples": 30},
    "counts of other positions": {
        "chains": 2,
        "steps": 3000,
        "samples": 25,
        "doublets": "learn",
        "learn_fn": 0.2,
        "learn_fp": 0.2,
        "unmutated_counts": (900, 20),
    },
    "from searches": {"chains": 3, "steps": 5000, "start": "search"},
}
SAME = ("log_likelihood", "steps", "moves", "converged", "searches", "chains", "rates", "learned")


def infer(device: str, **options: Any) -> syclade.Result:
    return syclade.infer(MATRIX, fp_rate=0.01, fn_rate=0.3, seed=8, device=device, **options)


@pytest.fixture(scope="module")
def whole() -> dict[str, syclade.Result]:
    return {kind: infer("native", **options) for kind, options in KINDS.items()}


def assert_equal(one: syclade.Result, other: syclade.Result) -> None:
    for name in SAME:
        assert getattr(one, name) == getattr(other, name), name
    np.testing.assert_array_equal(one.parents, other.parents)
    np.testing.assert_array_equal(one.chain_log_likelihoods, other.chain_log_likelihoods)
    assert (one.samples is None) == (other.samples is None)
    if one.samples is not None and other.samples is not None:
        assert list(one.samples.lines()) == list(other.samples.lines())
        np.testing.assert_equal(one.samples.to_dict(), other.samples.to_dict())
        assert one.samples.files()["posterior.tsv"] == other.samples.files()["posterior.tsv"]


def maximised(result: syclade.Result) -> float:
    """Return the quantity that chains maximise.

    With learned rates it includes their log prior density; shares fit each tree, and are those of the chains
    only in their own log-likelihoods.
    """
    if result.score == "shares":
        return float(result.chain_log_likelihoods.max())
    return result.log_likelihood + (result.learned["log_prior"] if result.learned else 0.0)


def stopped(device: str, launches: int, **options: Any) -> syclade.Result:
    """Return the result of a run that is stopped after the given number of launches."""
    stop, seen = Stop(), 0

    def count(_: object) -> None:
        nonlocal seen
        seen += 1
        stop.wanted = seen >= launches

    return infer(device, stop=stop, progress=count, **options)


@pytest.mark.parametrize(
    ("kind", "launches"),
    [
        *((kind, launches) for kind in KINDS for launches in (1, 3)),  # chains have four launches or more
        *((kind, launches) for kind in ("search", "from searches") for launches in (12, 40)),
    ],
)
def test_a_stopped_run_goes_on(
    whole: dict[str, syclade.Result], tmp_path: Path, kind: str, launches: int
) -> None:
    place, options = tmp_path / "run", KINDS[kind]
    first = stopped("native", launches, checkpoint=place, checkpoint_every=0, **options)
    assert first.interrupted
    assert maximised(first) <= maximised(whole[kind]) + 1e-9
    if place.exists():
        options = {**options, "slots": 3}
        assert_equal(infer("native", resume=place, checkpoint=place, **options), whole[kind])
        ended = infer("native", resume=place, **options)
        assert_equal(ended, whole[kind])
        assert (ended.work, ended.device, ended.steps_per_second) == ((), None, 0.0)
        assert "all done by an earlier run" in repr(ended)


def test_a_run_with_two_learned_rates_goes_on(tmp_path: Path) -> None:
    place, learned = tmp_path / "run", {"chains": 2, "steps": 200, "learn_fn": 0.2, "learn_fp": 0.1}
    first = stopped("numpy", 3, checkpoint=place, checkpoint_every=0, samples=30, **learned)
    assert first.interrupted
    assert_equal(infer("numpy", resume=place, samples=30, **learned), infer("numpy", samples=30, **learned))


@pytest.mark.parametrize(
    ("kind", "begun", "ended"),
    [
        *((kind, "native", "numpy") for kind in ("steps", "search", "samples", "shares")),
        *((kind, "numpy", "native") for kind in ("steps", "samples", "shares")),
        pytest.param("search", "numpy", "native", marks=pytest.mark.verification),
    ],
)
def test_a_run_goes_on_elsewhere(
    whole: dict[str, syclade.Result], tmp_path: Path, kind: str, begun: str, ended: str
) -> None:
    place, options, expected = tmp_path / "run", KINDS[kind], whole[kind]
    if "steps" in options:  # numpy takes a second for more
        options = {**options, "steps": 2300}
        expected = infer("native", **options)
    for launches in (3, 20, 60, 200):
        first = stopped(begun, launches, checkpoint=place, checkpoint_every=0, force=True, **options)
        if place.exists():
            break
    assert first.interrupted, "there is work left"
    resumed = infer(ended, resume=place, **options)
    assert_equal(resumed, expected)
    assert_did_all(resumed, ended)


@pytest.mark.parametrize("kind", ["steps", "samples in few slots", "search"])
def test_speed_is_that_of_this_process(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, seen, stop = tmp_path / "run", list[Progress](), Stop()

    def progress(state: inference.InferenceProgress) -> None:
        stop.wanted = place.exists() and state.steps_done > 6000  # five chains of 1000 are the first round

    infer("native", stop=stop, progress=progress, checkpoint=place, checkpoint_every=0, **KINDS[kind])
    assert stop.wanted
    monkeypatch.setattr(inference, "progress_of", lambda state, _: seen.append(state))
    resumed = infer("native", resume=place, progress=lambda _: None, **KINDS[kind])
    done = sum(one.count for one in resumed.work if one.unit == STEPS)
    assert seen[-1].steps_here == done < seen[-1].steps_done
    assert (kind == "search") == (done == 0)


def test_the_time_of_searches_counts() -> None:
    """Chains that start from searches take no time beside these; the result reports both."""
    result = infer("native", **KINDS["from searches"])
    assert [one.unit for one in result.work] == [STEPS, SWEEPS, STEPS], "short chains, searches, chains"
    assert result.seconds >= sum(one.seconds for one in result.work)


@pytest.mark.sycl
def test_a_run_goes_on_on_a_sycl_device(whole: dict[str, syclade.Result], tmp_path: Path) -> None:
    place = tmp_path / "run"
    stopped("native", 30, checkpoint=place, checkpoint_every=0, **KINDS["search"])
    resumed = infer("cpu", resume=place, **KINDS["search"])
    assert_equal(resumed, whole["search"])
    assert_did_all(resumed, "cpu")
    assert [one.unit for one in resumed.work] == ["sweeps"], "the chains were the earlier run's"


def test_what_is_kept_changes_nothing(whole: dict[str, syclade.Result], tmp_path: Path) -> None:
    for kind, options in KINDS.items():
        assert_equal(infer("native", checkpoint=tmp_path / kind, checkpoint_every=0, **options), whole[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_had_ended_is_kept_elsewhere(
    whole: dict[str, syclade.Result], tmp_path: Path, kind: str
) -> None:
    place, other = tmp_path / "run", tmp_path / "other"
    infer("native", checkpoint=place, **KINDS[kind])
    assert_equal(infer("native", resume=place, checkpoint=other, **KINDS[kind]), whole[kind])
    assert_equal(infer("native", resume=other, **KINDS[kind]), whole[kind])


def test_events_that_a_killed_run_wrote_too_many_are_cut_off(
    whole: dict[str, syclade.Result], tmp_path: Path
) -> None:
    place = tmp_path / "run"
    stopped("native", 12, checkpoint=place, checkpoint_every=0, **KINDS["samples"])
    journal = store_of(place)
    with journal.open("ab") as stream:
        stream.write(journal.read_bytes()[-500:] + b"half a record")
    copy = tmp_path / "copy"
    copy.write_bytes(place.read_bytes())
    store_of(copy).write_bytes(journal.read_bytes())
    assert_equal(infer("native", resume=place, checkpoint=place, **KINDS["samples"]), whole["samples"])
    assert_equal(infer("native", resume=place, **KINDS["samples"]), whole["samples"])  # the run had ended
    other = tmp_path / "other"
    assert_equal(infer("native", resume=copy, checkpoint=other, **KINDS["samples"]), whole["samples"])
    assert_equal(infer("native", resume=other, **KINDS["samples"]), whole["samples"])


def test_events_that_are_lost_are_told(tmp_path: Path) -> None:
    place = tmp_path / "run"
    infer("native", checkpoint=place, **KINDS["samples"])
    with pytest.raises(OutputError, match="already exists"):
        infer("native", checkpoint=tmp_path / "run", **KINDS["samples"])
    content = store_of(place).read_bytes()
    for left, words in (
        (content[:-1], "it ends there"),
        (b"", "at byte 0: it ends there"),
        (None, "cannot be read"),
    ):
        if left is None:
            store_of(place).unlink()
        else:
            store_of(place).write_bytes(left)
        with pytest.raises(CheckpointError, match=words):
            infer("native", resume=place, **KINDS["samples"])
    place.unlink()
    store_of(place).write_bytes(b"somebody else's")
    with pytest.raises(OutputError, match="events already exists"):
        infer("native", checkpoint=place, **KINDS["samples"])
    infer("native", checkpoint=place, force=True, **KINDS["samples"])


def test_a_stopped_run_has_a_tree(tmp_path: Path) -> None:
    for kind, options in KINDS.items():
        result = stopped("native", 1, **options)
        assert result.interrupted, kind
        assert not result.converged
        assert result.summary()["interrupted"] is True
        assert len(result.parents) == MATRIX.n_mutations + 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 9}, "had --seed 8, and this one has 9"),
        ({"steps": 9001}, "had --steps 9000, and this one has 9001"),
        ({"gamma": 2.0}, "--gamma"),
        ({"fp_rate": 0.02}, "--fp-rate"),
        ({"move_probabilities": (1, 0, 0)}, "had --move-probs 0.55 0.4 0.05, and this one has 1"),
        ({"samples": 100}, "had --samples not given, and this one has 100"),
        ({"learn_fn": 0.2}, "had --learn-fn not given, and this one has 0.2"),
        ({"score": "sum"}, "had --score max, and this one has sum"),
        ({"tree": "leaf"}, "had --tree mutation, and this one has leaf"),
        (
            {"method": "search", "chains": None, "steps": None},
            "one of chains, and this run is one of searches",
        ),
    ],
)
def test_another_run_is_refused(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    place, options = tmp_path / "run", {"fp_rate": 0.01, "fn_rate": 0.3, "seed": 8, **KINDS["steps"]}
    syclade.infer(MATRIX, device="native", checkpoint=place, **options)
    with pytest.raises(CheckpointError, match=words) as caught:
        syclade.infer(MATRIX, device="native", resume=place, **{**options, **change})
    assert " another " not in caught.value.message, "one difference, one message"


def test_another_matrix_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "run"
    infer("native", checkpoint=place, **KINDS["search"])
    other = simulate(cells=24, mutations=9, fp_rate=0.01, fn_rate=0.3, missing=0.2, seed=5).matrix
    with pytest.raises(CheckpointError, match="another matrix"):
        syclade.infer(other, fp_rate=0.01, fn_rate=0.3, seed=8, device="native", resume=place)


def test_a_file_of_another_run_stays(tmp_path: Path) -> None:
    place = tmp_path / "run"
    place.write_text("mine")
    with pytest.raises(OutputError, match="already exists"):
        infer("native", checkpoint=place, **KINDS["steps"])
    assert place.read_text() == "mine"
    with pytest.raises(CheckpointError, match="no checkpoint"):
        infer("native", resume=place, **KINDS["search"])
    infer("native", checkpoint=place, force=True, **KINDS["steps"])
    content = place.read_bytes()
    place.write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="damaged"):
        infer("native", resume=place, **KINDS["steps"])


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--start is 'best'"):
        infer("native", start="best")
    with pytest.raises(OptionError, match="--start search does not go with --method search"):
        infer("native", start="search", method="search")
    with pytest.raises(OptionError, match="checkpoint-every"):
        infer("native", checkpoint=tmp_path / "run", checkpoint_every=-1)
