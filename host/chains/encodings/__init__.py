"""Encodings: representations of a tree in a kernel's memory, converted from and to parent vectors.

Their interface, the base class of those that serve many sizes, numpy's parent vectors, and the choice.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.device.compile.kernel import load_part
from syclade.host.device.device import Device
from syclade.host.device.engines import traits_of
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.supported import refusal, title_of
from syclade.host.ground.values import Array
from syclade.kernels.arguments import STATE, Argument
from syclade.kernels.chain.arguments import WEIGHTS
from syclade.kernels.preorder.screened.arguments import LOG_SHARES
from syclade.kernels.rates.arguments import EVENT_RATES, RATES
from syclade.kernels.sums import rates as sums_rates
from syclade.kernels.target.cuda.traits import TRAITS as CUDA
from syclade.kernels.target.sycl_traits import TRAITS as SYCL
from syclade.kernels.target.traits import Traits

__all__ = [
    "ENCODINGS",
    "HAVE_GENERAL",
    "MADE_FOR",
    "OF_OTHER_TREES",
    "Encoding",
    "PlainEncoding",
    "ReadsSizes",
    "choose_encoding",
    "encoding_name",
    "encodings_of",
    "for_device",
    "make_encoding",
    "require_only",
    "round_up",
]


Choice = TypeVar("Choice")

MADE_FOR = SYCL
"""Traits that precompiled kernels are compiled for. Native has the same."""

HAVE_GENERAL = (MADE_FOR, CUDA)
"""Traits of the targets that have general kernels; other targets cannot use precompiled ones."""


def round_up(number: int, multiple: int) -> int:
    """Return the least multiple that is not less than a number."""
    return -(-number // multiple) * multiple


class Encoding(ABC):
    """Representation of trees on a device, for one problem and the traits of one target.

    Attributes:
        name: name for users.
        device: `module:NAME` of a `kernels.chain.parts.Encoding`.
        arguments: the kernel's arguments for the encoding, in order.
        group: the group that a slot's lanes form on a SYCL device: "sub-group" or "work-group".
        constants: constants that the kernel is specialised for.
        event_rates: argument of the ring of events for learned rates.
        learned_rates: number of rates that its kernels can learn.
        has_shares: whether its kernels can weight nodes by shares of the cells.
    """

    name: ClassVar[str]
    group: ClassVar[str]
    event_rates: ClassVar[Argument] = EVENT_RATES
    learned_rates: ClassVar[int] = RATES
    has_shares: ClassVar[bool] = False
    device: str
    arguments: tuple[Argument, ...]
    constants: dict[str, int]

    def __init__(self, problem: Problem, traits: Traits) -> None:
        self.problem = problem
        self.traits = traits

    def by_rates(self, fixed: Choice, learned: Choice) -> Choice:
        """Return the first value if the problem's error rates are fixed, the second if they are learned."""
        return learned if self.problem.learns else fixed

    @property
    def sizes(self) -> Mapping[str, int]:
        """Values of the symbols in the shapes of the arguments; by default the constants of the kernel."""
        return self.constants

    @property
    def specialisation(self) -> tuple[int, ...]:
        """Values of the kernel's specialisation constants; empty if the kernel has none."""
        return ()

    def _sizes(self) -> tuple[int, ...]:
        """Return the sizes that the host tells a kernel for many sizes; empty if there are none."""
        return ()

    def specialised(self) -> Encoding | None:
        """Return the encoding for a kernel with specialisation constants; None if this problem has none."""
        return None

    def general(self) -> Encoding | None:
        """Return the encoding for a kernel that serves many sizes; None if this problem has none."""
        return None

    @classmethod
    def can_run(cls, problem: Problem, traits: Traits) -> str | None:
        """Return why the encoding cannot hold a problem on a target, as a message; None if it can."""
        return None

    def can_score(self, rates: SlotRates) -> str | None:
        """Return why a slot cannot have rates other than the problem's, as a message; None if it can."""
        if rates.log_shares and "log_shares" not in (argument.name for argument in self.arguments):
            return f"the encoding {self.name} has no shares of cells"
        return self.problem.can_score(rates)

    @abstractmethod
    def problem_arrays(self) -> dict[str, Array]:
        """Return the arrays of the arguments with role `problem`, by name, with their dtypes and shapes."""

    @abstractmethod
    def encode(self, parents: NDArray[np.int32]) -> dict[str, ArrayLike]:
        """Return a tree as the encoding's arrays, without the slot axis.

        Args:
            parents: parent of each node, int32, shape (nodes of the tree,).

        Returns:
            Arrays and numbers by the names of the arguments for the current tree.
        """

    def encode_shares(self, log_shares: Sequence[int]) -> NDArray[np.int32]:
        """Return the argument `log_shares`: int32, shape (nodes,), 0 in padding."""
        padded = np.zeros(self._nodes_with_padding, dtype=np.int32)
        padded[: len(log_shares)] = log_shares
        return padded

    @cached_property
    def _nodes_with_padding(self) -> int:
        return self.sizes["nodes"]

    @abstractmethod
    def decode(self, arrays: Mapping[str, Array]) -> NDArray[np.int32]:
        """Return the parent vector of a tree: int32, shape (nodes of the tree,).

        Args:
            arrays: arrays as `encode` returns them; those of the best tree have names without `best_`.
        """

    @property
    def lanes(self) -> int:
        """Number of lanes per slot."""
        return self.constants["lanes"]


class ReadsSizes(Encoding):
    """First base of an encoding whose kernel serves all sizes, and reads them."""

    _kernel: ClassVar[str] = "GENERAL"
    _sizes_argument: ClassVar[Argument]

    def __init__(self, problem: Problem, traits: Traits) -> None:
        super().__init__(problem, traits)
        self.arguments = (*self.arguments, self._sizes_argument)

    @property
    def sizes(self) -> Mapping[str, int]:
        """See `Encoding.sizes`."""
        return {**super().sizes, "sizes": len(self._sizes())}

    def general(self) -> Encoding | None:
        """Return this encoding itself."""
        return self

    def problem_arrays(self) -> dict[str, Array]:
        """See `Encoding.problem_arrays`."""
        return super().problem_arrays() | {"sizes": np.array(self._sizes(), dtype=np.int64)}  # type: ignore[safe-super]


_NO_TARGET = Traits(lanes=1, panel_rounds=1, sketches_beyond=0)


class PlainEncoding(Encoding):
    """Parent of each node. There is no kernel: `fallback.chain.steps` takes the problem itself."""

    name = "plain"
    has_shares = True
    group = "none"
    device = ""
    event_rates = sums_rates.EVENT_RATES
    learned_rates = sums_rates.RATES
    arguments: tuple[Argument, ...] = (
        WEIGHTS,
        Argument("parent", STATE, "int32", ("slots", "nodes"), "parent of each node"),
        Argument("best_parent", STATE, "int32", ("slots", "nodes"), "parents in the best tree yet"),
        *sums_rates.PLACES,
    )

    def __init__(self, problem: Problem, traits: Traits = _NO_TARGET, nodes: int | None = None) -> None:
        super().__init__(problem, traits)
        nodes = problem.nodes if nodes is None else nodes
        if problem.octaves and not problem.learns:
            self.arguments = (*self.arguments, LOG_SHARES)
        self.constants = {"nodes": nodes, "classes": problem.classes, "lanes": 1}

    def problem_arrays(self) -> dict[str, Array]:
        """Return no arrays."""
        return {}

    def encode(self, parents: NDArray[np.int32]) -> dict[str, ArrayLike]:
        """Return the parents as `parent`."""
        return {"parent": parents}

    def decode(self, arrays: Mapping[str, Array]) -> NDArray[np.int32]:
        """Return the parents, int32, shape (nodes,)."""
        return arrays["parent"].astype(np.int32)


logger = logging.getLogger("syclade.encodings")

ENCODINGS = {
    "ancestor": "syclade.host.chains.encodings.bits:AncestorEncoding",
    "preorder": "syclade.host.chains.encodings.preorder:PreorderEncoding",
}
"""Encodings of mutation trees that have kernels, by name; loaded on demand."""

OF_OTHER_TREES = {
    "clade": ("syclade.host.chains.encodings.bits:CladeEncoding", "cell trees", "cell trees"),
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


def require_only(name: str, wanted: str, device: Device | None = None) -> None:
    """Check that an option names the only encoding of some trees, or auto.

    Args:
        name: the only encoding, of `OF_OTHER_TREES`; numpy has the plain one in its place.
        wanted: the option.
        device: the device; None for any.

    Raises:
        OptionError: it names another one.
    """
    own, where = (name, PlainEncoding.name), ""
    if device is not None:
        of_device = PlainEncoding.name if device.kind == "numpy" else name
        own, where = (of_device, of_device), f" on {device.filter}"
    if wanted not in ("auto", *own):
        raise OptionError(
            f"{OF_OTHER_TREES[name][2]} have no encoding {wanted!r}{where}",
            hint=f"use {flag_of('encoding')} auto or {own[0]}",
        )


def _only(name: str, wanted: str, device: Device, problem: Problem) -> Encoding:
    """Return the encoding of trees that have only one; see `choose_encoding`."""
    place, feature, trees = OF_OTHER_TREES[name]
    require_only(name, wanted, device)
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
