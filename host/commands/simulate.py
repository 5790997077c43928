"""``syclade simulate``: write a matrix with a known tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from syclade.host.commands import options
from syclade.host.commands.simulated_files import (
    FILES,
    FILES_OF_SAMPLES,
    files_of_calls,
    files_of_reads,
    files_of_samples,
    read_model,
    shares_of,
    truth_likelihood,
)
from syclade.host.ground.errors import OptionError

__all__ = ["command"]

_SIZE = click.IntRange(1, 2**31 - 2)
"""Limits of host/data/model/simulate.py, which is slow to import."""

_COPIES = click.IntRange(0, 2**31 - 2)
"""The same for copies of mutations."""

_SIMULATED = ("missing", "doublets", "recurrent", "losses", "per_branch", "unplaced")
"""Options that `simulate` takes as they are."""

_OF_READS = (
    "depth", "depth_shape", "allelic_dropout", "allelic_dropout_range", "seq_error", "overdispersion",
    "error_overdispersion",
)  # fmt: skip
"""Options of the model of reads."""


@click.command("simulate")
@click.option(
    "--cells",
    type=_SIZE,
    metavar="M",
    help="Number of cells (columns). Needed without --samples.",
)
@click.option(
    "--mutations",
    type=_SIZE,
    required=True,
    metavar="N",
    help="Number of mutations (rows).",
)
@options.take("fp_rate", help=f"{options.GIVEN['fp_rate']} Needed without --reads.")
@options.take("fn_rate", help=f"{options.GIVEN['fn_rate']} Needed without --fn-range and --reads.")
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
    "--samples",
    "sizes",
    metavar="M,M,…",
    help="Numbers of cells of several samples (biopsies), such as 300,500, in place of --cells. Each has "
    "--shares of its own; DIR gets metadata.tsv and true_shares.tsv.",
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
@click.option("--reads", is_flag=True, help="Simulate numbers of reads, and calls from them.")
@click.option(
    "--depth",
    type=float,
    metavar="D",
    help="Mean number of reads of a mutation in a cell, where an allele is left (with --reads); 10 by "
    "default.",
)
@click.option(
    "--depth-shape",
    type=float,
    metavar="K",
    help="Shape of the negative binomial distribution of these numbers; 2 by default.",
)
@click.option(
    "--allelic-dropout",
    type=float,
    metavar="RATE",
    help="Probability that an allele of a cell is lost before sequencing (with --reads); 0.2 by default.",
)
@click.option(
    "--allelic-dropout-range",
    type=(float, float),
    metavar="LOW HIGH",
    help="Range from which the dropout of each mutation is drawn, in place of --allelic-dropout.",
)
@click.option(
    "--seq-error",
    type=float,
    metavar="RATE",
    help="Probability that a read shows the other base (with --reads); 0.01 by default.",
)
@click.option(
    "--overdispersion",
    type=float,
    metavar="RHO",
    help="Correlation of the reads of a mutation in a cell with both alleles: alternate ones are "
    "beta-binomial (with --reads); 0.1 by default.",
)
@click.option(
    "--error-overdispersion",
    type=float,
    metavar="RHO",
    help="The same where alleles of one kind are left; 0.01 by default.",
)
@options.take("seed")
@options.take("out", required=True)
@options.take("force", "json")
def command(
    cells: int | None,
    mutations: int,
    sizes: str | None,
    shares: str,
    fn_range: tuple[float, float] | None,
    reads: bool,
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
    format, true_tree.newick, true_tree.gv and simulation.json. With --reads, observations are numbers of
    reads (docs/formats.md), and matrix.csv has calls from them: DIR also gets alternate.tsv and total.tsv,
    reads.vcf, the files of cellsnp-lite and, with anndata, reads.h5ad. With --samples, cells are of several
    biopsies: metadata.tsv has that of each cell, and true_shares.tsv the expected shares of the nodes.
    """
    from syclade.host.data.model.simulate import simulate
    from syclade.host.ground.files import check_output, write_files

    simulated = {name: given.pop(name) for name in _SIMULATED}
    of_reads = {name: given.pop(name) for name in _OF_READS}
    model = read_model(reads, of_reads, fn_range, given)  # only rates of calls are left in `given`
    of_clones = shares_of(shares)
    samples = None if sizes is None else _sizes_of(sizes)
    cells = _cells_of(cells, samples)
    if fn_range is not None:
        if given["fn_rate"] is not None:
            raise OptionError("--fn-range and --fn-rate are both given", hint="leave one of them out")
        given["fn_rate"] = sum(fn_range) / 2.0
    made = simulate(
        cells, mutations, seed=seed, shares=of_clones, fn_range=fn_range, samples=samples,
        **simulated, **(_ANY_RATES if model is not None else given),
    )  # fmt: skip
    report = {
        "cells": cells,
        "mutations": mutations,
        **(asdict(model) if model is not None else options.rates_of(given).to_dict()),
        "missing": simulated["missing"],
        **{name: simulated[name] for name in ("doublets", "recurrent", "losses") if simulated[name]},
        **({"shares": of_clones} if shares != "equal" else {}),
        **({} if samples is None else {"samples": samples}),
        **({"per_branch": simulated["per_branch"]} if simulated["per_branch"] > 1 else {}),
        **({} if fn_range is None else {"fn_range": fn_range}),
        "seed": seed,
    }
    # The folder is looked at after all options are known to be right.
    check_output(out, FILES if samples is None else FILES + FILES_OF_SAMPLES, force)
    if model is not None:
        files = files_of_reads(made, model, seed, report)
    else:
        files = files_of_calls(made, report, truth_likelihood(made, options.rates_of(given)))
    files |= files_of_samples(made)
    write_files(out, files, force)
    if as_json:
        click.echo(str(files["simulation.json"]).rstrip("\n"))


def _sizes_of(text: str) -> list[int]:
    """Return the numbers of cells of samples.

    Raises:
        OptionError: they are not whole numbers with commas between.
    """
    try:
        return [int(size) for size in text.split(",")]
    except ValueError:
        raise OptionError(f"--samples is {text}", hint="give numbers of cells, such as 300,500") from None


def _cells_of(cells: int | None, samples: Sequence[int] | None) -> int:
    """Return the number of cells, which is given, or the sum of those of samples.

    Raises:
        OptionError: both are given, or neither.
    """
    if samples is None and cells is None:
        raise OptionError("no number of cells is given", hint="give --cells M, or --samples M,M")
    if samples is not None and cells is not None:
        raise OptionError("--cells and --samples are both given", hint="leave one of them out")
    return sum(samples) if cells is None and samples is not None else cells or 0


_ANY_RATES = {"fp_rate": 0.01, "fn_rate": 0.1}
"""Rates of calls that reads replace."""
