"""The files of a release say the same as pyproject.toml."""

from __future__ import annotations

import json
import re
import tomllib
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


@pytest.mark.parametrize("name", ["CITATION.cff", ".zenodo.json", "recipes/conda/recipe.yaml"])
def test_files_have_the_version(name: str) -> None:
    (version,) = re.findall(
        r'^\s*"?version"?: "?(\d[\w.]*)"?,?$', (ROOT / name).read_text("utf-8"), re.MULTILINE
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
