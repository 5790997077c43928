"""Success rate and time of runs by number of chains: how often they find the best known tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from syclade.host.answer.inference import infer
from syclade.host.data.input.matrix import Matrix
from syclade.host.device.choice import choose_device
from syclade.host.device.work import require_all

__all__ = ["Row", "Trial", "rows_of", "run_trials"]

SAME = 1e-6
"""Log-likelihoods closer than this, in nats, are equal: they are sums of the same counts."""


@dataclass(frozen=True)
class Trial:
    """One inference.

    Attributes:
        chains, seed: options of the inference.
        log_likelihood: log-likelihood of its tree, natural log.
        steps: steps of each chain.
        seconds: wall time of the chains, without start-up.
        converged: whether the chains agreed.
        executors: filter strings of the executors that did the steps.
    """

    chains: int
    seed: int
    log_likelihood: float
    steps: int
    seconds: float
    converged: bool
    executors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """All trials with one number of chains.

    Attributes:
        chains, trials: number of chains, and number of trials.
        found: trials that found the best tree of all trials.
        low, high: Wilson's 95 % interval of the share of trials that find it.
        agreed: trials whose chains agreed.
        agreed_on_less: trials whose chains agreed on a worse tree.
        worst: largest shortfall of a trial, in nats.
        steps: median number of steps per chain.
        seconds: median wall time.
    """

    chains: int
    trials: int
    found: int
    low: float
    high: float
    agreed: int
    agreed_on_less: int
    worst: float
    steps: float
    seconds: float


def run_trials(
    matrix: Matrix,
    fp_rate: float,
    fn_rate: float,
    *,
    chain_counts: Iterable[int],
    repeats: int,
    seed: int,
    done: Callable[[Trial], None],
    **settings: Any,
) -> list[Trial]:
    """Run the inference `repeats` times with each number of chains; no two trials share a seed.

    Args:
        matrix, fp_rate, fn_rate: as for `syclade.infer`.
        chain_counts: numbers of chains, each at least 1.
        repeats: trials with each number of chains.
        seed: seed of the first trial; the seeds of further trials count up from it.
        done: called after each trial.
        settings: further arguments of `syclade.infer`, such as `steps` and `device`.

    Raises:
        DeviceError: an executor other than the requested device did some of the work.
        SycladeError: see `syclade.infer`.
    """
    trials: list[Trial] = []
    for chains in chain_counts:
        for _ in range(repeats):
            number = (seed + len(trials)) % 2**64
            result = infer(matrix, fp_rate=fp_rate, fn_rate=fn_rate, chains=chains, seed=number, **settings)
            if settings.get("device", "auto") != "auto":
                require_all(result.work, choose_device(settings["device"]).filter)
            trials.append(
                Trial(
                    chains,
                    number,
                    result.log_likelihood,
                    result.steps,
                    result.seconds,
                    result.converged,
                    tuple(dict.fromkeys(one.executor.filter for one in result.work)),
                )
            )
            done(trials[-1])
    return trials


def rows_of(trials: list[Trial]) -> list[Row]:
    """Return one row per number of chains; the best known tree is the best of all trials."""
    from scipy.stats import binomtest

    best = max(trial.log_likelihood for trial in trials)
    rows = []
    for chains in dict.fromkeys(trial.chains for trial in trials):
        group = [trial for trial in trials if trial.chains == chains]
        hits = [trial for trial in group if best - trial.log_likelihood < SAME]
        interval = binomtest(len(hits), len(group)).proportion_ci(method="wilson")
        agreed = [trial for trial in group if trial.converged]
        rows.append(
            Row(
                chains=chains,
                trials=len(group),
                found=len(hits),
                low=float(interval.low),
                high=float(interval.high),
                agreed=len(agreed),
                agreed_on_less=sum(best - trial.log_likelihood >= SAME for trial in agreed),
                worst=max(best - trial.log_likelihood for trial in group),
                steps=median(trial.steps for trial in group),
                seconds=median(trial.seconds for trial in group),
            )
        )
    return rows
