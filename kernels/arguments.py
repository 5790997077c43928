"""How a kernel's arguments are declared: once, and the host allocates by it, compiles by it and exports it.

An argument is a flat array; its shape is given in symbols whose values the host knows: `slots`, and the sizes
that a kernel is specialised by, such as `nodes`, `words`, `cells`, `lanes`. No device code.
"""

import math
from collections import namedtuple
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

PROBLEM = "problem"  # IN, the same for all slots, never written
SETTING = "setting"  # IN, one a slot: what the host may set between launches
STATE = "state"  # IN OUT, what the next step needs
INFO = "info"  # IN OUT, diagnostics
EVENTS = "events"  # OUT, what a recorder hands out; the host empties it
SCRATCH = "scratch"  # the kernel's own; the host neither reads nor writes it


class Argument(NamedTuple):
    """One argument of a kernel.

    Attributes:
        name: of the array.
        role: one of the above.
        dtype: numpy's name of the numbers' type.
        shape: sizes, by their symbols or as numbers.
        meaning: in words.
        hot: whether steps read it so often that a target may keep a slot's part in faster memory for a whole
            launch (shared memory of a GPU), with as many of the others as have room there.
    """

    name: str
    role: str
    dtype: str
    shape: tuple[str | int, ...]
    meaning: str
    hot: bool = False

    def dimensions(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(sizes[part] if isinstance(part, str) else part for part in self.shape)

    def nbytes(self, sizes: Mapping[str, int]) -> int:
        """What it takes of memory."""
        return math.prod(self.dimensions(sizes)) * np.dtype(self.dtype).itemsize


def record_of(name: str, arguments: Sequence[Argument]) -> type:
    """The record in which a kernel's body gets these arguments: a field each, flat arrays of all slots."""
    return _record(name, tuple(argument.name for argument in arguments))


@cache
def _record(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(name, fields)
