"""Inputs and files of ``syclade simulate``: shares of clones, the model of reads; the matrix, its truth and,
for reads, the same in other formats."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import syclade
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import JsonObject, excerpt

if TYPE_CHECKING:
    from syclade.host.data.model.rates import Rates
    from syclade.host.data.model.simulate import Simulation
    from syclade.host.data.model.simulate_reads import ReadModel
    from syclade.host.ground.atomic import Content

__all__ = [
    "FILES", "FILES_OF_SAMPLES", "files_of_calls", "files_of_reads", "files_of_samples", "read_model",
    "shares_of", "truth_likelihood",
]  # fmt: skip

FILES = ("matrix.csv", "matrix.geneNames", "true_tree.newick", "true_tree.gv", "simulation.json")

FILES_OF_SAMPLES = ("metadata.tsv", "true_shares.tsv")
"""Names of further files with several samples."""


def files_of_reads(made: Simulation, model: ReadModel, seed: int, report: JsonObject) -> dict[str, Content]:
    """Return the files of a simulation of reads."""
    from syclade.host.data.input.convert import evidence_tables
    from syclade.host.data.model.simulate_reads import files_of_callers, simulate_reads

    simulated = simulate_reads(made, model, seed)
    if model.allelic_dropout_range is not None:
        report = {**report, "allelic_dropouts": simulated.dropout.round(6).tolist()}
    return {
        **files_of_calls(simulated.made, report, None),
        **evidence_tables(simulated.made.matrix),
        **files_of_callers(simulated),
    }


def files_of_samples(made: Simulation) -> dict[str, Content]:
    """Return the text of each of ``FILES_OF_SAMPLES``: the sample of each cell, and the shares of nodes."""
    from syclade.host.data.trees.tree import node_labels
    from syclade.host.ground.files import tsv_text

    if made.specimen_of is None or made.shares is None:
        return {}
    cells = made.matrix.named_cells
    of_cells = (
        (cell, f"P{number + 1}") for cell, number in zip(cells, made.specimen_of.tolist(), strict=True)
    )
    of_nodes = (
        (f"P{number}", node, f"{share:.6g}")
        for number, shares in enumerate(made.shares.tolist(), 1)
        for node, share in zip(node_labels(made.node_names), shares, strict=True)
    )
    texts = (
        tsv_text(("cell", "sample"), of_cells),
        tsv_text(("sample", "node", "share"), of_nodes),
    )
    return dict(zip(FILES_OF_SAMPLES, texts, strict=True))


def truth_likelihood(made: Simulation, rates: Rates) -> float:
    """Return the log-likelihood of the true tree, every cell as a single one at its best node."""
    from syclade.host.data.model.likelihood import log_likelihood
    from syclade.host.data.model.recurrence import log_likelihood_of_states, states_of

    if made.copies:
        states = states_of(made.parents, made.matrix.n_mutations, made.copies)
        return log_likelihood_of_states(made.matrix, rates, states)
    return log_likelihood(made.matrix, rates, made.parents)


def files_of_calls(made: Simulation, parameters: JsonObject, of_tree: float | None) -> dict[str, Content]:
    """Return the text of each of ``FILES``."""
    from syclade.host.data.input.matrix import format_matrix
    from syclade.host.data.trees.graphviz import to_graphviz
    from syclade.host.data.trees.newick import to_newick

    matrix, names = made.matrix, made.node_names
    report = {
        **parameters,
        "version": syclade.__version__,
        **({} if of_tree is None else {"log_likelihood": of_tree}),
        "parents": made.parents.tolist(),
        "attachments": made.attachments.tolist(),
        **({"partners": made.partners.tolist()} if "doublets" in parameters else {}),
        **({"unplaced": list(made.unplaced)} if made.unplaced else {}),
        **({"copies": [copy._asdict() for copy in made.copies]} if made.copies else {}),
        **({} if made.fn_rates is None else {"fn_rates": made.fn_rates.round(6).tolist()}),
    }
    texts = (
        format_matrix(matrix.values),
        "".join(f"{name}\n" for name in matrix.mutations),
        to_newick(made.parents, names),
        to_graphviz(made.parents, names),
        json.dumps(report, indent=2) + "\n",
    )
    return dict(zip(FILES, texts, strict=True))


def shares_of(text: str) -> str | float | dict[str, float]:
    """Return the number that a text is, the shares in the file that it names, or else the text."""
    try:
        return float(text)
    except ValueError:
        return text if text in ("equal", "zipf") or not os.path.lexists(text) else _read_shares(text)


def _read_shares(path: str) -> dict[str, float]:
    """Return the shares in a table with a node and its share on each line.

    Raises:
        TableError: a line has other fields, or its share is no number from 0; with the line.
    """
    from syclade.host.data.input.source import read_text
    from syclade.host.ground.errors import TableError

    shares: dict[str, float] = {}
    for number, line in enumerate(read_text(path, TableError).splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#") or (not shares and fields == ["node", "share"]):
            continue
        hint = "give a node and its share on each line, such as: M1 0.25"
        if len(fields) != 2:
            raise TableError(f"{len(fields)} fields: {excerpt(line)}", path=path, line=number, hint=hint)
        name, text = fields
        column = line.index(text, line.index(name) + len(name)) + 1
        try:
            share = float(text)
        except ValueError:
            share = math.nan
        if not 0 <= share < math.inf:
            problem = f"the share {excerpt(text)} is no number from 0"
            raise TableError(problem, path=path, line=number, column=column, hint=hint)
        if name in shares:
            raise TableError(f"the node {excerpt(name)} a second time", path=path, line=number, hint=hint)
        shares[name] = share
    return shares


def read_model(
    reads: bool, given: Mapping[str, object], fn_range: object, rates: Mapping[str, object]
) -> ReadModel | None:
    """Return the parameters of reads; None without --reads.

    Args:
        reads: the flag.
        given: parameters by name; None for those that are not given.
        fn_range, rates: options of calls.

    Raises:
        OptionError: options of reads without --reads, options of calls with it, or a bad value.
    """
    from syclade.host.data.model.simulate_reads import ReadModel

    set_ones: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not reads:
        if set_ones:
            flag = f"--{next(iter(set_ones)).replace('_', '-')}"
            raise OptionError(f"{flag} without --reads", hint="give --reads, or leave it out")
        return None
    calls = [flag_of(name) for name, rate in rates.items() if rate is not None]
    if calls or fn_range is not None:
        raise OptionError(
            f"{calls[0] if calls else '--fn-range'} does not go with --reads",
            hint="errors of reads are --allelic-dropout and --seq-error",
        )
    if {"allelic_dropout", "allelic_dropout_range"} <= set_ones.keys():
        both = "--allelic-dropout and --allelic-dropout-range"
        raise OptionError(f"{both} are both given", hint="leave one of them out")
    return ReadModel(**set_ones)
