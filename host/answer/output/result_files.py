"""Files of a result: summary.json, run.json, the table for MultiQC; and a folder if the given one fails.

MultiQC reads files named ``*_mqc.json`` (see "Custom content" in its docs).
"""

from __future__ import annotations

import json
import platform
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syclade.host.data.model.rates import all_rates
from syclade.host.device.device import usable_cores
from syclade.host.device.work import work_dicts
from syclade.host.findings.finding import RESULT
from syclade.host.findings.samples.finding import require_netcdf, write_netcdf
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError, OutputError, SycladeError
from syclade.host.ground.files import write_file
from syclade.host.ground.options import OPTIONS, flag_of
from syclade.host.ground.output_folder import OutputFolder, output_folder
from syclade.host.ground.packages import version_of
from syclade.host.ground.values import JsonObject

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = [
    "BESIDES",
    "RECORD",
    "Incomplete",
    "Rescued",
    "files_of",
    "folder_of_result",
    "inputs_of",
    "multiqc_of",
    "multiqc_row",
    "multiqc_table",
    "netcdf_of",
    "rescued",
    "run_of",
    "summary_of",
    "write_result",
]


RECORD = "run.json"
"""The file that names all files of the result."""

BESIDES = {
    "report": "report.html",
    "netcdf": "samples.nc",
    "anndata": "result.h5ad",
    "multiqc": "syclade_mqc.json",
}
"""Options for more files of a result, and their names."""

folder_of_result = partial(output_folder, key=RECORD, record=RECORD)
"""Open a folder for the files of a result."""


def files_of(
    result: Result,
    sample: str,
    *,
    report: bool,
    netcdf: bool,
    multiqc: bool,
    anndata: bool = False,
    title: str = "",
    highlight: Sequence[str] = (),
) -> dict[str, Content]:
    """Return the contents of the files of a result, by file name.

    Args:
        result: the result.
        sample: name of the row in the table for MultiQC.
        report: whether to include report.html.
        netcdf: whether to include samples.nc.
        multiqc: whether to include syclade_mqc.json.
        anndata: whether to include result.h5ad.
        title, highlight: title of the report, and names of mutations that it names first.

    Raises:
        OptionError: a library for `report`, `netcdf` or `anndata` is not installed, or `netcdf` is given
            without samples.
    """
    texts = (
        result.to_newick(),
        result.to_graphviz(),
        result.kind.table(result.tree),
        _json(result.summary()),
        "",
    )
    files: dict[str, Content] = {**dict(zip(result.kind.file_names, texts, strict=True))}
    found = {name: content for finding in result.findings for name, content in finding.files().items()}
    if report:
        from syclade.host.answer.report.page import report_of

        files[BESIDES["report"]] = report_of(result, found, title=title, highlight=highlight)
    if netcdf:
        files[BESIDES["netcdf"]] = netcdf_of(result)
    if anndata:
        files[BESIDES["anndata"]] = result.to_anndata().write_h5ad
    if multiqc:
        files[BESIDES["multiqc"]] = multiqc_of(result, sample)
    files |= found
    files[RECORD] = _json({**result.run(), "files": list(files)})
    return files


class Incomplete(OutputError):
    """The result is written as requested, but for files besides that cannot be made."""


def write_result(result: Result, folder: OutputFolder, wanted: Mapping[str, Any]) -> list[str]:
    """Write the files of a result; those of `BESIDES` that cannot be made do not withhold the others.

    Args:
        result: the result.
        folder: the folder, whose name is the row in the table for MultiQC.
        wanted: further arguments of `files_of`.

    Returns:
        The names of the files.

    Raises:
        Incomplete: some cannot be made, such as for an error in a library; all others are written.
        OutputError: the files cannot be written.
    """
    sample = folder.path.name
    try:
        files = files_of(result, sample, **wanted)
        folder.write(files)
    except SycladeError:
        raise
    except Exception as problem:
        failed = _failing(result, sample, wanted)
        if not failed:
            raise
        folder.write(files_of(result, sample, **{**wanted, **dict.fromkeys(failed, False)}))
        names = " and ".join(BESIDES[option] for option in failed)
        raise Incomplete(
            f"{names} cannot be made: {'; '.join(failed.values())}",
            hint=f"all other files of the result are in {folder.path}",
        ) from problem
    return list(files)


def _failing(result: Result, sample: str, wanted: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of the wanted files of `BESIDES` that cannot be made, with the error of each."""
    failed: dict[str, str] = {}
    for option in (one for one in BESIDES if wanted.get(one)):
        try:
            files = files_of(result, sample, **{**wanted, **dict.fromkeys(BESIDES, False), option: True})
            with tempfile.TemporaryDirectory() as place:
                write_file(Path(place) / BESIDES[option], files[BESIDES[option]])
        except Exception as error:
            failed[option] = " ".join([f"{type(error).__name__}:", *str(error).split()])
    return failed


def inputs_of(result: Result) -> dict[str, object]:
    """Return the files that the run read, by the names of their options, and the matrix."""
    kinds = ("file", "names", "tree", "labels")
    files = {flag_of(name): result.options.get(name) for name in OPTIONS if OPTIONS[name].type.name in kinds}
    return {"the matrix": result.matrix, **files}


def _json(values: Mapping[str, object]) -> str:
    return json.dumps(values, indent=2) + "\n"


def netcdf_of(result: Result) -> Content:
    """Return a function that writes the samples as netCDF.

    Raises:
        OptionError: there are no samples, or h5netcdf and h5py (the extra `samples`) are not installed.
    """
    if result.samples is None:
        raise OptionError(
            "there are no samples to write as netCDF",
            hint=f"ask for some: {flag_of('samples')} K {flag_of('steps')} N, with chains",
        )
    require_netcdf()
    sampled = result.samples
    return lambda passing: write_netcdf(passing, sampled)


_PACKAGES = ("numpy", "numba", "numba-dpex", "dpctl")


def summary_of(result: Result) -> JsonObject:
    """Return the content of summary.json; equal matrix, seed and options give equal bytes on any device."""
    summary: JsonObject = {
        "tree": result.kind.name,
        "matrix_sha256": result.matrix_sha256,
        "log_likelihood": result.log_likelihood,
        "parents": result.parents.tolist(),
        "mutations": list(result.mutations),
        "cells": list(result.cells),
        "n_mutations": len(result.measured),
        "n_cells": result.n_cells,
        **all_rates(result.model),
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
        summary |= finding.summary()
    return summary


def run_of(result: Result) -> dict[str, object]:
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
        "stages": dict(result.stages),
        "steps_per_second": result.steps_per_second,
        "pipeline": None if result.pipeline is None else {**result.pipeline},
        "options": dict(result.options),
        "date": result.date,
        "version": result.version,
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    """Return the versions of the installed packages by name."""
    return {name: version for name in _PACKAGES if (version := version_of(name)) is not None}


class Rescued(OutputError):
    """A result could not be written as requested, and is in another folder, which the hint names."""


def rescued(error: OutputError, write: Callable[[Path], object]) -> OutputError:
    """Write a result to a new folder in the user's state directory, or else in the temporary directory.

    Args:
        error: the reason why it cannot be written as requested.
        write: function that writes the result to a folder that does not exist yet, or raises an OutputError.

    Returns:
        The error to raise: a `Rescued` that says where the result is; `error` if it cannot be written there
        either.
    """
    for folder in _places():
        try:
            write(folder)
        except OutputError:
            continue
        return Rescued(error.message, hint=f"the result is not lost: it is in {folder}")
    return error


def _places() -> Iterator[Path]:
    import platformdirs

    name = f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}-{secrets.token_hex(3)}"
    yield Path(platformdirs.user_state_dir("syclade", appauthor=False)) / "results" / name
    try:
        yield Path(tempfile.gettempdir()) / f"syclade-{name}"
    except FileNotFoundError:  # no temporary directory is writable
        return


def multiqc_of(result: Result, sample: str) -> str:
    """Return the text of the file: a table with one row.

    Args:
        result: the result of an inference.
        sample: name of the row; "syclade" if empty.
    """
    return multiqc_table({sample or "syclade": multiqc_row(result)}, result.kind.title)


def multiqc_row(result: Result) -> JsonObject:
    """Return the row of a result, by the names of the columns."""
    return {
        "mutations": len(result.measured),
        "cells": result.n_cells,
        "log_likelihood": result.log_likelihood,
        "agreeing": 100.0 * result.agreeing / max(result.run_count, 1),
        "converged": "yes" if result.converged else "no",
        "missing": 100.0 * float((result.observed.values[: len(result.measured)] == 3).mean()),
        **{
            column.name: column.values[0]
            for finding in result.findings
            for column in finding.columns()
            if column.of == RESULT
        },
    }


def multiqc_table(rows: Mapping[str, JsonObject], trees: str) -> str:
    """Return the text of the file.

    Args:
        rows: rows (`multiqc_row`) by their names.
        trees: kind of the trees, in the plural.
    """
    headers: dict[str, JsonObject] = {
        "mutations": {"title": "Mutations", "format": "{:,.0f}"},
        "cells": {"title": "Cells", "format": "{:,.0f}"},
        "missing": {"title": "Missing", "suffix": " %", "max": 100, "min": 0, "format": "{:,.1f}"},
        "log_likelihood": {"title": "Log-likelihood", "description": "of the best tree, natural log"},
        "agreeing": {"title": "Agreeing", "suffix": " %", "max": 100, "min": 0, "format": "{:,.0f}",
                     "description": "searches, or chains, that found the best score"},
        "converged": {"title": "Converged", "description": "whether they agree"},
    }  # fmt: skip
    for name in (name for row in rows.values() for name in row if name not in headers):
        headers[name] = {"title": name.capitalize()}  # of a finding
    table = {
        "id": "syclade",
        "section_name": "syclade",
        "description": f"{trees.capitalize()} of single cells, the most likely ones that were found.",
        "plot_type": "table",
        "pconfig": {"id": "syclade_table", "title": f"syclade: {trees}"},
        "headers": headers,
        "data": dict(rows),
    }
    return json.dumps(table, indent=2) + "\n"
