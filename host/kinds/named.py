"""Kinds of trees by the names that users give."""

from __future__ import annotations

from syclade.host.common.errors import OptionError
from syclade.host.kinds.cell_trees import CELL
from syclade.host.kinds.kind import TreeKind
from syclade.host.kinds.mutation_trees import MUTATION

__all__ = ["kind_named"]

KINDS = {kind.name: kind for kind in (MUTATION, CELL)}


def kind_named(name: str) -> TreeKind:
    """Return the kind of trees of a name; raise an OptionError if there is none."""
    if name not in KINDS:
        raise OptionError(f"--tree is {name!r}", hint=f"use one of {', '.join(KINDS)}")
    return KINDS[name]
