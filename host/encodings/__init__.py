"""How a tree stands in a kernel's memory: to and from parent vectors, and the kernels that go with it."""

from __future__ import annotations

import logging

from syclade.host.compile.kernel import load_part
from syclade.host.devices.device import Device
from syclade.host.devices.targets import traits_of
from syclade.host.encodings.base import Encoding
from syclade.host.encodings.plain import PlainEncoding
from syclade.host.errors import OptionError
from syclade.host.model.problem import Problem

__all__ = [
    "ENCODINGS",
    "OF_CELL_LEAF_TREES",
    "Encoding",
    "choose_encoding",
    "encoding_name",
    "encodings_of",
    "make_encoding",
]

logger = logging.getLogger("syclade.encodings")

ENCODINGS = {
    "ancestor": "syclade.host.encodings.ancestor:AncestorEncoding",
    "preorder": "syclade.host.encodings.preorder:PreorderEncoding",
}
"""Those that kernels know, by name; loaded when they are wanted."""

OF_CELL_LEAF_TREES = {"clade": "syclade.host.encodings.clade:CladeEncoding"}
"""Those of cell-leaf trees, for which there are no others."""

PREFERRED = {"fpga": ("ancestor", "preorder"), "numpy": (PlainEncoding.name, "ancestor")}
"""Encodings by kind of device, the fastest first, where they are not the usual ones (docs/performance.md)."""

_USUAL = ("preorder", "ancestor")


def make_encoding(name: str) -> type[Encoding]:
    """The encoding with this name.

    Raises:
        OptionError: there is none.
    """
    if name == PlainEncoding.name:
        return PlainEncoding
    if isinstance(name, str) and name in OF_CELL_LEAF_TREES:
        raise OptionError(
            f"the encoding {name} is for cell-leaf trees", hint="use --tree leaf, or --encoding auto"
        )
    if not isinstance(name, str) or name not in ENCODINGS:
        raise OptionError(f"there is no encoding {name!r}", hint=f"use auto, {' or '.join(ENCODINGS)}")
    return _loaded(ENCODINGS[name])


def encodings_of(device: Device) -> tuple[str, ...]:
    """The encodings of mutation trees that a device can have, the fastest first."""
    return PREFERRED.get(device.kind, _USUAL)


def encoding_name(wanted: str, device: Device) -> str:
    """The encoding that a request means on a device, as long as the problem fits.

    Raises:
        OptionError: the device has no such encoding.
    """
    own = encodings_of(device)
    name = own[0] if wanted == "auto" else make_encoding(wanted).name
    if name not in own:
        raise OptionError(
            f"{device.filter} has no encoding {name!r}", hint=f"use --encoding auto, or {' or '.join(own)}"
        )
    return name


def choose_encoding(wanted: str, device: Device, problem: Problem) -> Encoding:
    """The encoding asked for; for auto, the fastest one on this kind of device that can hold the problem.

    Raises:
        OptionError: there is no such encoding, or it cannot hold the problem, with the reason.
    """
    if problem.of_cells:
        return _of_cell_leaf_trees(wanted, device, problem)
    candidates = encodings_of(device) if wanted == "auto" else (encoding_name(wanted, device),)
    traits = traits_of(device)
    reasons: list[str] = []
    for name in candidates:
        kind = make_encoding(name)
        reason = kind.can_run(problem, traits)
        if reason is None:
            if reasons:
                logger.warning("encoding %s: %s", name, "; ".join(reasons))
            return _for_device(device, kind(problem, traits))
        reasons.append(f"{name} cannot hold this matrix: {reason}")
    raise OptionError("; ".join(reasons), hint="use --encoding auto")


def _of_cell_leaf_trees(wanted: str, device: Device, problem: Problem) -> Encoding:
    """The encoding for them; see `choose_encoding`."""
    own = (PlainEncoding.name,) if device.kind == "numpy" else tuple(OF_CELL_LEAF_TREES)
    if wanted not in ("auto", *own):
        raise OptionError(
            f"cell-leaf trees have no encoding {wanted!r} on {device.filter}",
            hint=f"use --encoding auto or {' or '.join(own)}",
        )
    if device.kind == "fpga":
        raise OptionError("cell-leaf trees have no kernel for cards", hint="use another --device")
    if device.kind == "numpy":
        return PlainEncoding(problem, nodes=2 * len(problem.column_of) - 1)
    traits = traits_of(device)
    kind = _loaded(OF_CELL_LEAF_TREES["clade"])
    reason = kind.can_run(problem, traits)
    if reason is not None:
        raise OptionError(f"cell-leaf trees of this matrix are too large: {reason}", hint="use fewer cells")
    return _for_device(device, kind(problem, traits))


def _for_device(device: Device, made: Encoding) -> Encoding:
    """The form for a kernel with specialisation constants, where the device takes one and there is one."""
    return (made.specialised() if device.is_sycl else None) or made


def _loaded(place: str) -> type[Encoding]:
    """The class at `module:NAME`."""
    found: type[Encoding] = load_part(place)
    return found
