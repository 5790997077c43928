"""Installation and import: hints that name the whole install, and folders with the package's name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from syclade.host.ground import packages
from syclade.host.ground.packages import install_command, sycl_hint
from tests.conftest import ROOT


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("there", "missing", "command"),
    [
        ([], ["quality"], "pip install '.[quality]'"),
        ([], ["sycl"], "pip install '.[sycl]'"),
        ([], [], "pip install ."),
        (["dpctl"], ["quality"], "pip install '.[sycl,quality]'"),
        (["statsmodels"], ["sycl"], "pip install '.[sycl,quality]'"),
        (["dpctl"], [], "pip install '.[sycl]'"),
        ([], ["report"], "pip install '.[report]'"),
        (["jinja2"], ["samples"], "pip install '.[report,samples]'"),
    ],
)
def test_hints_name_the_whole_install(
    monkeypatch: pytest.MonkeyPatch, there: list[str], missing: list[str], command: str
) -> None:
    monkeypatch.setattr(packages, "version_of", lambda name: "1" if name in there else None)
    where = "in the folder of syclade's clone"
    assert install_command(*missing) == f"{command} {where}"
    again = command.replace("install", "install --force-reinstall", 1)
    assert install_command(*missing, reinstall=True) == f"{again} {where}"


def test_the_hint_for_sycl_says_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "version_of", lambda _name: None)
    assert sycl_hint() == (
        "install the SYCL stack (Linux x86_64, Python 3.11 to 3.14): pip install '.[sycl]' "
        "in the folder of syclade's clone"
    )


def test_install_commands_are_those_of_the_readme() -> None:
    """There is no package on a registry: a clone is installed, by the documentation as well."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    assert "pip install '.[sycl,report]'" in texts[ROOT / "README.md"]
    assert [path for path, text in texts.items() if re.search(r"pip install '?syclade", text)] == []


def test_no_hint_is_written_by_hand() -> None:
    """A hint written by hand would sooner or later name only a part of the install."""
    by_hand = re.compile(r"pip install (?!\{)")
    files = [path for folder in ("host", "quality", "src") for path in (ROOT / folder).rglob("*.py")]
    found = [path for path in files if by_hand.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_a_folder_with_the_packages_name_does_not_stand_in_its_way(tmp_path: Path) -> None:
    """Import from the parent folder of a clone, with an editable install."""
    (tmp_path / "syclade").symlink_to(ROOT, target_is_directory=True)
    done = run("import syclade; print(syclade.infer.__module__)", tmp_path)
    assert (done.returncode, done.stdout) == (0, "syclade.host.answer.inference\n"), done.stderr


HIDDEN = """
import sys
sys.meta_path[:] = [one for one in sys.meta_path if getattr(one, "__name__", "") != "_EditableFinder"]
sys.path[:] = [folder for folder in sys.path if "site-packages" not in folder]
import syclade.host.ground.errors
"""


def test_a_folder_that_is_taken_for_the_package_is_told(tmp_path: Path) -> None:
    (tmp_path / "syclade").mkdir()
    (tmp_path / "syclade" / "host").symlink_to(ROOT / "host", target_is_directory=True)
    done = run(HIDDEN, tmp_path)
    assert done.returncode != 0
    assert done.stderr.rstrip().endswith(
        f"ImportError: Python took the folder {tmp_path / 'syclade'} for the package syclade, which is only "
        "called so: start Python in another folder, or as python -P"
    )
