"""Opening of the macro-pipeline on the requested device."""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.backends.array_runner import chain_arrays
from syclade.host.backends.numpy_arrays import NumpyArrays
from syclade.host.backends.stages.kernels import DescribedKernel, all_arguments, stage_kernels
from syclade.host.backends.stages.launcher import Launcher
from syclade.host.backends.stages.runner import StagedRunner
from syclade.host.chains.kernel import chain_sizes
from syclade.host.chains.plan import Plan
from syclade.host.devices.choice import choose_device
from syclade.host.devices.device import Device
from syclade.host.encodings import choose_encoding
from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.host.supported import refusal

__all__ = ["DEFAULT_SLOTS", "make_launcher", "open_stages", "stage_arrays"]

DEFAULT_SLOTS = 24
"""Default limit of chain states in flight: more than there are stages, and as many as in bbSCITE."""


def open_stages(
    device: str, plan: Plan, *, chains: int, slots: int | None, seed: int
) -> tuple[StagedRunner, Device, int]:
    """Open a runner of separate stages; return it with its device and its number of slots.

    Args:
        device: as for `choose_device`.
        plan: the parts of the chains; it must have passed `check_plan`.
        chains: number of chains of the run.
        slots: number of chain states in flight; None for DEFAULT_SLOTS, or one per chain if that is fewer.
        seed: seed of the random numbers.

    Raises:
        DeviceError: the device does not open, cannot build a kernel, or has too little memory.
        OptionError: separate stages do not run on the device, or cannot hold the problem.
    """
    chosen = choose_device(device)
    if chosen.kind == "fpga":
        raise refusal("separate stages", "FPGA cards")
    encoding = choose_encoding(AncestorEncoding.name, chosen, plan.problem)
    assert isinstance(encoding, AncestorEncoding)
    count = min(chains, DEFAULT_SLOTS) if slots is None else slots
    launcher = make_launcher(chosen, plan, encoding, count, seed)
    return StagedRunner(plan, encoding, count, seed, launcher), chosen, count


def make_launcher(device: Device, plan: Plan, encoding: AncestorEncoding, slots: int, seed: int) -> Launcher:
    """Make a launcher on a device, with arrays for `slots` slots."""
    kernels = stage_kernels(plan, encoding)
    if device.kind in ("native", "python", "numpy"):
        from syclade.host.backends.stages import local_launcher as local

        arrays = stage_arrays(kernels, plan, encoding, slots, seed)
        if device.kind == "numpy":
            stages = local.numpy_stages(plan, arrays)
        elif device.kind == "native":
            stages = local.native_stages(kernels, arrays)
        else:
            stages = local.python_stages(kernels, arrays)
        return local.LocalLauncher(device, [one.name for one in kernels], arrays, stages)
    from syclade.host.backends.stages.sycl_launcher import SyclLauncher

    sizes, problem = chain_sizes(plan, encoding, slots), chain_arrays(plan, encoding, seed)
    return SyclLauncher(device.filter, kernels, sizes, problem)


def stage_arrays(
    kernels: Sequence[DescribedKernel], plan: Plan, encoding: AncestorEncoding, slots: int, seed: int
) -> NumpyArrays:
    """Allocate all arrays of the stages in this process, filled with the problem but without chains."""
    sizes, problem = chain_sizes(plan, encoding, slots), chain_arrays(plan, encoding, seed)
    return NumpyArrays(all_arguments(kernels), sizes, problem)
