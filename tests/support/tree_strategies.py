"""Random trees, names and matrices for property tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

# Characters that are special in Newick, GraphViz or SCITE's files, and some that are not.
AWKWARD = "ab1_ '\"()[]{},;:->\\#/|é漢=%\u00a0"


@st.composite
def trees(draw: st.DrawFn, max_mutations: int = 12) -> NDArray[np.int32]:
    """Draw a parent vector of 1 to max_mutations mutations, int32: a recursive tree with shuffled labels."""
    n = draw(st.integers(1, max_mutations))
    label = [*draw(st.permutations(range(n))), n]
    parents = np.full(n + 1, n, np.int32)
    for place in range(n):
        # A parent has a later place than its children, so that there is no cycle.
        parents[label[place]] = label[draw(st.integers(place + 1, n))]
    return parents


def names(n: int) -> st.SearchStrategy[tuple[str, ...]]:
    """Return a strategy for n distinct names with awkward characters."""
    name = st.text(AWKWARD, min_size=1, max_size=8).map(str.strip).filter(bool)
    return st.lists(name, min_size=n, max_size=n, unique=True).map(tuple)


@st.composite
def observations(
    draw: st.DrawFn, n: int, max_cells: int = 8, values: tuple[int, ...] = (0, 1, 3)
) -> NDArray[np.uint8]:
    """Draw observed values, shape (n, 1 to max_cells), uint8."""
    m = draw(st.integers(1, max_cells))
    entries: list[Any] = draw(st.lists(st.sampled_from(values), min_size=n * m, max_size=n * m))
    return np.array(entries, np.uint8).reshape(n, m)


def path_tree(n: int) -> NDArray[np.int32]:
    """Return the path root, n - 1, ..., 0, shape (n + 1,), int32: the deepest possible tree."""
    return np.append(np.arange(1, n + 1), n).astype(np.int32)
