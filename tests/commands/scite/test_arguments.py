"""SCITE's arguments: their meaning, and refusals where they could be misread."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syclade.host.commands.scite.arguments import SciteCall, parse_arguments
from syclade.host.commands.scite.dialect import matrix_of, rates_of, refuse_what_is_missing
from syclade.host.ground.errors import SycladeError

NEEDED = "-i d/data.csv -n 2 -m 3 -r 1 -l 100 -fd 6e-5 -ad 0.2"


def call_of(text: str) -> SciteCall:
    return parse_arguments(text.split())


WORDS = [
    "-i",
    "-n",
    "-ad",
    "-p",
    "-move_probs",
    "-a",
    "-o",
    "-seed",
    "--force",
    "-g",
    "-l",
    "-max_treelist_size",
]
VALUES = [
    *["-", "--", "1", "-1", "0.5", "1e9", "nan", "inf", "1e400", "²", "1_0", "..", "/", "."],
    "",
    "\0",
    "9" * 50,
]


@given(st.lists(st.sampled_from([*WORDS, *VALUES]), max_size=8))
def test_any_words(more: list[str]) -> None:
    """Any words are arguments or give an error message."""
    with contextlib.suppress(SycladeError):
        parse_arguments([*NEEDED.split(), *more])


def test_the_greatest_seed() -> None:
    assert call_of(f"{NEEDED} -seed {2**64 - 1}").seed == 2**64 - 1


def test_what_is_needed_and_what_the_rest_is() -> None:
    call = call_of(NEEDED)
    assert (call.mutations, call.cells, call.chains, call.steps) == (2, 3, 1, 100)
    assert (call.fp_rate, call.fn_rates, call.hom_rate, call.gamma) == (6e-5, (0.2,), None, 1.0)
    assert (call.prefix, call.matrix) == (Path("d/data"), Path("d/data.csv"))
    assert (call.max_trees, call.tree_list, call.samples, call.attach) == (None, True, None, False)
    assert call.move_probabilities is None


def test_every_flag() -> None:
    call = call_of(
        "-a -ad .21545 0.2 -cc 1.3e-5 -fd 6.04e-5 -l 1e5 -r 2 -m 58 -n 18 -i x.y.csv -names g -o out/base "
        "-g 1.5 -seed 7 -max_treelist_size 3 -p 10 -t true.gv -move_probs 0.4 0.4 0.2 -e 0 -x 5 -sd 0.2 "
        "--device numpy --force"
    )
    assert (call.fn_rates, call.hom_rate, call.steps) == ((0.21545, 0.2), 1.3e-5, 100_000)
    assert (call.names, call.prefix, call.true_tree) == (Path("g"), Path("out/base"), Path("true.gv"))
    assert (call.gamma, call.seed, call.max_trees, call.samples) == (1.5, 7, 3, 10)
    assert (call.move_probabilities, call.device, call.force) == ((0.4, 0.4, 0.2), "numpy", True)
    assert call_of(f"{NEEDED} -p").samples == 1
    assert call_of(f"{NEEDED} -p -a").attach
    assert call_of(f"{NEEDED} -r 5 -max_treelist_size -1").max_trees is None
    assert call_of(f"{NEEDED} -r 5").chains == 5
    assert not call_of(f"{NEEDED} -no_tree_list").tree_list
    assert call_of(NEEDED.replace("data.csv", "x.y.csv")).prefix == Path("d/x.y")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "-i, -n, -m, -r, -l, -fd, -ad are missing"),
        (NEEDED.replace("-fd 6e-5 ", ""), "-fd is missing"),
        (f"{NEEDED} -maxtreelist_size 3", "there is no flag -maxtreelist_size"),
        (f"{NEEDED} 0.1 0.2", "'0.2' belongs to no flag"),
        (f"{NEEDED} -rec 1", "-rec is a flag of ∞SCITE"),
        (f"{NEEDED} -g", "-g wants 1 value"),
        (f"{NEEDED} -move_probs 0.1", "-move_probs wants 2 values"),
        (f"{NEEDED} -cc x", "-cc is 'x', which is not a number"),
        (f"{NEEDED} -r 1.5", "-r is '1.5', which is not a whole number"),
        (f"{NEEDED} -l inf", "-l is 'inf', which is not a whole number"),
        (f"{NEEDED} -l 0", "-l is 0"),
        (f"{NEEDED} -p 0", "-p is 0"),
        (f"{NEEDED} -seed -1", "-seed is -1"),
        (f"{NEEDED} -seed 18446744073709551616", "-seed is 18446744073709551616"),
        (f"{NEEDED} -r 1e300", "-r is '1e300', which is not a whole number"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(SycladeError) as caught:
        call_of(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("-transpose -s", "-s does not go with -transpose"),
        ("-transpose -p", "-p does not go with -transpose"),
        ("-transpose -t FILE", "-t does not go with -transpose"),
        ("-transpose -move_probs 0.5 0.4 0.1", "-move_probs has 3 values"),
        ("-transpose -e 0.2", "-e does not go with -transpose"),
        ("-e 1", "no step would be left"),
        ("-e 2", "-e is 2.0"),
        ("-move_probs 0.5 0.5", "-move_probs has 2 values"),
    ],
)
def test_what_is_not_there(more: str, words: str) -> None:
    with pytest.raises(SycladeError) as caught:
        refuse_what_is_missing(call_of(f"{NEEDED} {more}"))
    assert words in str(caught.value)


def test_rates() -> None:
    assert rates_of(call_of(NEEDED)).fn_rate_hom is None
    assert rates_of(call_of(f"{NEEDED} -ad 0.2 0 -cc 0")).fn_rate_hom is None
    rates = rates_of(call_of(f"{NEEDED} -ad 0.2 0.1 -cc 1e-5"))
    assert (rates.fn_rate, rates.fn_rate_hom, rates.hom_rate) == (0.2, 0.1, 1e-5)
    for more, words in (("-cc 1e-5", "-ad has one value"), ("-ad 0.2 0.1", "there is no -cc")):
        with pytest.raises(SycladeError, match=words):
            rates_of(call_of(f"{NEEDED} {more}"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1 1\n1 0 3\n1 1 1\n", "-n is 2 and -m 3, but there are 3 rows and 3 columns"),
        ("0 1\n1 0\n1 1\n", "exchanged?"),
        ("0 1 1\n1 0 2\n", "row 2, cell 3 is 2, a homozygous mutation, and -ad has one value"),
        ("0 1 x\n", "'x' (row 1, cell 3)"),
    ],
)
def test_matrices_that_scite_would_misread(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "data.csv"
    file.write_text(text)
    with pytest.raises(SycladeError) as caught:
        matrix_of(call_of(NEEDED.replace("d/data.csv", str(file))))
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
