"""`syclade.infer_many`: results of `infer` in order, on any executor."""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.answer.batch.results_table import line_of
from syclade.host.answer.output.result import Result
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import MatrixError, OptionError
from tests.answer.batch.cohort import write_cohort

OPTIONS: dict[str, Any] = {"fp_rate": 0.02, "fn_rate": 0.2, "support": "none", "device": "native"}


def matrices(count: int) -> list[Matrix]:
    return [simulate(12, 8, 0.02, 0.2, 0.1, seed=seed).matrix for seed in range(1, count + 1)]


def summaries(results: Iterator[Any]) -> list[dict[str, Any]]:
    return [result.summary() for result in results]


class AtOnce(Executor):
    """An executor that is no pool of the standard library: it calls as it is given the calls."""

    def submit(self, function: Any, /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(function(*args, **named))))
        except BaseException as error:
            future.set_exception(error)
        return future


def test_results_are_those_of_infer_on_any_executor() -> None:
    given = matrices(3)
    alone = [syclade.infer(matrix, **OPTIONS).summary() for matrix in given]
    assert summaries(syclade.infer_many(given, **OPTIONS)) == alone
    assert summaries(syclade.infer_many(iter(given), jobs=3, **OPTIONS)) == alone
    with ThreadPoolExecutor(2) as pool:
        assert summaries(syclade.infer_many(given, executor=pool, **OPTIONS)) == alone
    assert summaries(syclade.infer_many(given, executor=AtOnce(), **OPTIONS)) == alone


@pytest.mark.slow
def test_processes() -> None:
    given = matrices(3)
    alone = [syclade.infer(matrix, **OPTIONS).summary() for matrix in given]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert summaries(syclade.infer_many(given, executor=pool, **OPTIONS)) == alone


def test_options_of_single_matrices(tmp_path: Path) -> None:
    (path,) = write_cohort(tmp_path, 1)
    given = [path, (path, {"seed": 5}), (path, {"two": "missing", "format": "scite"})]
    results = [result for result in syclade.infer_many(given, **OPTIONS) if isinstance(result, Result)]
    assert [result.seed for result in results] == [1, 5, 1]
    assert results[2].options["two"] == "missing"


def test_errors() -> None:
    given: list[Any] = [matrices(1)[0], [[0, 9]], matrices(1)[0]]
    results = syclade.infer_many(given, **OPTIONS)
    next(results)
    with pytest.raises(MatrixError, match="9"):
        next(results)
    first, second, third = syclade.infer_many(given, errors="return", **OPTIONS)
    assert isinstance(second, MatrixError)
    assert isinstance(first, Result)
    assert isinstance(third, Result)


@pytest.mark.parametrize(
    "wrong", [{"checkpoint": "x"}, {"speed": 1}, {"errors": "ignore"}, {"jobs": 0}, {"report": True}]
)
def test_wrong_options_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        syclade.infer_many([], **wrong)
    with ThreadPoolExecutor(1) as pool, pytest.raises(OptionError):
        syclade.infer_many([], executor=pool, jobs=1)


def test_inputs_may_be_endless() -> None:
    taken = 0

    def endless() -> Iterator[Matrix]:
        nonlocal taken
        for matrix in itertools.cycle(matrices(1)):
            taken += 1
            yield matrix

    results = syclade.infer_many(endless(), jobs=2, **OPTIONS)
    for _ in range(3):
        next(results)
    results.close()  # type: ignore[attr-defined]
    assert taken <= 8


@pytest.mark.parametrize(
    "options",
    [
        {"support": "quick"},
        {"method": "chain", "chains": 2, "steps": 4000, "samples": 100, "support": None},
        {"tree": "leaf", "method": "chain", "chains": 2, "steps": 4000, "samples": 100, "support": None},
        {"recurrent": 2, "support": None, "method": "chain", "chains": 2, "steps": 4000},
        {"doublets": 0.1, "support": None, "method": "chain", "chains": 2, "steps": 4000},
        {"max_trees": 5},
    ],
)
def test_results_can_be_pickled(tmp_path: Path, options: dict[str, Any]) -> None:
    result = syclade.infer(matrices(1)[0], **{**OPTIONS, **options})
    restored = pickle.loads(pickle.dumps(result))
    assert not restored.parents.flags.writeable
    names = result.write(tmp_path / "one")
    assert restored.write(tmp_path / "two") == names
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_reasons_to_doubt_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    matrix = np.repeat(1 - np.tri(5, 6, -1, dtype=np.uint8), 20, axis=1)
    wrong: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2, "support": "none", "device": "native"}
    of_input, said = syclade.infer(matrix, **wrong).warnings
    assert "seen in at least 95 %" in of_input
    assert said.startswith("the matrix contradicts --fn-rate")
    list(syclade.infer_many([matrix], **wrong))
    logged = [one.getMessage() for one in caplog.records if one.name == "syclade.result"]
    assert logged == [said, f"matrix 1: {said}"]


def test_lines_have_the_estimates_of_rates_and_what_was_left_out() -> None:
    """The tree is searched under other rates than those that its samples and the report speak of."""
    made = simulate(60, 6, 0.02, 0.2, 0.1, 3).matrix
    result = syclade.infer(made, device="native", seed=1)
    assert result.support is not None
    assert result.support.rates is not None
    line = line_of("one", result)
    for name in ("fp_rate", "fn_rate"):
        assert line[name] == float(f"{result.support.rates.intervals[name].mean:.3g}")
    assert line["warned"] == result.warnings
    left = read_matrix(made.values, made.mutations, exclude_mutations="M2")
    line = line_of("two", syclade.infer(left, **OPTIONS))
    assert line["warned"][0] == "left out: 1 mutation named by --exclude-mutations (M2)"
    assert line["warnings"] == len(line["warned"])
    assert (line["fp_rate"], line["fn_rate"]) == (0.02, 0.2)
