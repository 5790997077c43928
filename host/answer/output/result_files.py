"""The files of a result, and the plain values of summary.json and run.json."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from syclade.host.device.cores import usable_cores
from syclade.host.device.work import work_dicts
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import OPTIONS, flag_of
from syclade.host.ground.output_folder import output_folder
from syclade.host.ground.packages import version_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["RECORD", "files_of", "folder_of_result", "inputs_of", "netcdf_of", "run_of", "summary_of"]


RECORD = "run.json"
"""The file that names all files of the result."""

folder_of_result = partial(output_folder, key=RECORD, record=RECORD)
"""Open a folder for the files of a result."""


def files_of(result: Result, title: str, *, report: bool, netcdf: bool, multiqc: bool) -> dict[str, Content]:
    """Return the contents of the files of a result, by file name.

    Args:
        result: the result.
        title: name of the row in the table for MultiQC.
        report: whether to include report.html.
        netcdf: whether to include samples.nc.
        multiqc: whether to include syclade_mqc.json.

    Raises:
        OptionError: a library for `report` or `netcdf` is not installed, or `netcdf` is given without
            samples.
    """
    texts = (
        result.to_newick(),
        result.to_graphviz(),
        result.kind.table(result.tree),
        _json(result.summary()),
        "",
    )
    files: dict[str, Content] = {**dict(zip(result.kind.file_names, texts, strict=True))}
    if report:
        files["report.html"] = result.report()
    if netcdf:
        files["samples.nc"] = netcdf_of(result)
    if multiqc:
        from syclade.host.answer.output.multiqc import multiqc_of

        files["syclade_mqc.json"] = multiqc_of(result, title)
    for finding in result.findings:
        files |= finding.files()
    files[RECORD] = _json({**result.run(), "files": list(files)})
    return files


def inputs_of(result: Result) -> dict[str, Any]:
    """Return the files that the run read, by the names of their options, and the matrix."""
    kinds = ("file", "names", "tree")
    files = {flag_of(name): result.options.get(name) for name in OPTIONS if OPTIONS[name].type.name in kinds}
    return {"the matrix": result.matrix, **files}


def _json(told: Mapping[str, Any]) -> str:
    return json.dumps(told, indent=2) + "\n"


def netcdf_of(result: Result) -> Content:
    """Return a function that writes the samples as netCDF.

    Raises:
        OptionError: there are no samples, or h5netcdf and h5py (the extra `samples`) are not installed.
    """
    from syclade.host.findings.samples.netcdf import require_netcdf, write_netcdf

    if result.samples is None:
        raise OptionError(
            "there are no samples to write as netCDF",
            hint=f"ask for some: {flag_of('samples')} K {flag_of('steps')} N, with chains",
        )
    require_netcdf()
    sampled = result.samples
    return lambda passing: write_netcdf(passing, sampled)


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
