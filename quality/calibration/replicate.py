"""One input of the study: samples of its posterior, beside the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.likelihood import summed_log_likelihood
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.samples.mutation_trees import SampledMutationTrees, leaves_of
from syclade.host.findings.weighed_matrix import levels_in, weighed_as_given
from syclade.host.ground.options import Options
from syclade.quality.calibration.credible import Covered, parent_sets
from syclade.quality.calibration.inputs import Drawn, draw
from syclade.quality.calibration.ranks import rank_of, spread_out
from syclade.quality.calibration.reliability import Reliability, reliability
from syclade.quality.calibration.sampling import Sampled, read_options
from syclade.quality.calibration.settings import Setting

__all__ = ["Replicate", "Sampler", "replicate"]

Sampler = Callable[[Setting, Drawn, int, str], Sampled]
"""(setting, input, seed, device) -> samples of the posterior."""


@dataclass(frozen=True, eq=False)
class Replicate:
    """Outcome of one input.

    Attributes:
        ranks: rank of the true tree's number among those of the samples, by its name.
        pairs, edges, clades: reliability of ancestor pairs, of parents, and of the sets of mutations below a
            mutation.
        sets: credible sets of parents.
        mixed: whether `infer` has no warning about the samples.
        work: share of the work by executor.
    """

    ranks: Mapping[str, int]
    pairs: Reliability
    edges: Reliability
    clades: Reliability
    sets: tuple[Covered, ...]
    mixed: bool
    work: Mapping[str, float]


def replicate(setting: Setting, seed: int, device: str, sample: Sampler) -> Replicate:
    """Draw an input, sample its posterior, and compare with the truth; both without silent mutations."""
    drawn = draw(setting, seed)
    samples, mixed, work, silent = sample(setting, drawn, seed, device)
    truth, rows = silent.of_tree(drawn.parents), silent.placed_mutations(setting.mutations)
    n = len(rows)
    above = ancestor_matrix(truth)[:n, :n].astype(bool)
    np.fill_diagonal(above, val=False)
    is_parent = np.arange(n + 1)[:, None] == truth[:n]
    nodes, trees = np.append(rows, setting.mutations), silent.of_trees(_trees(samples))
    ancestors = samples.posterior.ancestors[np.ix_(rows, rows)]
    edges = samples.posterior.edges[np.ix_(nodes, rows)]
    drawn = replace(drawn, parents=truth, matrix=silent.of_matrix(drawn.matrix))
    return Replicate(
        _ranks(setting, drawn, samples, trees, np.random.default_rng(seed)),
        reliability(ancestors, above),
        reliability(edges, is_parent),
        _clades(trees, truth),
        parent_sets(edges, truth),
        mixed,
        work,
    )


def _trees(samples: SampledMutationTrees) -> NDArray[np.int32]:
    """Return the sampled trees of all chains, one chain after the other: int32, shape (samples, n + 1)."""
    return np.concatenate(list(samples.store.trees()))


def _ranks(
    setting: Setting,
    drawn: Drawn,
    samples: SampledMutationTrees,
    every_tree: NDArray[np.int32],
    rng: np.random.Generator,
) -> dict[str, int]:
    """Return the ranks of the truth's numbers. Likelihoods are compared only where all rates are the same."""
    trees = spread_out_rows(every_tree)
    values = {
        "leaves": (float(leaves_of(drawn.parents[None])[0]), leaves_of(trees).astype(np.float64)),
        "ancestor pairs": (_pairs(drawn.parents), np.array([_pairs(tree) for tree in trees])),
        "depth of a mutation": (_depth(drawn.parents), np.array([_depth(tree) for tree in trees])),
    }
    if setting.learn:
        for name, rates in samples.rates.items():
            values[name] = (float(getattr(drawn.rates, name)), spread_out(rates))
    elif not setting.own_rates:
        # The chain's own scores are rounded, so a sample of the true tree would not be equal to it.
        matrix, model = _scored(setting, drawn)
        truth, *others = (summed_log_likelihood(matrix, model, tree) for tree in (drawn.parents, *trees))
        values["log-likelihood"] = (truth, np.array(others))
    return {name: rank_of(truth, draws, rng) for name, (truth, draws) in values.items()}


def _scored(setting: Setting, drawn: Drawn) -> tuple[Matrix, ObservationModel]:
    """Return the matrix and the model by which likelihoods of the inference are computed."""
    if setting.depth is None:
        return drawn.matrix, setting.inferred_with
    options = Options().replace(**read_options(setting))
    matrix = weighed_as_given(drawn.matrix, options)
    return matrix, levels_in(matrix, options.floor)


def spread_out_rows(trees: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return trees at equal distances along the chains, as many as `spread_out` returns."""
    at = spread_out(np.arange(len(trees), dtype=np.float64)[None]).astype(np.int64)
    return np.asarray(trees[at])


def _pairs(parents: NDArray[np.int32]) -> float:
    """Return the number of pairs (ancestor, descendant) of mutations."""
    n = len(parents) - 1
    return float(ancestor_matrix(parents)[:n, :n].sum() - n)


def _depth(parents: NDArray[np.int32]) -> float:
    """Return the number of mutations above the first one."""
    n = len(parents) - 1
    return float(ancestor_matrix(parents)[:n, 0].sum() - 1)


def _clades(trees: NDArray[np.int32], truth: NDArray[np.int32]) -> Reliability:
    """Return the reliability of sets of mutations below a mutation, itself included."""
    thinned = trees[:: max(1, len(trees) // 400)]
    counts: Counter[bytes] = Counter()
    for tree in thinned:
        counts.update(_below(tree))
    true = _below(truth)
    return reliability([count / len(thinned) for count in counts.values()], [one in true for one in counts])


def _below(parents: NDArray[np.int32]) -> set[bytes]:
    """Return the set of mutations below each mutation, as bits."""
    n = len(parents) - 1
    rows = np.packbits(ancestor_matrix(parents)[:n, :n].astype(bool), axis=1)
    return {row.tobytes() for row in rows}
