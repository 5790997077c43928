"""Digest of a kernel's sources: it covers all code that the kernel uses, and nothing else."""

from __future__ import annotations

import ast
import gc
import hashlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from syclade.host.chains.encodings import make_encoding
from syclade.host.chains.plan import chain_kernel, make_plan
from syclade.host.chains.scores.score import all_attachments
from syclade.host.commands.ship.kernels import shipped_kernels
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rates import Rates
from syclade.host.device.compile import kernel as module
from syclade.host.device.compile import translate
from syclade.host.device.compile.kernel import Kernel, code_of, digest_of, digest_of_files, modules_of
from syclade.host.ground.cache import cache_folder
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case

NARROW, WIDE = Case(20, 30), Case(20, 900)


def kernel(encoding: str, case: Case = NARROW) -> Kernel:
    plan = case.plan()
    return chain_kernel(plan, make_encoding(encoding)(plan.problem, TRAITS))


def kernel_of_sums() -> Kernel:
    problem = make_problem(matrix_from_array(NARROW.values), Rates(0.02, 0.2), octaves=True)
    plan = make_plan(problem, score=all_attachments(problem))
    return chain_kernel(plan, make_encoding("preorder")(problem, TRAITS))


KERNELS = {
    "ancestor": kernel("ancestor"),
    "narrow": kernel("preorder"),
    "wide": kernel("preorder", WIDE),
    "screened": kernel_of_sums(),
}
EVERY = set(KERNELS)


@pytest.mark.parametrize(
    ("changed", "matters_to"),
    [
        ("kernels/chain/steps.py", EVERY),
        ("kernels/chain/philox.py", EVERY),
        ("kernels/moves/swap_labels.py", EVERY),
        ("kernels/scores/best_attachment.py", {"ancestor", "narrow", "wide"}),
        ("kernels/scores/all_attachments.py", {"screened"}),
        ("kernels/ancestor/tree_update.py", {"ancestor"}),
        ("kernels/preorder/tables/rebuild.py", {"narrow", "wide", "screened"}),
        ("kernels/preorder/narrow/score_mapping.py", {"narrow", "screened"}),
        ("kernels/preorder/screened/bound.py", {"screened"}),
        ("kernels/preorder/wide/sketches.py", {"wide"}),
        ("kernels/recorders/every.py", set()),
        ("kernels/target/sycl.py", set()),
        ("host/chains/runs/pipeline.py", set()),
        ("fallback/chain/steps.py", set()),
        ("src/syclade/__init__.py", set()),
    ],
)
def test_a_file_is_part_of_those_that_import_it(
    monkeypatch: pytest.MonkeyPatch, changed: str, matters_to: set[str]
) -> None:
    """A change of code changes the digest; a comment does not."""
    before = {name: digest_of_files(one.modules) for name, one in KERNELS.items()}
    for added, expected in ((b"\nadded = 1\n", matters_to), (b"\n# added\n", set())):
        with monkeypatch.context() as patch:
            altered = append_when_read(patch, changed, added)
            after = {name: digest_of_files(one.modules) for name, one in KERNELS.items()}
        assert {name for name in KERNELS if before[name] != after[name]} == expected
        assert bool(altered) == bool(matters_to)


def append_when_read(monkeypatch: pytest.MonkeyPatch, changed: str, added: bytes) -> list[Path]:
    """Append bytes to every file read whose path ends with `changed`; return the list of those files."""
    read_bytes = Path.read_bytes
    altered: list[Path] = []

    def read(path: Path) -> bytes:
        if not path.as_posix().endswith(changed):
            return read_bytes(path)
        altered.append(path)
        return read_bytes(path) + added

    monkeypatch.setattr(Path, "read_bytes", read)
    return altered


def test_a_comment_in_any_kernel_changes_no_shipped_one(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = shipped_kernels()
    before = {name: digest_of_files(one.kernel.modules) for name, one in kernels.items()}
    assert append_when_read(monkeypatch, ".py", b"\n# added\n") == []
    assert {name: digest_of_files(one.kernel.modules) for name, one in kernels.items()} == before


SOURCE = '''
"""A module."""
from a import b  # what it needs

LIMIT = 3
"""How many."""


def one(x: int, *, y: str = "y") -> str:
    """Does one thing."""
    # because
    if x < LIMIT:
        return f"{x:>{LIMIT}} of {y}"
    return y
'''

SAME = '''
from a import b
LIMIT = 3
def one(
    x: int,
    *, y: str = 'y',
) -> str:
    """Does another thing.

    In words.
    """


    if x < LIMIT:
        return f"{x:>{LIMIT}} of {y}"

    return (y)
'''

OTHERS = [
    ("LIMIT = 3", "LIMIT = 4"),
    ("LIMIT = 3", "LIMIT = 3.0"),
    ("LIMIT = 3", "LIMIT = '3'"),
    ("from a", "from c"),
    ("def one", "def two"),
    ("x: int", "z: int"),
    ("x: int", "x: float"),
    ("x < LIMIT", "x <= LIMIT"),
    ("*, y", "y"),
    ("*, y: str = 'y'", "*y: str"),
    ("x < LIMIT", "x if LIMIT else 0"),
    ("of {y}", "of {x}"),
    ("    return (y)", "        return (y)"),
    ("return (y)", "return (y,)"),
    ("return (y)", "return"),
    ("return (y)", "'some text'; return (y), 'some text'"),
]


def test_comments_docstrings_and_layout_are_no_code() -> None:
    assert code_of(SAME) == code_of(SOURCE) == code_of(SOURCE.encode())


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_everything_else_is_code(old: str, new: str) -> None:
    assert old in SAME
    assert code_of(SAME.replace(old, new)) != code_of(SAME)


def test_code_reads_the_same_in_all_versions_of_python() -> None:
    """Every version must give the same digest, because precompiled kernels are found by it."""
    source = (
        SOURCE
        + "match f'{1:>{2}}{3} of {4}':\n    case [1, *_]: pass\nx = ('', f'{1}{2}', b'y', 1e999, [])\n"
    )
    digest = hashlib.sha256(code_of(source).encode()).hexdigest()
    assert digest == "be3142a6e7a1764de84fb5374976933f4f4e805a570166b2e38f2908c16bb42d"


def test_the_translation_is_part_of_every_kernel() -> None:
    files = {
        path.as_posix() for path in modules_of((translate.__name__, "syclade.kernels.target.sycl")).values()
    }
    for part in (
        "host/ground/spirv.py",
        "host/device/workarounds/compiler.py",
        "kernels/target/sycl_arrays.py",
    ):
        assert any(file.endswith(part) for file in files), part
    assert not any(file.endswith("runs/pipeline.py") for file in files)


def test_imports_in_every_form_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "some_package"
    (package / "inner").mkdir(parents=True)
    for name in (
        "__init__",
        "one",
        "two",
        "three",
        "four",
        "inner/__init__",
        "inner/five",
        "inner/seven",
        "unused",
    ):
        (package / f"{name}.py").write_text("")
    (package / "start.py").write_text(
        '"""\nimport some_package.unused\n"""\n'
        "import json\nimport some_package.one\nfrom some_package import (\n    two,\n    three as four_,\n)\n"
        "def later():\n    from some_package.inner.five import x\n    from .inner import six\n"
    )
    (package / "inner" / "six.py").write_text("from . import seven\nfrom .. import four\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module._file_of.cache_clear()
    found = modules_of(["some_package.start"])
    expected = {
        "",
        ".start",
        ".one",
        ".two",
        ".three",
        ".four",
        ".inner",
        ".inner.five",
        ".inner.six",
        ".inner.seven",
    }
    assert set(found) == {f"some_package{name}" for name in expected}


def test_a_remembered_digest_is_that_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest notices a deleted file, and an edit that keeps the size and resets the time."""
    package = tmp_path / "one_more_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    start, other = package / "start.py", package / "other.py"
    start.write_text("from one_more_package import other\n")
    other.write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SYCLADE_CACHE", str(tmp_path / "cache"))
    cache_folder.cache_clear()

    def digest() -> str:
        digest_of.cache_clear()
        return digest_of(("one_more_package.start",))

    try:
        first = digest()
        assert first == digest() == digest_of_files(("one_more_package.start",))
        kept = next((tmp_path / "cache" / "sources").iterdir())
        at = other.stat()
        other.write_text("x = 2\n")
        os.utime(other, ns=(at.st_atime_ns, at.st_mtime_ns))
        second = digest()
        assert first != second == digest_of_files(("one_more_package.start",))
        kept.write_bytes(b"damaged")
        assert digest() == second
        other.unlink()
        module._file_of.cache_clear()
        assert digest() not in (first, second)
    finally:
        cache_folder.cache_clear()
        digest_of.cache_clear()
        module._file_of.cache_clear()


def test_threads_parse_at_the_same_time() -> None:
    """Garbage is collected in the middle of each parse, and its callback lets another thread go on."""

    def let_others_go_on(_phase: str, _info: dict[str, int]) -> None:
        time.sleep(0.0002)

    text = Path(module.__file__).read_text(encoding="utf-8")
    before = gc.get_threshold()
    gc.callbacks.append(let_others_go_on)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = set(pool.map(code_of, [text] * 12))
    finally:
        gc.callbacks.remove(let_others_go_on)
        gc.set_threshold(*before)
    assert len(found) == 1


def test_imports_are_found_in_every_block() -> None:
    source = """
import a, a2 as other
async def one():
    async with x:
        from .b import b1, b2
class C:
    def two(self):
        async for i in x: import c
        else: import d
while x: import e
try: import f
except E: import g
else: import h
finally: from .. import i
try: pass
except* E: import j
match x:
    case 1 if y: import k
if x: pass
elif y: import l
else:
    with x: import m
"""
    found = {name for name, _ in module._imports(ast.parse(source))}
    assert found == {*"acdefghjklm", "a2", ".b", ".."}
    assert sorted(module._imports(ast.parse(source))) == sorted(
        (name, names) for node in ast.walk(ast.parse(source)) for name, names in module._imports(_alone(node))
    )


def _alone(node: ast.AST) -> ast.Module:
    """Return a module of one statement if it is an import, else an empty one."""
    return ast.Module([node] if isinstance(node, (ast.Import, ast.ImportFrom)) else [], [])
