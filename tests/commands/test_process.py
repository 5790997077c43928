"""Ctrl-C during imports: the program ends as it does later, and prints no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

MATRIX = ROOT / "host" / "data" / "example" / "matrix.csv"
ENDLESS = ["infer", str(MATRIX), "--fp-rate", "0.001", "--fn-rate", "0.2", "--device", "numpy"]
ENDLESS += ["--names", str(MATRIX.with_suffix(".geneNames")), "--steps", "1000000000"]

# Sends SIGINT to itself the given number of times, when the given module is looked up.
PROGRAM = """
import os, signal, sys
module, times, *arguments = sys.argv[1:]
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            for _ in range(int(times)):
                os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["syclade", *arguments]
from syclade.__main__ import main
main()
"""


def run_code(
    code: str, *words: str, handler: signal.Handlers = signal.SIG_DFL
) -> subprocess.CompletedProcess[str]:
    """Run code in a process with this handler of SIGINT; a shell's background jobs would ignore it."""
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other ones there")
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    "module",
    [
        "syclade.host.commands.process",
        "click",
        "syclade.host.commands.infer",
        "syclade.host.answer.run",
        "numpy",
        "numpy.core._multiarray_umath",
        "syclade.fallback.chain.steps",
    ],
)
def test_an_import_is_not_interrupted(module: str, times: int) -> None:
    done = run_code(PROGRAM, module, str(times), *ENDLESS)
    assert (done.returncode, done.stdout) == (130, "")
    lines = [line for line in done.stderr.splitlines() if line and "seen in no cell" not in line]
    assert lines in ([], ["syclade: interrupted"])


# A run that would take signals begins right after an import that was interrupted.
RUN_AFTER_IMPORT = """
import os, signal, sys, time
from syclade.host.commands.process import handle_interrupts, offered_to
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "colorsys":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
handle_interrupts()
import colorsys
with offered_to(lambda number: True):
    time.sleep(2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other ones there")
def test_a_run_does_not_take_a_signal_from_before_it() -> None:
    done = run_code(RUN_AFTER_IMPORT)
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode == -signal.SIGINT


# The exception of a signal is lost in a callback from C, such as one of LLVM while it compiles.
LOST = """
import ctypes, os, signal, sys
from syclade.host.commands.process import handle_interrupts
handle_interrupts()
def called_back():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass
ctypes.CFUNCTYPE(None)(called_back)()
sys.argv = ["syclade", *sys.argv[1:]]
from syclade.__main__ import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other ones there")
def test_a_signal_whose_exception_is_lost_ends_the_program() -> None:
    done = run_code(LOST, *ENDLESS)
    assert "Exception ignored on calling ctypes callback" in done.stderr
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith("syclade: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are other ones there")
def test_a_job_that_ignores_the_signal_goes_on() -> None:
    done = run_code(PROGRAM, "numpy", "1", *ENDLESS[:-1], "10", "--quiet", handler=signal.SIG_IGN)
    assert done.returncode == 0
    assert float(done.stdout) < 0


# A second thread of numpy's library exists from the import on if it may use two.
THREADS = """
import os, sys
from syclade.host.ground.limits import use_one_blas_thread
if sys.argv[1] == "one":
    use_one_blas_thread()
import numpy
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted on Linux")
def test_matrix_products_take_one_thread_unless_the_user_says_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert run_code(THREADS, "one").stdout == "1\n"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    by_user = run_code(THREADS, "one").stdout
    assert by_user == run_code(THREADS, "as it is").stdout
    assert int(by_user) == min(2, os.cpu_count() or 1)
