"""The digest of a kernel's sources: of all that has a part in it, and of nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from syclade.host.chains.kernel import chain_kernel
from syclade.host.compile import sources as module
from syclade.host.compile import translate
from syclade.host.compile.cache import cache_folder
from syclade.host.compile.kernel import Kernel
from syclade.host.compile.sources import digest_of, digest_of_files, modules_of
from syclade.host.encodings import make_encoding
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case

NARROW, WIDE = Case(20, 30), Case(20, 900)


def kernel(encoding: str, case: Case = NARROW) -> Kernel:
    plan = case.plan()
    return chain_kernel(plan, make_encoding(encoding)(plan.problem, TRAITS))


KERNELS = {
    "ancestor": kernel("ancestor"),
    "narrow": kernel("preorder"),
    "wide": kernel("preorder", WIDE),
}


@pytest.mark.parametrize(
    ("changed", "matters_to"),
    [
        ("kernels/chain/steps.py", {"ancestor", "narrow", "wide"}),
        ("kernels/chain/philox.py", {"ancestor", "narrow", "wide"}),
        ("kernels/moves/swap_labels.py", {"ancestor", "narrow", "wide"}),
        ("kernels/scores/best_attachment.py", {"ancestor", "narrow", "wide"}),
        ("kernels/ancestor/tree_update.py", {"ancestor"}),
        ("kernels/preorder/tables/rebuild.py", {"narrow", "wide"}),
        ("kernels/preorder/narrow/score_mapping.py", {"narrow"}),
        ("kernels/preorder/wide/sketches.py", {"wide"}),
        ("kernels/recorders/every.py", set()),
        ("kernels/target/sycl.py", set()),
        ("host/chains/pipeline.py", set()),
        ("fallback/chain/steps.py", set()),
        ("src/syclade/__init__.py", set()),
    ],
)
def test_a_file_is_part_of_those_that_import_it(
    monkeypatch: pytest.MonkeyPatch, changed: str, matters_to: set[str]
) -> None:
    before = {name: digest_of_files(one.modules) for name, one in KERNELS.items()}
    read_bytes = Path.read_bytes
    altered: list[Path] = []

    def read(path: Path) -> bytes:
        if not path.as_posix().endswith(changed):
            return read_bytes(path)
        altered.append(path)
        return read_bytes(path) + b"#"

    monkeypatch.setattr(Path, "read_bytes", read)
    after = {name: digest_of_files(one.modules) for name, one in KERNELS.items()}
    assert {name for name in KERNELS if before[name] != after[name]} == matters_to
    assert bool(altered) == bool(matters_to)


def test_the_translation_is_part_of_every_kernel() -> None:
    files = {
        path.as_posix() for path in modules_of((translate.__name__, "syclade.kernels.target.sycl")).values()
    }
    for part in ("host/compile/spirv.py", "host/workarounds/compiler.py", "kernels/target/sycl_arrays.py"):
        assert any(file.endswith(part) for file in files), part
    assert not any(file.endswith("chains/pipeline.py") for file in files)


def test_imports_in_every_form_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "some_package"
    (package / "inner").mkdir(parents=True)
    for name in ("__init__", "one", "two", "three", "four", "inner/__init__", "inner/five", "unused"):
        (package / f"{name}.py").write_text("")
    (package / "start.py").write_text(
        "import json\nimport some_package.one\nfrom some_package import (\n    two,\n    three as four_,\n)\n"
        "def later():\n    from some_package.inner.five import x\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    module._file_of.cache_clear()
    found = modules_of(["some_package.start"])
    expected = {"", ".start", ".one", ".two", ".three", ".inner", ".inner.five"}
    assert set(found) == {f"some_package{name}" for name in expected}


def test_a_remembered_digest_is_that_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit that keeps the size, and sets back the time, is seen; so is a file that has gone."""
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
