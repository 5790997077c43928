"""Packaged SCITE results: their content, and the detection of any other content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from syclade.host.data.model.rates import Rates
from syclade.quality.reference import packaged
from syclade.quality.reference.archive import archive_digest, pack_reference, read_archive
from syclade.quality.reference.folder import ReferenceFolderError
from syclade.quality.reference.packaged import DIGEST, packaged_files, reference_at
from syclade.quality.reference.scores import ScoredInput, largest_discrepancy, score_reference


def close(scored: Sequence[ScoredInput]) -> bool:
    """Return whether our scores are those of the logs, which there are."""
    largest = largest_discrepancy(scored)
    return largest is not None and largest < 1e-9


def test_the_packaged_reference_is_a_reference_folder() -> None:
    with reference_at(None) as reference:
        folder = reference.folder
        assert [each.name for each in reference.inputs] == [f"{number:02}" for number in range(1, 65)]
        assert (reference.settings["chains"], reference.settings["steps"]) == (6, 1_000_000)
        rates = Rates(reference.settings["fp_rate"], reference.settings["fn_rate"])
        assert rates == Rates(1e-6, 0.25)
        scored = score_reference(reference.inputs[:3], rates)
    assert {(each.matrix.n_mutations, each.matrix.n_cells) for each in scored} == {(63, 64)}
    assert close(scored)
    assert not folder.exists()


@pytest.mark.shared
def test_the_packaged_reference_is_the_shared_one(shared_dir: Path) -> None:
    shared = shared_dir / "reference" / "tost64"
    files = {
        path.relative_to(shared).as_posix(): path.read_bytes()
        for path in shared.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    found = packaged_files()
    settings = json.loads(found.pop("reference.json"))
    assert found == files
    readme = (shared / "README.md").read_text(encoding="utf-8")
    assert settings["scite"]["commit"] in readme
    assert settings["scite"]["compiler"] in readme


def test_packing_keeps_every_byte(tmp_path: Path) -> None:
    with reference_at(None) as reference:
        digests = [pack_reference(reference.folder, tmp_path / name) for name in ("one", "two")]
    assert digests == [DIGEST, DIGEST]
    one, two = ((tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two
    assert read_archive(one) == packaged_files()


@pytest.mark.parametrize("place", ["name", "content"])
def test_other_files_have_another_digest(place: str) -> None:
    files = dict(packaged_files())
    content = files.pop("inputs/01.csv")
    files["inputs/1.csv" if place == "name" else "inputs/01.csv"] = (
        content if place == "name" else content.replace(b"3", b"0", 1)
    )
    assert archive_digest(files) != DIGEST


@pytest.mark.parametrize("damage", ["changed", "cut", "no archive", "absent"])
def test_a_damaged_installation_is_reported(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    archive = tmp_path / "data" / packaged.ARCHIVE
    if damage == "changed":
        with reference_at(None) as reference:
            (reference.folder / "scite" / "07.log").write_text("best log score for tree:\t-1\n")
            pack_reference(reference.folder, archive)
    elif damage == "cut":
        content = files("syclade.quality").joinpath("data", packaged.ARCHIVE).read_bytes()
        archive.write_bytes(content[: len(content) // 2])
    elif damage == "no archive":
        archive.write_bytes(b"text")
    monkeypatch.setattr(packaged, "files", lambda package: tmp_path)
    with pytest.raises(ReferenceFolderError, match=r"the reference tost64\.tar\.gz of this installation"):
        packaged_files()
