"""Options of `read_matrix` as arguments of the functions that read a matrix: `infer` and `score`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from syclade.host.ground.options import CODING, Options, options_of

__all__ = ["Reading", "options_with"]


class Reading(TypedDict, total=False):
    """Options of `read_matrix`, which describes them; tests/test_options.py compares them with the table."""

    format: str
    two: str | None
    rows: str | None
    evidence: str
    min_depth: int | None
    min_vaf: float | None
    min_gq: int | None
    vaf_ref: float | None
    vaf_het: float | None
    vaf_hom: float | None
    total_reads: object
    ref_reads: object
    absent: object
    columns: str | None
    name_by: str | None
    layer: str | None
    total_layer: str | None
    absent_layer: str | None
    coding: str | None
    filter: str | None
    drop_filtered: bool
    obs_mask: str | None
    var_mask: str | None
    max_missing_mutation: float | None
    max_missing_cell: float | None
    min_cells: int | None


def options_with(values: Mapping[str, Any], reading: Reading, function: str) -> Options:
    """Return the options among the arguments of a function.

    Args:
        values: its named arguments; those that are no options are left out.
        reading: its other arguments.
        function: its name, for messages.

    Raises:
        TypeError: an argument is no option of `read_matrix`, as Python says of any function.
    """
    for name in reading:
        if name not in CODING:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
    return options_of({**values, **reading})
