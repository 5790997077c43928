"""Arguments that the sparse stages have besides those of `search/arguments.py`."""

from syclade.kernels.arguments import SCRATCH, Argument
from syclade.kernels.search.arguments import ARGUMENTS

NODE_ROWS = 13
"""Rows over nodes per slot (by_column.py, exact_move.py)."""

MORE_ROWS = 4
"""More rows over columns per slot (by_column.py, exact_move.py)."""

SPARSE_ARGUMENTS = (
    *ARGUMENTS,
    Argument(
        "column_scores", SCRATCH, "int32", ("slots", "columns", "nodes"), "of attachments, a row a column"
    ),
    Argument("node_rows", SCRATCH, "int32", ("slots", NODE_ROWS, "nodes"), "rows over nodes"),
    Argument("more_rows", SCRATCH, "int32", ("slots", MORE_ROWS, "cells"), "more rows over columns"),
)
