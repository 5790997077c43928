"""Rules of the sources' and documents' language that a linter does not know (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("fallback", "host", "kernels", "quality", "tests")
NOT_SAID = re.compile(r"What|Whether")
FLAG = re.compile(r"(?<![\w-])--[a-z]")
OWN_ARGUMENTS = (
    "commands/*.py", "commands/*/command.py", "ground/options/*.py", "commands/scite/arguments.py",
    "commands/scite/infscite.py", "commands/export/loader.py",
    "commands/export/hls/column_testbench.py", "commands/export/hls/opencl_device.py",
    "commands/export/hls/opencl_testbench.py",
    "commands/ship/make.py", "device/cluster/scheduler.py", "ground/packages.py",
    "data/trees/comparison.py",
)  # fmt: skip
"""Parts of the host that name options: the commands and what one alone has, the table, other programs."""
MOST = 330
"""Most characters of an entry of the changelog: what a user sees, once, in two lines."""
COMMENT = re.compile(r"#.*\b(IN|OUT)\b")


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def badly_begun(text: str) -> Iterator[int]:
    """Yield the lines of docstrings, also of constants, that begin with a nominal clause."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            said = node.value.value
            if isinstance(said, str) and NOT_SAID.match(said.lstrip()):
                yield node.lineno


def without_contract(text: str) -> Iterator[str]:
    """Yield device functions of more than three arguments, one of which has no direction beside it."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef) or len(node.args.args) <= 3:
            continue
        if not any(getattr(one, "id", "") == "device_function" for one in node.decorator_list):
            continue
        if not all(COMMENT.search(lines[one.lineno - 1]) for one in node.args.args):
            yield node.name


def flags_in(text: str) -> Iterator[int]:
    """Yield the lines of texts that name an option of the command line; docstrings may."""
    tree = ast.parse(text)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documents:
            continue
        if FLAG.search(node.value):
            yield node.lineno


def columns_without_heading(text: str) -> Iterator[int]:
    """Yield the lines of Markdown on which a table begins, one of whose columns has no heading."""
    lines = text.splitlines()
    for number, (head, rule) in enumerate(itertools.pairwise(lines), 1):
        if rule.startswith("|---") and not all(map(str.strip, head.strip("|").split("|"))):
            yield number


def long_entries(changelog: str) -> Iterator[str]:
    """Yield the entries of the next release that are longer than `MOST`, or are there twice."""
    part = changelog.partition("## [Unreleased]\n")[2].partition("\n## [")[0]
    entries = [
        " ".join(one.split()) for one in re.findall(r"^- ((?:.+\n)+?)(?=- |\n|\Z)", part, re.MULTILINE)
    ]
    yield from (one for one in entries if len(one) > MOST or entries.count(one) > 1)


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_begin_with_a_verb_or_a_noun(folder: str) -> None:
    found = [(path, line) for path in sources(folder) for line in badly_begun(path.read_text("utf-8"))]
    assert not found, [f"{path.relative_to(ROOT)}:{line}" for path, line in found]


def test_device_functions_are_contracts() -> None:
    """Each argument has a line of its own with its direction."""
    found = [
        (path, name) for path in sources("kernels") for name in without_contract(path.read_text("utf-8"))
    ]
    assert not found, [f"{path.relative_to(ROOT)}: {name}" for path, name in found]


def test_messages_take_options_from_the_table() -> None:
    """Below the command line, `flag_of` names options."""
    apart = {path for pattern in OWN_ARGUMENTS for path in (ROOT / "host").glob(pattern)}
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources("host")
        if path not in apart
        for line in flags_in(path.read_text("utf-8"))
    ]
    assert not found


def test_columns_of_tables_have_headings() -> None:
    """A screen reader reads the heading with each entry."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [(page, line) for page in pages for line in columns_without_heading(page.read_text("utf-8"))]
    assert not found, [f"{page.relative_to(ROOT)}:{line}" for page, line in found]


def test_entries_of_the_changelog_are_short() -> None:
    """A merge of both sides may also bring back entries that were rewritten."""
    assert not [one[:80] for one in long_entries((ROOT / "CHANGELOG.md").read_text("utf-8"))]


def test_the_checks_find_what_they_look_for() -> None:
    """The negative control."""
    assert list(badly_begun('LIMIT = 3\n"""What is allowed."""\n')) == [2]
    assert list(flags_in('"""Not --here."""\nHINT = "use --steps"\nOTHER = f"no {1} --image"\n')) == [2, 3]
    bad = "@device_function\ndef f(a, b, c, d):\n    return a\n"
    assert list(without_contract(bad)) == ["f"]
    good = (
        "@device_function\ndef f(\n"
        + "".join(f"    {one},  # IN int64\n" for one in "abcd")
        + "):\n    pass\n"
    )
    assert list(without_contract(good)) == []
    assert list(columns_without_heading("| a | b |\n|---|---|\n\n| | b |\n|---|---|\n")) == [4]
    changelog = f"## [Unreleased]\n\n- a\n  b\n- {'c' * MOST}d\n- e\n\n- a b\n\n## [0.1.0]\n\n- {'f' * 999}\n"
    assert list(long_entries(changelog)) == ["a b", "c" * MOST + "d", "a b"]
