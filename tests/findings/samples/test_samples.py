"""Samples: counted by their definitions, distributed as the posterior, refused where unsupported."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import syclade
from syclade.host.chains.sample_store import SampleStore
from syclade.host.chains.state import Event
from syclade.host.commands.main import cli
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.samples.diagnostics import rhat_warnings
from syclade.host.findings.samples.mutation_trees import Features, SampledMutationTrees
from syclade.host.findings.samples.sampled import MOST_TREES
from syclade.host.ground.errors import OptionError
from syclade.quality.oracle.trees import all_trees

MATRIX = simulate(cells=6, mutations=3, fp_rate=0.05, fn_rate=0.3, missing=0.2, seed=3).matrix
RATES = Rates(0.05, 0.3)


def infer(**options: Any) -> syclade.Result:
    arguments: dict[str, Any] = {"chains": 4, "steps": 40_000, "samples": 20, "device": "native", **options}
    return syclade.infer(MATRIX, fp_rate=RATES.fp_rate, fn_rate=RATES.fn_rate, seed=2, **arguments)


def test_features_count_what_events_have() -> None:
    generator, n = np.random.default_rng(1), 5
    store, events = SampleStore(n + 1), []
    for step in range(60):
        tree = np.full(n + 1, n, dtype=np.int32)
        order = generator.permutation(n)
        for at, node in enumerate(order):
            tree[node] = generator.choice([n, *order[:at]])
        events.append(Event(step % 2, step, int(generator.integers(9)), 1 + step % 3, 0, tree))
    for first in range(0, 60, 7):
        store.take(events[first : first + 7])
    features = Features(store, n)
    taken = [event for event in events if event.why & 1]
    assert features.samples == len(taken)
    above = np.mean([ancestor_matrix(one.parents)[:n, :n] & ~np.eye(n, dtype=bool) for one in taken], axis=0)
    np.testing.assert_allclose(features.above(), above)
    edges = np.mean([np.arange(n + 1)[:, None] == one.parents[None, :n] for one in taken], axis=0)
    np.testing.assert_allclose(features.edges(), edges)
    of_first = [one for one in taken if one.chain == 0]
    shortest = features.scores().shape[1]
    assert features.scores()[0].tolist() == [one.score for one in of_first][:shortest]
    assert features.leaves()[0, 0] == n + 1 - len(set(of_first[0].parents.tolist()))


def test_trees_are_thinned() -> None:
    store, tree = SampleStore(3), np.array([2, 0, 2], dtype=np.int32)
    for step in range(3 * MOST_TREES):
        store.take([Event(0, step, step, 1, 0, tree)])
    features = Features(store, 2)
    assert MOST_TREES / 2 <= len(features.trees()[0]) <= MOST_TREES
    assert features.scores().shape == (1, 3 * MOST_TREES)


@pytest.mark.statistical
def test_samples_are_those_of_the_posterior() -> None:
    sampled = infer().samples
    assert isinstance(sampled, SampledMutationTrees)
    trees = [np.array(tree, dtype=np.int32) for tree in all_trees(3)]
    weight = np.exp([log_likelihood(MATRIX, RATES, tree) for tree in trees])
    weight /= weight.sum()
    relations = np.array([ancestor_matrix(tree)[:3, :3] & ~np.eye(3, dtype=bool) for tree in trees])
    expected = np.tensordot(weight, relations, axes=1)
    assert sampled.log_likelihoods.shape == (4, 1500)
    error = np.sqrt(expected * (1 - expected) / max(sampled.tree_ess, 1.0))
    assert (np.abs(sampled.posterior.ancestors - expected) < 5 * error + 1e-9).all()
    flat = np.full(len(trees), 1 / len(trees))  # control: another distribution is detected
    assert (np.abs(sampled.posterior.ancestors - np.tensordot(flat, relations, axes=1)) > 5 * error).any()
    assert sampled.rhat < 1.02
    assert sampled.spread < 0.05


def test_one_seed_gives_one_sample_everywhere() -> None:
    first = infer(steps=2000, device="native").samples
    for options in ({"device": "numpy"}, {"device": "native", "slots": 3}):
        other = infer(steps=2000, **options).samples
        assert first is not None
        assert other is not None
        assert list(first.lines()) == list(other.lines())
        assert first.to_dict() == other.to_dict()


def test_files_and_words(tmp_path: Path) -> None:
    matrix, out = tmp_path / "matrix.csv", tmp_path / "out"
    np.savetxt(matrix, MATRIX.values, fmt="%d")
    arguments = [
        "--fp-rate",
        "0.05",
        "--fn-rate",
        "0.3",
        "--device",
        "native",
        "--chains",
        "2",
        "--out",
        str(out),
    ]
    said = CliRunner().invoke(
        cli,
        ["infer", str(matrix), *arguments, "--steps", "900", "--samples", "100", "--out", str(out)],
        catch_exceptions=False,
    )
    assert "12 samples of 2 chains" in said.stdout
    assert "run longer" in said.output
    lines = (out / "tree.samples").read_text().splitlines()
    assert len(lines) == 12
    assert (out / "posterior.tsv").read_text().startswith("relation\tupper\tlower\tshare\n")
    warned = json.loads((out / "summary.json").read_text())["samples"]
    assert (warned["samples"], warned["every"], warned["burn_in"]) == (12, 100, 225)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": None}, "--samples without --steps"),
        ({"steps": 20}, "have no sample"),
        ({"burn_in": 1.0}, "--burn-in"),
        ({"method": "search", "chains": None, "steps": None}, "--samples does not go with --method search"),
    ],
)
def test_what_cannot_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        infer(**change)


def test_kept_trees_keep_no_others() -> None:
    store, tree = SampleStore(3), np.array([2, 0, 2], dtype=np.int32)
    store.take([Event(0, step, step, 1, 0, tree) for step in range(64)])
    (chain,) = Features(store, 2).chains
    assert all(kept.base is None for kept in chain.trees), "a view keeps its whole block in memory"


@pytest.mark.parametrize(("samples", "warned"), [(20_000, "too few samples to judge"), (100, None)])
def test_warnings_have_no_nan(samples: int, warned: str | None) -> None:
    sampled = infer(samples=samples, learn_fn=0.2).samples
    assert sampled is not None
    assert not [words for words in sampled.warnings if "nan" in words]
    assert warned is None or any(warned in words for words in sampled.warnings)


def test_samples_of_one_score_are_told() -> None:
    assert rhat_warnings("fn", float("nan")) == ["fn is the same in all samples, so its R-hat says nothing"]
    assert rhat_warnings("fn", float("inf")) == ["R-hat of fn is inf: the chains have not mixed"]
    assert rhat_warnings("fn", 1.001) == []
