"""How a tree stands in a kernel's memory: to and from parent vectors, and the kernels that go with it."""

from __future__ import annotations

from syclade.host.devices.choice import Device
from syclade.host.encodings.ancestor import AncestorEncoding
from syclade.host.encodings.base import Encoding
from syclade.host.encodings.preorder import PreorderEncoding
from syclade.host.errors import OptionError

__all__ = ["ENCODINGS", "Encoding", "choose_encoding", "make_encoding"]

ENCODINGS: dict[str, type[Encoding]] = {"ancestor": AncestorEncoding, "preorder": PreorderEncoding}

FASTEST = {"fpga": "ancestor"}
"""What `auto` takes by kind of device, where that is not preorder (docs/performance.md)."""


def make_encoding(name: str) -> type[Encoding]:
    """The encoding with this name.

    Raises:
        OptionError: there is none.
    """
    if name not in ENCODINGS:
        raise OptionError(f"there is no encoding {name!r}", hint=f"use auto, {' or '.join(ENCODINGS)}")
    return ENCODINGS[name]


def choose_encoding(wanted: str, device: Device) -> type[Encoding]:
    """The encoding asked for; for auto, the one that measures faster on this kind of device.

    Raises:
        OptionError: there is no such encoding.
    """
    return make_encoding(FASTEST.get(device.kind, "preorder") if wanted == "auto" else wanted)
