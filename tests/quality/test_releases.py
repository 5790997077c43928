"""The study of releases: stored outputs of `syclade bench --suite --json` as a table and a figure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from syclade.host.ground.errors import TableError
from syclade.quality.studies.releases.api import read_releases


def store(folder: Path, release: str, device: str, cost: float) -> None:
    """Store measurements of two sizes, the first in two encodings."""
    sizes = ((32, 31, cost), (32, 31, 2 * cost), (64, 63, 4 * cost))
    reports = [
        {"cells": cells, "mutations": mutations, "cpu_ns_per_step": ns, "device_name": "AMD EPYC"}
        for cells, mutations, ns in sizes
    ]
    (folder / release).mkdir(parents=True, exist_ok=True)
    (folder / release / f"{device}.json").write_text(json.dumps(reports))


def test_releases_beside_scite(tmp_path: Path) -> None:
    """Releases are in the order of their numbers; of encodings the fastest counts, per core."""
    store(tmp_path, "v0.10.0", "native", 50.0)
    store(tmp_path, "v0.2.0", "native", 100.0)
    found = read_releases(tmp_path)
    assert [one.release for one in found.benches] == ["v0.2.0", "v0.10.0"]
    assert found.benches[0].ksteps == {(32, 31): 10_000.0, (64, 63): 2500.0}
    assert "SCITE, stored" in found.table()
    assert "5000" in found.table()
    found.plot(tmp_path / "releases.png")
    assert (tmp_path / "releases.png").read_bytes().startswith(b"\x89PNG")


def test_files_that_are_no_measurements(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there are no measurements"):
        read_releases(tmp_path)
    store(tmp_path, "v0.2.0", "native", 100.0)
    (tmp_path / "v0.2.0" / "native.json").write_text('{"cells": 1}')
    with pytest.raises(TableError, match="not the output of syclade bench"):
        read_releases(tmp_path)
