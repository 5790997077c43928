"""Samples of cell trees as lines of score and Newick tree, in temporary files until the run is over."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.events import Event
from syclade.host.samples.lines import close_all, passing_file
from syclade.host.trees.newick import quoted_label

__all__ = ["LeafLines", "leaf_newick"]


def leaf_newick(parents: NDArray[np.int32], labels: Sequence[str]) -> str:
    """Return the tree in Newick format with cells as leaves; internal nodes have no names.

    The child with the lowest cell comes first.

    Args:
        parents: a valid cell tree of m cells, int32, shape (2m - 1,).
        labels: labels of the cells, quoted for Newick.
    """
    nodes = len(parents)
    upper = parents.tolist()
    open_children = [0] * len(labels) + [2] * (nodes - len(labels))
    texts: list[tuple[int, str] | None] = [(cell, label) for cell, label in enumerate(labels)]
    texts += [None] * (nodes - len(labels))
    for cell in range(len(labels)):
        at = cell
        while at != nodes - 1:  # climb while both children are complete
            above, own = upper[at], texts[at]
            open_children[above] -= 1
            if open_children[above]:
                texts[above] = own
                break
            first, second = sorted((texts[above], own))
            assert first is not None
            assert second is not None
            texts[above] = first[0], f"({first[1]},{second[1]})"
            at = above
    whole = texts[-1]
    assert whole is not None
    return f"{whole[1]};"


class LeafLines:
    """Lines of samples, chain by chain. Memory does not grow with the number of lines.

    Args:
        why: bit of the recorder of samples.
        to_nats: (integer score) -> log-likelihood.
        cells: the m names.
    """

    def __init__(self, why: int, to_nats: Callable[[int], float], cells: Sequence[str]) -> None:
        self._why = why
        self._to_nats = to_nats
        self._labels = [quoted_label(name) for name in cells]
        self._files: dict[int, tempfile.SpooledTemporaryFile[str]] = {}
        weakref.finalize(self, close_all, self._files)

    def take(self, events: Sequence[Event]) -> None:
        """See `Sink.take`."""
        for event in events:
            if event.why & self._why:
                if event.chain not in self._files:
                    self._files[event.chain] = passing_file()
                tree = leaf_newick(event.parents, self._labels)
                self._files[event.chain].write(f"{self._to_nats(event.score):.6g}\t{tree}\n")

    def lines(self) -> Iterator[str]:
        """Yield all lines, chain by chain."""
        for chain in sorted(self._files):
            self._files[chain].seek(0)
            yield from self._files[chain]
