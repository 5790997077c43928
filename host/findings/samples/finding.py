"""Samples of the user's chains as a finding, and as netCDF.

The netCDF file has the groups and dimensions that ArviZ and xarray read; it is written in blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.findings.finding import CloneShares, Finding, Question, Section, Table, made_by_stage
from syclade.host.ground.errors import OptionError
from syclade.host.ground.packages import install_command
from syclade.host.ground.values import JsonObject, counted

if TYPE_CHECKING:
    from syclade.host.chains.sample_store import Records
    from syclade.host.data.trees.cells import Clone
    from syclade.host.findings.samples.sampled import Sampled
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content

__all__ = [
    "SAMPLES",
    "SamplesFinding",
    "require_netcdf",
    "write_netcdf",
]


@dataclass(frozen=True, eq=False, repr=False)
class SamplesFinding(Finding):
    """Samples of the trees of chains, with their diagnostics."""

    name = "samples"
    samples: Sampled

    def files(self) -> dict[str, Content]:
        """Return the files of these kind of trees."""
        return self.samples.files()

    def summary(self) -> JsonObject:
        """Return numbers and diagnostics of the samples."""
        return {"samples": self.samples.to_dict()}

    @property
    def lines(self) -> list[str]:
        """Number and worth of the samples."""
        found = self.samples
        return [
            f"{counted(found.log_likelihoods.size, 'sample', 'samples')} of "
            f"{counted(len(found.log_likelihoods), 'chain', 'chains')}, worth "
            f"{found.ess:.0f} (log-likelihood) and {found.tree_ess:.0f} (trees); R-hat {found.rhat:.4f}"
        ]

    @property
    def warnings(self) -> list[str]:
        """Reasons why the samples may not be enough."""
        return self.samples.warnings

    def clone_shares(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> CloneShares:
        """Return the share of the samples that have each clone."""
        return CloneShares(self.samples.support(parents, clones, unplaced), "the sampled trees")

    def section(self) -> Section:
        """Return the diagnostics, and the log-likelihood along the chains."""
        found = self.samples
        values = found.to_dict()
        rows = [(name, _short(value)) for name, value in values.items() if name not in ("warnings", "rates")]
        rows += [
            (f"{rate}: {name}", _short(value))
            for rate, numbers in found.rate_summaries().items()
            for name, value in numbers.items()
        ]
        return Section("Posterior samples", (), Table(("", ""), rows), tuple(found.warnings), found)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _names(question: Question) -> Iterable[str]:
    return () if question.options.samples is None else question.kind.sample_names


SAMPLES = made_by_stage(SamplesFinding, _names)

_DRAWS = 4096
"""Samples of a chain that are written and compressed at once, at least."""


def require_netcdf() -> None:
    """Check that netCDF files can be written; called before a long run.

    Raises:
        OptionError: h5netcdf or h5py is not installed.
    """
    try:
        import h5netcdf
        import h5py  # noqa: F401
    except ImportError:
        raise OptionError("netCDF needs h5netcdf and h5py", hint=install_command("samples")) from None
    del h5netcdf


def write_netcdf(path: Path, sampled: Sampled) -> None:
    """Write samples to a new netCDF file.

    Group ``posterior`` has ``parents``, int32, (chain, draw, mutation or node): the parent of each node but
    the root, numbered from 0, the root last; of mutation trees ``leaves``, int32, (chain, draw); and learned
    rates, float64, (chain, draw). The numbers of internal nodes of cell trees have no meaning. Group
    ``sample_stats`` has ``lp``, float64, (chain, draw): the log-likelihood, with the prior of learned rates,
    natural log, for the chain's rounded weights; and ``step``, int64, (draw).

    Args:
        path: the file; it must not exist.
        sampled: the samples; all chains are cut to the length of the shortest.

    Raises:
        OptionError: h5netcdf or h5py is not installed.
        OSError: the file cannot be written.
    """
    require_netcdf()
    import h5netcdf

    chains, draws = sampled.log_likelihoods.shape
    with h5netcdf.File(path, "x") as file:
        file.attrs["every"], file.attrs["burn_in"] = np.int64(sampled.every), np.int64(sampled.burn_in)
        sizes = {"chain": chains, "draw": draws}
        stats = _group(file, "sample_stats", sizes)
        chunks = (1, max(1, min(_DRAWS, draws)))
        stats.create_variable("lp", ("chain", "draw"), "f8", data=sampled.log_likelihoods, **_packed(chunks))
        steps = sampled.burn_in + sampled.every * np.arange(1, draws + 1, dtype=np.int64)
        stats.create_variable("step", ("draw",), data=steps)
        nodes, of_nodes = len(sampled.names), sampled.dimension
        posterior = _group(file, "posterior", {**sizes, of_nodes: nodes})
        names = np.array(list(sampled.names), dtype=object)
        posterior.create_variable(of_nodes, (of_nodes,), dtype=_text(), data=names)
        for name, values in sampled.rates.items():
            posterior.create_variable(name, ("chain", "draw"), "f8", data=values, **_packed(chunks))
        trees = (*chunks, nodes)
        columns = {
            name: posterior.create_variable(name, ("chain", "draw"), "i4", **_packed(chunks))
            for name in sampled.columns(np.zeros((0, nodes + 1), dtype=np.int32))
        }
        parents = posterior.create_variable("parents", ("chain", "draw", of_nodes), "i4", **_packed(trees))
        for chain, number in enumerate(sampled.store.chains):
            first = 0
            for block in _blocks(sampled.store.of_chain(number), draws):
                some = slice(first, first + len(block))
                parents[chain, some] = block[:, :-1]
                for name, numbers in sampled.columns(block).items():
                    columns[name][chain, some] = numbers
                first += len(block)


def _group(file: Any, name: str, sizes: dict[str, int]) -> Any:
    """Create a group with its dimensions; numbers of chains and draws are their coordinates."""
    group = file.create_group(name)
    group.dimensions = sizes
    for dimension in ("chain", "draw"):
        group.create_variable(dimension, (dimension,), data=np.arange(sizes[dimension], dtype=np.int64))
    return group


def _packed(chunks: tuple[int, ...]) -> dict[str, Any]:
    return {"chunks": chunks, "compression": "gzip", "compression_opts": 4, "shuffle": True}


def _text() -> Any:
    import h5py

    return h5py.string_dtype()


def _blocks(records: Iterable[Records], most: int) -> Iterator[NDArray[np.int32]]:
    """Yield the trees of a chain's first samples, in large blocks: int32, shape (samples, nodes).

    Args:
        records: the samples, in blocks of any size.
        most: number of samples.
    """
    waiting: list[NDArray[np.int32]] = []
    for some in records:
        waiting.append(some["parents"][:most])
        most -= len(waiting[-1])
        if not most or sum(map(len, waiting)) >= _DRAWS:
            yield np.concatenate(waiting)
            waiting = []
        if not most:
            return
