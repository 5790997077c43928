"""Kernels as values: parts, arguments and cache key. This module does not depend on chains."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from syclade.host.device.compile.kernel_sources import digest_of
from syclade.kernels.arguments import Argument, record_of

__all__ = ["Kernel", "Record", "load_part"]

Parts = str | tuple[str, ...]
"""`module:NAME` of an object that a factory takes, or a tuple of several."""


@dataclass(frozen=True)
class Record:
    """Arguments that a kernel's body gets as one record.

    Attributes:
        name: name of the record.
        arguments: its arguments, in order.
    """

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Kernel:
    """Description of a kernel, from which it is compiled.

    Attributes:
        name: prefix of the entry point's name.
        factory: `module:function` that makes the body: a device function of a slot, a lane and the records.
        parts: keyword arguments of the factory besides the constants, by name.
        constants: the factory's other keyword arguments.
        records: the kernel's arguments; each becomes a flat array.
        group: the group that a slot's lanes form: "sub-group" or "work-group".
        lanes: number of lanes per slot.
        size: sizes that the kernel is for, as text for messages; not part of the key.
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
        """Names of the modules that define the factory and the parts; they import others."""
        named = [self.factory]
        for part in self.parts.values():
            named += [part] if isinstance(part, str) else part
        return tuple(sorted({name.partition(":")[0] for name in named}))

    @property
    def sources(self) -> str:
        """Digest of `modules` and of everything that they import."""
        return digest_of(self.modules)

    def body(self) -> Any:
        """Return the body, made by the factory: a `kernels.target.DeviceFunction`."""
        parts = {
            name: load_part(part) if isinstance(part, str) else [load_part(one) for one in part]
            for name, part in self.parts.items()
        }
        return load_part(self.factory)(**parts, **self.constants)

    def record_types(self) -> list[tuple[type, tuple[str, ...]]]:
        """Return the records that the body takes, each with the names of its arguments."""
        return [
            (record_of(record.name, record.arguments), tuple(one.name for one in record.arguments))
            for record in self.records
        ]

    def key(self, compiler: list[str]) -> str:
        """Return the key of the compiled kernel in the cache.

        Args:
            compiler: everything else that determines the result: versions, and sources of the translation.
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
    """Return the object that `module:NAME` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
