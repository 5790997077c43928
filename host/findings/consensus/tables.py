"""Files of a consensus: its tree in Newick, and tables of pairs of mutations, and of cells."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.trees.labelled import parents_from_edges
from syclade.host.data.trees.newick import newick_edges, newick_of
from syclade.host.data.trees.tree import root_label
from syclade.host.findings.consensus.cells import CloneCells
from syclade.host.findings.consensus.clone_tree import CloneTree, make_clone_tree
from syclade.host.findings.consensus.evidence import PairCounts
from syclade.host.findings.consensus.relations import Relations
from syclade.host.findings.unplaced import UNPLACED_MARK
from syclade.host.ground.errors import TreeError
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import excerpt

__all__ = [
    "MOST_PAIRS",
    "PairRelation",
    "cells_table",
    "clone_labels",
    "clone_newick",
    "clone_tree_from_newick",
    "relation_of",
    "relations_table",
    "separator_of",
]


def separator_of(mutations: Sequence[str]) -> str:
    """Return the text between the names of a clone's mutations: ``|``, or ``|1|``, … if names have that."""
    bars = itertools.chain(["|"], (f"|{number}|" for number in itertools.count(1)))
    return next(bar for bar in bars if all((name + bar).index(bar) == len(name) for name in mutations))


def clone_labels(tree: CloneTree, mutations: Sequence[str]) -> list[str]:
    """Return the labels of the clones: the names of their mutations; the root has its own label.

    Args:
        tree: the clone tree.
        mutations: the n names.
    """
    bar = separator_of(mutations)
    labels = [bar.join(mutations[one] for one in members) for members in tree.members[1:]]
    return [root_label(mutations), *labels]


def clone_newick(
    tree: CloneTree, mutations: Sequence[str], support: NDArray[np.float64], unplaced: int = 0
) -> str:
    """Return a clone tree in Newick format, with comments such as ``[&support=0.98]`` behind the labels.

    Args:
        tree: the clone tree.
        mutations: the n names.
        support: float64, shape (clones,): support of each clone; that of the root is left out.
        unplaced: number of mutations that are not in the tree; if there are any, the root's comment has it.
    """
    root = tree.clones - 1  # the last node of the file's tree; clone c is node c - 1
    below = [[child - 1 for child in of] for of in tree.children]
    labels = clone_labels(tree, mutations)
    comments = [f"[&support={share:.3g}]" for share in support[1:].tolist()]
    of_root = f"[&{UNPLACED_MARK}={unplaced}]" if unplaced else ""
    return newick_of([*below[1:], below[0]], [*labels[1:], labels[0]], [*comments, of_root][: root + 1])


def clone_tree_from_newick(
    text: str, mutations: Sequence[str], path: str | os.PathLike[str] | None = None
) -> CloneTree:
    """Parse a clone tree in Newick format.

    Args:
        text: the tree; the label of each clone has names of mutations with `separator_of` between them.
        mutations: the n names of the mutations, in the order of the matrix, without unplaced ones.
        path: the file, for messages.

    Raises:
        TreeError: the text is not Newick, or a mutation is missing, unknown or in two clones.
    """
    bar, number = separator_of(mutations), {name: at for at, name in enumerate(mutations)}
    edges = newick_edges(text, path)
    labels = [edge.child for edge in edges]
    clone_of = [-1] * len(mutations)
    for clone, label in enumerate(labels, start=1):
        for name in label.split(bar):
            if name not in number:
                raise TreeError(
                    f"not among the matrix's {len(mutations)} mutations: {excerpt(name)}",
                    path=path,
                    hint=f"the names of a clone's mutations have {bar} between them",
                )
            if clone_of[number[name]] >= 0:
                raise TreeError(f"the mutation {excerpt(name)} is in two clones", path=path)
            clone_of[number[name]] = clone
    missing = [name for name, clone in zip(mutations, clone_of, strict=True) if clone < 0]
    if missing:
        raise TreeError(f"the mutation {excerpt(missing[0])} is missing", path=path)
    parents = parents_from_edges(edges, labels, path)
    return make_clone_tree(clone_of, [0, *(0 if at == len(labels) else at + 1 for at in parents[:-1])])


RELATIONS = (
    "first", "second", "before", "after", "apart", "consensus", "both", "first_only", "second_only",
)  # fmt: skip
"""Columns of relations.tsv: names of two mutations; probabilities that the first is before the second, after
it, and on another lineage; the relation in the consensus: before, after, apart, or open in one clone, and
unobserved if no cell tells anything of it, whatever the tree shows; of the cells in which both are observed,
the numbers of those with both, with the first only, and with the second only. Each unplaced mutation has one
line, at the end, without a second."""

CELLS = ("cell", "clone", "probability", "tail", "fits", "runner_up", "runner_up_probability")
"""Columns of cells.tsv: name; most probable clone, and its probability; probability of observations that are
as unlikely in the clone that it fits best; yes, or no for cells that fit nowhere; second most probable clone,
and its probability. An unplaced cell has no values."""

DOUBLETS = ("doublet", "first", "second")
"""Columns of cells.tsv with doublets: probability of being one, and the most probable two clones;
`probability` is then that of a single cell of the clone."""

JOINT_CELLS = ("identifiable", "joint", "joint_probability")
"""Columns of cells.tsv then: `no` if the cell's specimen does not tell its most probable clone from others,
else `yes`; these clones together, and the probability that the cell is of one of them."""

MOST_PAIRS = 50_000
"""Most pairs in relations.tsv: of more, those whose most probable relation is least certain."""


class PairRelation(NamedTuple):
    """Relation of two mutations, as in a line of ``relations.tsv``.

    Attributes:
        before, after, apart: probabilities that the first is before the second, after it, and that they are
            on different lineages. They add up to 1.
        consensus: `before`, `after`, `apart`; `open` in one clone; `unobserved` if no cell tells.
        both, first_only, second_only: numbers of cells in which both have values: seen with both, with the
            first alone, and with the second alone. None if there are no cells.
    """

    before: float
    after: float
    apart: float
    consensus: str
    both: int | None
    first_only: int | None
    second_only: int | None

    def turned(self) -> PairRelation:
        """Return the same with the second mutation as the first."""
        word = {"before": "after", "after": "before"}.get(self.consensus, self.consensus)
        return self._replace(
            before=self.after,
            after=self.before,
            consensus=word,
            first_only=self.second_only,
            second_only=self.first_only,
        )


def relation_of(
    tree: CloneTree,
    relations: Relations,
    cells: PairCounts | None,
    unobserved: NDArray[np.bool_] | None,
    first: int,
    second: int,
) -> PairRelation:
    """Return the relation of two placed mutations, by number; other arguments as for `relations_table`."""
    above, apart = relations.above, relations.apart_counts
    word = _words_of(tree, unobserved, np.array([first]), np.array([second]))[0]
    return PairRelation(
        before=float(above[first, second] / relations.samples),
        after=float(above[second, first] / relations.samples),
        apart=float(apart[first, second] / relations.samples),
        consensus=str(word),
        both=None if cells is None else int(cells.both[first, second]),
        first_only=None if cells is None else int(cells.only[first, second]),
        second_only=None if cells is None else int(cells.only[second, first]),
    )


def _words_of(
    tree: CloneTree,
    unobserved: NDArray[np.bool_] | None,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NDArray[np.str_]:
    """Return the relations of pairs in the consensus, as words."""
    before, apart = tree.before, tree.apart
    words = np.array(["open", "before", "after", "apart"])[
        before[first, second] + 2 * before[second, first] + 3 * apart[first, second]
    ]
    return words if unobserved is None else np.where(unobserved[first, second], "unobserved", words)


def relations_table(
    tree: CloneTree,
    relations: Relations,
    cells: PairCounts | None,
    mutations: Sequence[str],
    unplaced: Sequence[str] = (),
    unobserved: NDArray[np.bool_] | None = None,
) -> str:
    """Return the text of ``relations.tsv``: a line with `RELATIONS`, then pairs in the matrix's order.

    Args:
        tree: the clone tree.
        relations: relations in the samples.
        cells: numbers of cells of the pairs; None if there are no cells.
        mutations: the n names.
        unplaced: names of the unplaced mutations.
        unobserved: bool, shape (n, n): pairs of which no cell tells anything; None for none.
    """
    first, second = np.triu_indices(len(mutations), 1)
    apart = relations.apart_counts
    counts = np.stack([relations.above[first, second], relations.above[second, first], apart[first, second]])
    if counts.shape[1] > MOST_PAIRS:
        chosen = np.sort(np.argsort(counts.max(axis=0), kind="stable")[:MOST_PAIRS])
        first, second, counts = first[chosen], second[chosen], counts[:, chosen]
    relation = _words_of(tree, unobserved, first, second)
    shares = counts / relations.samples
    seen: list[list[object]] = [[""] * 3] * len(first)
    if cells is not None:
        counted = (cells.both[first, second], cells.only[first, second], cells.only[second, first])
        seen = np.stack(counted).T.tolist()
    rows = (
        (mutations[one], mutations[two], *(f"{share:.4g}" for share in of), word, *numbers)
        for one, two, of, word, numbers in zip(
            first.tolist(),
            second.tolist(),
            shares.T.tolist(),
            relation.tolist(),
            seen,
            strict=True,
        )
    )
    return tsv_text(
        RELATIONS, (*rows, *((name, "", "", "", "", UNPLACED_MARK, "", "", "") for name in unplaced))
    )


def cells_table(
    cells: CloneCells,
    names: Sequence[str],
    unplaced: Collection[int] = (),
    labels: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the text of ``cells.tsv``: a line with `CELLS`, then the cells in the matrix's order.

    With doublets, `DOUBLETS` follow; with clones that some specimens do not tell from each other,
    `JOINT_CELLS`. The last columns are labels of the cells.

    Args:
        cells: the placed cells on the clones.
        names: the names of all cells.
        unplaced: numbers of the unplaced cells.
        labels: texts of all cells by the name of the label.
    """
    placed: list[Iterable[object]] = [
        cells.best.tolist(),
        _shares(cells.probability_of(cells.best)),
        (f"{tail:.3g}" for tail in cells.tail.tolist()),
        ("yes" if fits else "no" for fits in cells.fits.tolist()),
        cells.runner_up.tolist(),
        _shares(cells.probability_of(cells.runner_up)),
    ]
    head: tuple[str, ...] = CELLS
    if (found := cells.doublets) is not None:
        head += DOUBLETS
        placed += [_shares(found.probability), found.first.tolist(), found.second.tolist()]
    if cells.joint:
        head += JOINT_CELLS
        placed += zip(*map(_joint_of_cell, cells.joint_of_cells()), strict=True)
    values = zip(*placed, strict=True)
    none = (UNPLACED_MARK, *("" for _ in head[2:]))
    of_labels = {f"label_{name}" if name in head else name: texts for name, texts in (labels or {}).items()}
    rows = (
        (name, *(none if number in unplaced else next(values)), *(of[number] for of in of_labels.values()))
        for number, name in enumerate(names)
    )
    return tsv_text((*head, *of_labels), rows)


def _joint_of_cell(found: tuple[str, float] | None) -> tuple[str, str, str]:
    """Return the entries of a cell in the columns `JOINT_CELLS`."""
    return ("yes", "", "") if found is None else ("no", found[0], f"{found[1]:.4g}")


def _shares(probabilities: NDArray[np.float64]) -> Iterable[str]:
    """Return probabilities as texts."""
    return (f"{share:.4g}" for share in probabilities.tolist())
