"""Published speedups of ∞SCITE over cores and tasks."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

__all__ = ["Speedups", "StoredSpeed", "published", "stored_speeds"]


@dataclass(frozen=True)
class Speedups:
    """A table of speedups.

    Attributes:
        name: processor.
        cores, threads: of each column.
        tasks: by the number of tasks, the speedup in the last columns.
    """

    name: str
    cores: tuple[int, ...]
    threads: tuple[int, ...]
    tasks: Mapping[int, tuple[float, ...]]

    def row(self, tasks: int) -> tuple[float | None, ...]:
        """Return the speedups of a number of tasks in all columns; None where the table has none."""
        values = self.tasks[tasks]
        return (*[None] * (len(self.cores) - len(values)), *values)

    @property
    def best(self) -> tuple[float, int, int]:
        """Return the largest speedup, its tasks and the threads of its column."""
        found = [
            (value, tasks, threads)
            for tasks in self.tasks
            for value, threads in zip(self.row(tasks), self.threads, strict=True)
            if value is not None
        ]
        return max(found)


def published() -> tuple[Speedups, ...]:
    """Return Tables 2 and 3 of the publication."""
    return tuple(
        Speedups(
            each["name"],
            tuple(each["cores"]),
            tuple(each["threads"]),
            {int(tasks): tuple(values) for tasks, values in each["tasks"].items()},
        )
        for each in _data()["table"]
    )


@dataclass(frozen=True)
class StoredSpeed:
    """Speed of ∞SCITE on one core, measured elsewhere.

    Attributes:
        input: name of the input size.
        doublets: rate of doublets: fixed, or learned for every tree, or not recorded.
        steps: least and largest number of steps per second.
    """

    input: str
    doublets: str
    steps: tuple[float, float]


def stored_speeds() -> tuple[StoredSpeed, ...]:
    """Return the stored speeds of ∞SCITE."""
    return tuple(
        StoredSpeed(each["input"], each["doublets"], (each["steps"][0], each["steps"][1]))
        for each in _data()["speed"]
    )


def _data() -> dict[str, Any]:
    return tomllib.loads(
        (files("syclade.quality.studies.scaling") / "published.toml").read_text(encoding="utf-8")
    )
