"""Study of doublets: do trees come nearer to the truth, and are doublets found?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.device.choice import choose_device
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole
from syclade.quality.studies.doublets.arms import Method, arms_of
from syclade.quality.studies.doublets.inputs import DoubletInput
from syclade.quality.studies.doublets.optima import compared, pieces, simulated_inputs
from syclade.quality.studies.doublets.optima_result import OptimaResult
from syclade.quality.studies.doublets.recovery import Recovery, recover
from syclade.quality.studies.doublets.result import RecoveryResult
from syclade.quality.work import Progress

__all__ = ["INPUTS", "RATE", "RATES", "optima", "recovery"]

INPUTS = 64
RATE = 0.25
RATES = (0.25, 0.05)
"""Rates of the model on inputs without doublets."""

OPTIMA_INPUTS = 32
PIECES, PIECE_SIZE = 2, (16, 60)
"""Pieces of a real matrix, and their largest size in mutations and cells."""


def recovery(
    *,
    inputs: int = INPUTS,
    mutations: int = 40,
    cells: int = 100,
    rate: float = RATE,
    rates: Sequence[float] = RATES,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> RecoveryResult:
    """Infer trees of simulated inputs with and without doublets, by models with and without them.

    Trees of the maximum score come from searches, those of the sum score and of the model from annealing.
    Equal arguments give equal results on every device.

    Args:
        inputs: number of inputs with doublets, and of inputs without; their seeds are `seed` and following.
        mutations, cells: size of the inputs.
        rate: rate of doublets of the inputs and of the model.
        rates: rates of the model on the inputs without doublets; `rate` is added.
        device: auto, cpu, native, fpga-emu, fpga, gpu, numpy, or a dpctl filter string.
        seed: seed of the first input, and of the inferences.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.
    """
    inputs = whole("inputs (--inputs)", inputs, 1, 2**20)
    method = Method(choose_device(device).filter, seed)
    modelled = tuple(dict.fromkeys((rate, *rates)))
    kinds = {"with": (rate, arms_of([rate])), "without": (None, arms_of(modelled))}
    found: dict[str, list[Recovery]] = {}
    for kind, (doublets, arms) in kinds.items():
        found[kind] = []
        for number in range(inputs):
            given = DoubletInput(seed + number, mutations, cells, doublets)
            if progress is not None:
                done = number + (inputs if found[kind] is found.get("without") else 0)
                progress(f"inputs {kind} doublets, {number + 1} of {inputs}", done, 2 * inputs)
            found[kind].append(recover(given, arms, method))
    return RecoveryResult(tuple(found["with"]), tuple(found["without"]), rate, modelled, method)


def optima(
    matrices: Sequence[Path] = (),
    *,
    inputs: int = OPTIMA_INPUTS,
    rate: float = RATE,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> OptimaResult:
    """Compare the trees of the default inference with those of chains of ten times its steps.

    Args:
        matrices: files of real matrices; two pieces of each, of at most 16 mutations and 60 cells, are up to
            half of the inputs. The other inputs are simulated.
        inputs: number of inputs.
        rate: rate of doublets of the simulated inputs, and of the model.
        device: as for `recovery`.
        seed: seed of the first input, and of the inferences.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        MatrixError: a file is not a matrix.
        DeviceError: the device cannot run.
    """
    inputs = whole("inputs (--inputs)", inputs, 1, 2**20)
    found = choose_device(device).filter
    real = [
        piece for path in matrices for piece in pieces(path.stem, read_matrix(path), PIECES, *PIECE_SIZE)
    ][: inputs // 2]
    given = [*simulated_inputs(inputs - len(real), rate, seed), *real]
    done = []
    for number, each in enumerate(given):
        if progress is not None:
            progress(each.name, number, len(given))
        done.append(compared(each, rate, found, seed))
    return OptimaResult(tuple(done), rate, found, seed)
