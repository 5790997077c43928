"""Access to single stages, to call from Python in numpy or as numba-dpex kernels, and to their arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends.runner import Runner
from syclade.host.chains.backends.stages.described import (
    FIXED,
    DescribedKernel,
    numpy_stages,
    stage_kernels,
)
from syclade.host.chains.backends.stages.described import stage_kernel as describe_stage
from syclade.host.chains.backends.stages.opening import stage_arrays
from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.moves import MOVES, Move, kinds_of
from syclade.host.chains.plan import make_plan
from syclade.host.chains.runs.pipeline import initial_states
from syclade.host.chains.scores.score import BEST_ATTACHMENT, Score, score_named
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import make_rate_model
from syclade.host.data.model.rates import Rates
from syclade.host.device.compile.kernel import Kernel, Parts
from syclade.host.device.engines.local import NumpyCode
from syclade.host.device.workarounds import load_dpnp_libraries, prepare
from syclade.host.device.workarounds.compiler import register_numba_implementations
from syclade.host.ground.errors import DeviceError, OptionError
from syclade.host.ground.options import checked
from syclade.host.ground.options.types import DEFAULT_MOVE_PROBABILITIES, DEFAULT_SEED
from syclade.host.ground.packages import install_command
from syclade.host.ground.values import Array, whole
from syclade.kernels.ancestor.stage_arguments import STAGES, StageArgument
from syclade.kernels.ancestor.stages.propose import MOST_NODES
from syclade.kernels.target.sycl_traits import TRAITS

__all__ = ["StageKernel", "StageProblem", "prepare_sycl", "stage_kernel", "stage_problem"]


def prepare_sycl() -> tuple[str, ...]:
    """Prepare the SYCL stack, so that `import dpctl`, `import dpnp` and `import numba_dpex` work.

    In a plain environment, the wheels of the frozen stack find neither their libraries nor the drivers
    (docs/fpga.md). Call this function before the first inference of the process: an inference may import
    numba-dpex without dpnp. A second call does nothing.

    Returns:
        Filter strings of all SYCL devices, such as `opencl:cpu:0`.

    Raises:
        DeviceError: the stack is not installed, does not load, or was loaded without dpnp.
    """
    dpctl = prepare()
    load_dpnp_libraries()
    try:
        import dpnp
        import numba_dpex
        from numba_dpex.core.typing import typeof
    except Exception as error:  # with unsupported versions of other packages it may fail in any way
        raise DeviceError(
            f"the SYCL stack does not import: {error}",
            hint=f"install it: {install_command('sycl')} (Linux x86_64, Python 3.11)",
        ) from error
    if typeof.ndarray is not dpnp.ndarray:
        raise DeviceError(
            f"{numba_dpex.__name__} was imported without dpnp in this process",
            hint="call syclade.prepare_sycl() before the first inference",
        )
    register_numba_implementations()
    return tuple(device.filter_string for device in dpctl.get_devices())


@dataclass(frozen=True, eq=False)
class StageKernel:
    """One stage of the macro-pipeline: for arrays of numpy, or with numba-dpex for those of dpnp and dpctl.

    Attributes:
        name: one of `STAGES`.
        arguments: the arguments in order, each with its name, dtype, shape in symbols, meaning and direction.
        lanes: work-items per slot.
    """

    name: str
    arguments: tuple[StageArgument, ...]
    lanes: int
    _described: Kernel
    _in_numpy: NumpyCode

    @cached_property
    def kernel(self) -> Any:
        """The kernel for `numba_dpex.call_kernel`.

        Raises:
            DeviceError: as for `prepare_sycl`.
        """
        prepare_sycl()
        from syclade.kernels.target.sycl_dispatchers import dispatcher_of

        made = self._described
        names = [argument.name for argument in made.arguments]
        return dispatcher_of(made.body(), made.name, names, made.record_types(), made.group)

    def index_space(self, slots: int = 1) -> Any:
        """Return the `numba_dpex.NdRange` for a number of slots: one work-group per slot."""
        import numba_dpex

        return numba_dpex.NdRange(numba_dpex.Range(slots * self.lanes), numba_dpex.Range(self.lanes))

    def select(self, arrays: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the stage's arrays in the order of the kernel's arguments."""
        return tuple(arrays[one.argument.name] for one in self.arguments)

    def __call__(self, arrays: Mapping[str, Any]) -> None:
        """Do the stage once for all slots, in place: in numpy for arrays of numpy, else on their device.

        Both give the same bits. In numpy, neither SYCL nor a compiler is needed.

        Args:
            arrays: as `StageProblem` has them, at least the arguments and `parameters`: all of numpy, or all
                of dpnp or dpctl.

        Raises:
            OptionError: an array is missing, or only some of them are numpy's.
            DeviceError: as for `prepare_sycl`.
        """
        names = [one.argument.name for one in self.arguments]
        missing = [name for name in (*names, "parameters") if name not in arrays]
        if missing:
            raise OptionError(
                f"the stage {self.name} has no array {missing[0]!r}", hint="give all that `arguments` lists"
            )
        taken = {one.argument.name: arrays[one.argument.name] for one in self.arguments}
        ours = [name for name, array in taken.items() if isinstance(array, np.ndarray)]
        slots = next(len(taken[one.name]) for one, _ in self.arguments if one.shape[0] == "slots")
        if len(ours) == len(taken):
            self._in_numpy(dict(arrays), np.arange(slots))
        elif ours:
            raise OptionError(
                f"{ours[0]} is an array of numpy, and others are not",
                hint="copy all of them to one device, or none",
            )
        else:
            kernel = self.kernel  # prepares the import of numba-dpex
            import numba_dpex

            numba_dpex.call_kernel(kernel, self.index_space(slots), *self.select(taken))


def stage_kernel(name: str, *, mutations: int, cells: int, values: int = 2) -> StageKernel:
    """Return one stage of the macro-pipeline, to call with arrays, or as a numba-dpex kernel.

    Args:
        name: propose, find parent, tree update, score mapping or reduction.
        mutations: largest number of mutations that must fit.
        cells: largest number of distinct matrix columns that must fit.
        values: number of informative observed values: 2, or 3 with zygosity.

    Raises:
        OptionError: the stage does not exist, or a number is out of range.
    """
    wanted = name.replace(" ", "_")
    if wanted not in STAGES:
        names = ", ".join(each.replace("_", " ") for each in STAGES)
        raise OptionError(f"there is no stage {name!r}", hint=f"use one of {names}")
    nodes = whole("the number of mutations", mutations, 1, MOST_NODES - 1) + 1
    columns = whole("the number of cells", cells, 1, 2**31 - 1)
    constants = AncestorEncoding.capacity(TRAITS, nodes, columns, whole("the number of values", values, 2, 3))
    constants["kinds"] = len(kinds_of(MOVES))
    moves = tuple(move.device for move in MOVES)
    parts: dict[str, Parts] = {"capacity": FIXED, "moves": moves, "score": BEST_ATTACHMENT.device}
    return _callable(describe_stage(wanted, parts, constants), MOVES, BEST_ATTACHMENT)


SCORES = ("max", "sum")
"""Scores of separate stages."""


@dataclass(frozen=True, eq=False)
class StageProblem:
    """A matrix and chain states, in the arrays that the stages take.

    Attributes:
        arrays: numpy arrays by the names of the stages' arguments, in their shapes; slot k has chain k.
        kernels: the matching stages, in order.
    """

    arrays: Mapping[str, Array]
    kernels: tuple[StageKernel, ...]
    _runner: Runner

    def parents(self, ancestors: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the parent vector, int32, of a slot's ancestor matrix: uint64, shape (words, nodes)."""
        return self._runner.encoding.decode({"ancestors": ancestors})

    def log_likelihood(self, score: int) -> float:
        """Return the natural log-likelihood that belongs to an integer score, for rounded weights.

        With learned rates, it includes the logarithm of their prior.
        """
        return self._runner.plan.problem.to_nats(int(score))

    def rates(self, rate_at: NDArray[np.int64]) -> Rates:
        """Return the error rates of a slot: of its part of the array `rate_at` or `best_rate_at`."""
        fn, fp = rate_at.tolist()
        found = self._runner.plan.problem.rate_tables.model.at((fn, fp, 0))
        assert isinstance(found, Rates)
        return found


def stage_problem(
    matrix: object,
    *,
    fp_rate: float,
    fn_rate: float,
    chains: int = 1,
    steps: int = 1,
    seed: int = DEFAULT_SEED,
    move_probabilities: Sequence[float] = DEFAULT_MOVE_PROBABILITIES,
    score: str = "max",
    learn_fn: float | None = None,
    learn_fp: float | None = None,
) -> StageProblem:
    """Prepare the arrays of the stages, with chains before their first step, and the matching kernels.

    Args:
        matrix, fp_rate, fn_rate, seed, move_probabilities: as for `infer`.
        chains: number of chains, one per slot.
        steps: number of steps after which a chain no longer changes.
        score: max or sum.
        learn_fn, learn_fp: probabilities that a step is a jump of that rate; None for a fixed rate.

    Raises:
        SycladeError: MatrixError, RatesError or OptionError, with a hint what to do.
    """
    chains = whole("the number of chains", chains, 1, 2**31 - 1)
    seed = whole("the seed", seed, 0, 2**64 - 1)
    if score not in SCORES:
        raise OptionError(f"no stage has the score {score!r}", hint=f"use {' or '.join(SCORES)}")
    rates = Rates(fp_rate, fn_rate)
    model = make_rate_model(rates, learn_fn=learn_fn, learn_fp=learn_fp)
    problem = make_problem(read_matrix(matrix), rates, octaves=score == "sum", model=model)
    weights = checked("move_probabilities", move_probabilities)
    plan = make_plan(problem, move_probabilities=weights, score=score_named(score, problem))
    encoding = AncestorEncoding(problem, TRAITS)
    described = stage_kernels(plan, encoding)
    arrays = stage_arrays(described, plan, encoding, chains, seed)
    runner = Runner(plan, encoding, seed, arrays)
    runner.put_all(initial_states(plan, seed, range(chains)))
    arrays.named["last_step"][:] = whole("the number of steps", steps, 1, 2**62 - 1)
    stages = tuple(_callable(one, plan.moves, plan.score) for one in described)
    return StageProblem(arrays.named, stages, runner)


def _callable(described: DescribedKernel, moves: Sequence[Move], score: Score) -> StageKernel:
    """Return the stage for both kinds of arrays."""
    code = numpy_stages(moves, score)[described.name]
    return StageKernel(described.name, described.arguments, described.kernel.lanes, described.kernel, code)
