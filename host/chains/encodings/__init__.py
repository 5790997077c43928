"""Encodings: representations of a tree in a kernel's memory, converted from and to parent vectors."""

from __future__ import annotations

import logging

from syclade.host.chains.encodings.base import Encoding, PlainEncoding
from syclade.host.data.model.problem import Problem
from syclade.host.device.compile.kernel import load_part
from syclade.host.device.device import Device
from syclade.host.device.engines import traits_of
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.supported import refusal, title_of

__all__ = [
    "ENCODINGS",
    "OF_OTHER_TREES",
    "Encoding",
    "choose_encoding",
    "encoding_name",
    "encodings_of",
    "for_device",
    "make_encoding",
]

logger = logging.getLogger("syclade.encodings")

ENCODINGS = {
    "ancestor": "syclade.host.chains.encodings.ancestor:AncestorEncoding",
    "preorder": "syclade.host.chains.encodings.preorder:PreorderEncoding",
}
"""Encodings of mutation trees that have kernels, by name; loaded on demand."""

OF_OTHER_TREES = {
    "clade": ("syclade.host.chains.encodings.clade:CladeEncoding", "cell trees", "cell trees"),
    "parities": (
        "syclade.host.chains.encodings.sums:ParitiesEncoding",
        "recurrent",
        "trees with a recurrent mutation",
    ),
    "sums": ("syclade.host.chains.encodings.sums:SumsEncoding", "doublets", "trees with doublets"),
}
"""Encodings of trees that have no other: where each is, the feature that needs it, and the trees."""

PREFERRED = {"fpga": ("ancestor", "preorder"), "numpy": (PlainEncoding.name, "ancestor")}
"""Encodings by kind of device, fastest first, where they differ from the usual ones (docs/performance.md)."""

_USUAL = ("preorder", "ancestor")


def make_encoding(name: object) -> type[Encoding]:
    """Return the class of the encoding with this name.

    Raises:
        OptionError: mutation trees have no encoding with this name.
    """
    if name == PlainEncoding.name:
        return PlainEncoding
    if isinstance(name, str) and name in OF_OTHER_TREES:
        _, feature, trees = OF_OTHER_TREES[name]
        raise OptionError(
            f"the encoding {name} is for {trees}",
            hint=f"use {title_of(feature)}, or {flag_of('encoding')} auto",
        )
    if not isinstance(name, str) or name not in ENCODINGS:
        raise OptionError(f"there is no encoding {name!r}", hint=f"use auto, {' or '.join(ENCODINGS)}")
    return _loaded(ENCODINGS[name])


def encodings_of(device: Device) -> tuple[str, ...]:
    """Return the names of the encodings of mutation trees that a device supports, fastest first."""
    return PREFERRED.get(device.kind, _USUAL)


def encoding_name(wanted: str, device: Device) -> str:
    """Return the name of the encoding that an option selects on a device; the problem may not fit it.

    Raises:
        OptionError: the device does not support the encoding.
    """
    own = encodings_of(device)
    name = own[0] if wanted == "auto" else make_encoding(wanted).name
    if name not in own:
        raise OptionError(
            f"{device.filter} has no encoding {name!r}",
            hint=f"use {flag_of('encoding')} auto, or {' or '.join(own)}",
        )
    return name


def choose_encoding(
    wanted: str, device: Device, problem: Problem, only: str = "", *, shares: bool = False
) -> Encoding:
    """Return the selected encoding; for auto, the fastest on this kind of device that can hold the problem.

    Args:
        wanted: auto, or a name.
        device: a usable device.
        problem: the problem.
        only: the only encoding of the trees (`Space.encoding`); empty to choose from ENCODINGS.
        shares: whether the chains have shares of the cells (`Score.shares`).

    Raises:
        OptionError: the encoding does not exist or cannot hold the problem, with the reason.
    """
    only = "clade" if problem.of_cells else only
    if only:
        return _only(only, wanted, device, problem)
    candidates = encodings_of(device) if wanted == "auto" else (encoding_name(wanted, device),)
    if shares:
        if wanted != "auto" and not make_encoding(wanted).has_shares:
            raise OptionError(f"{wanted} has no shares of cells", hint=f"use {flag_of('encoding')} auto")
        candidates = tuple(name for name in candidates if make_encoding(name).has_shares)
    traits = traits_of(device)
    reasons: list[str] = []
    for name in candidates:
        kind = make_encoding(name)
        reason = kind.can_run(problem, traits)
        if reason is None:
            if reasons:
                logger.warning("encoding %s: %s", name, "; ".join(reasons))
            return for_device(device, kind(problem, traits))
        reasons.append(f"{name} cannot hold this matrix: {reason}")
    raise OptionError("; ".join(reasons), hint=f"use {flag_of('encoding')} auto")


def _only(name: str, wanted: str, device: Device, problem: Problem) -> Encoding:
    """Return the encoding of trees that have only one; see `choose_encoding`."""
    place, feature, trees = OF_OTHER_TREES[name]
    own = PlainEncoding.name if device.kind == "numpy" else name
    if wanted not in ("auto", own):
        raise OptionError(
            f"{trees} have no encoding {wanted!r} on {device.filter}",
            hint=f"use {flag_of('encoding')} auto or {own}",
        )
    if device.kind == "fpga":
        raise refusal(feature, "FPGA cards")
    if device.kind == "numpy":
        return PlainEncoding(problem, nodes=2 * len(problem.column_of) - 1 if problem.of_cells else None)
    traits = traits_of(device)
    kind = _loaded(place)
    reason = kind.can_run(problem, traits)
    if reason is not None:
        raise OptionError(f"{trees} of this matrix are too large: {reason}", hint="use fewer cells")
    return for_device(device, kind(problem, traits))


def for_device(device: Device, made: Encoding) -> Encoding:
    """Return the form for a kernel with specialisation constants if device and encoding support it."""
    return (made.specialised() if device.takes_spirv else None) or made


def _loaded(place: str) -> type[Encoding]:
    """Return the class at `module:NAME`."""
    found: type[Encoding] = load_part(place)
    return found
