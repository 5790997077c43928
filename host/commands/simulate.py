"""``syclade simulate``: write a matrix with a known tree."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import syclade
from syclade.host.commands import options
from syclade.host.ground.errors import OptionError

if TYPE_CHECKING:
    from syclade.host.data.model.rates import Rates
    from syclade.host.data.model.simulate import Simulation

__all__ = ["command"]

FILES = ("matrix.csv", "matrix.geneNames", "true_tree.newick", "true_tree.gv", "simulation.json")


_SIZE = click.IntRange(1, 2**31 - 2)
"""Limits of host/data/model/simulate.py, which is slow to import."""

_COPIES = click.IntRange(0, 2**31 - 2)
"""The same for copies of mutations."""


@click.command("simulate")
@click.option(
    "--cells",
    type=_SIZE,
    required=True,
    metavar="M",
    help="Number of cells (columns).",
)
@click.option(
    "--mutations",
    type=_SIZE,
    required=True,
    metavar="N",
    help="Number of mutations (rows).",
)
@options.take_rates("fp_rate")
@options.take("fn_rate", help=f"{options.GIVEN['fn_rate']} Needed without --fn-range.")
@options.take_rates("fn_rate_hom", "hom_rate")
@click.option(
    "--missing",
    type=options.Probability(inside=False),
    default=0.0,
    show_default=True,
    help="Probability that a value is missing.",
)
@options.take(
    "doublets",
    type=options.Probability(inside=True),
    metavar="RATE",
    help="Rate of doublets: with this probability, a cell is two cells, with the mutations of either.",
)
@click.option(
    "--recurrent",
    type=_COPIES,
    default=0,
    metavar="K",
    help="Number of mutations that occur in two lineages.",
)
@click.option(
    "--losses",
    type=_COPIES,
    default=0,
    metavar="K",
    help="Number of mutations that are lost again on their lineage.",
)
@click.option(
    "--shares",
    default="equal",
    show_default=True,
    metavar="equal|zipf|K|FILE",
    help="Expected shares of the cells at the nodes: equal; 1, 1/2, 1/3, … in random order; or drawn from a "
    "Dirichlet distribution with concentration K; or those of a table of nodes and shares (docs/formats.md).",
)
@click.option(
    "--per-branch",
    type=_SIZE,
    default=1,
    metavar="K",
    help="Number of mutations on a branch, in random order, without cells between them.",
)
@click.option(
    "--unplaced",
    type=_COPIES,
    default=0,
    metavar="K",
    help="Number of mutations without information: missing in all cells, or observed in none.",
)
@click.option(
    "--fn-range",
    type=(float, float),
    metavar="LOW HIGH",
    help="Range from which the rate of false negatives of each mutation is drawn, in place of --fn-rate.",
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    cells: int,
    mutations: int,
    missing: float,
    doublets: float | None,
    recurrent: int,
    losses: int,
    shares: str,
    per_branch: int,
    unplaced: int,
    fn_range: tuple[float, float] | None,
    seed: int,
    out: Path,
    force: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Write a simulated matrix and its true tree.

    The tree is drawn uniformly from all mutation trees, and every cell is attached to a random node. With
    --fn-rate-hom and --hom-rate, some observations are homozygous (2). With --doublets, some cells are two
    cells together; simulation.json has the second node of each, and -1 for the others. With --recurrent or
    --losses, some mutations M have a second node M_copy in the true tree (docs/formats.md). Clones of real
    tumours are of unequal sizes and have several mutations: --shares and --per-branch. Mutations differ in
    their dropout: --fn-range; simulation.json then has fn_rates, and as fn_rate the middle of the range. Of
    some mutations a matrix says nothing: --unplaced. DIR gets matrix.csv and matrix.geneNames in SCITE's
    format, true_tree.newick, true_tree.gv and simulation.json.
    """
    from syclade.host.data.model.simulate import simulate
    from syclade.host.ground.files import check_output, write_files

    copies = {"recurrent": recurrent, "losses": losses}
    of_clones = _shares_of(shares)
    if fn_range is not None:
        if given["fn_rate"] is not None:
            raise OptionError("--fn-range and --fn-rate are both given", hint="leave one of them out")
        given["fn_rate"] = sum(fn_range) / 2.0
    made = simulate(
        cells,
        mutations,
        missing=missing,
        seed=seed,
        doublets=doublets,
        shares=of_clones,
        per_branch=per_branch,
        unplaced=unplaced,
        fn_range=fn_range,
        **copies,
        **given,
    )
    check_output(out, FILES, force)  # after all options are known to be right
    rates = options.rates_of(given)
    report = {
        "cells": cells,
        "mutations": mutations,
        **rates.to_dict(),
        "missing": missing,
        **({} if doublets is None else {"doublets": doublets}),
        **{name: number for name, number in copies.items() if number},
        **({"shares": of_clones} if shares != "equal" else {}),
        **({"per_branch": per_branch} if per_branch > 1 else {}),
        **({} if fn_range is None else {"fn_range": fn_range}),
        "seed": seed,
    }
    files = _files(made, rates, report)
    write_files(out, files, force)
    if as_json:
        click.echo(files["simulation.json"].rstrip("\n"))


def _shares_of(text: str) -> str | float | dict[str, float]:
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
    from syclade.host.data.input.textfile import excerpt, read_text
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


def _files(made: Simulation, rates: Rates, parameters: dict[str, float]) -> dict[str, str]:
    """Return the text of each of ``FILES``."""
    from syclade.host.data.input.matrix import format_matrix
    from syclade.host.data.model.copies import log_likelihood_of_states, states_of
    from syclade.host.data.model.likelihood import log_likelihood
    from syclade.host.data.trees.graphviz import to_graphviz
    from syclade.host.data.trees.newick import to_newick

    matrix, names = made.matrix, made.node_names
    if made.copies:
        states = states_of(made.parents, matrix.n_mutations, made.copies)
        of_tree = log_likelihood_of_states(matrix, rates, states)
    else:
        of_tree = log_likelihood(matrix, rates, made.parents)
    report = {
        **parameters,
        "version": syclade.__version__,
        "log_likelihood": of_tree,
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
