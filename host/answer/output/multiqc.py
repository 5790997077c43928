"""A table for MultiQC, which reads files named ``*_mqc.json`` (see "Custom content" in its docs)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from syclade.host.findings.finding import RESULT

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["multiqc_of", "multiqc_row", "multiqc_table"]


def multiqc_of(result: Result, sample: str) -> str:
    """Return the text of the file: a table with one row.

    Args:
        result: the result of an inference.
        sample: name of the row; "syclade" if empty.
    """
    return multiqc_table({sample or "syclade": multiqc_row(result)}, result.kind.title)


def multiqc_row(result: Result) -> dict[str, Any]:
    """Return the row of a result, by the names of the columns."""
    found = len(result.searches) or result.chains
    return {
        "mutations": len(result.mutations),
        "cells": result.n_cells,
        "log_likelihood": result.log_likelihood,
        "agreeing": 100.0 * result.agreeing / found,
        "converged": "yes" if result.converged else "no",
        "missing": 100.0 * float((result.observed.values == 3).mean()),
        **{
            column.name: column.values[0]
            for finding in result.findings
            for column in finding.columns()
            if column.of == RESULT
        },
    }


def multiqc_table(rows: Mapping[str, Mapping[str, Any]], trees: str) -> str:
    """Return the text of the file.

    Args:
        rows: rows (`multiqc_row`) by their names.
        trees: kind of the trees, in the plural.
    """
    headers: dict[str, dict[str, Any]] = {
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
    told = {
        "id": "syclade",
        "section_name": "syclade",
        "description": f"{trees.capitalize()} of single cells, the most likely ones that were found.",
        "plot_type": "table",
        "pconfig": {"id": "syclade_table", "title": f"syclade: {trees}"},
        "headers": headers,
        "data": dict(rows),
    }
    return json.dumps(told, indent=2) + "\n"
