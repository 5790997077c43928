"""Conversion of a result to AnnData: cells are observations, mutations are variables."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING

import numpy as np

from syclade.host.common.errors import OptionError
from syclade.host.common.install import install_command
from syclade.host.trees.tree import ancestor_matrix, depths, node_labels

if TYPE_CHECKING:
    import anndata

    from syclade.host.output.result import Result

__all__ = ["anndata_of"]


def anndata_of(result: Result) -> anndata.AnnData:
    """Return the matrix, the tree and the attachments of a result as an AnnData.

    `X` has the observed values (int8, shape (cells, mutations): 0, 1, 2 homozygous, 3 missing); the layer
    `tree` has the values expected from the tree (int8, same shape: 0 or 1). `obs` has the best node of every
    cell, the number of equally good nodes, its log-likelihood there and, with the score sum, the posterior of
    the node. `var` has the parent and the depth of every mutation. `uns["syclade"]` has the tree in Newick
    format, the parent vector, and the summary as JSON text, so that the object can be written to a file.

    Args:
        result: the result of an inference.

    Raises:
        OptionError: anndata is not installed.
    """
    if importlib.util.find_spec("anndata") is None:
        raise OptionError("this needs anndata", hint=install_command("io"))
    import anndata
    import pandas

    assert result.observed is not None
    labels = node_labels(result.mutations)
    parents = result.parents
    obs = pandas.DataFrame(
        {
            "node": pandas.Categorical([labels[node] for node in result.attachment], categories=labels),
            "equally_good_nodes": result.attachment_ties,
            "log_likelihood": result.cell_log_likelihoods,
        },
        index=list(result.cells),
    )
    if result.attachment_posteriors is not None:
        obs["posterior"] = result.attachment_posteriors
    var = pandas.DataFrame(
        {"parent": [labels[parent] for parent in parents[:-1]], "depth": depths(parents)[:-1]},
        index=list(result.mutations),
    )
    expected = ancestor_matrix(parents)[:-1, result.attachment]
    told = {
        "newick": result.to_newick(attach=False),
        "parents": parents.copy(),
        "summary": json.dumps(result.summary()),
    }
    return anndata.AnnData(
        np.ascontiguousarray(result.observed.values.T).astype(np.int8),
        obs=obs,
        var=var,
        layers={"tree": np.ascontiguousarray(expected.T).astype(np.int8)},
        uns={"syclade": told},
    )
