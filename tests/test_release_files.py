"""The files of a release say the same as pyproject.toml."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE = (ROOT / "recipes" / "conda" / "recipe.yaml").read_text("utf-8")


def items_of(key: str) -> set[str]:
    """Return the list below a key of the recipe, without blanks."""
    found = re.search(rf"^( *){key}:\n((?:\1  - .*\n)+)", RECIPE, re.MULTILINE)
    assert found, key
    return {line.strip().removeprefix("- ").replace(" ", "") for line in found[2].splitlines()}


def test_recipe_has_the_dependencies_of_the_package() -> None:
    python = "python" + PROJECT["requires-python"]
    assert items_of("run") == {*PROJECT["dependencies"], python}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    assert items_of("host") == {*build, python, "pip"}
    scripts = {f"{name}={target}" for name, target in PROJECT["scripts"].items()}
    assert items_of("entry_points") == scripts
    assert f'summary: "{PROJECT["description"]}"' in RECIPE
    assert f"license: {PROJECT['license']}\n" in RECIPE


@pytest.mark.parametrize(
    "name", ["CITATION.cff", ".zenodo.json", "recipes/conda/recipe.yaml", "recipes/scite/pyproject.toml"]
)
def test_files_have_the_version(name: str) -> None:
    (version,) = re.findall(
        r'^\s*"?version"?(?: =|:) "?(\d[\w.]*)"?,?$', (ROOT / name).read_text("utf-8"), re.MULTILINE
    )
    assert version == PROJECT["version"]


def test_zenodo_says_what_the_citation_says() -> None:
    zenodo = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"abstract: {zenodo['description']}\n" in citation
    assert [f"name: {one['name']}" in citation for one in zenodo["creators"]] == [True]
    assert zenodo["license"] == PROJECT["license"]
    assert zenodo["keywords"] == PROJECT["keywords"]
    assert all(f"doi: {one['identifier']}" in citation for one in zenodo["related_identifiers"])


def test_container_has_what_the_package_needs() -> None:
    """Extras and Python are those of the package, and all folders of its sources are copied."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    arguments = dict(re.findall(r"^ARG (\w+)=(.+)$", text, re.MULTILINE))
    assert set(arguments["EXTRAS"].split(",")) <= set(PROJECT["optional-dependencies"])
    assert f"Programming Language :: Python :: {arguments['PYTHON']}" in PROJECT["classifiers"]
    copied = re.findall(r"^COPY (.+) /source/\S*$", text, re.MULTILINE)
    sources = {name for line in copied for name in line.split()}
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} <= sources
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    folders = {path.split("/")[0] for path in setup["package-dir"].values()}
    assert folders <= sources
    assert all((ROOT / name).exists() for name in sources)


def test_program_named_scite(tmp_path: Path) -> None:
    """It has SCITE's files and lines, and replaces the files of an earlier run, as SCITE does."""
    package = tomllib.loads((ROOT / "recipes/scite/pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = package["scripts"]["scite"].partition(":")
    matrix = ROOT / "host/data/example/matrix.csv"
    words = f"scite -i {matrix} -n 20 -m 40 -r 1 -l 200 -fd 0.001 -ad 0.2 -seed 1 -o x --device numpy".split()
    program = f"import sys; sys.argv = {words!r}; from {module} import {name}; {name}()"
    for _ in range(2):
        made = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr
        assert "best log score for tree:\t" in made.stdout
    assert {"x.samples", "x_ml0.gv", "x_ml0.newick"} <= {path.name for path in tmp_path.iterdir()}


def test_paper_cites_what_the_bibliography_has() -> None:
    """JOSS's form: sections, and citations with a DOI; figures are those of the documentation."""
    text, bib = (ROOT / "paper.md").read_text("utf-8"), (ROOT / "paper.bib").read_text("utf-8")
    entries = dict(re.findall(r"^@\w+\{(\w+),\n(.*?)^\}$", bib, re.MULTILINE | re.DOTALL))
    cited = set(re.findall(r"@([A-Z]\w+)", text))
    assert cited == set(entries)
    assert all(re.search(r"^  doi = \{10\.\d{4,}/\S+\}$", entry, re.MULTILINE) for entry in entries.values())
    titles = re.findall(r"^# (.+)$", text, re.MULTILINE)
    assert titles[:3] == ["Summary", "Statement of need", "State of the field"]
    assert titles[-1] == "References"
    assert 250 <= len(text.partition("# Summary")[2].split()) <= 1750
    docs = (ROOT / "README.md").read_text("utf-8") + (ROOT / "docs/trust.md").read_text("utf-8")
    claims = {"in 19 formats": "in 19 formats", "24 million steps per second": "| 24 million |"}
    claims |= {"ScisTree2 in 20": "| 64 | (2) | 20 |", "less than 0.025": "off by less than 0.025"}
    assert all(own in text and source in docs for own, source in claims.items())
