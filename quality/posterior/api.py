"""`syclade.quality.posterior`: check that the chain samples its posterior exactly.

Slow imports are inside the functions, so that ``import syclade.quality`` is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import syclade
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole

if TYPE_CHECKING:
    from syclade.host.chains.plan import Plan
    from syclade.host.device.device import Device
    from syclade.quality.posterior.check import PosteriorCase
    from syclade.quality.posterior.result import PosteriorResult

__all__ = ["DEFAULT_GAMMA", "DEFAULT_MUTATIONS", "DEFAULT_SAMPLES", "posterior"]

DEFAULT_MUTATIONS = (3, 4, 5)
DEFAULT_SAMPLES = 1_000_000
DEFAULT_GAMMA = 1.5

MOVES_BELOW = 65536
"""Moves are drawn with 16 bits: probabilities are multiples of 1/65536."""


def posterior(
    mutations: Sequence[int] = DEFAULT_MUTATIONS,
    *,
    device: str = "auto",
    samples: int = DEFAULT_SAMPLES,
    gamma: float = DEFAULT_GAMMA,
    move_probabilities: tuple[float, float, float] | None = None,
    tree: str = "mutation",
    zygosity: bool = False,
    learn: bool = False,
    score: str = "max",
    encoding: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Callable[[str, float, float], None] | None = None,
) -> PosteriorResult:
    """Compare the chain on small trees with the exact posterior and the exact chain.

    This enumerates all trees of a size, and computes their exact posterior and the exact probability of each
    step from the definition of the moves. Three conditions must hold: the proposals are in detailed balance
    (in exact fractions), independent reads visit the trees with the frequencies of the posterior, and single
    steps have the probabilities of the exact chain. The last two are chi-square tests at significance 0.001.

    Equal arguments give equal results on every device. The defaults take about a minute on two cores.

    Args:
        mutations: sizes of the trees: 2 to 5 mutations (2 to 4 with `learn`), or 3 to 5 cells.
        device: auto, cpu, native, fpga-emu, fpga, gpu, numpy, or a dpctl filter string.
        samples: independent reads for each size, each with the step that follows it; at least 1000.
        gamma: exponent of the likelihood; with 1, a chain that ignores it would not be detected.
        move_probabilities: weights of prune and reattach, swap labels, swap subtrees; default 0.3, 0.3, 0.4.
        tree: mutation, or leaf for cell trees.
        zygosity: let some observations be homozygous, with their own error rates.
        learn: learn the error rates too, on grids of few points.
        score: score of mutation trees: max or sum, as for `syclade.infer`.
        encoding: how trees are stored in the device's memory: auto, preorder or ancestor. Affects speed only.
        seed: random seed, 0 … 2^64-1.
        progress: called with the current activity, the amount done and the total.

    Returns:
        The verdict, and for each size the target, the counts and the three tests.

    Raises:
        OptionError: an option is invalid, options exclude each other, or there are too few samples.
        DeviceError: the device cannot run.

    Source: Billingsley 1961 for the test of single steps.
    """
    from syclade.host.chains.encodings import choose_encoding
    from syclade.host.device.choice import choose_device
    from syclade.quality.posterior.result import PosteriorResult

    sizes = sorted({whole("mutations (--mutations)", size, 2, 5) for size in mutations})
    if not sizes:
        raise OptionError("mutations (--mutations) has no size", hint="use sizes such as (3, 4, 5)")
    samples = whole("samples (--samples)", samples, 1000, 10**9)
    chosen = choose_device(device)
    plans = _plans(tree, sizes, gamma, move_probabilities, zygosity=zygosity, score=score, learn=learn)
    made = choose_encoding(encoding, chosen, plans[0].problem, plans[0].space.encoding).name
    cases = tuple(_check(plan, chosen, samples, encoding, seed, progress) for plan in plans)
    below = (0, *plans[0].move_below)
    settings = {
        "samples": samples,
        "gamma": gamma,
        "zygosity": zygosity,
        "learn": learn,
        "score": score,
        "encoding": made,
        "seed": seed,
        "device": chosen.filter,
        "device_name": chosen.name,
        "tree": tree,
        "move_probabilities": [(upper - lower) / MOVES_BELOW for lower, upper in pairwise(below)],
        "version": syclade.__version__,
    }
    return PosteriorResult(cases, settings, chosen.name)


def _plans(
    tree: str,
    sizes: Sequence[int],
    gamma: float,
    move_probabilities: tuple[float, float, float] | None,
    *,
    zygosity: bool,
    score: str,
    learn: bool,
) -> list[Plan]:
    """Return the plans of the chains to check, one per size.

    Raises:
        OptionError: options do not apply to the kind of tree.
    """
    from syclade.quality.posterior.small_target import MOVE_PROBABILITIES, small_leaf_plan, small_plan

    if tree == "mutation":
        moves = move_probabilities or MOVE_PROBABILITIES
        return [small_plan(size, gamma, moves, zygosity=zygosity, score=score, learn=learn) for size in sizes]
    if tree != "leaf":
        raise OptionError(f"tree (--tree) is {tree!r}", hint="use mutation or leaf")
    if score != "max" or move_probabilities is not None:
        raise OptionError(
            "cell trees have their own score and moves",
            hint="leave out --score and --move-probs, or --tree leaf",
        )
    return [small_leaf_plan(size, gamma, zygosity=zygosity, learn=learn) for size in sizes]


def _check(
    plan: Plan,
    device: Device,
    samples: int,
    encoding: str,
    seed: int,
    progress: Callable[[str, float, float], None] | None,
) -> PosteriorCase:
    """Enumerate one size, sample it and test the samples."""
    from syclade.quality.posterior.check import judge
    from syclade.quality.posterior.samples import sample_chain
    from syclade.quality.posterior.small_target import make_target

    def show(what: str, done: float, total: float) -> None:
        if progress is not None:
            progress(what, done, total)

    show("enumerating", 0, 1)
    target = make_target(plan)
    drawn = sample_chain(
        target, device, encoding, samples, seed, progress=lambda done, total: show(target.size, done, total)
    )
    try:
        return judge(target, drawn)
    except ValueError as problem:
        raise OptionError(
            f"{target.size}: {problem}", hint="give more --samples, or a gamma nearer to 1"
        ) from problem
