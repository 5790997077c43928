"""Installed package: complete, quick to import, and built from locked versions."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import statistics
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from syclade.host.device.workarounds import CURRENT
from syclade.host.ground.packages import COMPILER_PYTHON, SYCL_PLATFORM
from tests.conftest import ROOT

FOLDERS = ["fallback", "host", "kernels", "quality", "src/syclade"]
STUDIES = ROOT / "quality" / "studies"
"""Run from a clone; no part of the package."""
# Markers of the extra `sycl`: the pinned stack with a compiler, and the stack for newer Pythons.
SYCL_FOR = "sys_platform == 'linux' and platform_machine == 'x86_64' and "
PINNED_FOR = SYCL_FOR + "python_version == '3.11'"
NEWER_FOR = SYCL_FOR + "python_version >= '3.12' and python_version < '3.15'"
LOCKS = ["requirements.lock", "requirements-dev.lock"]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["setuptools"]["packages"]
PACKAGE_DIR: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]

# Any URL, and any path that exists only on one machine.
ADDRESS = re.compile(r"\b(?:https?|ftp|file|git\+ssh|ssh)://\S+")
MACHINE_PATH = re.compile(r"(?<![\w.$}~*/-])/(?:home|root|work|Users|mnt|srv|tmp/\w)\b")


def files_of_package(pattern: str = "*") -> list[Path]:
    """Return the files of the package, which has all of its folders but the studies."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob(pattern) if file.is_file()]
    return [file for file in files if STUDIES not in file.parents and "__pycache__" not in file.parts]


def folders_with_python() -> list[Path]:
    """Return every folder of the package that has a Python file."""
    return sorted({file.parent for file in files_of_package("*.py")})


def package_of(folder: Path) -> str:
    """Return the package that a folder is mapped to."""
    relative = folder.relative_to(ROOT).as_posix()
    for package, mapped in PACKAGE_DIR.items():
        if relative == mapped or relative.startswith(mapped + "/"):
            return package + relative.removeprefix(mapped).replace("/", ".")
    raise AssertionError(f"{relative} is in no package")


def pins_of(lock: str) -> dict[str, str]:
    """Return the versions in a lock file, by package name."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", (ROOT / lock).read_text(), re.MULTILINE))


def committed_files() -> list[str]:
    """Return the files that git would commit, except links."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink()]


def test_every_folder_is_a_listed_package() -> None:
    folders = folders_with_python()
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
    assert sorted(PACKAGES) == sorted(package_of(folder) for folder in folders)


def test_type_check_links_lead_to_the_packages() -> None:
    links = ROOT / "typings" / "syclade"
    for package, folder in PACKAGE_DIR.items():
        if package != "syclade":
            assert (links / package.removeprefix("syclade.")).resolve() == ROOT / folder
    for name in ["__init__.py", "py.typed"]:
        assert (links / name).resolve() == ROOT / "src" / "syclade" / name


def built_wheel(folder: Path) -> Path:
    """Return the wheel that `.ci/run` has built from these sources, or else build it in the folder."""
    given = os.environ.get("SYCLADE_DIST")
    if given is None:
        tree = folder / "tree"
        for name in FOLDERS:
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ["pyproject.toml", "README.md", "LICENSE"]:
            shutil.copy(ROOT / name, tree / name)
        # Build through the source distribution, which must contain all that the wheel needs.
        command = [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(folder / "dist"),
            str(tree),
        ]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = Path(given or folder / "dist").glob("*.whl")
    return wheel


@pytest.mark.slow
def test_the_wheel_has_every_module_and_data_file(tmp_path: Path) -> None:
    wheel = built_wheel(tmp_path)
    expected = {f"{package_of(file.parent).replace('.', '/')}/{file.name}" for file in files_of_package()}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert STUDIES.is_dir()
    assert not [name for name in packed if "studies" in name]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_hashes_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text()
    requirements = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    assert len(requirements) == len(pins_of(lock)) > 0
    assert [line for line in requirements if "--hash=sha256:" not in line] == []
    assert not re.search(r"://|@|^\s*--(?:index|extra|find|trusted)|(?<=\s)[./]", text, re.MULTILINE)


def test_the_locks_and_the_extra_agree() -> None:
    run, dev = (pins_of(lock) for lock in LOCKS)
    assert run.items() <= dev.items()
    sycl = [entry.partition("; ") for entry in PROJECT["project"]["optional-dependencies"]["sycl"]]
    pinned = [entry for entry, _, condition in sycl if condition == PINNED_FOR]
    assert dict(entry.split("==") for entry in pinned).items() <= run.items()
    newer = [entry for entry, _, condition in sycl if condition == NEWER_FOR]
    assert len(pinned) + len(newer) == len(sycl)


def test_newer_pythons_get_the_stack_that_is_known() -> None:
    """Check that ranges begin at the versions of `CURRENT` and end where libsycl's name may change."""
    sycl = [entry.partition("; ") for entry in PROJECT["project"]["optional-dependencies"]["sycl"]]
    ranges = dict(entry.split(">=") for entry, _, condition in sycl if condition == NEWER_FOR)
    assert ranges.pop("dpctl") == f"{CURRENT.dpctl},<0.23"
    assert set(ranges) == {"intel-cmplr-lib-rt", "intel-opencl-rt", "intel-sycl-rt"}
    assert {bounds.split(",")[1] for bounds in ranges.values()} == {"<2027"}
    assert all(CURRENT.runtimes.startswith(bounds.split(",")[0]) for bounds in ranges.values())


def test_the_pythons_of_the_extra_are_those_that_messages_name() -> None:
    assert SYCL_PLATFORM == "Linux x86_64, Python 3.11 to 3.14"
    assert COMPILER_PYTHON == "Python 3.11"
    assert PINNED_FOR.endswith("python_version == '3.11'")
    assert NEWER_FOR.endswith("python_version >= '3.12' and python_version < '3.15'")


def test_every_dependency_is_imported() -> None:
    """A package that only tests import belongs to the extra `test`; otherwise every user would install it."""
    sources = [path.read_text() for path in files_of_package("*.py")]
    for entry in PROJECT["project"]["dependencies"]:
        name = re.split(r"[^\w-]", entry)[0]
        wanted = re.compile(rf"^\s*(?:import|from) {name}\b", re.MULTILINE)
        assert any(wanted.search(text) for text in sources), name


@pytest.mark.parametrize(
    "name",
    [
        "infer", "Result", "SycladeError", "read_matrix", "score", "simulate",
        "bench", "design", "devices", "export",
    ],
)  # fmt: skip
def test_a_public_name_is_loaded_at_first_use(name: str) -> None:
    import syclade

    assert name in dir(syclade)
    assert getattr(syclade, name).__name__ == name


def test_the_version_is_the_installed_one() -> None:
    import syclade

    assert syclade.__version__ == version("syclade") == PROJECT["project"]["version"]


def test_an_unknown_name_is_an_attribute_error() -> None:
    import syclade

    with pytest.raises(AttributeError, match="no_such_name"):
        _ = syclade.no_such_name  # type: ignore[attr-defined]


def test_import_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, time; start = time.perf_counter(); import syclade; "
        "seconds = time.perf_counter() - start; "
        "heavy = {'numpy', 'scipy', 'networkx', 'click', 'rich', 'numba', 'dpctl'} & set(sys.modules); "
        "assert not heavy, heavy; print(seconds)"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
    assert statistics.median(float(run.stdout) for run in runs) < 0.3


def test_the_top_level_has_no_tables() -> None:
    """Trials write results where they are started, and a commit of all files takes them along."""
    found = {Path(name).suffix for name in committed_files() if "/" not in name}
    assert not found & {".csv", ".tsv", ".geneNames", ".cellNames", ".newick", ".gv", ".vcf", ".h5ad"}


def test_no_machine_path_is_committed() -> None:
    found = []
    for name in committed_files():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}: {match.group()}" for match in MACHINE_PATH.finditer(text)]
    assert found == []


def test_no_address_in_what_installs() -> None:
    installers = {*LOCKS, "Makefile", "pyproject.toml", ".ci/run"}
    files = [name for name in committed_files() if name in installers]
    assert set(files) == installers
    assert [name for name in files if ADDRESS.search((ROOT / name).read_text())] == []


def test_files_that_the_documentation_names_are_there() -> None:
    """Skip placeholders (x) and the section "What is to come"."""
    named = re.compile(r"`((?:host|kernels|fallback|quality|tests|docs|src)/[\w/.-]+)`")
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for place in named.findall(page.read_text(encoding="utf-8").partition("## What is to come")[0]):
            if not re.search(r"(^|/)(x|x_\w+)(\.py|/|$)", place):
                assert (ROOT / place).exists(), f"{page.name}: {place}"


def test_the_site_has_every_page() -> None:
    """A page that is in no list of docs/conf.py would fail `make docs`, which no other test runs."""
    docs = ROOT / "docs"
    pages = runpy.run_path(str(docs / "conf.py"))["PAGES"]
    listed = sorted(page for section in pages.values() for page in section)
    found = {
        path.relative_to(docs).with_suffix("").as_posix()
        for end in ("md", "ipynb")
        for path in docs.rglob(f"*.{end}")
    }
    assert listed == sorted(
        page for page in found if page != "index" and not page.startswith("workflows/snakemake")
    )
