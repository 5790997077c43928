"""Study of calibration: are truths where the posterior expects them, and are shares probabilities?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from syclade.host.device.choice import choose_device
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options.types import DEFAULT_SEED
from syclade.host.ground.values import whole
from syclade.quality.calibration.ranks import BINS
from syclade.quality.calibration.replicate import Sampler, replicate
from syclade.quality.calibration.result import CalibrationResult, OfSetting
from syclade.quality.calibration.sampling import for_support, from_random
from syclade.quality.calibration.settings import (
    CONTROL_OF,
    CONTROLS,
    SETTINGS,
    SHARED,
    WITH_DOUBLETS,
    WITH_OWN_RATES,
    WITH_READS,
    Setting,
)
from syclade.quality.work import Progress

__all__ = ["INPUTS", "calibration", "settings_named"]

INPUTS = 64


def calibration(
    settings: Sequence[Setting] | None = None,
    *,
    inputs: int = INPUTS,
    support: str | None = None,
    device: str = "auto",
    seed: int = DEFAULT_SEED,
    progress: Progress | None = None,
) -> CalibrationResult:
    """Draw inputs from the model, sample the posterior of the sum score, and compare with the truths.

    Equal arguments give equal results on every device.

    Args:
        settings: sizes, noise, and what the inference is given; by default `settings_named` without names.
        inputs: inputs of each setting, at least `BINS`; their seeds are `seed` and following.
        support: sample as `infer` does for this level of support, quick or full; None for chains from random
            trees.
        device: auto, cpu, native, fpga-emu, fpga, gpu, numpy, or a dpctl filter string.
        seed: seed of the first input of each setting, and of its chains.
        progress: called with the current activity, the amount done and the total.

    Raises:
        OptionError: an option is invalid, or a setting learns rates, which `infer` does not do for support.
        DeviceError: the device cannot run.

    Source: Talts et al., "Validating Bayesian inference algorithms with simulation-based calibration", 2018.
    """
    inputs = whole("inputs (--inputs)", inputs, BINS, 2**20)
    settings = settings_named((), support) if settings is None else _allowed(settings, support)
    sample: Sampler = from_random if support is None else partial(for_support, support)
    found = choose_device(device).filter
    of_settings = []
    for place, setting in enumerate(settings):
        began = time.process_time()
        replicates = []
        for number in range(inputs):
            if progress is not None:
                done = place * inputs + number
                progress(f"{setting.name}, {number + 1} of {inputs}", done, len(settings) * inputs)
            replicates.append(replicate(setting, seed + number, found, sample))
        of_settings.append(OfSetting(setting, tuple(replicates), time.process_time() - began))
    return CalibrationResult(tuple(of_settings), inputs, found, seed, support)


def settings_named(names: Sequence[str], support: str | None = None) -> tuple[Setting, ...]:
    """Return the settings with these names; all that can be sampled if there are no names.

    A named setting with shares, reads or doublets is followed by its control (`settings.CONTROL_OF`).

    Args:
        names: names of settings.
        support: as for `calibration`.

    Raises:
        OptionError: there is no such setting, or it cannot be sampled in this way.
    """
    every = (*SETTINGS, *CONTROLS, *SHARED, *WITH_READS, *WITH_OWN_RATES, WITH_DOUBLETS)
    known = {setting.name: setting for setting in every}
    for name in names:
        if name not in known:
            raise OptionError(f"there is no setting {name!r}", hint=f"give one of {', '.join(known)}")
    if names:
        controls = {name: (CONTROL_OF[name],) if name in CONTROL_OF else () for name in names}
        return _allowed([one for name in names for one in (known[name], *controls[name])], support)
    left_out = "only_for_support" if support is None else "learn"
    return tuple(one for one in known.values() if not getattr(one, left_out))


def _allowed(settings: Sequence[Setting], support: str | None) -> tuple[Setting, ...]:
    """Return the settings, after a check that they can be sampled in this way."""
    for one in settings:
        if support is None and one.only_for_support:
            raise OptionError(
                f"the setting {one.name!r} has shares or doublets, which only chains for support sample",
                hint="give --support quick",
            )
        if support is not None and one.learn:
            raise OptionError(
                f"the setting {one.name!r} learns rates, which chains for support do not",
                hint="leave out the setting, or --support",
            )
    return tuple(settings)
