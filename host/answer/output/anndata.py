"""Conversion of a result to AnnData: cells are observations, mutations are variables."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from syclade.host.data.input.formats.hdf import hdf5_format
from syclade.host.data.trees.tree import depths
from syclade.host.findings.finding import CELLS, ENTRIES, MUTATIONS, Column
from syclade.host.ground.errors import OptionError
from syclade.host.ground.packages import install_command

if TYPE_CHECKING:
    import anndata
    import pandas

    from syclade.host.answer.output.result import Result
    from syclade.host.data.input.matrix import LeftOut
    from syclade.host.ground.values import Array

__all__ = ["anndata_of", "require_anndata"]

logger = logging.getLogger("syclade.output")

_HDF5 = b"\x89HDF\r\n\x1a\n"


def require_anndata() -> None:
    """Check before a long run that AnnData can be written.

    Raises:
        OptionError: anndata is not installed.
    """
    if importlib.util.find_spec("anndata") is None:
        raise OptionError("this needs anndata", hint=install_command("io"))


def anndata_of(result: Result) -> anndata.AnnData:
    """Return the matrix, the trees, clones and cells of a result as an AnnData.

    `X` has the observed values (int8, shape (cells, mutations): 0, 1, 2 homozygous, 3 missing), and layers
    are int8 of the same shape. Variables are the mutations of the matrix as it was given: the copy of a
    recurrent mutation is only in the trees. Trees are texts in Newick format and the summary is JSON text in
    `uns["syclade"]`, so that the object can be written to a file. docs/formats.md lists all columns.

    If the matrix is from an AnnData, or from a file of one that has not changed since, all that it has stays:
    obs, var, layers, obsm and so on, but for what an earlier result wrote, of which `uns["syclade"]` has the
    names. Where it has a column or a layer of one of these names, the result's has `syclade_` before it.
    Its X is the layer `X` if it has other values.

    Args:
        result: the result of an inference.

    Raises:
        OptionError: anndata is not installed.
    """
    require_anndata()
    import anndata

    labels, tree, count = result.labels, result.tree, len(result.measured)
    assigned = _assigned(result, labels)
    placed = _placed(result, labels)
    of_cells, of_mutations = (assigned, placed) if result.kind.item == "cell" else (placed, assigned)
    _add_columns(of_cells, CELLS, result)
    _add_columns(of_mutations, MUTATIONS, result)
    layers: dict[str, Array] = {"tree": result.kind.genotypes(tree)}
    layers |= {one.name: np.asarray(one.values) for one in _columns(result, ENTRIES, 2)}
    provenance = {
        "newick": result.to_newick(attach=False),
        **({} if result.consensus is None else {"consensus": result.consensus.to_newick()}),
        "parents": result.parents.copy(),
        "summary": json.dumps(result.summary()),
    }
    made = anndata.AnnData(
        np.ascontiguousarray(result.observed.values[:count].T).astype(np.int8),
        obs=of_cells.set_axis(list(result.cells)),
        var=of_mutations.set_axis(list(result.measured)),
        obsm={one.name: np.asarray(one.values) for one in _columns(result, CELLS, 2)},
        layers={name: np.ascontiguousarray(one[:count].T).astype(np.int8) for name, one in layers.items()},
        uns={"syclade": provenance},
    )
    source, labels_written = _source_of(result), _label_names(result, "table")
    of_matrix = _label_names(result, "matrix")
    if source is None:
        labels_written |= of_matrix
        theirs: dict[str, set[str]] = {part: set() for part in _PARTS}
    else:
        made.obs = made.obs.drop(columns=list(of_matrix))  # the source has them
        source = _rest(source, result.observed.left_out)
        theirs = _kept(source, made)
        made = _with_source(made, source, theirs)
        earlier = source.uns.get("syclade", {}).get("written", {})
        labels_written |= {str(name) for name in earlier.get(_LABELS, ())}
    _record(made, theirs, labels_written)
    return made


_PARTS = ("obs", "var", "layers", "obsm")
"""Parts of an AnnData that have something of a result."""

_LABELS = "labels"
"""Name of the record of columns of obs that are labels of a table: they stay, or are replaced."""


def _names(data: anndata.AnnData, part: str) -> list[str]:
    """Return the names in a part of an AnnData; from anndata 0.13 on, layers have X as None besides."""
    return [str(name) for name in getattr(data, part) if name is not None]


def _kept(source: anndata.AnnData, made: anndata.AnnData) -> dict[str, set[str]]:
    """Return the names in each part of the AnnData of a matrix that are not of an earlier result.

    Results of versions without a record wrote at least what a new one has.
    """
    names = {part: {*_names(source, part)} for part in _PARTS}
    if "syclade" not in source.uns:
        return names
    record = source.uns["syclade"].get("written")
    if record is None:
        return {part: names[part] - {*_names(made, part)} for part in _PARTS}
    kept = {part: names[part] - {str(name) for name in record.get(part, ())} for part in _PARTS}
    kept["obs"] -= {str(name) for name in record.get(_LABELS, ())} & {str(name) for name in made.obs}
    return kept


def _record(made: anndata.AnnData, theirs: Mapping[str, set[str]], labels: set[str]) -> None:
    """Record in uns what a result has written; `theirs` is what its matrix had."""
    written = {part: [name for name in _names(made, part) if name not in theirs[part]] for part in _PARTS}
    written["layers"] = [name for name in written["layers"] if name != "X"]  # the matrix's own values
    written[_LABELS] = [name for name in made.obs if name in labels]
    written["obs"] = [name for name in written["obs"] if name not in labels]
    made.uns["syclade"]["written"] = {part: np.array(names) for part, names in written.items() if names}


def _label_names(result: Result, origin: Literal["table", "matrix"]) -> set[str]:
    """Return the names of the columns of obs that are labels from a table, or from the matrix."""
    return {one.name for one in _columns(result, CELLS) if one.label == origin}


def _columns(result: Result, of: str, dimensions: int = 1) -> list[Column]:
    """Return what findings add to cells, mutations or entries: columns, or tables (of two dimensions)."""
    columns = (one for finding in result.findings for one in finding.columns() if one.of == of)
    return [one for one in columns if getattr(one.values, "ndim", 1) == dimensions]


def _source_of(result: Result) -> anndata.AnnData | None:
    """Return the AnnData that the matrix of a result is from; None if it is from something else."""
    import anndata

    observed = result.observed
    origin = getattr(observed, "origin", None) or observed
    if origin is None or isinstance(origin.annotated, anndata.AnnData):
        return None if origin is None else origin.annotated
    path = Path(origin.source)
    if origin.file_sha256 is None or not path.is_file():
        return None
    with path.open("rb") as file:
        if file.read(len(_HDF5)) != _HDF5 or hdf5_format(path) != "h5ad":
            return None
        file.seek(0)
        if hashlib.file_digest(file, "sha256").hexdigest() != origin.file_sha256:
            logger.warning("%s has changed since the run: its obs, var and layers are left out", path)
            return None
    return anndata.read_h5ad(path)


def _rest(source: anndata.AnnData, left_out: Sequence[LeftOut]) -> anndata.AnnData:
    """Return an AnnData without the mutations and cells that options left out."""
    if not left_out:
        return source
    sizes = {"cell": source.n_obs, "mutation": source.n_vars}
    cells, mutations = (
        np.setdiff1d(np.arange(size), [one.number - 1 for one in left_out if one.kind == kind])
        for kind, size in sizes.items()
    )
    return source[cells, mutations].copy()


def _with_source(
    made: anndata.AnnData, source: anndata.AnnData, theirs: Mapping[str, set[str]]
) -> anndata.AnnData:
    """Return the AnnData of a result, with further parts of the AnnData of its matrix.

    Args:
        made: of the result.
        source: of the matrix; it is not changed. It has as many observations and variables.
        theirs: for each part, the names in the source that are not of an earlier result.
    """
    obs, var = (
        frame[[name for name in frame if name in theirs[part]]]
        for part, frame in (("obs", source.obs), ("var", source.var))
    )
    made.obs = _joined(obs.set_axis(made.obs_names), made.obs)
    made.var = _joined(var.set_axis(made.var_names), made.var)
    made.uns = {**source.uns, **made.uns}
    own = {name: made.layers.pop(name) for name in _names(made, "layers")}
    kept = {name: source.layers[name] for name in _names(source, "layers") if name in theirs["layers"]}
    for name, layer in own.items():
        kept[_free(name, kept)] = layer
    if source.X is not None and "X" not in kept and not _equal(source.X, made.X):
        kept["X"] = source.X.copy()
    for name, layer in kept.items():
        made.layers[name] = layer
    if source.raw is not None:
        made.raw = source.raw.to_adata()
    for part in ("obsm", "obsp", "varm", "varp"):
        of_source, own = dict(getattr(source, part)), dict(getattr(made, part))
        of_source = {name: one for name, one in of_source.items() if name in theirs.get(part, of_source)}
        for name in own:
            del getattr(made, part)[name]
        for name, values in of_source.items():
            getattr(made, part)[name] = values
        for name, values in own.items():
            getattr(made, part)[_free(name, of_source)] = values
    return made


def _joined(theirs: pandas.DataFrame, own: pandas.DataFrame) -> pandas.DataFrame:
    """Return a table with the columns of both; see `_free`."""
    joined = theirs.copy()
    for name in own:
        joined[_free(str(name), theirs)] = own[name]
    return joined


def _free(name: str, taken: Container[str]) -> str:
    """Return a name that may be written: itself, or with a prefix where it is taken by something else."""
    return f"syclade_{name}" if name in taken else name


def _equal(theirs: ArrayLike, own: ArrayLike) -> bool:
    """Return whether a table, which may be sparse, has the observed values."""
    return np.array_equal(theirs.toarray() if hasattr(theirs, "toarray") else theirs, own)


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
    return pandas.DataFrame(columns)


def _placed(result: Result, labels: list[str]) -> pandas.DataFrame:
    """Return, for each of the first nodes of the tree, which have a row or column each, parent and depth."""
    import pandas

    parents = result.parents
    count = len(result.measured) if result.kind.item == "cell" else len(result.cells)
    upper = [labels[parent] for parent in parents[:count]]
    return pandas.DataFrame({"parent": upper, "depth": depths(parents)[:count]})


def _add_columns(table: pandas.DataFrame, of: str, result: Result) -> None:
    """Add what the findings have of cells or of mutations."""
    import pandas

    for column in _columns(result, of):
        values, names = column.values[: len(table)], column.categories  # the copy of a mutation has no row
        table[column.name] = values if names is None else pandas.Categorical(values, categories=names)
