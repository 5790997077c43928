"""Co-optimal trees as a finding: all that moves between trees of equal score reach from the best ones.

Each tree is written in both formats, with how frequent each edge and relation is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.recorders.key import tree_keys
from syclade.host.data.model.problem import Problem
from syclade.host.data.trees.graphviz import to_graphviz
from syclade.host.data.trees.newick import to_newick
from syclade.host.data.trees.tree import node_labels, preorder
from syclade.host.findings.consensus.relations import consensus_of
from syclade.host.findings.finding import CloneShares, Finding, Question, Section, cut, made_by_stage
from syclade.host.ground.values import JsonObject, short_repr

if TYPE_CHECKING:
    from syclade.host.data.trees.cells import Clone
    from syclade.host.findings.unplaced import Unplaced
    from syclade.host.ground.atomic import Content

__all__ = [
    "CO_OPTIMAL",
    "CoOptimal",
    "CoOptimalFinding",
    "Scorer",
    "consensus_of",
    "equal_neighbours",
    "files_of",
    "walk_plateau",
]


@dataclass(frozen=True, eq=False)
class CoOptimal:
    """Trees of equal score.

    Attributes:
        trees: int32, shape (trees, n + 1): distinct parent vectors; the first is the best tree itself.
        complete: whether these are all trees that moves between trees of equal score reach; if false, there
            may be more.
    """

    trees: NDArray[np.int32]
    complete: bool

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def counted(self) -> str:
        """Number of trees, as text."""
        return str(len(self.trees)) if self.complete else f"at least {len(self.trees)}"


@dataclass(frozen=True, eq=False, repr=False)
class CoOptimalFinding(Finding):
    """Trees that are as likely as the best one.

    Attributes:
        found: these trees.
        mutations: names of the mutations.
    """

    name = "co_optimal"
    found: CoOptimal
    mutations: tuple[str, ...]

    def files(self) -> dict[str, Content]:
        """Return each tree in both formats, and how frequent each edge and relation is."""
        return {**files_of(self.found, self.mutations)}

    def summary(self) -> JsonObject:
        """Return their number, and whether these are all."""
        return {"co_optimal": {"trees": len(self.found.trees), "complete": self.found.complete}}

    @property
    def lines(self) -> list[str]:
        """Their number."""
        return [self._words]

    @property
    def _words(self) -> str:
        have = "tree has" if self.found.counted == "1" else "trees have"
        return f"{self.found.counted} {have} this log-likelihood"

    def clone_shares(
        self, parents: NDArray[np.int32], clones: Sequence[Clone], unplaced: Unplaced
    ) -> CloneShares | None:
        """Return the share of these trees that have the edge to each clone, if there are several."""
        if len(self.found.trees) == 1:
            return None
        shared = consensus_of(self.found.trees)
        shares = shared.of_edges(parents, [clone.node for clone in clones[1:]])
        return CloneShares([None, *shares], f"{shared.trees} equal trees")

    def section(self) -> Section:
        """Return the edges that are not in all of them."""
        words = f"{self._words}; co_optimal.tsv has what they share."
        if len(self.found.trees) == 1:
            return Section("Trees that are as likely", (words,))
        shares, labels = consensus_of(self.found.trees).edges, node_labels(self.mutations)
        unsure = [(upper, lower) for upper, lower in np.argwhere((shares > 0) & (shares < 1)).tolist()]
        unsure.sort(key=lambda edge: (-shares[edge], edge))
        rows = [(labels[upper], labels[lower], f"{shares[upper, lower]:.0%}") for upper, lower in unsure]
        same = int((shares == 1).sum())
        more = f"{same} of {len(self.mutations)} edges are in all of them; the others, by their shares:"
        return Section("Trees that are as likely", (words, more), cut(("parent", "child", "share"), rows))


def _names(question: Question) -> Iterable[str]:
    if question.options.max_trees is None:
        return ()
    return ("tree_0.newick", "tree_0.gv", "co_optimal.tsv", "co_optimal.gv")


CO_OPTIMAL = made_by_stage(CoOptimalFinding, _names)


def files_of(found: CoOptimal, mutations: Sequence[str]) -> dict[str, str]:
    """Return the texts of the files, by file name.

    Args:
        found: the co-optimal trees.
        mutations: the n names.
    """
    files = {}
    for number, tree in enumerate(found.trees):
        files[f"tree_{number}.newick"] = to_newick(tree, mutations)
        files[f"tree_{number}.gv"] = to_graphviz(tree, mutations)
    shared = consensus_of(found.trees)
    files["co_optimal.tsv"] = shared.to_table(mutations)
    files["co_optimal.gv"] = shared.to_graphviz(mutations)
    return files


def walk_plateau(
    problem: Problem,
    best: Sequence[NDArray[np.int32]],
    most: int,
    stopped: Callable[[], bool] = lambda: False,
) -> CoOptimal:
    """Walk from the best trees through all neighbours of equal score, breadth first.

    The order depends on the trees only, so it is the same on every device.

    Args:
        problem: the problem that defines the scores.
        best: int32 parent vectors, shape (n + 1,); those that score less than the first are left out.
        most: number of trees at which to stop.
        stopped: returns whether to stop with the trees so far.
    """
    scorer = Scorer.of(problem)
    top, _ = equal_neighbours(scorer, best[0])
    found: dict[int, NDArray[np.int32]] = {}
    waiting: deque[NDArray[np.int32]] = deque()
    more = False

    def take(trees: NDArray[np.int32]) -> None:
        nonlocal more
        for key, tree in zip(tree_keys(trees).tolist(), trees, strict=True):
            if key in found:
                continue
            if len(found) >= most:
                more = True
                return
            found[key] = tree
            waiting.append(tree)

    take(np.asarray(best[0], dtype=np.int32)[None])
    for tree in best[1:]:
        if equal_neighbours(scorer, tree)[0] == top:
            take(np.asarray(tree, dtype=np.int32)[None])
    while waiting and not more and not stopped():
        _, trees = equal_neighbours(scorer, waiting.popleft())
        if len(trees):
            take(trees)
    return CoOptimal(np.array(list(found.values()), dtype=np.int32), complete=not more and not waiting)


_LEAST = np.iinfo(np.int64).min // 4
"""Less than any score, and far from the limit of int64."""

_CHUNK = 2**22
"""Number of scores that are computed at once."""


class Scorer(NamedTuple):
    """Input for computing scores.

    Attributes:
        weights: int64, shape (n, distinct columns): what a mutation adds to the score of a column attached
            below it.
        multiplicity: int64, shape (distinct columns,): number of cells with each column.
    """

    weights: NDArray[np.int64]
    multiplicity: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem) -> Scorer:
        """Return the scorer of a problem."""
        return cls(problem.weight_rows().astype(np.int64), problem.multiplicity.astype(np.int64))


class _Tables(NamedTuple):
    """Tables of a tree, with nodes in preorder.

    Attributes:
        order: int32, shape (n + 1,): the node at each position.
        position: int64, shape (n + 1,): the position of each node.
        end: int64, shape (n + 1,): one past the last position of each node's subtree.
        rows: int64, shape (n + 1, columns): scores of attachments at each position.
        above: int64, shape (n + 2, columns): the best of all rows before each position.
        behind: int64, shape (n + 2, columns): the best of all rows from each position on.
    """

    order: NDArray[np.int32]
    position: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int64]
    above: NDArray[np.int64]
    behind: NDArray[np.int64]


def equal_neighbours(scorer: Scorer, parents: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
    """Return a tree's score, and all trees one move away that have the same score.

    Args:
        scorer: scorer of the problem.
        parents: parent vector, int32, shape (n + 1,).

    Returns:
        The score in units of 2^-f nat, and int32, shape (trees, n + 1): the trees, in a fixed order.
    """
    tables = _tables_of(scorer, parents)
    score = int((tables.above[-1] * scorer.multiplicity).sum())
    trees = [*_elsewhere(scorer, parents, tables, score), *_above_parents(scorer, parents, tables, score)]
    return score, np.array(trees, dtype=np.int32).reshape(len(trees), len(parents))


def _tables_of(scorer: Scorer, parents: NDArray[np.int32]) -> _Tables:
    nodes, columns = len(parents), scorer.weights.shape[1]
    order = preorder(parents)
    position = np.empty(nodes, dtype=np.int64)
    position[order] = np.arange(nodes)
    size = np.ones(nodes, dtype=np.int64)
    rows = np.zeros((nodes, columns), dtype=np.int64)
    for node in order[1:].tolist():
        rows[position[node]] = rows[position[parents[node]]] + scorer.weights[node]
    for node in order[:0:-1].tolist():
        size[parents[node]] += size[node]
    edge = np.full((1, columns), _LEAST, dtype=np.int64)
    above = np.maximum.accumulate(np.concatenate([edge, rows]), axis=0)
    behind = np.maximum.accumulate(np.concatenate([rows, edge])[::-1], axis=0)[::-1]
    return _Tables(order, position, position + size, rows, above, behind)


def _best(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    best: NDArray[np.int64] = rows.max(axis=0, initial=_LEAST)
    return best


def _elsewhere(
    scorer: Scorer, parents: NDArray[np.int32], tables: _Tables, score: int
) -> list[NDArray[np.int32]]:
    """Return the trees of equal score in which a subtree is attached to another node."""
    nodes, columns = tables.rows.shape
    mutations = np.arange(nodes - 1)
    begin, end = tables.position[mutations], tables.end[mutations]
    outside = np.maximum(tables.above[begin], tables.behind[end])
    best = np.array([_best(tables.rows[b:e]) for b, e in zip(begin, end, strict=True)])
    shifts = best - tables.rows[tables.position[parents[mutations]]]
    found = []
    step = max(1, _CHUNK // (nodes * columns))
    for first in range(0, nodes - 1, step):
        some = slice(first, first + step)
        columnwise = np.maximum(outside[some, None], shifts[some, None] + tables.rows[None])
        equal = columnwise @ scorer.multiplicity == score
        for chosen, at in zip(*np.nonzero(equal), strict=True):
            node, place = first + int(chosen), int(tables.order[at])
            if begin[node] <= at < end[node] or place == parents[node]:
                continue
            tree = parents.copy()
            tree[node] = place
            found.append(tree)
    return found


def _above_parents(
    scorer: Scorer, parents: NDArray[np.int32], tables: _Tables, score: int
) -> list[NDArray[np.int32]]:
    """Return the trees of equal score in which a mutation and its parent have swapped labels."""
    root, rows, found = len(parents) - 1, tables.rows, []
    for node in range(root):
        upper = int(parents[node])
        if upper == root:
            continue
        change = scorer.weights[node] - scorer.weights[upper]
        begin, end = tables.position[upper], tables.end[upper]
        first, last = tables.position[node], tables.end[node]
        with_upper = np.maximum(_best(rows[begin:first]), _best(rows[last:end])) + change
        outside = np.maximum(tables.above[begin], tables.behind[end])
        best = np.maximum(np.maximum(outside, with_upper), _best(rows[first:last]))
        if int((best * scorer.multiplicity).sum()) != score:
            continue
        tree = parents.copy()
        tree[parents == node] = upper
        tree[parents == upper] = node
        tree[node], tree[upper] = parents[upper], node
        found.append(tree)
    return found
