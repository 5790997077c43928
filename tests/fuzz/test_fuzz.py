"""A fixed sample of inputs of each kind, and checks that failures would be detected."""

from __future__ import annotations

import gc
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from syclade.host.ground.errors import TreeError
from tests.fuzz import __main__ as program
from tests.fuzz import run
from tests.fuzz.kinds import KINDS
from tests.fuzz.run import Kind, Tally, fuzz

FEW, MANY = 50, 2000


@pytest.fixture(autouse=True)
def _without_log() -> Iterator[None]:
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def without_garbage() -> None:
    """Freeze garbage of other tests, since warnings at its collection would be attributed to an input."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def kind_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Kind]:
    """Return a function that makes a kind of inputs once: some infer results first."""
    return cache(lambda name: KINDS[name](tmp_path_factory.mktemp(name)))


@pytest.mark.usefixtures("without_garbage")
@pytest.mark.parametrize("inputs", [FEW, pytest.param(MANY, marks=pytest.mark.verification)])
@pytest.mark.parametrize("name", KINDS)
def test_nothing_but_results_and_errors_in_words(
    kind_of: Callable[[str], Kind], name: str, inputs: int
) -> None:
    tally = Tally()
    failures = list(fuzz(kind_of(name), 1, range(inputs), tally))
    assert not failures, failures[0]
    assert tally.taken > inputs / 10, "too many are refused to say anything of those that are taken"
    assert tally.refused > inputs / 10 or name == "caches", "hardly any input is damaged"


class Faulty:
    """Kind of input whose `take` each test replaces."""

    name = "faulty"

    def make(self, draw: Random) -> int:
        return draw.randrange(1000)

    def take(self, given: int) -> Any:
        raise NotImplementedError


def fault_of(kind: Faulty) -> str:
    """Return the last line of the reason why the first input fails."""
    (failure,) = fuzz(kind, 1, range(1), Tally())
    assert failure.given == run.input_of(kind, 1, 0)
    return failure.reason.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (ZeroDivisionError("x"), "ZeroDivisionError: x"),
        (AssertionError("wrong"), "AssertionError: wrong"),
        (RecursionError(), "RecursionError"),
        (TreeError(""), "an error without words"),
        (TreeError("a\0b"), "a null character"),
        (TreeError("\ud800"), "surrogates not allowed"),
    ],
)
def test_faults_are_found(monkeypatch: pytest.MonkeyPatch, problem: Exception, words: str) -> None:
    def take(*_: object) -> None:
        raise problem

    monkeypatch.setattr(Faulty, "take", take)
    assert words in fault_of(Faulty())


def test_warnings_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Faulty, "take", lambda *_: warnings.warn("look", stacklevel=1))
    assert fault_of(Faulty()) == "UserWarning: look"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such clock")
def test_hangs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def take(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(run, "MOST_SECONDS", 0.2)
    monkeypatch.setattr(Faulty, "take", take)
    assert "more than 0.2 s" in fault_of(Faulty())


def test_equal_numbers_are_equal_inputs(kind_of: Callable[[str], Kind]) -> None:
    for kind in map(kind_of, KINDS):
        one, same, other = (repr(run.input_of(kind, seed, 5)) for seed in (1, 1, 2))
        assert one == same != other


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(program.command, ["--inputs", "20", "--kind", "trees"])
    assert done.exit_code == 0
    assert "trees: " in done.output
    monkeypatch.setattr(program, "KINDS", {"trees": lambda _: Faulty()})
    done = CliRunner().invoke(program.command, ["--inputs", "20", "--kind", "trees"])
    assert done.exit_code == 1
    assert "NotImplementedError" in done.output
    assert "again: python -m tests.fuzz --kind trees --seed 1 --first 0 --inputs 1" in done.output
