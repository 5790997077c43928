"""Designs, data sets and constants of the accelerator, from the files beside this one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from syclade.quality.design.columns.model import ColumnDesign, Share
from syclade.quality.design.model import Device
from syclade.quality.design.reader import load_device
from syclade.quality.design.table import Table, parse_toml

__all__ = [
    "Dataset",
    "HostModel",
    "Published",
    "card",
    "column_designs",
    "datasets",
    "host_model",
    "published",
]


@dataclass(frozen=True)
class Dataset:
    """Row of the seed's Table 1.

    Attributes:
        name: S1 … S11 (small K), L1 … L25 (large K).
        accession: name in the archive.
        columns: number of columns.
        n_mean, n_sd: mean and standard deviation of N, the depth.
        k_mean, k_sd, k_median, k_p75, k_p90, k_p99, k_max: of K.
        hours: of LoFreq in 16 processes.
    """

    name: str
    accession: str
    columns: int
    n_mean: int
    n_sd: int
    k_mean: int
    k_sd: int
    k_median: int
    k_p75: int
    k_p90: int
    k_p99: int
    k_max: int
    hours: float


@dataclass(frozen=True)
class HostModel:
    """The article's computer.

    Attributes:
        cell_ns: time of one (n, k) of Algorithm 1 on a thread.
        base_ns: time of everything besides Algorithm 1, for each base of a column, on a thread.
        cores: threads that would do the same work at full speed as the 16 threads of its 8 cores.
        processes: processes of LoFreq without the accelerator.
        cpu_chunks: chunks of columns without it.
        cpu_watts, accelerated_watts: power of the whole system, without and with it.
        correlation: of N and K.
    """

    cell_ns: float
    base_ns: float
    cores: float
    processes: float
    cpu_chunks: float
    cpu_watts: float
    accelerated_watts: float
    correlation: float


@dataclass(frozen=True)
class Published:
    """Speedups of one unit that the article prints, by name of the design."""

    at_1000: dict[str, float]
    at_3000: dict[str, float]
    largest: float


@cache
def _read(name: str) -> dict[str, Any]:
    text = files("syclade.quality.design.columns").joinpath(name).read_text(encoding="utf-8")
    return {"table": parse_toml(text, name)}


def _designs_table() -> Table:
    table: Table = _read("designs.toml")["table"]
    return table


@cache
def card() -> Device:
    """Return the card that the designs of Table 4 are for."""
    return load_device(_designs_table().text("device"))


@cache
def column_designs() -> dict[str, ColumnDesign]:
    """Return the seven designs of Table 4, by name."""
    top = _designs_table()
    parameters = top.table("parameters")
    depth, block = (int(parameters.table(name).number("value")) for name in ("pe_depth", "block"))
    found = {}
    designs = top.table("design")
    tables = {name: designs.table(name) for name in designs.names()}
    shares = {
        name: {part: _share(table.table(part)) for part in ("unit", "total")}
        for name, table in tables.items()
    }
    for name, table in tables.items():
        pipelining, memory, pes = name.split("/")
        found[name] = ColumnDesign(
            name=name,
            outer=pipelining == "O",
            dram=memory == "D",
            pes=int(pes),
            units=table.count("units"),
            clock_mhz=table.number("clock_mhz"),
            sram_kb=table.count("sram_kb"),
            pe_depth=depth,
            block=block,
            chunks=table.count("chunks"),
            pe=_share_of_a_pe(
                {one: of["unit"] for one, of in shares.items() if one[:4] == f"{pipelining}/S/"}
            ),
            card=card(),
            unit=shares[name]["unit"],
            total=shares[name]["total"],
        )
        table.finish()
    return found


def _share_of_a_pe(units: Mapping[str, Share]) -> Share:
    """Return what one more processing element adds: the slope between the smallest and the largest unit."""
    by_pes = {int(name.split("/")[2]): share for name, share in units.items()}
    low, high = min(by_pes), max(by_pes)
    return Share().plus(by_pes[high].plus(by_pes[low], -1), 1 / (high - low))


def _share(table: Table) -> Share:
    share = Share(**{name: table.number(name) for name in table.names()})
    table.finish()
    return share


@cache
def host_model() -> HostModel:
    """Return the article's computer."""
    top = _designs_table()
    host = top.table("host")
    cell_ns = top.table("parameters").table("cell_ns").number("value")
    return HostModel(cell_ns=cell_ns, **{name: host.table(name).number("value") for name in host.names()})


@cache
def published() -> Published:
    """Return the speedups that the article prints."""
    table = _designs_table().table("published")
    at = {name: table.table(name) for name in ("speedup_1000", "speedup_3000")}
    by_name = {key: {name: one.number(name) for name in one.names()} for key, one in at.items()}
    return Published(by_name["speedup_1000"], by_name["speedup_3000"], table.number("largest_speedup"))


@cache
def datasets() -> dict[str, Dataset]:
    """Return the rows of Table 1, by name."""
    top: Table = _read("datasets.toml")["table"]
    columns, data = top.count("columns"), top.table("data")
    return {name: Dataset(name, data.take(name)[0], columns, *data.take(name)[1:]) for name in data.names()}
