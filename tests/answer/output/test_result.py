"""Results: the attachments, a summary that repeats the run, and the representation."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import syclade
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.model.likelihood import event_counts
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.device.device import usable_cores
from tests.test_inference import MADE, QUICK, RATES


@pytest.fixture(scope="module")
def result() -> syclade.Result:
    return syclade.infer(MADE.values, names=MADE.mutations, **QUICK)


def test_where_the_cells_sit(result: syclade.Result) -> None:
    """Every cell is attached, in input order, although the chain merges equal cells."""
    values = np.hstack([MADE.values, MADE.values[:, ::-1]])
    twice = syclade.infer(values, **QUICK)
    assert twice.attachment.dtype == np.int32
    assert twice.attachment.shape == (32,)
    np.testing.assert_array_equal(twice.attachment[:16], twice.attachment[:15:-1])
    np.testing.assert_array_equal(twice.attachment_ties[:16], twice.attachment_ties[:15:-1])
    assert math.fsum(result.cell_log_likelihoods) == pytest.approx(result.log_likelihood)
    truth = ancestor_matrix(result.parents)[:-1, result.attachment]
    counts = event_counts(MADE, Rates(**RATES), result.parents)
    assert int((truth & (MADE.values == 1)).sum()) == counts[1, 1]
    assert result.n_cells == 16


def test_the_summary_repeats_the_run(tmp_path: Path) -> None:
    """The options are all arguments; the digest of the matrix depends on its values, not on its file."""
    file, names = tmp_path / "matrix.csv", tmp_path / "names"
    file.write_bytes(format_matrix(MADE.values).replace("\n", "\r\n").encode())
    names.write_text("\n".join(MADE.mutations))
    request: dict[str, Any] = {**QUICK, "seed": 3, "gamma": np.float32(1.5), "move_probabilities": (1, 2, 1)}
    before = datetime.now(UTC).replace(microsecond=0)
    syclade.infer(file, names=names, **request).write(tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    own = json.loads((tmp_path / "out" / "run.json").read_text())
    assert own["matrix"] == str(file)
    assert summary["matrix_sha256"] == hashlib.sha256(format_matrix(MADE.values).encode()).hexdigest()
    assert own["matrix_file_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert summary["move_probabilities"] == {
        "prune and reattach": 0.25, "swap labels": 0.5, "swap subtrees": 0.25
    }  # fmt: skip
    assert before <= datetime.fromisoformat(own["date"]) <= datetime.now(UTC)
    assert own["version"] == syclade.__version__
    assert set(own["options"]) == set(inspect.signature(syclade.infer).parameters) - {
        "matrix",
        "reading",
        "progress",
        *("checkpoint", "checkpoint_every", "resume", "force", "stop", "executor"),  # none changes a result
    }
    again = syclade.infer(own["matrix"], **own["options"])
    assert (again.parents.tolist(), again.moves) == (
        summary["parents"],
        {kind: (counts["proposed"], counts["accepted"]) for kind, counts in summary["moves"].items()},
    )


def test_a_matrix_without_a_file(result: syclade.Result) -> None:
    """The digest is that of the bytes that a file of the matrix would have."""
    text = format_matrix(MADE.values)
    assert (result.matrix, result.matrix_sha256) == (None, hashlib.sha256(text.encode()).hexdigest())
    assert result.options["names"] == list(MADE.mutations)


@pytest.mark.parametrize("sequence", [list, tuple, np.array, iter])
def test_sequences_of_any_kind_are_told_as_lists(sequence: Callable[[list[Any]], Any]) -> None:
    given: dict[str, list[Any]] = {"names": ["a", "b"], "move_probabilities": [1.0, 2.0, 1.0]}
    request = {name: sequence(values) for name, values in given.items()}
    made = syclade.infer([[1, 0, 1], [0, 1, 1]], **request, **RATES, device="numpy", steps=10)
    report = json.loads(json.dumps(made.run()))
    assert report["threads"] == usable_cores()
    options = report["options"]
    assert {name: options[name] for name in given} == given


def test_a_result_is_a_value() -> None:
    """Results can be compared, hashed and printed, and they are immutable."""
    one, other = (
        syclade.infer([[1, 0, 1], [0, 1, 1]], fp_rate=0.01, fn_rate=0.1, device="numpy", steps=10)
        for _ in range(2)
    )
    assert one == one
    assert one != other
    assert len({one, other, one}) == 2
    arrays = (one.attachment, one.attachment_ties, one.cell_log_likelihoods)
    for array in (one.parents, one.chain_log_likelihoods, *arrays):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("converged", [True, False])
def test_a_result_shows_itself_in_a_line(result: syclade.Result, converged: bool) -> None:
    """The representation shows score, size, device and convergence, but no arrays."""
    shown = replace(result, converged=converged, chain_log_likelihoods=np.array([-2.5, -1.25, -1.25]))
    assert repr(shown) == (
        f"<Result: log-likelihood {result.log_likelihood:.4f}, 8 mutations × 16 cells, "
        f"3 chains of 200 steps on numpy (numpy fallback), the best score in 2 of them: "
        f"{'converged' if converged else 'not converged'}>"
    )


ANSWERS: list[dict[str, Any]] = [
    {"max_trees": 10},
    {"doublets": 0.1, "chains": 2, "steps": 200},
    {"samples": 10, "steps": 400, "chains": 2, "tree": "leaf"},
    {"recurrent": 1, "steps": 100, "chains": 2},
    {"recurrent": "all", "steps": 100, "chains": 2},
]


@pytest.mark.parametrize("options", ANSWERS, ids=str)
def test_values_in_a_result_show_themselves_in_a_line(options: dict[str, Any]) -> None:
    """Their numbers are many: arrays are shown by their shapes."""
    made = simulate(30, 12, 0.01, 0.2, 0.1, seed=1)
    result = syclade.infer(made.matrix, **RATES, device="native", **options)
    values = [value for top in (made, result) for value in _values_in(top)]
    assert {"Matrix", "Assignment"} <= {type(value).__name__ for value in values}
    for value in values:
        assert "\n" not in repr(value)
        assert len(repr(value)) < 500, type(value)


def _values_in(value: Any) -> list[Any]:
    """Return a dataclass or named tuple with all such values in it."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return [found for one in value[:3] for found in _values_in(one)]
    names = getattr(value, "_fields", None) or (
        [one.name for one in fields(value)] if is_dataclass(value) else []
    )
    return [value, *(found for name in names for found in _values_in(getattr(value, name)))] if names else []
