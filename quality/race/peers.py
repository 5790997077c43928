"""Other people's programs, by a Python that has them: what they need is not what we need."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.errors import OptionError
from syclade.host.model.simulate import Simulation
from syclade.quality.race.answers import Contestant, Found
from syclade.quality.race.inputs import RaceInput

__all__ = ["PEERS", "peer", "tree_of_genotypes"]

_PROGRAMS = Path(__file__).parent / "programs"

PEERS = {"ScisTree2": "scistree2.py", "HUNTRESS": "huntress.py"}
"""Programs that call them, in `programs/`: one a file."""


def peer(name: str, python: Path, seconds: float) -> Contestant:
    """A contestant that takes a matrix and gives each mutation's cells.

    Args:
        name: one of PEERS.
        python: an interpreter that can import it.
        seconds: that it may take.
    """

    def run(given: RaceInput, simulation: Simulation) -> Found:
        asked = {
            "matrix": simulation.matrix.values.tolist(),
            "fp_rate": given.fp_rate,
            "fn_rate": given.fn_rate,
        }
        cells = np.array(_ask(name, python, seconds, asked), dtype=np.bool_)
        if cells.shape != simulation.matrix.values.shape:
            raise OptionError(f"{name} gave a matrix of another size")
        return Found(tree_of_genotypes(cells))

    return run


def _ask(name: str, python: Path, seconds: float, asked: dict[str, object]) -> object:
    """What the program says on its last line of standard output.

    Raises:
        OptionError: it cannot be run, fails, takes too long, or says something else.
    """
    command = [str(python), "-P", str(_PROGRAMS / PEERS[name])]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # it may have processes of its own, which end with it
        )
    except OSError as error:
        raise OptionError(f"{python} does not run: {error}", hint="see --peers") from error
    try:
        out, noise = process.communicate(json.dumps(asked), timeout=seconds)
    except subprocess.TimeoutExpired:
        raise OptionError(f"{name} took more than {seconds:g} s", hint="give it --peer-seconds") from None
    finally:
        _end(process)
    try:
        return json.loads(out.splitlines()[-1])["cells"]
    except (ValueError, IndexError, KeyError, TypeError):
        words = (noise or out).strip().splitlines()
        raise OptionError(f"{name} failed: {words[-1] if words else process.returncode}") from None


def _end(process: subprocess.Popen[str]) -> None:
    """End a program and whatever it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def tree_of_genotypes(cells: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The mutation tree of genotypes without conflicts: below the smallest set of cells that holds one's own.

    Args:
        cells: bool, shape (n, m): the cells that have each mutation. Of equal rows, the first is above.

    Returns:
        The parent vector. A mutation without cells is below the root.
    """
    count = len(cells)
    parents = np.full(count + 1, count, dtype=np.int32)
    order = sorted(range(count), key=lambda gene: (-int(cells[gene].sum()), gene))
    for place, gene in enumerate(order):
        holding = (above for above in reversed(order[:place]) if not (cells[gene] & ~cells[above]).any())
        if cells[gene].any():
            parents[gene] = next(holding, count)
    return parents
