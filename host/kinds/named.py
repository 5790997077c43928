"""Kinds of trees by the names that users give."""

from __future__ import annotations

from syclade.host.kinds.kind import TreeKind
from syclade.host.kinds.mutation_trees import MUTATION
from syclade.host.options import checked

__all__ = ["kind_named"]


def kind_named(name: str) -> TreeKind:
    """Return the kind of trees of a name; raise an OptionError if there is none."""
    if checked("tree", name) == MUTATION.name:
        return MUTATION
    from syclade.host.kinds.cell_trees import CELL  # only where it is needed: it imports eight modules

    return CELL
