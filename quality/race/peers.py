"""Third-party programs, run by a separate Python because their dependencies differ from ours."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.model.simulate import Simulation
from syclade.host.ground.errors import OptionError
from syclade.quality.race.answers import Contestant, Found
from syclade.quality.race.inputs import RaceInput

__all__ = ["PEERS", "ask", "peer", "tree_of_genotypes"]

_PROGRAMS = Path(__file__).parent / "programs"

PEERS = {"ScisTree2": "scistree2.py", "HUNTRESS": "huntress.py"}
"""Scripts in `programs/` that call the third-party programs, one script each."""


def peer(name: str, python: Path, seconds: float) -> Contestant:
    """Return a contestant that runs a third-party program, which maps a matrix to each mutation's cells.

    Args:
        name: one of PEERS.
        python: an interpreter that can import the program.
        seconds: time limit in seconds.

    The contestant raises an OptionError if the program fails, or gives a matrix of another size.
    """

    def run(given: RaceInput, simulation: Simulation) -> Found:
        options = {
            "matrix": simulation.matrix.values.tolist(),
            "fp_rate": given.fp_rate,
            "fn_rate": given.fn_rate,
        }
        cells = np.array(ask(name, PEERS[name], python, seconds, options, "cells"), dtype=np.bool_)
        if cells.shape != simulation.matrix.values.shape:
            raise OptionError(f"{name} gave a matrix of another size")
        return Found(tree_of_genotypes(cells))

    return run


def ask(name: str, script: str, python: Path, seconds: float, options: dict[str, object], key: str) -> Any:
    """Return a program's answer, from the object in its last line of standard output.

    Args:
        name: name of the program, for messages.
        script: the script in `programs/` that calls it.
        python, seconds: as for `peer`.
        options: what the script reads from standard input, as JSON.
        key: name of the answer in the object.

    Raises:
        OptionError: the program cannot be run, fails, takes too long, or prints something else.
    """
    command = [str(python), "-P", str(_PROGRAMS / script)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # it may start child processes, which are killed with it
        )
    except OSError as error:
        raise OptionError(f"{python} does not run: {error}", hint="see --peers") from error
    try:
        out, noise = process.communicate(json.dumps(options), timeout=seconds)
    except subprocess.TimeoutExpired:
        raise OptionError(f"{name} took more than {seconds:g} s", hint="give it --peer-seconds") from None
    finally:
        _end(process)
    try:
        return json.loads(out.splitlines()[-1])[key]
    except (ValueError, IndexError, KeyError, TypeError):
        words = (noise or out).strip().splitlines()
        raise OptionError(f"{name} failed: {words[-1] if words else process.returncode}") from None


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a program and all processes that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def tree_of_genotypes(cells: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the mutation tree of genotypes without conflicts.

    The parent of a mutation is the one with the smallest set of cells that contains the mutation's own set.

    Args:
        cells: bool, shape (n, m): the cells that have each mutation. Of equal rows, the first is above.

    Returns:
        The parent vector, int32, shape (n + 1,). A mutation without cells is attached to the root.
    """
    count = len(cells)
    parents = np.full(count + 1, count, dtype=np.int32)
    order = sorted(range(count), key=lambda gene: (-int(cells[gene].sum()), gene))
    for place, gene in enumerate(order):
        holding = (above for above in reversed(order[:place]) if not (cells[gene] & ~cells[above]).any())
        if cells[gene].any():
            parents[gene] = next(holding, count)
    return parents
