"""Kinds of trees: what inferences of mutation trees and of cell trees do differently; kinds by name."""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.findings.kinds.kind import TreeKind
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import checked, flag_of

__all__ = [
    "kind_named",
    "weights_of",
]


def kind_named(name: str) -> TreeKind:
    """Return the kind of trees of a name; raise an OptionError if there is none."""
    if checked("tree", name) == MUTATION.name:
        return MUTATION
    from syclade.host.findings.kinds.cell_trees import (
        CELL,  # only where it is needed: it imports eight modules
    )

    return CELL


def weights_of(kind: TreeKind, given: Sequence[float] | None) -> tuple[float, ...] | None:
    """Return the weights of the moves that these trees have.

    Args:
        kind: the kind of trees.
        given: weights as commands take them: as many for all kinds of trees; None for the default.

    Raises:
        OptionError: a move has a weight that these trees do not have.
    """
    if given is None:
        return None
    moves = len(kind.move_probabilities)
    if any(given[moves:]):
        raise OptionError(
            f"{kind.title} have no swaps of subtrees",
            hint=f"give {flag_of('move_probabilities', 'P L 0')}: weights of prune and reattach, and of "
            "swaps of leaves",
        )
    return tuple(given[:moves])
