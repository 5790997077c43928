"""Mutations that all cells have once dropout is counted: germline variants, or the trunk of a pure tumour.

The reader warns of mutations that are seen in nearly all cells. Dropout hides others: a germline variant that
is lost in 15 % of the cells is seen in 85 %. The tree says which cells must have a mutation: those with
another one below it. A germline variant is seen as often in the other cells; a mutation of the trunk is not,
if some of them are normal. On 66 panels this named 14 variants that were seen in fewer than 95 % of the
cells: 12 that are frequent in the population, an intronic one, and one of a xenograft, which has no normal
human cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from syclade.host.data.input.checks import IN_NEARLY_ALL
from syclade.host.data.model.rates import MISSING
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.findings.finding import Finding, FindingKind, Section, no_files, sentence
from syclade.host.findings.kinds.mutation_trees import MUTATION
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject, counted, listed

if TYPE_CHECKING:
    from syclade.host.findings.finding import BestTree, Draft

__all__ = ["IN_ALL_CELLS", "Common", "InAllCellsFinding", "common_mutations"]

_FEWEST = 300
"""Fewest cells with a value: among fewer, there is often no normal cell that could tell."""

_FEWEST_BELOW = 20
"""Fewest cells with a mutation further down, of which dropout is counted."""

_LACK, _SURELY = 0.01, 0.02
"""Most cells that may lack the mutation, as a part: the estimate, and two standard errors above it."""


class Common(NamedTuple):
    """A mutation that no cell surely lacks.

    Attributes:
        name: its name.
        seen: part of the cells with a value in which it is seen.
        dropout: part of the cells that have it by a mutation further down in which it is not seen.
    """

    name: str
    seen: float
    dropout: float


@dataclass(frozen=True, eq=False, repr=False)
class InAllCellsFinding(Finding):
    """Mutations that are in all cells, of which the reader of the input did not warn."""

    name = "in_all_cells"
    found: tuple[Common, ...]

    def summary(self) -> JsonObject:
        """Return their names."""
        return {"in_all_cells": [one.name for one in self.found]}

    @property
    def warnings(self) -> list[str]:
        """Names, how often they are seen, and what they may be."""
        shares = listed([f"{one.name} {one.seen:.0%}, dropout {one.dropout:.0%}" for one in self.found])
        return [
            f"{counted(len(self.found), 'mutation is', 'mutations are')} in all cells if dropout is counted "
            f"({shares}): germline variants, which make no clones, or the first mutations of the tumour, if "
            "the sample has no normal cells; the data do not say which: leave germline variants out with "
            f"{flag_of('exclude_mutations')}"
        ]

    def section(self) -> Section:
        """Return the warning."""
        return Section("Mutations of all cells", (), None, tuple(map(sentence, self.warnings)))


def common_mutations(best: BestTree) -> list[Common]:
    """Return the mutations that no cell surely lacks, but for those of which the reader warns.

    Args:
        best: the most likely mutation tree, with the nodes of the cells.
    """
    values, node = best.observed.values, best.assignment.node
    above = ancestor_matrix(best.parents)
    at_node = np.bincount(node, minlength=len(above))
    below_node = above[:-1] @ at_node - at_node[:-1]  # the others have too few cells below them
    found = []
    for row in np.flatnonzero(below_node >= _FEWEST_BELOW).tolist():
        known, seen = values[row] != MISSING, (values[row] == 1) | (values[row] == 2)
        below = known & above[row, node] & (node != row)
        cells, sure = int(known.sum()), int(below.sum())
        share = seen.sum() / max(1, cells)
        named = share >= IN_NEARLY_ALL or best.mutations[row] in best.observed.frequent
        if named or cells < _FEWEST or sure < _FEWEST_BELOW or not seen[below].any():
            continue
        rate, rest = seen[below].mean(), known & ~below
        others = seen[rest].mean() if rest.any() else rate
        part = 1.0 - sure / cells
        lack = part * max(0.0, 1.0 - others / rate)
        error = part * np.sqrt(others * (1.0 - others) / max(1, rest.sum())) / rate
        if lack <= _LACK and lack + 2.0 * error <= _SURELY:
            found.append(Common(best.mutations[row], float(share), float(1.0 - rate)))
    return found


def _make(draft: Draft) -> InAllCellsFinding | None:
    best = draft.best
    if best.kind is not MUTATION or best.assignment.recurrence is not None:
        return None
    found = common_mutations(best)
    return InAllCellsFinding(tuple(found)) if found else None


IN_ALL_CELLS = FindingKind(InAllCellsFinding.name, _make, no_files)
