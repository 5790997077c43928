"""Installed packages, compared with importlib.metadata."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from syclade.host.ground.packages import _folders, files_of, version_of

NAMES = sorted({one.metadata["Name"] for one in metadata.distributions()})


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the only one where packages are looked for, and return it."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    files_of.cache_clear()
    return tmp_path


def test_versions_are_those_of_the_packages_own_descriptions() -> None:
    assert len(NAMES) > 10
    for name in NAMES:
        assert version_of(name) == metadata.version(name), name
    assert version_of("no-such-package") is None


def test_files_are_those_of_the_record() -> None:
    for name in ("numpy", "dpctl", "intel-opencl-rt"):
        wanted = {Path(str(one.locate())).resolve() for one in metadata.files(name) or ()}
        assert {one.resolve() for one in files_of(name)} == wanted, name
    assert files_of("no-such-package") == ()


def test_names_are_compared_as_pip_does(elsewhere: Path) -> None:
    (elsewhere / "Some_Package.x-1.2.dist-info").mkdir()
    assert version_of("some-package_x") == "1.2"
    assert files_of("some.package.x") == ()  # it has no RECORD


def test_the_first_on_the_path_counts(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, version in (("one", "1.0"), ("two", "2.0")):
        (elsewhere / place / f"thing-{version}.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(elsewhere / place) for place in ("gone", "one", "two")])
    _folders.cache_clear()
    assert version_of("thing") == "1.0"
