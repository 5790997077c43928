"""A kernel as a value: what it is made of, what it takes, its name in the cache. Nothing of chains."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from syclade.host.compile.sources import digest_of
from syclade.kernels.arguments import Argument, record_of

__all__ = ["Kernel", "Record", "load_part"]

Parts = str | tuple[str, ...]
"""`module:NAME` of something that a factory takes, or several of them."""


@dataclass(frozen=True)
class Record:
    """Arguments that a kernel's body gets together.

    Attributes:
        name: of the record.
        arguments: in order.
    """

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Kernel:
    """Which kernel.

    Attributes:
        name: the entry point's name begins with it.
        factory: `module:function` that makes the body: a device function of a slot, a lane and the records.
        parts: what the factory takes besides the constants, by name.
        constants: the factory's other keyword arguments.
        records: the kernel's arguments; each becomes a flat array.
        group: what a slot's lanes are: "sub-group" or "work-group".
        lanes: of a slot.
        size: for what, in words, for messages; not part of what it is.
        specialisation: values of its specialisation constants, in order, written into the compiled module;
            not part of the key.
    """

    name: str
    factory: str
    parts: Mapping[str, Parts]
    constants: Mapping[str, int]
    records: tuple[Record, ...]
    group: str
    lanes: int
    size: str = ""
    specialisation: tuple[int, ...] = ()

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments, in the order in which the kernel takes them."""
        return tuple(argument for record in self.records for argument in record.arguments)

    @property
    def modules(self) -> tuple[str, ...]:
        """Names of the modules that it is made from; they import others."""
        named = [self.factory]
        for part in self.parts.values():
            named += [part] if isinstance(part, str) else part
        return tuple(sorted({name.partition(":")[0] for name in named}))

    @property
    def sources(self) -> str:
        """Digest of exactly the modules that it is made from, imported ones included."""
        return digest_of(self.modules)

    def body(self) -> Any:
        """The body, made by the factory: a `kernels.target.DeviceFunction`."""
        parts = {
            name: load_part(part) if isinstance(part, str) else [load_part(one) for one in part]
            for name, part in self.parts.items()
        }
        return load_part(self.factory)(**parts, **self.constants)

    def record_types(self) -> list[tuple[type, tuple[str, ...]]]:
        """The records that the body takes, each with the names of its arguments."""
        return [
            (record_of(record.name, record.arguments), tuple(one.name for one in record.arguments))
            for record in self.records
        ]

    def key(self, compiler: list[str]) -> str:
        """Name of the compiled kernel in the cache.

        Args:
            compiler: all else that decides what comes out: versions, and sources of the translation.
        """
        content = json.dumps(
            [
                self.sources,
                compiler,
                self.name,
                self.factory,
                sorted(self.parts.items()),
                sorted(self.constants.items()),
                [
                    [record.name, [(one.name, one.dtype) for one in record.arguments]]
                    for record in self.records
                ],
                [self.group, self.lanes],
            ]
        )
        return hashlib.sha256(content.encode()).hexdigest()[:32]


def load_part(place: str) -> Any:
    """What `module:NAME` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
