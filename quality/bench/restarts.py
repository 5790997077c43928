"""How often runs with so many chains find the best tree known, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from syclade.host.devices.choice import choose_device
from syclade.host.devices.work import require_all
from syclade.host.inference import infer
from syclade.host.input.matrix import Matrix

__all__ = ["Row", "Trial", "rows_of", "run_trials"]

SAME = 1e-6
"""Log-likelihoods nearer than this, in nats, are the same: they are sums of the same counts."""


@dataclass(frozen=True)
class Trial:
    """One inference.

    Attributes:
        chains, seed: what it was asked.
        log_likelihood: of its tree, natural log.
        steps: that each chain did.
        seconds: wall time of the chains, without start-up.
        converged: whether the chains agreed.
        executors: filter strings of what did the steps.
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
        chains, trials: numbers.
        found: trials that found the best tree of all.
        low, high: Wilson's 95 % interval of the share that does.
        agreed: trials whose chains agreed.
        agreed_on_less: trials whose chains agreed on a worse tree.
        worst: greatest shortfall of a trial, in nats.
        steps: median of the steps of a chain.
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
    """Infer `repeats` times with each number of chains; no two trials share a seed.

    Args:
        matrix, fp_rate, fn_rate: as `syclade.infer` takes them.
        chain_counts: numbers of chains, each at least 1.
        repeats: trials with each.
        seed: of the first trial; the next ones follow.
        done: called after each trial.
        settings: further arguments of `syclade.infer`, such as `steps` and `device`.

    Raises:
        DeviceError: another executor than the device that was asked for did some of the work.
        SycladeError: whatever `syclade.infer` raises.
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
    """One row for each number of chains. The best tree known is the best of all trials."""
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
