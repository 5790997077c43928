"""How fast are the chains of each release? From benches/vX.Y.Z/DEVICE.json: the output of `syclade bench`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.ground.errors import TableError
from syclade.quality.bench.stored import SCITE_KSTEPS
from syclade.quality.figures import Drawn, new_figure
from syclade.quality.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Bench", "Releases", "read_releases"]


@dataclass(frozen=True)
class Bench:
    """Measurements of one release on one device, in its fastest encoding at each size.

    Attributes:
        release: name of the release, such as v0.2.0.
        device: kind of the device, such as native.
        processor: name of the processor.
        ksteps: thousands of chain steps per second and core, by cells and mutations.
    """

    release: str
    device: str
    processor: str
    ksteps: Mapping[tuple[int, int], float]


def _number(name: str) -> tuple[int, ...]:
    """Return the numbers of a release, by which releases are sorted."""
    return tuple(int(part) for part in name.removeprefix("v").split(".") if part.isdecimal())


def read_releases(folder: Path) -> Releases:
    """Return all stored measurements.

    Args:
        folder: a folder for each release, with a file for each device: `syclade bench --suite --json`.

    Raises:
        TableError: there are none, or a file is no output of `syclade bench --suite --json`.
    """
    files = sorted(folder.glob("v*/*.json"), key=lambda path: (_number(path.parent.name), path.name))
    if not files:
        raise TableError(
            "there are no measurements", path=folder, hint="syclade bench --suite --json makes some"
        )
    return Releases(tuple(map(_bench_of, files)))


def _bench_of(file: Path) -> Bench:
    """Return the measurements of a file."""
    try:
        reports: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
        fastest: dict[tuple[int, int], float] = {}
        for one in reports:
            size = (int(one["cells"]), int(one["mutations"]))
            fastest[size] = max(fastest.get(size, 0.0), 1e6 / float(one["cpu_ns_per_step"]))
        return Bench(file.parent.name, file.stem, str(reports[0]["device_name"]), fastest)
    except (ValueError, KeyError, TypeError, IndexError) as problem:
        raise TableError(
            f"this is not the output of syclade bench --suite --json: {problem}", path=file
        ) from None


@dataclass(frozen=True, eq=False, repr=False)
class Releases(Drawn):
    """Measurements of all releases, with SCITE's stored ones beside them."""

    benches: tuple[Bench, ...]

    def __repr__(self) -> str:
        """Return one line with the numbers of files and releases."""
        releases = {one.release for one in self.benches}
        return f"<Releases: {len(self.benches)} files of {len(releases)}>"

    @property
    def sizes(self) -> Sequence[tuple[int, int]]:
        """The sizes that all files have, from small to large."""
        shared = set.intersection(*(set(one.ksteps) for one in self.benches))
        return sorted(shared, key=lambda size: size[0] * size[1])

    def table(self) -> str:
        """Return the speeds as a Markdown table."""
        head = ("release, device", *(f"{cells} × {mutations}" for cells, mutations in self.sizes))
        rows = [
            (f"{one.release}, {one.device}", *(f"{one.ksteps[size]:.4g}" for size in self.sizes))
            for one in self.benches
        ]
        stored = [SCITE_KSTEPS.get(size) for size in self.sizes]
        rows.append(("SCITE, stored", *("" if one is None else f"{one:g}" for one in stored)))
        return text_table(head, rows)

    def figure(self) -> Figure:
        """Draw thousands of steps per second and core over the sizes: a line for each release and device."""
        figure = new_figure(6.4, 4.0)
        axes = figure.add_subplot()
        places = range(len(self.sizes))
        for one in self.benches:
            label = f"{one.release}, {one.device} ({one.processor})"
            axes.plot(places, [one.ksteps[size] for size in self.sizes], marker="o", label=label)
        scite = [(at, SCITE_KSTEPS[size]) for at, size in enumerate(self.sizes) if size in SCITE_KSTEPS]
        axes.plot(
            *zip(*scite, strict=True),
            marker="s",
            color="0.5",
            label="SCITE, one core of an Intel Xeon (stored)",
        )
        axes.set_yscale("log")
        axes.set_xticks(places, [f"{cells} × {mutations}" for cells, mutations in self.sizes])
        axes.set_xlabel("cells × mutations")
        axes.set_ylabel("thousand chain steps per second and core")
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize="small")
        return figure
