"""Study of calibration: are truths where the posterior expects them, and are shares probabilities?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from syclade.host.common.errors import OptionError
from syclade.host.common.values import whole
from syclade.host.devices.choice import choose_device
from syclade.host.options.defaults import DEFAULT_SEED
from syclade.quality.calibration.ranks import BINS
from syclade.quality.calibration.replicate import replicate
from syclade.quality.calibration.result import CalibrationResult, OfSetting
from syclade.quality.calibration.settings import CONTROLS, SETTINGS, Setting

__all__ = ["INPUTS", "calibration", "settings_named"]

INPUTS = 64

Progress = Callable[[str, float, float], None]
"""Called with the current activity, the amount done and the total."""


def calibration(
    settings: Sequence[Setting] = (*SETTINGS, *CONTROLS),
    *,
    inputs: int = INPUTS,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> CalibrationResult:
    """Draw inputs from the model, sample the posterior of the sum score, and compare with the truths.

    Equal arguments give equal results on every device.

    Args:
        settings: sizes, noise, and what the inference is given.
        inputs: inputs of each setting, at least `BINS`; their seeds are `seed` and following.
        device: auto, cpu, native, fpga-emu, fpga, gpu, numpy, or a dpctl filter string.
        seed: seed of the first input of each setting, and of its chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid.
        DeviceError: the device cannot run.

    Source: Talts et al., "Validating Bayesian inference algorithms with simulation-based calibration", 2018.
    """
    inputs = whole("inputs (--inputs)", inputs, BINS, 2**20)
    found = choose_device(device).filter
    of_settings = []
    for place, setting in enumerate(settings):
        began = time.process_time()
        replicates = []
        for number in range(inputs):
            if progress is not None:
                done = place * inputs + number
                progress(f"{setting.name}, {number + 1} of {inputs}", done, len(settings) * inputs)
            replicates.append(replicate(setting, seed + number, found))
        of_settings.append(OfSetting(setting, tuple(replicates), time.process_time() - began))
    return CalibrationResult(tuple(of_settings), inputs, found, seed)


def settings_named(names: Sequence[str]) -> tuple[Setting, ...]:
    """Return the settings with these names; all of them if there are no names.

    Raises:
        OptionError: there is no such setting.
    """
    known = {setting.name: setting for setting in (*SETTINGS, *CONTROLS)}
    for name in names:
        if name not in known:
            raise OptionError(f"there is no setting {name!r}", hint=f"give one of {', '.join(known)}")
    return tuple(known[name] for name in names) or tuple(known.values())
