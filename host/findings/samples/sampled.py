"""Samples of a run's trees, of any kind: which states are samples, diagnostics, and lines of files."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.sample_store import Records, SampleStore
from syclade.host.chains.state import Recorder, every
from syclade.host.data.diagnostics import bulk_ess, split_rhat
from syclade.host.data.model.rate_model import RateModel
from syclade.host.findings.samples.diagnostics import Trust, finite, rhat_warnings
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import Options, checked, flag_of
from syclade.host.ground.signals import give_way
from syclade.host.ground.supported import check_together
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.data.trees.cells import Clone
    from syclade.host.findings.unplaced import Unplaced

__all__ = [
    "MOST_TREES",
    "ChainFeatures",
    "SampleFeatures",
    "Sampled",
    "Sampling",
    "cut_to_shortest",
    "make_sampling",
    "sample_line",
    "sample_lines",
    "sampled_rates",
]


MOST_TREES = 2048
"""Most trees that a chain stores for the effective sample size; beyond it, every other tree is dropped."""

EVENTS = 4096
"""Length of a slot's ring of events."""


@dataclass(frozen=True)
class Sampling:
    """Selection of the states that are samples.

    Attributes:
        every: steps between two samples of a chain.
        burn_in: steps of burn-in of each chain; the first sample is taken `every` steps later.
    """

    every: int
    burn_in: int

    @property
    def events(self) -> int:
        """Length of a slot's ring of events."""
        return EVENTS

    @property
    def recorder(self) -> Recorder:
        """The recorder that emits the samples."""
        return every(self.every, self.burn_in + self.every)


def make_sampling(samples: int, burn_in: float, steps: int | None, chains: int) -> Sampling:
    """Return the sampling for the options that a user gave.

    Args:
        samples: steps between two samples.
        burn_in: fraction of a chain's steps that is burn-in, from 0 to below 1.
        steps: steps of each chain.
        chains: number of chains.

    Raises:
        OptionError: `steps` is None, `samples` is not a whole number >= 1, `steps` leaves no sample, or the
            scores of all samples, which the diagnostics need, do not fit in memory.
    """
    check_together(Options(samples=samples, steps=steps))
    assert steps is not None
    samples = checked("samples", samples)
    first = int(burn_in * steps)
    if steps - first < samples:
        raise OptionError(
            f"{steps} steps have no sample: {first} are burn-in, and a sample comes every {samples} steps",
            hint="run more steps, or sample more often, or with a shorter burn-in",
        )
    count = chains * ((steps - first) // samples)
    require_memory(8 * count, f"{count} samples", f"sample less often: a larger {flag_of('samples')}")
    return Sampling(samples, first)


Line: TypeAlias = Callable[[float, NDArray[np.int32], Sequence[float]], str]


def sample_line(log_likelihood: float, parents: NDArray[np.int32], more: Sequence[float] = ()) -> str:
    """Return a line of a ``.samples`` file: score, number of leaves, and the parent of each mutation.

    Mutations are numbered from 0; the root is n.

    Args:
        log_likelihood: log-likelihood of the tree.
        parents: int32, shape (n + 1,): the tree.
        more: columns between leaves and parents: learned rates, and the score with their prior.
    """
    leaves = len(parents) - len(set(parents.tolist()))
    columns = (f"{log_likelihood:.6g}", str(leaves), *(f"{number:.6g}" for number in more))
    return "\t".join((*columns, " ".join(map(str, parents[:-1].tolist())))) + " \n"


def sample_lines(
    store: SampleStore, to_nats: Callable[[int], float], model: RateModel, line: Line = sample_line
) -> Iterator[str]:
    """Yield the lines of all samples, chain by chain.

    Args:
        store: the samples.
        to_nats: (integer score) -> log-likelihood.
        model: the error rates of the chains.
        line: (log-likelihood of the tree, parents, learned rates and the score with their prior) -> the line.
    """
    for chain in store.chains:
        for records in store.of_chain(chain):
            for units, places, parents in zip(
                records["score"].tolist(), records["rate_at"].tolist(), records["parents"], strict=True
            ):
                score, (fn, fp, doublets) = to_nats(units), places
                rates = model.values((fn, fp, doublets))
                of_tree = score - model.log_prior((fn, fp, doublets)) if rates else score
                yield line(of_tree, parents, (*rates.values(), score) if rates else ())


@dataclass(frozen=True, eq=False, kw_only=True)
class Sampled(Trust, ABC):
    """Samples of trees; for the diagnostics see `Trust`.

    Attributes:
        store: the samples.
        names: names of the nodes but the root.
        rates: samples of learned rates, by name: float64, shape (chains, samples).
        dimension: name of the nodes' dimension in netCDF files.
    """

    store: SampleStore
    names: tuple[str, ...]
    rates: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    dimension: ClassVar[str]

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Yield the lines of the file of samples, chain by chain."""

    @abstractmethod
    def files(self) -> dict[str, Content]:
        """Return the contents of the files, by name."""

    @abstractmethod
    def support(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> list[float | None]:
        """Return the share of samples that have each clone of a tree; None where there is nothing to share.

        Args:
            parents: the tree.
            clones: its clones.
            unplaced: mutations that are left out, and clones of nothing else with them.
        """

    def columns(self, parents: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
        """Return numbers of some samples besides their trees, by name: int32, shape (samples,).

        Args:
            parents: int32, shape (samples, nodes).
        """
        return {}

    @property
    def warnings(self) -> list[str]:
        """See `Trust.warnings`; also warns of learned rates with a high R-hat."""
        found = super().warnings
        for name, values in self.rates.items():
            if values.size and not math.isnan(self.ess):
                found += rhat_warnings(name, split_rhat(values))
        return found

    def rate_summaries(self) -> dict[str, dict[str, float | None]]:
        """Return mean, deviation, range and diagnostics of each learned rate, by its name."""
        return {name: rate_summary(values) for name, values in self.rates.items()}

    def to_dict(self) -> JsonObject:
        """See `Trust.to_dict`."""
        rates = self.rate_summaries()
        return super().to_dict() | ({"rates": rates} if rates else {})


def rate_summary(values: NDArray[np.float64]) -> dict[str, float | None]:
    """Summarise a sampled rate: posterior mean, standard deviation, central 90 %, ESS and R-hat.

    Args:
        values: float64, shape (chains, samples).
    """
    if not values.size:
        return dict.fromkeys(("mean", "sd", "low", "high", "ess", "rhat"))
    low, high = np.quantile(values, (0.05, 0.95)).tolist()
    numbers = {
        "mean": float(values.mean()),
        "sd": float(values.std()),
        "low": low,
        "high": high,
        "ess": bulk_ess(values),
        "rhat": split_rhat(values),
    }
    return finite(numbers)


class ChainFeatures:
    """Scores of all samples of one chain, and the tree of every `stride`-th one.

    Attributes:
        scores: the scores, in units of 2^-f nat.
        trees: integers, one array for each stored tree.
        stride: distance of stored trees, in samples.
    """

    def __init__(self) -> None:
        self.scores = array("q")
        self.trees: list[NDArray[Any]] = []
        self.stride = 1

    def take(self, score: int, tree: NDArray[Any]) -> None:
        """Add a sample."""
        if len(self.scores) % self.stride == 0:
            self.trees.append(tree.copy())  # a view would keep its whole block in memory
            if len(self.trees) > MOST_TREES:
                self.trees = self.trees[::2]
                self.stride *= 2
        self.scores.append(score)


OfChain = TypeVar("OfChain", bound=ChainFeatures)


class SampleFeatures(ABC, Generic[OfChain]):
    """Features of the samples of all chains.

    Attributes:
        chains: features of each chain, in the order of their numbers.

    Args:
        store: the samples.

    Raises:
        Stopped: a stop was requested meanwhile (`signals.give_way`).
    """

    def __init__(self, store: SampleStore) -> None:
        self.chains: list[OfChain] = []
        for number in store.chains:
            self.chains.append(self.new_chain())
            for records in store.of_chain(number):
                give_way()
                self.add(self.chains[-1], records)

    @abstractmethod
    def new_chain(self) -> OfChain:
        """Return the features of a chain without samples."""

    @abstractmethod
    def add(self, chain: OfChain, records: Records) -> None:
        """Add samples to the features of a chain."""

    @property
    def samples(self) -> int:
        """Number of samples of all chains."""
        return sum(len(chain.scores) for chain in self.chains)

    def scores(self) -> NDArray[np.int64]:
        """Return the scores, cut to the shortest chain: int64, shape (chains, samples)."""
        return cut_to_shortest([chain.scores for chain in self.chains])

    def trees(self) -> list[NDArray[Any]]:
        """Return the stored trees of each chain, a row for each."""
        return [np.array(chain.trees) for chain in self.chains]


def cut_to_shortest(chains: Sequence[array[int]]) -> NDArray[np.int64]:
    """Return numbers of all samples, cut to the shortest chain: int64, shape (chains, samples)."""
    shortest = min((len(chain) for chain in chains), default=0)
    return np.array([chain[:shortest] for chain in chains], dtype=np.int64).reshape(len(chains), shortest)


def sampled_rates(store: SampleStore, model: RateModel) -> dict[str, NDArray[np.float64]]:
    """Return the learned rates of all samples, by name, cut to the shortest chain.

    Args:
        store: the samples.
        model: the rates of the chains.

    Returns:
        float64, shape (chains, samples) each; nothing if no rate is learned.
    """
    grids = [(at, grid) for at, grid in enumerate(model.grids) if grid is not None]
    if not grids:
        return {}
    places = [
        np.concatenate(
            [np.zeros((0, len(model.grids)), np.int64), *(one["rate_at"] for one in store.of_chain(chain))]
        )
        for chain in store.chains
    ]
    shortest = min((len(one) for one in places), default=0)
    all_places = np.array([one[:shortest] for one in places], dtype=np.int64).reshape(
        len(places), shortest, len(model.grids)
    )
    return {grid.prior.name: grid.rates[all_places[:, :, at]] for at, grid in grids}
