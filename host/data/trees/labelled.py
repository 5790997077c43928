"""Conversion of labelled edges, as in files, to a parent vector, with checks for all errors of a file."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.names import default_names
from syclade.host.data.trees.tree import cycle_text, find_cycle
from syclade.host.ground.errors import TreeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import excerpt

__all__ = ["CELL", "LabelledEdge", "edges_to_parents", "listed", "parents_from_edges", "without_cells"]

CELL = re.compile(r"s\d+")
"""SCITE's name for a cell in a tree, counted from 0."""

MOST_LISTED = 8
"""Most labels in a message."""


@dataclass(frozen=True, slots=True)
class LabelledEdge:
    """An edge of a tree file.

    Attributes:
        parent: label of the upper node.
        child: label of the lower node.
        line: line of the file, from 1.
    """

    parent: str
    child: str
    line: int


def without_cells(
    edges: Sequence[LabelledEdge], mutations: Collection[str], cells: Collection[str] = ()
) -> list[LabelledEdge]:
    """Return the edges without those to cells.

    A cell is a leaf whose name matches ``CELL`` or is among `cells`, and is not the name of a mutation.
    """
    inner, known, named = {edge.parent for edge in edges}, frozenset(mutations), frozenset(cells)
    return [
        edge
        for edge in edges
        if edge.child in inner
        or edge.child in known
        or not (edge.child in named or CELL.fullmatch(edge.child))
    ]


def parents_from_edges(
    edges: Sequence[LabelledEdge], mutations: Sequence[str], path: str | os.PathLike[str] | None = None
) -> NDArray[np.int32]:
    """Return the parent vector of a tree given by its edges.

    The labels are the names of the mutations and any other label for the root. They may also be SCITE's
    numbers: 1 to n for the mutations in the order of the matrix, and n + 1 for the root. SCITE writes numbers
    to Newick files even when it knows the names.

    Args:
        edges: all edges of the tree, in the order of the file.
        mutations: the n names of the mutations, in the order of the matrix.
        path: the file, for messages.

    Returns:
        int32, shape (n + 1,).

    Raises:
        TreeError: a node has two parents, there are several roots or none, mutations are unknown or missing,
            a mutation is the root, or there is a cycle.
    """
    incoming, root = _rooted(edges, path)
    names = _names_in_use([*incoming, root], mutations)
    _check_names(incoming, root, names, path)
    index = {name: number for number, name in enumerate([*names, root])}
    parents = np.full(len(names) + 1, len(names), np.int32)
    for edge in incoming.values():
        parents[index[edge.child]] = index[edge.parent]
    return parents


def edges_to_parents(
    edges: Sequence[LabelledEdge], path: str | os.PathLike[str] | None = None
) -> tuple[list[str], NDArray[np.int32]]:
    """Return the labels of all nodes, the root last, and their parents: int32, shape (nodes,).

    Args:
        edges: all edges of any tree, in the order of the file.
        path: the file, for messages.

    Raises:
        TreeError: a node has two parents, there are several roots or none, or there is a cycle.
    """
    incoming, root = _rooted(edges, path)
    labels = [*incoming, root]
    number = {label: at for at, label in enumerate(labels)}
    above = [number[edge.parent] for edge in incoming.values()]
    return labels, np.array([*above, len(above)], np.int32)


def _rooted(
    edges: Sequence[LabelledEdge], path: str | os.PathLike[str] | None
) -> tuple[dict[str, LabelledEdge], str]:
    """Return the edge to each node that has a parent, by the node's label, and the label of the root."""
    incoming = _incoming(edges, path)
    _refuse_cycle(incoming, path)
    tops = list(dict.fromkeys(edge.parent for edge in edges if edge.parent not in incoming))
    if len(tops) != 1:
        what = f"several roots: {listed(tops)}" if tops else "there is no tree"
        raise TreeError(what, path=path, hint="give one root above all mutations")
    return incoming, tops[0]


def _incoming(edges: Sequence[LabelledEdge], path: str | os.PathLike[str] | None) -> dict[str, LabelledEdge]:
    """Return the edge to each node that has a parent, by the node's label."""
    incoming: dict[str, LabelledEdge] = {}
    for edge in edges:
        first = incoming.setdefault(edge.child, edge)
        if first is not edge:
            raise TreeError(
                f"{excerpt(edge.child)} has two parents: {excerpt(first.parent)} in line {first.line} "
                f"and {excerpt(edge.parent)}",
                path=path,
                line=edge.line,
                hint="in a mutation tree every mutation occurs once and has one parent",
            )
    return incoming


def _names_in_use(labels: list[str], mutations: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the mutations, or SCITE's numbers if the file has exactly these."""
    numbers = default_names(len(mutations) + 1)
    if set(labels) == set(numbers) and not set(mutations).issubset(labels):
        return numbers[:-1]
    return tuple(mutations)


def _check_names(
    incoming: dict[str, LabelledEdge],
    root: str,
    names: tuple[str, ...],
    path: str | os.PathLike[str] | None,
) -> None:
    """Check that the nodes below the root are exactly the mutations."""
    known = set(names)
    unknown = [edge for label, edge in incoming.items() if label not in known]
    missing = [name for name in names if name not in incoming and name != root]
    if unknown:
        raise TreeError(
            f"not among the matrix's {len(names)} mutations: {listed(edge.child for edge in unknown)}",
            path=path,
            line=unknown[0].line,
            hint="a node has several mutations, as in a consensus: give a tree with one in each node"
            if all(set(re.split(r"\|+", edge.child)) <= known for edge in unknown)
            else f"the tree has {len(incoming)} nodes below its root; it must be of this matrix, "
            f"with the names of its mutations ({flag_of('names')}) or numbers from 1",
        )
    if missing:
        raise TreeError(
            f"{len(missing)} of the matrix's {len(names)} mutations are missing: {listed(missing)}",
            path=path,
            hint="the tree must be of this matrix, with all its mutations",
        )
    if root in known:
        raise TreeError(
            f"the mutation {excerpt(root)} is the root",
            path=path,
            hint="above all mutations there must be a root that is not a mutation",
        )


def _refuse_cycle(incoming: dict[str, LabelledEdge], path: str | os.PathLike[str] | None) -> None:
    """Check that no node is its own ancestor."""
    labels = list(incoming)
    index = {label: number for number, label in enumerate(labels)}
    above = [index.get(edge.parent, len(labels)) for edge in incoming.values()]
    cycle = [labels[node] for node in find_cycle(np.array([*above, len(labels)], np.int32))]
    if cycle:
        around = cycle_text([excerpt(label) for label in cycle])
        raise TreeError(f"these nodes form a cycle: {around}", path=path, line=incoming[cycle[0]].line)


def listed(labels: Iterable[str]) -> str:
    """Return the labels in quotes, at most ``MOST_LISTED`` of them."""
    all_of_them = list(labels)
    more = len(all_of_them) - MOST_LISTED
    quoted = ", ".join(excerpt(label) for label in all_of_them[:MOST_LISTED])
    return f"{quoted} and {more} more" if more > 0 else quoted
