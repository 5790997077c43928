"""`--doublets learn` and `--unmutated-counts` for users: `infer`, its files and repetition; `score`."""

from __future__ import annotations

import itertools
import json
import math
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import syclade
from syclade.host.commands.main import cli
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.model.doublets import fitted_shares, mixture_of
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.ground.errors import CheckpointError, OptionError
from syclade.host.ground.options import command_of
from syclade.host.ground.signals import Stop

MADE = simulate(60, 8, 0.01, 0.2, 0.1, 3, doublets=0.4)
RATES: dict[str, Any] = {"fp_rate": 0.01, "fn_rate": 0.2}
LEARN: dict[str, Any] = {**RATES, "doublets": "learn", "chains": 2, "steps": 400, "device": "native"}
COUNTS: dict[str, Any] = {"learn_fp": 0.2, "learn_fn": 0.1, "unmutated_counts": (900, 20)}
"""Options that a precompiled kernel has; with `learn_fp` alone, one is compiled."""


def test_learn_is_a_uniform_prior() -> None:
    found = syclade.infer(MADE.matrix, **LEARN, samples=10)
    spelled = syclade.infer(
        MADE.matrix, **{**LEARN, "doublets": 0.5}, samples=10, learn_doublets=0.1, doublets_sd=(1 / 12) ** 0.5
    )
    assert found.learned == spelled.learned
    assert found.learned is not None
    assert found.learned["log_prior"] == pytest.approx(0, abs=1e-9)
    assert found.samples is not None
    assert spelled.samples is not None
    assert list(found.samples.lines()) == list(spelled.samples.lines())
    assert found.options["doublets"] == "learn"
    assert found.assignment.doublets is not None
    assert found.assignment.doublets.rate == found.learned["doublets"]["value"]


def test_learn_with_a_probability_of_changes() -> None:
    found = syclade.infer(MADE.matrix, **LEARN, learn_doublets=0.3)
    assert found.move_probabilities["learn doublets"] == pytest.approx(0.3)


def test_the_command_its_files_and_its_repetition(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text(format_matrix(MADE.matrix.values))
    words = "--fp-rate 0.01 --fn-rate 0.2 --doublets learn --learn-fp 0.2 --unmutated-counts 900 20"
    words += " --learn-fn 0.1 --chains 2 --steps 300 --samples 10 --netcdf --report --device native"

    def summary_of(words: list[str], out: Path) -> Any:
        done = CliRunner().invoke(cli, [*words, "--out", str(out)])
        assert done.exit_code == 0, done.output
        return json.loads((out / "summary.json").read_text())

    first = summary_of(["infer", str(matrix), *words.split()], tmp_path / "one")
    assert first["learned"]["fp_rate"]["unmutated_counts"] == [900, 20]
    assert first["doublets"]["rate"] == pytest.approx(first["learned"]["doublets"]["value"])
    page = (tmp_path / "one" / "report.html").read_text()
    assert "900 times 0 and 20 times 1 at positions left out of the matrix" in page
    options = json.loads((tmp_path / "one" / "run.json").read_text())["options"]
    assert (options["doublets"], options["unmutated_counts"]) == ("learn", [900, 20])
    again = shlex.split(command_of(str(matrix), options))[1:]
    assert summary_of(again, tmp_path / "two") == first


@pytest.fixture(scope="module")
def estimated() -> syclade.Result:
    return syclade.infer(MADE.matrix, doublets="learn", support="none", device="native")


def test_learn_alone_estimates_all_rates(estimated: syclade.Result) -> None:
    """Errors of 0.01 and 0.2, and 0.4 doublets; without steps, chains anneal under the estimates."""
    assert estimated.estimated_rates == ("fp_rate", "fn_rate", "doublets")
    assert estimated.options["method"] == "anneal"
    doublets = estimated.assignment.doublets
    assert doublets is not None
    assert estimated.rates.fp_rate < 0.04
    assert estimated.rates.fn_rate == pytest.approx(0.2, abs=0.08)
    assert doublets.rate == pytest.approx(0.3, abs=0.15), "60 cells, and a prior that expects fewer"
    assert estimated.score == "doublets"
    single = syclade.infer(MADE.matrix, support="none", device="native")
    assert single.rates.fn_rate != estimated.rates.fn_rate, "doublets change the estimates"


def test_estimates_with_doublets_fit_the_tree(estimated: syclade.Result) -> None:
    """Other rates, each by itself, are less probable: with their priors, and shares of nodes that fit."""
    assert estimated.assignment.doublets is not None
    best = {**estimated.rates.to_dict(), "doublets": estimated.assignment.doublets.rate}
    names = ("fp_rate", "fn_rate", "doublets")

    def fit(rates: dict[str, Any]) -> float:
        errors, share = Rates(rates["fp_rate"], rates["fn_rate"]), rates["doublets"]
        shares = fitted_shares(MADE.matrix, errors, estimated.parents, share)
        mixture = mixture_of(MADE.matrix, errors, estimated.parents, shares)
        priors = 0.5 * sum(math.log(rates[name]) for name in names)
        priors += 29.5 * math.log1p(-errors.fp_rate) + 2.5 * math.log1p(-errors.fn_rate)
        return float(mixture.log_likelihoods(share).sum()) + priors + 9.0 * math.log1p(-share)

    assert syclade.score(MADE.matrix, estimated.parents, **best) == pytest.approx(estimated.log_likelihood)
    for name, factor in itertools.product(names, (0.6, 1.5)):
        assert fit({**best, name: best[name] * factor}) < fit(best)


def test_an_estimated_run_is_repeated_by_its_command(tmp_path: Path, estimated: syclade.Result) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text(format_matrix(MADE.matrix.values))
    words = shlex.split(command_of(str(matrix), estimated.options))[1:]
    assert "learn" in words, "the rates are estimated again"
    done = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    again = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert again["log_likelihood"] == estimated.log_likelihood


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"doublets": 0.3}, ("fp_rate", "fn_rate")),
        ({"doublets": "learn", **RATES}, ("doublets",)),
        ({"doublets": "learn", "fn_rate": 0.2, "recurrent": 2}, ("fp_rate", "doublets")),
        ({"doublets": "learn", "steps": 200, "chains": 2}, ("fp_rate", "fn_rate", "doublets")),
    ],
)
def test_what_is_not_given_is_estimated(options: dict[str, Any], names: tuple[str, ...]) -> None:
    """With steps, chains learn the rate of doublets under estimated error rates."""
    found = syclade.infer(MADE.matrix, support="none", device="native", **options)
    chained = "steps" in options
    assert found.estimated_rates == tuple(name for name in names if name != "doublets" or not chained)
    assert (found.learned is not None) == chained
    assert found.assignment.doublets is not None
    if isinstance(options["doublets"], float):
        assert found.assignment.doublets.rate == options["doublets"]
    for name in ("fp_rate", "fn_rate"):
        if name in options:
            assert getattr(found.rates, name) == options[name]


def test_a_stop_while_rates_of_doublets_are_estimated_leaves_a_tree() -> None:
    stop = Stop()

    def once(_: object) -> None:
        stop.wanted = True

    found = syclade.infer(MADE.matrix, doublets="learn", device="native", stop=stop, progress=once)
    assert found.stopped_in == "tree"
    assert found.assignment.doublets is not None


def test_another_count_is_another_run(tmp_path: Path) -> None:
    kept, options = tmp_path / "kept", {**LEARN, **COUNTS, "checkpoint_every": 0}
    options |= {"device": "numpy", "steps": 50}  # the last of the runs has no precompiled kernel
    syclade.infer(MADE.matrix, **options, checkpoint=kept)
    assert syclade.infer(MADE.matrix, **options, resume=kept).learned is not None
    for other in ({"unmutated_counts": (900, 21)}, {"unmutated_counts": None}, {"doublets": 0.5}):
        with pytest.raises(CheckpointError, match=f"--{next(iter(other)).replace('_', '-')}"):
            syclade.infer(MADE.matrix, **{**options, **other}, resume=kept)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": None}, "--doublets learn without --steps"),
        ({"chains": None, "steps": None, "method": "chain"}, "--doublets learn without --steps"),
        ({"doublets": "learned"}, "--doublets is 'learned'"),
        ({"tree": "leaf"}, "--tree leaf"),
        ({"unmutated_counts": (5, 5)}, "--unmutated-counts without --learn-fp"),
        ({"learn_fp": 0.2, "unmutated_counts": (5,)}, "--unmutated-counts is"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        syclade.infer(MADE.matrix, **{**LEARN, **options})


def test_counts_move_the_learned_rate() -> None:
    """The counts say 0.1, the matrix 0.01."""
    means = []
    for counts in (None, (9000, 1000)):
        more = {**COUNTS, "unmutated_counts": counts, "steps": 1500, "samples": 10}
        found = syclade.infer(MADE.matrix, **{**LEARN, **more})
        assert found.samples is not None
        means.append(found.samples.rates["fp_rate"].mean())
    assert means[0] < 0.05
    assert means[1] == pytest.approx(0.1, abs=0.015)


def test_score_fits_the_rate() -> None:
    best = syclade.score(MADE.matrix, MADE.parents, **RATES, doublets="learn")
    others = [syclade.score(MADE.matrix, MADE.parents, **RATES, doublets=rate / 50) for rate in range(1, 50)]
    assert max(others) <= best + 1e-9
    assert best == pytest.approx(max(others), abs=0.1)


@pytest.mark.shared
def test_the_command_score_has_the_figures_of_infscite(shared_dir: Path) -> None:
    """The tree is read from ∞SCITE's GraphViz file, whose names are labels."""
    data, tree = (
        shared_dir / "data",
        shared_dir / "reference" / "infscite-cli" / "doublet-learned" / "out_map0.gv",
    )
    words = ["score", str(data / "pat_2.csv"), str(tree), "--names", str(data / "pat_2.geneNames"), "--json"]
    done = CliRunner().invoke(
        cli, [*words, "--fp-rate", "3.45e-3", "--fn-rate", "0.146", "--doublets", "learn"]
    )
    assert done.exit_code == 0, done.output
    written = json.loads(done.output[done.output.index("{") :])
    assert written["log_likelihood"] == pytest.approx(-735.19612778239662, abs=1e-6)
    assert written["doublets"]["rate"] == pytest.approx(0.5164353081577169, abs=1e-6)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "more", "log_likelihood"),
    [
        ("doublet-fixed", ("--doublets", "0.1"), -744.30293974432175),
        ("recurrent-ml", ("--recurrent", "13"), -485.93289701219709),
    ],
)
def test_files_of_infscite_without_names_go_with_names_beside_the_matrix(
    shared_dir: Path, name: str, more: tuple[str, ...], log_likelihood: float
) -> None:
    """pat_2.geneNames beside pat_2.csv has other names than ∞SCITE's files, whose labels are numbers."""
    [tree] = (shared_dir / "reference" / "infscite-cli" / name).glob("*.gv")
    words = ["score", str(shared_dir / "data" / "pat_2.csv"), str(tree), "--json", *more]
    done = CliRunner().invoke(cli, [*words, "--fp-rate", "3.45e-3", "--fn-rate", "0.146"])
    assert done.exit_code == 0, done.output
    written = json.loads(done.output[done.output.index("{") :])
    assert written["log_likelihood"] == pytest.approx(log_likelihood, abs=1e-6)
