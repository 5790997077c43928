"""All kinds of inputs by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.fuzz.archives import Archives
from tests.fuzz.caches import Caches
from tests.fuzz.checkpoints import Checkpoints
from tests.fuzz.forms import Libraries, Pairs, Tables
from tests.fuzz.images import Images
from tests.fuzz.matrices import Matrices
from tests.fuzz.metadata import Labels
from tests.fuzz.names import Names
from tests.fuzz.options import Options
from tests.fuzz.reads import Places, Reads
from tests.fuzz.results import Results
from tests.fuzz.run import Kind
from tests.fuzz.trees import Trees

__all__ = ["KINDS"]

KINDS: dict[str, Callable[[Path], Kind]] = {
    kind.name: kind
    for kind in (
        Matrices, Names, Labels, Trees, Images, Archives, Caches, Checkpoints, Tables, Pairs, Libraries,
        Reads, Places, Results, Options,
    )
}  # fmt: skip
