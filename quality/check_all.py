"""All checks in one run, summarised in one table; `make quality` runs this."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syclade.host.ground.files import write_files
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.quality.posterior.api import DEFAULT_MUTATIONS, DEFAULT_SAMPLES, posterior
from syclade.quality.posterior.result import PosteriorResult
from syclade.quality.text_table import text_table
from syclade.quality.tost.api import METHODS, tost
from syclade.quality.tost.result import TostResult
from syclade.quality.work import work_text

__all__ = ["FILES", "AllChecks", "Row", "check_all"]

FILES = (
    *(f"tost-{method}.{ending}" for method in METHODS for ending in ("json", "png")),
    "posterior.json",
    "posterior.png",
    "summary.json",
)


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        check: name of the check.
        outcome: counts of inputs, or of samples.
        p_values: p-values by name of the test.
        seconds: wall time of the chains or searches.
        work: share of the work by executor.
        verdict: the verdict as text.
        holds: whether the check holds.
    """

    check: str
    outcome: str
    p_values: Mapping[str, float]
    seconds: float
    work: Mapping[str, float]
    verdict: str
    holds: bool


@dataclass(frozen=True, eq=False)
class AllChecks:
    """The outcome of all checks.

    Attributes:
        comparisons: results of the comparison with SCITE, by method: chain and search.
        posterior: result of the posterior check.
        seconds: total wall time.
    """

    comparisons: Mapping[str, TostResult]
    posterior: PosteriorResult
    seconds: float

    @property
    def holds(self) -> bool:
        """Return whether all checks hold."""
        return all(row.holds for row in self.rows())

    def rows(self) -> list[Row]:
        """Return one row per comparison with SCITE, and one per size of the posterior check."""
        compared = [_tost_row(result) for result in self.comparisons.values()]
        return compared + _posterior_rows(self.posterior)

    def to_dict(self) -> dict[str, Any]:
        """Return the rows, the verdict and the time as plain values, as in summary.json."""
        rows = [{**vars(row), "p_values": dict(row.p_values), "work": dict(row.work)} for row in self.rows()]
        return {"holds": self.holds, "seconds": self.seconds, "checks": rows}

    def table(self) -> str:
        """Return the rows as a Markdown table, with the verdict and the time below."""
        heads = ("check", "outcome", "p-values", "seconds", "work done by", "verdict")
        cells = [
            (
                row.check,
                row.outcome,
                ", ".join(f"{name} {value:.2g}" for name, value in row.p_values.items()),
                f"{row.seconds:.1f}",
                work_text(row.work),
                row.verdict,
            )
            for row in self.rows()
        ]
        verdict = "all checks hold" if self.holds else "NOT ALL CHECKS HOLD"
        return f"{text_table(heads, cells)}\n{verdict}, in {self.seconds:.0f} s"

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> list[Path]:
        """Write all reports, figures and the summary (`FILES`), and return their paths.

        Raises:
            OutputError: a file exists and `force` is not set, or a file cannot be written.
        """
        place = Path(folder)
        reports: dict[str, dict[str, Any]] = {"summary.json": self.to_dict()}
        results: dict[str, TostResult | PosteriorResult] = {"posterior": self.posterior}
        results |= {f"tost-{method}": result for method, result in self.comparisons.items()}
        for name, result in results.items():
            reports[f"{name}.json"] = result.to_dict()
            result.plot(place / f"{name}.png", force=force)
        texts = {name: json.dumps(report, indent=2) + "\n" for name, report in reports.items()}
        write_files(place, texts, force)
        return [place / name for name in FILES]


def check_all(
    reference: str | os.PathLike[str] | None = None,
    *,
    device: str = "auto",
    limit: int | None = None,
    steps: int | None = None,
    samples: int = DEFAULT_SAMPLES,
    mutations: tuple[int, ...] = DEFAULT_MUTATIONS,
    seed: int = DEFAULT_SEED,
    progress: Callable[[str, float, float], None] | None = None,
) -> AllChecks:
    """Compare chains and searches with SCITE, and check the posterior.

    Args:
        reference, limit, steps: as for `syclade.quality.tost`; `steps` applies to its chains only.
        device, seed: used by all checks.
        samples, mutations: as for `syclade.quality.posterior`.
        progress: called with the current activity, the amount done and the total.

    Raises:
        SycladeError: see `syclade.quality.tost` and `syclade.quality.posterior`.
    """
    started = time.perf_counter()
    comparisons = {}
    for method in METHODS:

        def show(what: str, done: float, total: float, method: str = method) -> None:
            if progress is not None:
                progress(f"{method}: {what}", done, total)

        comparisons[method] = tost(
            reference,
            device=device,
            method=method,
            steps=steps if method == "chain" else None,
            limit=limit,
            seed=seed,
            progress=show,
        )
    sampled = posterior(mutations, device=device, samples=samples, seed=seed, progress=progress)
    return AllChecks(comparisons, sampled, time.perf_counter() - started)


def _tost_row(result: TostResult) -> Row:
    test, chains = result.test, result.settings.chains
    return Row(
        check="best trees, search" if chains is None else f"best trees, {chains} chains",
        outcome=f"{test.equal} equal, {test.better} better, {test.worse} worse",
        p_values={"worse": test.p_worse, "better": test.p_better},
        seconds=result.seconds,
        work=result.work,
        verdict="equivalent to SCITE" if result.holds else "NOT SHOWN TO BE EQUIVALENT",
        holds=result.holds,
    )


def _posterior_rows(result: PosteriorResult) -> list[Row]:
    return [
        Row(
            check=f"posterior, {case.target.size}",
            outcome=f"{case.visits.samples:,} samples",
            p_values={"visits": case.visits.fit.p_value, "steps": case.steps.p_value},
            seconds=case.samples.seconds,
            work={case.samples.executor: 1.0},
            verdict="exact" if case.holds else "NOT THE POSTERIOR",
            holds=case.holds,
        )
        for case in result.cases
    ]
