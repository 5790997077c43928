"""Sphinx's configuration of the site: `make docs`.

Pages are those of the repository. Their list is added to the front page here, because other readers of
Markdown would show its directives as code; links to files that are no pages become plain text.
"""

from __future__ import annotations

import posixpath
import re
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

PAGES = {
    "First steps": [
        "site/readme", "installation", "notebooks/from-a-matrix-to-a-report", "choosing", "trust",
        "reading-the-report", "limits", "figures",
        "tutorials/panel-to-report", "tutorials/reads-to-tree", "tutorials/two-time-points",
        "tutorials/a-cohort", "tutorials/replacing-scite", "biopsies",
    ],
    "How to": [
        "formats", "evidence", "samples", "compare", "tree-tools", "r", "many", "cluster",
        "coming-from-scite", "infscite", "variants", "workflows/README",
    ],
    "Reference": [
        "commands", "options", "python", "messages", "site/commands", "site/python", "glossary", "model",
    ],
    "How it works": [
        "search", "quality", "performance", "tails", "fpga", "fpga-model", "thesis", "architecture",
        "site/contributing", "releasing", "design-notes/composition-before", "design-notes/step-cost",
        "design-notes/thirty-tasks",
    ],
}  # fmt: skip
"""Pages of the site, by section."""

project = "syclade"
author = "The syclade authors"
version = release = version_of("syclade")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["workflows/snakemake", "workflows/nextflow", "examples"]
html_theme = "sphinx_book_theme"
html_title = f"syclade {version}"
html_theme_options = {"navbar_persistent": []}  # the sidebar has the search
html_static_path, html_js_files = ["_static"], ["accessible.js"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
nb_execution_mode = "off"  # tests/test_notebooks.py runs them, and compares the stored outputs of tutorials
napoleon_use_ivar = True
autodoc_typehints = "none"  # types are in the descriptions

_INCLUDED = {"site/readme": "README.md", "site/contributing": "CONTRIBUTING.md"}
"""Files outside of docs that are pages of the site."""

_LINK = re.compile(r"\]\((?!https?:|#)([^)#]*)(#[^)]*)?\)")


def _linked(found: re.Match[str], page: str) -> str:
    """Return the end of a link with its target in the site, or without one if that is no page or picture."""
    folder = posixpath.dirname("" if page in _INCLUDED else f"docs/{page}")
    file = posixpath.normpath(posixpath.join(folder, found[1]))
    target = next((f"/{one}.md" for one, name in _INCLUDED.items() if name == file), None)
    if target is None and file.startswith("docs/") and file.endswith((".md", ".ipynb", ".png", ".svg")):
        target = file.removeprefix("docs")
    return "]{.file}" if target is None else f"]({target}{found[2] or ''})"


def _prepare(_app: Any, page: str, source: list[str]) -> None:
    """Take texts from outside, make links those of the site, and add the lists of pages to the front page."""
    if page.startswith(("notebooks/", "tutorials/")):
        return
    if page in _INCLUDED:
        source[0] = (Path(__file__).parents[1] / _INCLUDED[page]).read_text("utf-8")
    source[0] = _LINK.sub(lambda found: _linked(found, page), source[0])
    if page == "index":
        for section, pages in PAGES.items():
            listed = "\n".join(pages)
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n:caption: {section}\n\n{listed}\n```\n"


def setup(app: Any) -> None:
    """Let Sphinx call `_prepare` for each page."""
    app.connect("source-read", _prepare)
