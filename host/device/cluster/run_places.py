"""Where a run does its work: on one device, or in several places that share it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import shown

__all__ = ["Devices", "Several", "first_of", "where_of"]

W = TypeVar("W")


class Several:
    """Places that share a run: devices of this machine, or workers (`Workers`)."""

    def close(self) -> None:
        """Free what the run has started for itself."""


class Devices(Several):
    """Devices of this machine.

    Attributes:
        names: each as for `choose_device`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)


def where_of(wanted: W) -> W | Several:
    """Return several devices for a text with commas, such as `cpu,fpga-emu`; all else as it is.

    Raises:
        OptionError: a name between the commas is missing, or occurs twice.
    """
    if not isinstance(wanted, str) or "," not in wanted:
        return wanted
    names = [name.strip() for name in wanted.split(",")]
    if not all(names) or len(set(names)) < len(names) or "auto" in names:
        raise OptionError(
            f"{flag_of('device')} is {shown(wanted)}",
            hint="give different devices with commas between, such as cpu,fpga-emu",
        )
    return Devices(names)


def first_of(wanted: str | Several) -> str:
    """Return the device for work of one place only, as for `choose_device`; numpy if there is no other."""
    where = where_of(wanted)
    if isinstance(where, Devices):
        return min(where.names, key=lambda name: name in ("numpy", "python"))
    return where if isinstance(where, str) else "auto"
