"""Evidence of entries besides their calls: likelihoods of callers, and numbers of reads."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import syclade
from syclade.host.data.input.evidence import Likelihoods
from syclade.host.data.input.matrix import Matrix
from syclade.host.ground.errors import OptionError

SCISTREE = "HAPLOID 2 3 a b c\nm1 0.9 0.5 0\nm2 1 0.2 1e-9\n"


def text(folder: Path, content: str, name: str = "matrix.txt") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def odds(matrix: Matrix) -> NDArray[np.float64]:
    assert isinstance(matrix.evidence, Likelihoods)
    return matrix.evidence.log_odds


def test_probabilities_are_not_rounded(tmp_path: Path) -> None:
    path = text(tmp_path, SCISTREE)
    found = syclade.read_matrix(path, evidence="likelihoods")
    wild = np.array([[0.9, 0.5, 0.0], [1.0, 0.2, 1e-9]])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(odds(found), np.log((1 - wild) / wild), atol=1e-12)
    assert found.values.tolist() == syclade.read_matrix(path).values.tolist() == [[0, 3, 1], [0, 1, 1]]


def test_evidence_that_is_not_used_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = text(tmp_path, SCISTREE)
    with caplog.at_level(logging.INFO, "syclade.input"):
        assert syclade.read_matrix(path).evidence is None
        assert "likelihoods (--evidence likelihoods) can be" in caplog.text
        caplog.clear()
        syclade.read_matrix(path, evidence="likelihoods")
    assert not caplog.text


def test_the_digest_of_a_matrix_covers_its_evidence(tmp_path: Path) -> None:
    calls = syclade.read_matrix(text(tmp_path, SCISTREE))
    one, other = (
        syclade.read_matrix(text(tmp_path, SCISTREE.replace("0.9", wild)), evidence="likelihoods")
        for wild in ("0.9", "0.8")
    )
    assert calls.values.tobytes() == one.values.tobytes() == other.values.tobytes()
    assert len({calls.sha256, one.sha256, other.sha256}) == 3
    again = syclade.read_matrix(text(tmp_path, SCISTREE, "other.txt"), evidence="likelihoods")
    assert again.sha256 == one.sha256


def test_evidence_follows_what_is_left_out(tmp_path: Path) -> None:
    found = syclade.read_matrix(text(tmp_path, SCISTREE), evidence="likelihoods", min_cells=2)
    assert found.mutations == ("m2",)
    assert odds(found).shape == (1, 3)


def test_formats_without_such_evidence_refuse_it(tmp_path: Path) -> None:
    for format, path in (
        ("scite", text(tmp_path, "0 1\n", "x.csv")),
        ("scistree2", text(tmp_path, SCISTREE)),
    ):
        with pytest.raises(OptionError, match=f"--evidence reads does not go with --format {format}"):
            syclade.read_matrix(path, evidence="reads")
    with pytest.raises(OptionError, match="--evidence is 'guess'"):
        syclade.read_matrix(text(tmp_path, SCISTREE), evidence="guess")
