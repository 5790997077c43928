"""One golden run: its command lines, and the devices that check it."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

import pytest

from tests.golden.inputs import INPUTS, REAL

__all__ = ["ALL", "CPU", "DEVICES", "SYCL", "Run", "infer", "scite", "search"]

DEVICES = ("native", "cpu", "fpga-emu", "cuda", "numpy")

ALL = ("cpu", "fpga-emu", "numpy")
SYCL = ("cpu", "fpga-emu")
CPU = ("cpu",)


_OF_CHAINS = re.compile(r"--(method (chain|anneal)|chains|steps|samples|learn-\w+|tree leaf|stages)\b")
"""Options of `infer` without which it searches."""


@dataclass(frozen=True)
class Run:
    """Golden run.

    In a command line {device} is the device's name, {small} the folder of the input `small`, {matrix:small}
    its matrix, {forms} the folder of one matrix in all formats, {names} the folder of names with blanks.
    Files in the folder `out` and standard output are compared.

    Attributes:
        name: unique.
        commands: the command lines without `syclade`, in order.
        also: devices on which the normal suite checks the run besides `usual`.
        own_kernel: whether the package has no precompiled kernel for it. Compilation takes 20 s of processor
            time, so the normal suite checks the run on numpy; the marker `verification` has native.
        never: devices on which it cannot run, or takes minutes. The marker `verification` has all others.
        rounded: whether the last digits of numbers depend on the processor (numpy, BLAS). Numbers of
            more than ten digits are then compared to nine digits.
        stopped: the signal that stops the run in the middle; the run is then resumed. The recorded outcome is
            that of the run without a stop.
        checkpoints: how many checkpoints the run has written when it is stopped. Chains write the first one
            at step 0.
        given: the input whose matrix is standard input; the command then has a separate process.
        real: whether it needs ../shared.
    """

    name: str
    commands: tuple[str, ...]
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    rounded: bool = False
    stopped: signal.Signals | None = None
    checkpoints: int = 4
    given: str | None = None
    real: bool = False
    own_kernel: bool = False

    @property
    def devices(self) -> tuple[str, ...]:
        """Devices that can run it; only native for commands that use none."""
        if not any("{device}" in command for command in self.commands):
            return ("native",)
        calls = any(command.startswith("call") for command in self.commands)
        never = (*self.never, "cuda") if calls or self.searches else self.never
        return tuple(device for device in DEVICES if device not in never)

    @property
    def searches(self) -> bool:
        """True if it searches for trees, which no run does on a GPU (`host/chains/runs/run.py`)."""
        return any(
            command.startswith("infer") and ("--start search" in command or not _OF_CHAINS.search(command))
            for command in self.commands
        )

    @property
    def usual(self) -> str:
        """Device that checks it in the normal suite, besides those in `also`."""
        return "numpy" if self.own_kernel else "native"

    def marks(self, device: str) -> list[pytest.MarkDecorator]:
        """Return the markers of a check on a device."""
        marks = [pytest.mark.shared] if self.real else []
        if device in SYCL:
            marks.append(pytest.mark.sycl)
        if device == "cuda":
            marks.append(pytest.mark.cuda)
        if device != self.usual and device not in self.also:
            marks.append(pytest.mark.verification)
        return marks


def infer(
    name: str,
    given: str,
    options: str,
    *,
    also: tuple[str, ...] = (),
    never: tuple[str, ...] = (),
    rounded: bool = False,
    stopped: signal.Signals | None = None,
    checkpoints: int = 4,
    own_kernel: bool = False,
    rates: str = "",
) -> Run:
    """Return a run of `syclade infer` on an input, with the input's rates by default."""
    rates = rates or INPUTS[given].rates
    command = f"infer {{matrix:{given}}} {rates} --quiet --device {{device}} --out out {options}"
    return Run(
        name,
        (command,),
        also,
        never,
        rounded,
        stopped,
        checkpoints,
        real=given in REAL,
        own_kernel=own_kernel,
    )


def search(
    name: str,
    given: str,
    options: str = "",
    *,
    also: tuple[str, ...] = (),
    numpy: bool = False,
    rates: str = "",
    rounded: bool = False,
) -> Run:
    """Return a run of a search without support. On numpy all but the smallest searches take minutes."""
    options = f"{options} --support none".lstrip()
    never = () if numpy else ("numpy",)
    return infer(name, given, options, also=also, never=never, rates=rates, rounded=rounded)


def scite(
    name: str,
    given: str,
    sizes: str,
    options: str,
    *,
    rates: str = "-fd 0.01 -ad 0.2",
    also: tuple[str, ...] = (),
    rounded: bool = False,
    own_kernel: bool = False,
) -> Run:
    """Return a run of `syclade scite` on an input, with `sizes` as in 12x20: rows and columns."""
    rows, columns = sizes.split("x")
    command = f"scite -i {{matrix:{given}}} -n {rows} -m {columns} {rates} -o out/base --device {{device}}"
    return Run(
        name,
        (f"{command} {options}",),
        also,
        rounded=rounded,
        real=given in REAL,
        own_kernel=own_kernel,
    )
