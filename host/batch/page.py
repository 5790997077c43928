"""Page of a batch: its table, with links to the reports of the results."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from syclade.host.batch.line import Line

__all__ = ["page_of"]

_COLUMNS = {
    "name": "Name", "mutations": "Mutations", "cells": "Cells", "log_likelihood": "Log-likelihood",
    "fp_rate": "FP rate", "fn_rate": "FN rate", "agreeing": "Agreeing", "certainty": "Certainty",
    "seconds": "Seconds", "error": "Error",
}  # fmt: skip
_FORMS = {
    "log_likelihood": "{:.4f}",
    "fp_rate": "{:.3g}",
    "fn_rate": "{:.3g}",
    "certainty": "{:.0%}",
    "seconds": "{:.2f}",
}
_NUMBERS = ("mutations", "cells", "agreeing", *_FORMS)

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>syclade: {title}</title>
<style>
body {{ font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; padding: 16px; max-width: 1240px; }}
h1 {{ font-size: 22px; margin: 0 0 4px; }}
p {{ margin: 4px 0 8px; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; padding: 2px 14px 2px 0; border-bottom: 1px solid #eee; vertical-align: top; }}
th {{ font-weight: 600; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.failed td {{ color: #a33c00; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>Each matrix has a report of its own. Agreeing: searches, or chains, that found the best score. Certainty: mean probability of the tree's edges among sampled trees.</p>
<div class="wide" tabindex="0" role="region" aria-label="Results"><table>
<thead><tr>{head}</tr></thead>
<tbody>
"""

_FOOT = "</tbody>\n</table></div>\n</body>\n</html>\n"


def page_of(lines: Sequence[Line]) -> str:
    """Return the HTML of the page, without scripts or external resources.

    Args:
        lines: the lines of all matrices; those that are done have report.html in their folders.
    """
    done = sum(line["state"] == "done" for line in lines)
    title = f"{len(lines)} matrices" + ("" if done == len(lines) else f", {done} of them done")
    head = "".join(f"<th{_class(name)}>{title}</th>" for name, title in _COLUMNS.items())
    return _HEAD.format(title=title, head=head) + "".join(map(_row, lines)) + _FOOT


def _row(line: Line) -> str:
    cells = "".join(f"<td{_class(name)}>{_cell(line, name)}</td>" for name in _COLUMNS)
    return f"<tr{'' if line['state'] == 'done' else ' class=failed'}>{cells}</tr>\n"


def _class(name: str) -> str:
    return " class=number" if name in _NUMBERS else ""


def _cell(line: Line, name: str) -> str:
    value: Any = line.get(name)
    if value is None:
        return ""
    if name == "agreeing":
        return f"{value} of {line['runs']}"
    text = html.escape(_FORMS[name].format(value) if name in _FORMS else str(value))
    if name == "name" and line["state"] == "done":
        return f'<a href="{html.escape(quote(value))}/report.html">{text}</a>'
    return text
