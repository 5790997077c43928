"""The files of a result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import OPTIONS, flag_of
from syclade.host.ground.output_folder import output_folder

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["RECORD", "files_of", "folder_of_result", "inputs_of", "netcdf_of"]

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
