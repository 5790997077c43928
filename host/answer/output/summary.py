"""Plain values of a result for two files: summary.json for any equal run, run.json for this run."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from syclade.host.device.cores import usable_cores
from syclade.host.device.work import work_dicts
from syclade.host.ground.packages import version_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["run_of", "summary_of"]

_PACKAGES = ("numpy", "numba", "numba-dpex", "dpctl")


def summary_of(result: Result) -> dict[str, Any]:
    """Return the content of summary.json; equal matrix, seed and options give equal bytes on any device."""
    told: dict[str, Any] = {
        "tree": result.kind.name,
        "matrix_sha256": result.matrix_sha256,
        "log_likelihood": result.log_likelihood,
        "parents": result.parents.tolist(),
        "mutations": list(result.mutations),
        "cells": list(result.cells),
        "n_mutations": len(result.mutations),
        "n_cells": result.n_cells,
        "fp_rate": result.rates.fp_rate,
        "fn_rate": result.rates.fn_rate,
        "fn_rate_hom": result.rates.fn_rate_hom,
        "hom_rate": result.rates.hom_rate,
        "merge_homozygous": result.rates.merge_homozygous,
        "score": result.score,
        "method": result.options["method"],
        "gamma": result.gamma,
        "move_probabilities": dict(result.move_probabilities),
        "chains": result.chains,
        "steps": result.steps,
        "converged": result.converged,
        "interrupted": result.interrupted,
        **({"stopped_in": result.stopped_in} if result.interrupted else {}),
        "seed": result.seed,
        "chain_log_likelihoods": result.chain_log_likelihoods.tolist(),
        "moves": {kind: {"proposed": p, "accepted": a} for kind, (p, a) in result.moves.items()},
        "searches": [search._asdict() for search in result.searches],
    }
    for finding in result.findings:
        told |= finding.summary()
    return told


def run_of(result: Result) -> dict[str, Any]:
    """Return the content of run.json: what differs between equal runs, and the options to repeat the run."""
    return {
        "matrix": result.matrix,
        "matrix_file_sha256": result.matrix_file_sha256,
        "device": result.device,
        "device_name": result.device_name,
        "encoding": result.encoding,
        "work": work_dicts(result.work),
        "slots": result.slots,
        "threads": usable_cores(),
        "seconds": result.seconds,
        "total_seconds": result.total_seconds,
        "steps_per_second": result.steps_per_second,
        "pipeline": None if result.pipeline is None else dict(result.pipeline),
        "options": dict(result.options),
        "date": result.date,
        "version": result.version,
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    """Return the versions of the installed packages by name."""
    return {name: version for name in _PACKAGES if (version := version_of(name)) is not None}
