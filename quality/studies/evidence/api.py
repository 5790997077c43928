"""Study of evidence: simulated reads, inferred as reads and as calls, and by ScisTree2's probabilities."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import syclade
from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.simulate import simulate
from syclade.host.data.model.simulate_reads import ReadModel, SimulatedReads, simulate_reads
from syclade.host.device.device import THREADS_VARIABLE, cores_of_process
from syclade.host.ground.limits import use_one_blas_thread
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole
from syclade.quality.race.peers import ask
from syclade.quality.text_table import text_table
from syclade.quality.work import Progress

__all__ = ["DEPTHS", "DROPOUTS", "SIZES", "EvidenceResult", "OfInput", "evidence_study"]

SIZES: Final = ((40, 100), (100, 200))
"""Mutations and cells."""

DEPTHS: Final = (3.0, 10.0, 30.0)

DROPOUTS: Final[tuple[float | tuple[float, float], ...]] = (0.2, (0.01, 0.25))
"""Allelic dropout: of all mutations, or the ends of the range of each mutation's."""

NEARER, NEARER_IF_DEEP, DEEP = 0.9, 0.5, 10.0
"""Least part of the inputs whose tree of reads must be as near to the truth as that of calls, up to a depth,
and beyond it."""

_SECONDS = 600.0
"""Longest run of ScisTree2."""

_SAME = 0.05
"""Difference of log-likelihoods, in nats, that the levels of evidence explain: entries differ from theirs by
0.004 on the mean at 100 × 200."""


class Setting(NamedTuple):
    """One input: its size, mean number of reads, allelic dropout, and seed."""

    mutations: int
    cells: int
    depth: float
    dropout: float | tuple[float, float]
    seed: int


class OfInput(NamedTuple):
    """Outcome of one input.

    Attributes:
        mutations, cells, depth, dropout, seed: the input.
        reads, calls: distance of the ancestor pairs of both trees to those of the true tree.
        seconds: processor seconds of the inference by reads, and by calls.
        gain: log-likelihood of our cell tree minus that of ScisTree2's, by its probabilities; None without.
        peer_seconds: processor seconds of ours, and of ScisTree2, for these.
    """

    mutations: int
    cells: int
    depth: float
    dropout: str
    seed: int
    reads: int
    calls: int
    seconds: tuple[float, float]
    gain: float | None = None
    peer_seconds: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceResult:
    """Outcome of `evidence_study`, with one row for each input."""

    inputs: tuple[OfInput, ...]

    def near(self, depth: float) -> float:
        """Return the part of the inputs of a depth whose tree of reads is as near as that of calls."""
        found = [one.reads <= one.calls for one in self.inputs if one.depth == depth]
        return sum(found) / len(found)

    @property
    def holds(self) -> bool:
        """Return whether trees of reads are near often enough, and likelihoods never below ScisTree2's."""
        depths = {one.depth for one in self.inputs}
        near = all(self.near(depth) >= (NEARER_IF_DEEP if depth > DEEP else NEARER) for depth in depths)
        return near and all(one.gain is None or one.gain > -_SAME for one in self.inputs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in evidence.json."""
        return {"check": "evidence", "holds": self.holds, "inputs": [one._asdict() for one in self.inputs]}

    def markdown(self) -> str:
        """Return a table with a row for each size, depth and dropout."""
        keys = list(dict.fromkeys((one.mutations, one.cells, one.depth, one.dropout) for one in self.inputs))
        heads = (
            "size", "depth", "dropout", "inputs", "nearer", "as near", "farther", "wrong pairs: reads",
            "calls",
            "seconds: reads", "calls", "log-likelihood above ScisTree2's", "seconds: ours", "ScisTree2",
        )  # fmt: skip
        rows = [_row([one for one in self.inputs if one[:4] == key]) for key in keys]
        return f"{text_table(heads, rows)}\n\n{'As expected' if self.holds else 'NOT AS EXPECTED'}"


def _row(some: Sequence[OfInput]) -> tuple[str, ...]:
    """Return the row of some inputs of one kind."""
    one = some[0]
    differences = [each.calls - each.reads for each in some]
    found = [
        f"{one.mutations} x {one.cells}", f"{one.depth:g}", one.dropout, str(len(some)),
        str(sum(each > 0 for each in differences)), str(sum(each == 0 for each in differences)),
        str(sum(each < 0 for each in differences)),
        f"{np.mean([each.reads for each in some]):.1f}", f"{np.mean([each.calls for each in some]):.1f}",
        *(f"{np.mean([each.seconds[at] for each in some]):.1f}" for at in (0, 1)),
    ]  # fmt: skip
    gains = [each.gain for each in some if each.gain is not None]
    times = [each.peer_seconds for each in some if each.peer_seconds is not None]
    if not gains:
        return (*found, "", "", "")
    ends = f"{min(gains):.2f} to {max(gains):.2f}"
    return (*found, ends, *(f"{np.mean([each[at] for each in times]):.1f}" for at in (0, 1)))


def evidence_study(
    *,
    inputs: int = 8,
    sizes: Sequence[tuple[int, int]] = SIZES,
    depths: Sequence[float] = DEPTHS,
    floor: float = 1e-4,
    seed: int = DEFAULT_SEED,
    scistree2: Path | None = None,
    progress: Progress | None = None,
) -> EvidenceResult:
    """Simulate reads, and infer trees from the reads and from calls by the usual thresholds.

    Clones are of unequal sizes, reads are overdispersed; parameters and error rates are estimated. Each input
    takes one core.

    Args:
        inputs: number of inputs of each size, depth and dropout.
        sizes: mutations and cells.
        depths: mean numbers of reads.
        floor: floor of the evidence, as for `infer`.
        seed: seed of the first input; the others follow.
        scistree2: an interpreter that can import scistree2, to compare log-likelihoods; None to leave it out.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid, or ScisTree2 does not run.
    """
    count = whole("inputs (--inputs)", inputs, 1, 2**20)
    settings = [
        Setting(*size, depth, dropout, seed + at)
        for size in sizes
        for depth in depths
        for dropout in DROPOUTS
        for at in range(count)
    ]
    outcomes = _on_one_core_each(partial(_of_input, floor=floor, python=scistree2), settings)
    found = []
    for at, one in enumerate(settings):
        if progress is not None:
            progress(f"{one.mutations} x {one.cells}, depth {one.depth:g}", at, len(settings))
        found.append(next(outcomes))
    return EvidenceResult(tuple(found))


def _on_one_core_each(function: Callable[[Setting], OfInput], inputs: Sequence[Setting]) -> Iterator[OfInput]:
    """Yield the outcomes of all inputs, in their order; as many are worked on at once as there are cores.

    Args:
        function: function of a module, or a partial of one, of one input.
        inputs: the inputs; they and the outcomes can be pickled.

    Raises:
        Exception: the first one that the function raises.
    """
    cores = min(cores_of_process(), len(inputs))
    if cores <= 1:
        yield from map(function, inputs)
        return
    use_one_blas_thread()
    pool = ProcessPoolExecutor(cores, mp_context=get_context("spawn"), initializer=_take_one_core)
    try:
        yield from pool.map(function, inputs)
    finally:
        pool.shutdown(cancel_futures=True)


def _take_one_core() -> None:
    os.environ[THREADS_VARIABLE] = "1"


def _of_input(setting: Setting, floor: float, python: Path | None) -> OfInput:
    """Return the outcome of one input."""
    mutations, cells, depth, dropout, seed = setting
    made = simulate(cells, mutations, 1e-9, 1e-9, 0.0, seed, shares="zipf")
    own = {"allelic_dropout": dropout} if isinstance(dropout, float) else {"allelic_dropout_range": dropout}
    sim = simulate_reads(made, ReadModel(depth=depth, **own), seed)
    calls = replace(sim.made.matrix, evidence=None)
    reads, seconds = _distance(sim.made.matrix, sim, seed, floor=floor)
    of_calls, seconds_of_calls = _distance(calls, sim, seed, merge_homozygous=True)
    title = f"{dropout:g}" if isinstance(dropout, float) else "{:g} to {:g}".format(*dropout)
    row = OfInput(mutations, cells, depth, title, seed, reads, of_calls, (seconds, seconds_of_calls))
    return row if python is None else row._replace(**_beside_scistree2(sim, seed, python))


def _distance(matrix: Matrix, sim: SimulatedReads, seed: int, **options: Any) -> tuple[int, float]:
    """Return the distance of an inferred tree to the true one by ancestor pairs, and processor seconds."""
    began = time.process_time()
    result = syclade.infer(matrix, seed=seed, support="none", true_tree=sim.made.parents, **options)
    assert result.true_tree is not None
    return int(result.true_tree["ancestors"]["distance"]), time.process_time() - began


def _beside_scistree2(sim: SimulatedReads, seed: int, python: Path) -> dict[str, Any]:
    """Return the gain of log-likelihood over ScisTree2's tree of cells, and the seconds of both."""
    arguments = {
        "alternate": sim.reads.alternate.tolist(),
        "total": sim.reads.total.tolist(),
        "dropout": float(sim.dropout.mean()),
        "error": sim.model.seq_error,
    }
    found = ask("ScisTree2", "scistree2_reads.py", python, _SECONDS, arguments, "found")
    absent = np.array(found["absent"])
    matrix = replace(sim.made.matrix, evidence=Likelihoods(np.log1p(-absent) - np.log(absent)))
    names = [str(cell + 1) for cell in range(matrix.n_cells)]
    began = time.process_time()
    ours = syclade.infer(matrix, tree="leaf", seed=seed, floor=1e-6, cell_names=names)
    seconds = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree.newick")
        tree.write_text(found["tree"])
        theirs = syclade.score(matrix, tree, kind="leaf", floor=1e-6, cell_names=names)
    return {"gain": ours.log_likelihood - theirs, "peer_seconds": (seconds, found["seconds"])}
