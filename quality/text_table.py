"""Markdown tables with aligned columns, readable in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["text_table"]


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table.

    Args:
        heads: names of the columns.
        rows: texts of the cells; each row has as many as there are columns.
    """
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(len(text) for text in column) for column in zip(*lines, strict=True)]
    texts = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])
