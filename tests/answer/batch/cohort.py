"""A small cohort for the tests of batches, and what its runs must end with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from syclade.host.answer.batch.results_table import TIMES
from syclade.host.data.input.matrix import format_matrix
from syclade.host.data.model.simulate import simulate
from tests.golden.commands import Called, call

__all__ = ["OPTIONS", "batch", "content_of", "lines_of", "write_cohort", "write_table"]

OPTIONS = ("--fp-rate", "0.02", "--fn-rate", "0.2", "--support", "none", "--device", "native")
_RUN = ("matrix_file_sha256", "options", "version", "files")
"""Entries of run.json that equal runs share."""


def write_cohort(folder: Path, count: int, *, cells: int = 12, mutations: int = 8) -> list[Path]:
    """Write simulated matrices m0.csv, m1.csv, …, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"m{number}.csv" for number in range(count)]
    for seed, path in enumerate(paths, 1):
        matrix = simulate(cells, mutations, 0.02, 0.2, 0.1, seed=seed).matrix
        path.write_text(format_matrix(matrix.values))
    return paths


def write_table(path: Path, *rows: Sequence[str]) -> Path:
    """Write a table separated by tabs."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return path


def batch(*words: object) -> Called:
    """Run `syclade batch` with the options of the cohort."""
    return call(["batch", *map(str, words), *OPTIONS])


def lines_of(out: Path) -> list[dict[str, str]]:
    """Return the lines of results.tsv without times."""
    head, *rows = [row.split("\t") for row in (out / "results.tsv").read_text().splitlines()]
    lines = [dict(zip(head, row, strict=True)) for row in rows]
    return [{name: text for name, text in line.items() if name not in TIMES} for line in lines]


def content_of(out: Path) -> dict[str, Any]:
    """Return all files of a batch that equal runs share, by their paths; of files with times, the rest."""
    found: dict[str, Any] = {"results.tsv": lines_of(out)}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.name == "run.json":
            written = json.loads(path.read_text())
            found[name] = {key: written[key] for key in _RUN}
        elif path.name == "task.json":
            written = json.loads(path.read_text())
            line = {key: value for key, value in written["line"].items() if key not in TIMES}
            found[name] = {**written, "line": line}
        elif path.is_file() and path.name not in ("results.tsv", "report.html"):
            found[name] = path.read_bytes()
    return found
