"""∞SCITE's arguments: their meaning, and refusals."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.commands.main import main
from syclade.host.commands.scite.infscite import InfsciteCall, dialect_of, parse_arguments
from syclade.host.ground.errors import OptionError, SycladeError

NEEDED = "-i d/data.csv -n 2 -m 3 -r 1 -l 100 -fd 6e-5 -ad 0.2"


def call_of(text: str) -> InfsciteCall:
    return parse_arguments(text.split())


WORDS = [
    "-d",
    "-z",
    "-e",
    "-sd_alpha",
    "-sd_beta",
    "-x",
    "-rec",
    "-s",
    "-p",
    "-transpose",
    "-i",
    "-ad",
    "-cc",
]
VALUES = ["-", "1", "-1", "0.5", "1e9", "nan", "inf", "1e400", "²", "", "\0", "9" * 50, "0", "0.2", "3"]


@given(st.lists(st.sampled_from([*WORDS, *VALUES]), max_size=8))
def test_any_words(more: list[str]) -> None:
    """Any words are arguments of a valid model, or give an error message."""
    with contextlib.suppress(SycladeError):
        dialect_of(parse_arguments([*NEEDED.split(), *more]))


def test_the_flags_of_the_larger_model() -> None:
    call = call_of(f"{NEEDED} -d 0.1 -e 0.2 -z 1000 10 -sd_alpha 1e-5 -sd_beta 0.2 -x 5 -p 10 -o out/base")
    assert (call.doublets, call.doublet_rate, call.sum_score) == (True, 0.1, True)
    assert (call.unmutated, call.alpha_sd, call.prior_sd, call.step_divisor) == ((1000, 10), 1e-5, 0.2, 5)
    assert (call.learn, call.samples, call.prefix) == (0.2, 10, Path("out/base"))
    call = call_of(f"{NEEDED} -d -e 0.2 -z -s")
    assert (call.doublets, call.doublet_rate) == (True, None)
    assert call.unmutated == (10_000, 0), "∞SCITE's defaults"
    call = call_of(NEEDED)
    assert (call.doublets, call.unmutated, call.sum_score, call.prior_sd) == (False, None, False, 0.1)


def test_the_models() -> None:
    """Jumps of -e are shared by the two error rates; the rate of doublets has a uniform prior."""
    model = dialect_of(call_of(f"{NEEDED} -d -e 0.2 -z 1000 10")).model
    assert model.fn is not None
    assert model.fp is not None
    assert model.doublets is not None
    assert (model.fn.prior.probability, model.fp.prior.probability) == (0.1, 0.1)
    assert model.fp.prior.counts == (1000, 10)
    assert (model.doublets.prior.mean, abs(model.doublets.log_density).max()) == (
        0.5,
        pytest.approx(0, abs=1e-9),
    )
    model = dialect_of(call_of(f"{NEEDED} -d 0.1 -e 0.2")).model
    assert (model.fp, model.doublets) == (None, None)
    assert model.fn is not None
    assert (model.fn.prior.probability, model.fn.prior.step) == (0.2, 0.01)
    assert not dialect_of(call_of(NEEDED)).model.learns


def test_a_recurrent_mutation_goes_with_learned_rates() -> None:
    """The flags of ∞SCITE's README, and -d -rec alone, which it recommends for tests of infinite sites."""
    call = call_of(f"{NEEDED} -s -e .2 -p 10000 -d -rec 2")
    assert (call.learn, call.recurrent, call.doublets, call.doublet_rate) == (0.2, 1, True, None)
    dialect = dialect_of(call)
    assert dialect.score.recurrent == 1
    assert [prior.name for prior in dialect.model.priors] == ["fn_rate", "doublets"]
    assert [prior.name for prior in dialect_of(call_of(f"{NEEDED} -d -rec 1")).model.priors] == ["doublets"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("-rec 0", "-rec is 0, which is no row of the matrix"),
        ("-rec 3", "-rec is 3, which is no row of the matrix"),
        ("-rec -1", "-rec is -1, which is no row"),
        ("-rec all", "-rec is 'all', which is not a number"),
        ("-rec", "-rec wants 1 value"),
        ("-n 1 -rec 1", "-rec with 1 mutation"),
        ("-rec 1 -z 5 1", "^-z without -e"),
        ("-rec 1 -transpose", "^-transpose does not go with -rec"),
        ("-samples x", "-samples is not supported"),
        ("-sd 0.1", "there is no flag -sd"),
        ("-d 0", "-d is 0"),
        ("-d 1", "-d is 1"),
        ("-d x", "-d is 'x', which is not a number"),
        ("-d -transpose", "-d does not go with -transpose"),
        ("-e 0.2 -z 5", "-z has one value"),
        ("-e 0.2 -z -5 1", "'-5' belongs to no flag|-z is -5"),
        ("-e 0.2 -z 1.5 1", "-z is '1.5', which is not a whole number"),
        ("-z 5 1", "-z without -e"),
        ("-sd_beta 0.1", "-sd_beta without -e"),
        ("-e 0.2 -sd_alpha 0.1", "-sd_alpha without -z"),
    ],
)
def test_refused(more: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        call_of(f"{NEEDED} {more}")


def test_a_prior_that_no_beta_distribution_has_is_refused() -> None:
    """∞SCITE's default of -sd_alpha gives shape parameters below 0."""
    call = call_of(f"{NEEDED} -e 0.2 -z 1000 10 -sd_alpha 0.1")
    with pytest.raises(OptionError, match=r"--fp-sd is 0\.1"):
        dialect_of(call)


@pytest.mark.parametrize(
    ("command", "more", "flag"),
    [
        ("infscite", "-sd_alpha .1 -z -e .2", "-sd_alpha is 0.1"),
        ("infscite", "-sd_alpha .1", "-z learns the rate of -fd"),
        ("infscite", "-d -e 1", "-e is 1"),
        ("infscite", "-g 0", "-g is 0"),
        ("scite", "-g 0", "-g is 0"),
        ("scite", "-fd 0", "-fd is 0"),
    ],
)
def test_messages_name_flags_that_the_command_has(
    command: str, more: str, flag: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0 1 1\n1 0 1\n")
    needed = f"-i {path} -n 2 -m 3 -r 1 -l 100 -fd 6e-5 -ad 0.2 --device native"
    with pytest.raises(SystemExit) as ended:
        main([command, *needed.split(), *more.split()])
    said = capfd.readouterr().err
    assert ended.value.code == 2
    assert flag in said
    assert " --" not in said
