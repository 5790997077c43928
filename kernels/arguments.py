"""Declarations of kernel arguments: the host allocates, compiles and exports by them. No device code.

An argument is a flat array. Its shape is given in symbols whose values the host knows: `slots`, and the sizes
that a kernel is specialised for, such as `nodes`, `words`, `cells`, `lanes`.
"""

import math
from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

PROBLEM = "problem"  # IN, the same for all slots, never written
SETTING = "setting"  # IN, one per slot: the host may set it between launches
STATE = "state"  # IN OUT, needed by the next step
INFO = "info"  # IN OUT, diagnostics
EVENTS = "events"  # OUT, emitted by a recorder; the host empties it
SCRATCH = "scratch"  # private to the kernel; the host neither reads nor writes it


class Argument(NamedTuple):
    """Argument of a kernel.

    Attributes:
        name: name of the array.
        role: one of the roles above.
        dtype: numpy's name of the element type.
        shape: sizes, as symbols or as numbers.
        meaning: short description.
        hot: True if steps read it so often that a target may keep a slot's part in faster memory (shared
            memory of a GPU) for a whole launch, together with as many other hot arguments as fit.
    """

    name: str
    role: str
    dtype: str
    shape: tuple[str | int, ...]
    meaning: str
    hot: bool = False

    def dimensions(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape in numbers."""
        return tuple(sizes[part] if isinstance(part, str) else part for part in self.shape)

    def nbytes(self, sizes: Mapping[str, int]) -> int:
        """Return the size in bytes."""
        return math.prod(self.dimensions(sizes)) * np.dtype(self.dtype).itemsize


def record_of(name: str, arguments: Sequence[Argument]) -> type:
    """Return the record type in which a kernel's body gets these arguments.

    It has one field per argument, each a flat array of all slots.
    """
    return _record(name, tuple(argument.name for argument in arguments))


@cache
def _record(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(name, fields)
