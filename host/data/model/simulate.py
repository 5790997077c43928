"""Simulation of SCITE's model: a random mutation tree, cells attached to it, and noisy observations.

The design is that of the ffSCITE thesis's quality test: a uniform random rooted tree (Prüfer code), with
cells attached to uniform random nodes, the root included. Doublets are at two such nodes. Some mutations may
occur twice (host/data/model/recurrence.py). Real clones are of unequal sizes, and have several mutations
without cells between them: shares and branches. And real matrices have mutations that say nothing. Mutations
may differ in their rates of false negatives, as amplicons do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import HOMOZYGOUS, MISSING, Rates
from syclade.host.data.model.recurrence import Copy, random_parents_with_copies, states_of
from syclade.host.data.trees.tree import parents_from_pruefer
from syclade.host.ground.errors import OptionError
from syclade.host.ground.limits import require_memory
from syclade.host.ground.options import checked, flag_of
from syclade.host.ground.values import real, short_repr, whole

__all__ = ["EQUAL", "ZIPF", "Simulation", "simulate"]

EQUAL, ZIPF = "equal", "zipf"
"""Shares of the cells at the nodes: all equal; or 1, 1/2, 1/3, ... in random order, divided by their sum."""

MOST: Final = 2**31 - 2
"""Maximum number of cells and of mutations: nodes are numbered in int32, the root after the mutations."""

_OF_RATES: Final = 1
"""Second number of the seed of the rates of mutations."""

_BYTES: Final = 35
"""Bytes for each entry of the matrix, most of them for draws and probabilities."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated matrix and its ground truth.

    Attributes:
        matrix: the observed values, shape (n, m); the mutations are named M1 to M<n>.
        parents: the true tree, parent vector, int32, shape (n + 1,); with copies, (n + copies + 1,).
        attachments: the true node of each cell, int32, shape (m,).
        truth: uint8, shape (n, m), 1 where the cell has the mutation.
        partners: int32, shape (m,): the true second node of each doublet, -1 for single cells.
        copies: second occurrences of mutations; their nodes are n, n + 1, … in this order.
        unplaced: mutations without information, ascending.
        fn_rates: float64, shape (n,): rate of false negatives of each mutation, if they differ; else None.
        specimen_of: int64, shape (m,): specimen of each cell; None without specimens.
        shares: float64, shape (specimens, nodes): expected shares of the cells at the nodes, in each
            specimen; None without specimens.
    """

    matrix: Matrix
    parents: NDArray[np.int32]
    attachments: NDArray[np.int32]
    truth: NDArray[np.uint8]
    partners: NDArray[np.int32]
    copies: tuple[Copy, ...] = ()
    unplaced: tuple[int, ...] = ()
    fn_rates: NDArray[np.float64] | None = None
    specimen_of: NDArray[np.int64] | None = None
    shares: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of all nodes but the root: the mutations, and the copies as `NAME_copy`."""
        names = self.matrix.mutations
        return (*names, *(f"{names[copy.mutation]}_copy" for copy in self.copies))


def simulate(
    cells: int,
    mutations: int,
    fp_rate: float,
    fn_rate: float,
    missing: float,
    seed: int,
    fn_rate_hom: float | None = None,
    hom_rate: float | None = None,
    doublets: float | None = None,
    recurrent: int = 0,
    losses: int = 0,
    shares: str | float | Mapping[str, float] = EQUAL,
    per_branch: int = 1,
    unplaced: int = 0,
    fn_range: tuple[float, float] | None = None,
    samples: Sequence[int] | None = None,
) -> Simulation:
    """Simulate a matrix. Equal arguments give equal results with the same version of numpy (PCG64).

    Without rates for zygosity, no value is 2. With the same seed, both cases use the same draws.

    Args:
        cells: number of columns, m >= 1.
        mutations: number of rows, n >= 1.
        fp_rate: probability of observing a mutation that is absent, inside (0, 1).
        fn_rate: probability of not observing a mutation, inside (0, 1).
        missing: probability that a value is missing (3), 0 to 1.
        seed: 0 to 2^64 - 1.
        fn_rate_hom: probability of observing a mutation as homozygous, or None.
        hom_rate: probability of observing an absent mutation as homozygous; goes with fn_rate_hom.
        doublets: probability that a cell is two cells together, inside (0, 1); None for none. A doublet has
            the mutations of either cell.
        recurrent: number of mutations that occur in two lineages.
        losses: number of mutations that are lost again on their lineage.
        shares: expected shares of the cells at the nodes: equal, zipf, a share by the name of each node that
            has cells (M1, …, root), or the concentration of a Dirichlet
            distribution from which they are drawn.
        per_branch: number of mutations on a branch, in random order; cells are only at the lowest of them.
            The last branch may have fewer.
        unplaced: number of mutations without information: by turns missing in all cells, and observed in
            none. They are in the true tree all the same.
        fn_range: ends of a range from which the rate of false negatives of each mutation is drawn, uniformly;
            `fn_rate` is then not used. None for one rate.
        samples: numbers of cells of specimens, with the sum m; shares are drawn for each. None for none.

    Raises:
        OptionError: an argument is out of range, or the tree has no place for so many copies.
        RatesError: an error rate is out of range.
    """
    cells = whole("cells", cells, 1, MOST)
    mutations = whole("mutations", mutations, 1, MOST)
    recurrent = whole("recurrent", recurrent, 0, MOST)
    losses = whole("losses", losses, 0, MOST)
    unplaced = whole("unplaced", unplaced, 0, mutations)
    seed = checked("seed", seed)
    missing = real("missing", missing)
    if not 0 <= missing <= 1:
        raise OptionError(f"missing is {missing}", hint="give a probability, 0 to 1")
    rates = Rates(fp_rate, fn_rate, fn_rate_hom, hom_rate)
    require_memory(
        _BYTES * mutations * cells + 2 * mutations**2,
        f"{mutations} mutations in {cells} cells",
        "simulate a smaller matrix",
    )
    rng = np.random.Generator(np.random.PCG64(seed))
    parents, nodes, copies = _draw_tree(mutations, per_branch, recurrent, losses, rng)
    sizes = [cells] if samples is None else [whole("samples", size, 1, MOST) for size in samples]
    if sum(sizes) != cells:
        raise OptionError(f"samples have {sum(sizes)} cells, and cells is {cells}", hint="give their sum")
    drawn = [_draw_of(nodes, shares, mutations, copies, rng) for _ in sizes]
    attachments = np.concatenate([one.cells(size, rng) for one, size in zip(drawn, sizes, strict=True)])
    partners = np.full(cells, -1, dtype=np.int32)
    states = states_of(parents, mutations, copies)
    truth = states[:, attachments]
    specimen_of = np.repeat(np.arange(len(sizes)), sizes)
    if doublets is not None:
        both = np.flatnonzero(rng.random(cells) < _rate_of(doublets))
        of = np.bincount(specimen_of[both], minlength=len(sizes)).tolist()
        partners[both] = np.concatenate([one.cells(size, rng) for one, size in zip(drawn, of, strict=True)])
        truth[:, both] |= states[:, partners[both]]
    fn_rates = None if fn_range is None else _rates_between(fn_range, rates, mutations, seed)
    observed = observe(truth, rates, rng.random(truth.shape), fn_rates)
    observed[rng.random(truth.shape) < missing] = 3
    silent = _without_information(observed, unplaced, rng)
    names = tuple(f"M{number}" for number in range(1, mutations + 1))
    matrix = Matrix(np.ascontiguousarray(observed), names, f"simulation, seed {seed}")
    as_numbers = np.ascontiguousarray(truth, dtype=np.uint8)
    made = Simulation(matrix, parents, attachments, as_numbers, partners, copies, silent, fn_rates)
    if samples is None:
        return made
    return replace(
        made, specimen_of=specimen_of, shares=np.array([one.of_all(parents.size) for one in drawn])
    )


def _draw_tree(
    mutations: int, per_branch: int, recurrent: int, losses: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int64], tuple[Copy, ...]]:
    """Return a tree, the nodes that have cells, and the copies of mutations; arguments as for `simulate`."""
    per_branch = whole("per_branch", per_branch, 1, MOST)
    if (recurrent or losses) and per_branch > 1:
        raise OptionError("copies of mutations do not go with per_branch", hint="leave one of them out")
    copies: tuple[Copy, ...] = ()
    if per_branch > 1:
        return (*random_parents_with_branches(mutations, per_branch, rng), copies)
    if recurrent or losses:
        parents, copies = random_parents_with_copies(mutations, recurrent, losses, rng)
    else:
        parents = random_parents(mutations, rng)
    return parents, np.arange(parents.size), copies


def _rate_of(doublets: float) -> float:
    """Return a rate of doublets, checked; a word that `infer` takes is none."""
    if isinstance(doublets, str):
        raise OptionError(f"{flag_of('doublets', doublets)} is not a rate", hint="give a probability")
    return float(checked("doublets", doublets))


def _rates_between(ends: tuple[float, float], rates: Rates, mutations: int, seed: int) -> NDArray[np.float64]:
    """Draw rates of false negatives, by a generator of their own: all other draws stay as without them.

    Raises:
        OptionError: the ends are not in order, or there are rates for zygosity.
        RatesError: an end is not a rate of errors.
    """
    low, high = ends
    if rates.fn_rate_hom is not None:
        raise OptionError("fn_range does not go with rates for zygosity", hint="leave one of them out")
    for end in ends:
        Rates(rates.fp_rate, end)
    if low > high:
        raise OptionError(f"fn_range is {low:g} to {high:g}", hint="give the lower rate first")
    return np.random.Generator(np.random.PCG64([seed, _OF_RATES])).uniform(low, high, mutations)


class _Nodes(NamedTuple):
    """Nodes that have cells, and the expected shares of the cells.

    Attributes:
        nodes: int64: the nodes.
        expected: float64: share of each; None for equal ones.
    """

    nodes: NDArray[np.int64]
    expected: NDArray[np.float64] | None

    def cells(self, count: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw nodes for a number of cells."""
        if self.expected is None:
            drawn = self.nodes[rng.integers(0, self.nodes.size, count, dtype=np.int32)]
        else:
            drawn = rng.choice(self.nodes, count, p=self.expected)
        return np.asarray(drawn, dtype=np.int32)

    def of_all(self, count: int) -> NDArray[np.float64]:
        """Return the shares of this many nodes: float64, 0 for nodes without cells."""
        found = np.zeros(count)
        found[self.nodes] = 1.0 / len(self.nodes) if self.expected is None else self.expected
        return found


def _draw_of(
    nodes: NDArray[np.int64],
    shares: str | float | Mapping[str, float],
    mutations: int,
    copies: Sequence[Copy],
    rng: np.random.Generator,
) -> _Nodes:
    """Return nodes with shares, drawn where the shares are; arguments as for `simulate`."""
    if not isinstance(shares, Mapping):
        return _Nodes(nodes, _drawn_shares(nodes, shares, rng))
    named = [f"M{number}" for number in range(1, mutations + 1)]
    named += [f"M{copy.mutation + 1}_copy" for copy in copies] + ["root"]
    return _Nodes(nodes, _shares_by_name(nodes, shares, named))


def _shares_by_name(
    nodes: NDArray[np.int64], shares: Mapping[str, float], names: Sequence[str]
) -> NDArray[np.float64]:
    """Return given shares of nodes; those without one have no cells.

    Args:
        nodes: the nodes that have cells.
        shares: by names of nodes; their sum need not be 1.
        names: names of all nodes.

    Raises:
        OptionError: a name is not that of a node with cells, or the shares cannot be divided by their sum.
    """
    at = {names[node]: position for position, node in enumerate(nodes.tolist())}
    expected = np.zeros(nodes.size)
    for name, share in shares.items():
        if name not in at:
            raise OptionError(
                f"shares: no node with cells has the name {name!r}",
                hint="nodes are M1 to Mn, copies such as M1_copy, and root; on branches, the lowest of each",
            )
        expected[at[name]] = real("shares", share)
    total = float(expected.sum())
    if (expected < 0).any() or not 0 < total < np.inf:
        raise OptionError("shares are not numbers from 0 with a sum above 0", hint="give a node a share")
    return np.asarray(expected / total)


def _drawn_shares(
    nodes: NDArray[np.int64], shares: str | float, rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """Return drawn shares of the nodes that have cells; None for equal ones.

    Raises:
        OptionError: there are no such shares.
    """
    if shares == EQUAL:
        return None
    if shares == ZIPF:
        expected = rng.permutation(1.0 / np.arange(1, nodes.size + 1))
    elif isinstance(shares, str):
        raise OptionError(
            f"there are no shares {shares!r}",
            hint=f"use {EQUAL}, {ZIPF}, a number above 0 or, of the command, the path of a table",
        )
    else:
        concentration = real("shares", shares)
        if not 1e-3 <= concentration <= 1e6:
            raise OptionError(f"shares is {shares}", hint="give a concentration, 0.001 to 1000000")
        expected = rng.dirichlet(np.full(nodes.size, concentration))
    return np.asarray(expected / expected.sum())


def _without_information(
    observed: NDArray[np.uint8], count: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Remove the information on this many mutations of a matrix; return their numbers."""
    chosen = rng.choice(len(observed), count, replace=False).tolist() if count else []
    for mutation in chosen[::2]:
        observed[mutation] = MISSING
    for mutation in chosen[1::2]:
        observed[mutation, observed[mutation] != MISSING] = 0
    return tuple(sorted(chosen))


def random_parents_with_branches(
    mutations: int, per_branch: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Draw a tree of branches with several mutations.

    Args:
        mutations: n.
        per_branch: number of mutations on a branch; the last one may have fewer.
        rng: the generator.

    Returns:
        The parents, int32, shape (n + 1,); and the nodes at the ends of branches, with the root last.
    """
    branches = -(-mutations // per_branch)
    order, above = rng.permutation(mutations), random_parents(branches, rng)
    first, last = order[::per_branch], np.append(order[per_branch - 1 :: per_branch], order[-1])[:branches]
    parents = np.empty(mutations + 1, dtype=np.int32)
    parents[order[1:]] = order[:-1]
    ends = np.append(last, mutations)
    parents[first] = ends[above[:-1]]
    parents[mutations] = mutations
    return parents, ends.astype(np.int64)


def observe(
    truth: NDArray[np.bool_],
    rates: Rates,
    draws: NDArray[np.float64],
    fn_rates: NDArray[np.float64] | None = None,
) -> NDArray[np.uint8]:
    """Return observations of the truth, drawn from the model's table with one draw per entry (docs/model.md).

    Args:
        truth: bool, shape (n, m), whether the cell has the mutation.
        rates: error rates.
        draws: float64, shape (n, m), uniform in [0, 1).
        fn_rates: float64, shape (n,): rates of false negatives in place of that of `rates`.

    Returns:
        uint8, shape (n, m), entries 0, 1 or 2.
    """
    missed: float | NDArray[np.float64] = rates.fn_rate if fn_rates is None else fn_rates[:, np.newaxis]
    error_rate = np.where(truth, missed, rates.fp_rate)
    observed = (truth ^ (draws < error_rate)).astype(np.uint8)
    hom_rate = np.where(truth, rates.fn_rate_hom or 0.0, rates.hom_rate or 0.0)
    observed[(draws >= error_rate) & (draws < error_rate + hom_rate)] = HOMOZYGOUS
    return observed


def random_parents(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw a tree uniformly from the (n + 1)^(n - 1) trees of n mutations: int32, shape (n + 1,)."""
    return parents_from_pruefer(rng.integers(0, n + 1, n - 1).tolist(), n)
