"""Random trees, names and matrices for property tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

# Signs that mean something to Newick, GraphViz or SCITE's files, and some that do not.
AWKWARD = "ab1_ '\"()[]{},;:->\\#/|é漢=%\u00a0"


@st.composite
def trees(draw: st.DrawFn, max_mutations: int = 12) -> NDArray[np.int32]:
    """A parent vector of 1 to max_mutations mutations: a recursive tree with its labels shuffled."""
    n = draw(st.integers(1, max_mutations))
    label = [*draw(st.permutations(range(n))), n]
    parents = np.full(n + 1, n, np.int32)
    for place in range(n):
        # Places are taken from the last to the first, so that a parent comes before its children.
        parents[label[place]] = label[draw(st.integers(place + 1, n))]
    return parents


def names(n: int) -> st.SearchStrategy[tuple[str, ...]]:
    """n distinct names with awkward signs, such as a user may have."""
    name = st.text(AWKWARD, min_size=1, max_size=8).map(str.strip).filter(bool)
    return st.lists(name, min_size=n, max_size=n, unique=True).map(tuple)


@st.composite
def observations(
    draw: st.DrawFn, n: int, max_cells: int = 8, values: tuple[int, ...] = (0, 1, 3)
) -> NDArray[np.uint8]:
    """Observed values, shape (n, 1 to max_cells)."""
    m = draw(st.integers(1, max_cells))
    entries: list[Any] = draw(st.lists(st.sampled_from(values), min_size=n * m, max_size=n * m))
    return np.array(entries, np.uint8).reshape(n, m)


def path_tree(n: int) -> NDArray[np.int32]:
    """The path root, n - 1, ..., 0: as deep as a tree can be."""
    return np.append(np.arange(1, n + 1), n).astype(np.int32)
