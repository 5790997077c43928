"""Conversion of a result to AnnData: cells are observations, mutations are variables."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from syclade.host.common.errors import OptionError
from syclade.host.common.install import install_command
from syclade.host.trees.tree import depths

if TYPE_CHECKING:
    import anndata
    import pandas

    from syclade.host.output.result import Result

__all__ = ["anndata_of"]


def anndata_of(result: Result) -> anndata.AnnData:
    """Return the matrix, the tree and the attachments of a result as an AnnData.

    `X` has the observed values (int8, shape (cells, mutations): 0, 1, 2 homozygous, 3 missing); the layer
    `tree` has the values expected from the tree (int8, same shape: 0 or 1). Of a mutation tree, `obs` has the
    best node of every cell, the number of equally good nodes, its log-likelihood there and, with the score
    sum, the posterior of the node; with doublets, the probability of being one and the likeliest pair of
    nodes; `var` has the parent and the depth of every mutation. With support, `obs` has each cell's, and
    `var` those of each mutation's parent and clade. Of a cell tree, `var` has the best edge of every
    mutation, the number of equally good edges and its log-likelihood there; `obs` has the parent and the
    depth of every cell. `uns["syclade"]` has the tree in Newick format, the parent vector, and the summary as
    JSON text, so that the object can be written to a file.

    Args:
        result: the result of an inference.

    Raises:
        OptionError: anndata is not installed.
    """
    if importlib.util.find_spec("anndata") is None:
        raise OptionError("this needs anndata", hint=install_command("io"))
    import anndata

    assert result.observed is not None
    labels, tree = result.labels, result.tree
    assigned = _assigned(result, labels)
    placed = _placed(result, labels)
    of_cells, of_mutations = (assigned, placed) if result.kind.item == "cell" else (placed, assigned)
    expected = result.kind.genotypes(tree)
    told = {
        "newick": result.to_newick(attach=False),
        "parents": result.parents.copy(),
        "summary": json.dumps(result.summary()),
    }
    return anndata.AnnData(
        np.ascontiguousarray(result.observed.values.T).astype(np.int8),
        obs=of_cells.set_axis(list(result.cells)),
        var=of_mutations.set_axis(list(result.mutations)),
        layers={"tree": np.ascontiguousarray(expected.T).astype(np.int8)},
        uns={"syclade": told},
    )


def _assigned(result: Result, labels: list[str]) -> pandas.DataFrame:
    """Return the assignment: for each item its place, the ties, and its log-likelihood there."""
    import pandas

    place, assignment = result.kind.place, result.assignment
    columns = {
        place: pandas.Categorical([labels[node] for node in assignment.node], categories=labels),
        f"equally_good_{place}s": assignment.ties,
        "log_likelihood": assignment.log_likelihood,
    }
    if assignment.posterior is not None:
        columns["posterior"] = assignment.posterior
    if result.support is not None:
        columns["support"] = result.support.cells
    if (calls := assignment.doublets) is not None:
        columns["doublet"] = calls.probability
        for name, nodes in (("doublet_first", calls.first), ("doublet_second", calls.second)):
            columns[name] = pandas.Categorical([labels[node] for node in nodes], categories=labels)
    return pandas.DataFrame(columns)


def _placed(result: Result, labels: list[str]) -> pandas.DataFrame:
    """Return, for each of the first nodes of the tree, which have a row or column each, parent and depth."""
    import pandas

    parents = result.parents
    count = len(result.mutations) if result.kind.item == "cell" else len(result.cells)
    upper = [labels[parent] for parent in parents[:count]]
    columns: dict[str, Any] = {"parent": upper, "depth": depths(parents)[:count]}
    if result.support is not None:
        columns |= {"p_parent": result.support.edges, "p_clade": result.support.clades}
    return pandas.DataFrame(columns)
