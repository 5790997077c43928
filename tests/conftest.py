"""Selection of the tests that this machine can run, and fixtures shared by all tests."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import os
import platform
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from syclade.host.device.device import cores_of_process
from syclade.host.ground.limits import available_memory, use_one_blas_thread
from tests.support.compiled_tests import needs_compiler
from tests.support.verification import ERRORS, leave_to_verify

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

KEPT_KERNELS = Path(os.environ.get("SYCLADE_TEST_KERNELS") or ROOT / ".pytest_cache" / "kernels")
"""Kernels compiled by tests and reused by later test runs; never stored in a user's own cache."""

# Where the stack has wheels, a missing device is a failure: these tests are never skipped there. The pinned
# stack of Python 3.11 also has the kernel compiler and the FPGA emulator; the newer stack has neither.
HAS_SYCL_WHEELS = (sys.platform, platform.machine()) == ("linux", "x86_64") and sys.version_info < (3, 15)
HAS_PINNED_STACK = HAS_SYCL_WHEELS and sys.version_info < (3, 12)


SHORT_SUPPORT = (
    "answer/batch", "answer/output", "answer/report", "chains/backends", "chains/cell_trees",
    "chains/checkpoints", "chains/doublets/test_learned_command.py", "chains/search", "chains/stages",
    "chains/test_", "commands", "data/input", "data/trees", "device",
    "findings/consensus/test_clone_tree.py",
    "findings/consensus/test_consensus_files.py", "findings/consensus/test_likely_cells.py",
    "findings/consensus/test_seeding.py", "findings/consensus/test_set_aside.py",
    "findings/consensus/test_unplaced.py", "findings/cooptimal", "findings/test_clones_by_sample.py",
    "findings/test_genotypes.py", "fuzz", "quality/studies", "test_estimated_rates.py", "test_evidence.py",
    "test_inference.py",
)  # fmt: skip
"""Folders whose tests need some support, but not a good one, which takes most of the time of an `infer`."""

use_one_blas_thread()  # workers load numpy after it

# A busy machine is no error.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--sample`, which `make quick` uses, and `--peers`, which `make peers` uses."""
    help = "run about one of N tests, always the same ones, and at least one of each file"
    parser.addoption("--sample", type=int, default=1, metavar="N", help=help)
    parser.addoption("--peers", metavar="PYTHON", help="interpreter with the packages that -m peers needs")


def pytest_xdist_auto_num_workers() -> int:
    """Return the workers of `--numprocesses auto`: one more than cores, as tests also wait for processes.

    Each worker and its compiler may need 2 GB.
    """
    return max(1, min(cores_of_process() + 1, available_memory() // 2**31))


def pytest_collection(session: pytest.Session) -> None:
    """Let each worker import other test modules first, so that each compiles a part of all bytecode.

    In a new clone no bytecode is stored, and workers that import in the same order compile all of it.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source != pytest.Config.ArgsSource.TESTPATHS:
        return
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    begin = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for path in files[begin:] if begin else ():
        # Collection reports errors and skipped modules.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Leave what exists now, and stays, out of searches for garbage, which took a twentieth of the time.

    Those of what tests leave are rarer than by default, where they take 3 to 6 % of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Mark tests that are left to `make verify`; after -m and -k, take the sample, and skip what cannot run.

    Under CI the shared data must be present: tests that need it fail without it.
    """
    errors = leave_to_verify(items, ROOT / "tests")
    config.stash[ERRORS] = [] if any("::" in one for one in config.args) else errors
    yield
    for marker in ("cuda", "peers"):  # where a GPU or a program is wanted, its absence is a failure
        if marker not in config.getoption("markexpr"):
            config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker(marker)])
            items[:] = [item for item in items if not item.get_closest_marker(marker)]
    taken = sample(items, config.getoption("--sample"))
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = [item for item in items if item in taken]
    absent = {}
    if not SHARED.is_dir() and not os.environ.get("CI"):
        absent["shared"] = "no folder ../shared beside the checkout"
    if shutil.which("snakemake") is None:
        absent["snakemake"] = "Snakemake is not installed: `make workflows` does that"
    if not HAS_SYCL_WHEELS:
        absent["sycl"] = "the SYCL stack has no wheels for this platform"
    if not HAS_PINNED_STACK:
        absent["compiler"] = "numba-dpex has wheels for Python 3.11 only"
        absent["emulator"] = "the FPGA emulator runs beside the stack of Python 3.11 only"
    for item in items:
        if _takes_emulator(item):
            item.add_marker("emulator")
        if item.get_closest_marker("sycl") and _needs_compiler(item):
            item.add_marker("compiler")
        for marker, reason in absent.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def sample(items: list[pytest.Item], one_of: int) -> set[pytest.Item]:
    """Return about one of `one_of` tests, chosen by their names, and at least one per file."""
    if one_of <= 1:
        return set(items)
    lots = {item: hashlib.sha256(item.nodeid.encode()).digest() for item in items}
    first: dict[Path, pytest.Item] = {}
    for item in sorted(items, key=lots.__getitem__):
        first.setdefault(item.path, item)
    return {*first.values(), *(item for item in items if int.from_bytes(lots[item]) % one_of == 0)}


def _needs_compiler(item: pytest.Item) -> bool:
    name = getattr(item, "originalname", None) or item.name
    return needs_compiler(item.path.relative_to(ROOT / "tests").as_posix(), name)


def _takes_emulator(item: pytest.Item) -> bool:
    """Return whether a parameter of the test is the emulator, or uses it as its device."""
    parameters = (
        item.callspec.params.values()
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else ()
    )
    devices = (getattr(value, "device", value) for value in parameters)
    return any(
        device in ("fpga-emu", "opencl:accelerator:0") for device in devices if isinstance(device, str)
    )


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Return the folder with the real data and SCITE's outputs; mark tests that use it with ``shared``."""
    assert SHARED.is_dir(), "no folder ../shared beside the checkout"
    return SHARED


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let all tests of a session, and the processes they start, share a separate cache.

    Its compiled kernels are those of `KEPT_KERNELS`. Their keys cover everything that they depend on.
    """
    from syclade.host.ground.cache import cache_folder

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder /= "syclade-cache"
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in ("spirv", "native"):
        (KEPT_KERNELS / name).mkdir(parents=True, exist_ok=True)
        (KEPT_KERNELS / name).chmod(0o700)
        with contextlib.suppress(FileExistsError):  # another worker was first
            (folder / name).symlink_to(KEPT_KERNELS / name, target_is_directory=True)
    os.environ["SYCLADE_CACHE"] = str(folder)
    cache_folder.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def _compilers(_cache: None) -> Iterator[None]:
    """Compile kernels in processes that end, so that the memory of this one does not grow."""
    from tests.support.compilers import compiled_apart

    with compiled_apart():
        yield


@pytest.fixture(scope="module", autouse=True)
def _short_support(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let support be of few samples in the folders of `SHORT_SUPPORT`, but not in their processes.

    Other programs (`peers`) read results of the pages, which have all samples.
    """
    short = request.path.relative_to(ROOT / "tests").as_posix().startswith(SHORT_SUPPORT)
    with pytest.MonkeyPatch.context() as patch:
        if short and request.node.get_closest_marker("peers") is None:
            from tests.support.searches import shorten_support

            shorten_support(patch)
        yield


@pytest.fixture
def compile_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile kernels in this process, as the program does."""
    from tests.support.compilers import compiled_here

    compiled_here(monkeypatch)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a test, and the processes it starts, an empty cache folder of its own."""
    from syclade.host.ground.cache import cache_folder

    monkeypatch.setenv("SYCLADE_CACHE", str(tmp_path / "own-cache"))
    cache_folder.cache_clear()
    yield tmp_path / "own-cache"
    cache_folder.cache_clear()
