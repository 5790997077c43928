"""Simulation of reads: of each mutation in each cell, how many reads there are and how many have it.

A cell has two alleles of a mutation, one of them mutated if it has the mutation; a doublet has four. Each is
lost before sequencing with the probability of allelic dropout. Where none is left there are no reads, as
where a value is missing; elsewhere their number is negative binomial. A read shows the other base with the
probability of a sequencing error, and the alternate reads are beta-binomial about their expected share. The
reads are also written as callers write them.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import Reads
from syclade.host.data.input.formats.grid import ReadOptions
from syclade.host.data.input.formats.reads import called
from syclade.host.data.model.rates import MISSING
from syclade.host.data.model.recurrence import states_of
from syclade.host.data.model.simulate import Simulation
from syclade.host.ground.atomic import Content
from syclade.host.ground.errors import OptionError
from syclade.host.ground.values import real, short_repr

__all__ = ["ReadModel", "SimulatedReads", "files_of_callers", "genotype_phred", "simulate_reads"]

_OF_READS = 2
"""Second number of the seed of reads: trees and cells are those of a simulation without reads."""

MOST_PHRED = 255
"""Phred numbers are cut off there, as callers do."""


@dataclass(frozen=True)
class ReadModel:
    """Parameters of the reads.

    Attributes:
        depth: mean number of reads of a mutation in a cell with all of its alleles, above 0.
        depth_shape: shape of the negative binomial distribution of this number, above 0: its variance is
            depth + depth² / shape.
        allelic_dropout: probability that an allele is lost, from 0 to below 1.
        allelic_dropout_range: ends of a range from which the dropout of each mutation is drawn, uniformly, in
            place of `allelic_dropout`; None for one rate.
        seq_error: probability that a read shows the other base, from 0 to below 0.5.
        overdispersion: correlation of the reads of an entry with alleles of both kinds, from 0 (binomial) to
            below 1.
        error_overdispersion: the same of an entry with alleles of one kind.
    """

    depth: float = 10.0
    depth_shape: float = 2.0
    allelic_dropout: float = 0.2
    allelic_dropout_range: tuple[float, float] | None = None
    seq_error: float = 0.01
    overdispersion: float = 0.1
    error_overdispersion: float = 0.01

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            OptionError: one is outside its limits.
        """
        given = self.allelic_dropout_range
        low, high = (self.allelic_dropout, self.allelic_dropout) if given is None else given
        for name, value, within, limits in (
            ("depth", self.depth, 0 < self.depth <= _MOST_DEPTH, f"above 0, at most {_MOST_DEPTH:g}"),
            ("depth_shape", self.depth_shape, 1e-3 <= self.depth_shape <= 1e6, "from 0.001 to 1000000"),
            ("allelic_dropout", low, 0 <= low < 1, "from 0 to below 1"),
            ("allelic_dropout", high, low <= high < 1, "from the lower end to below 1"),
            ("seq_error", self.seq_error, 0 <= self.seq_error < 0.5, "from 0 to below 0.5"),
            ("overdispersion", self.overdispersion, 0 <= self.overdispersion < 1, "from 0 to below 1"),
            (
                "error_overdispersion",
                self.error_overdispersion,
                0 <= self.error_overdispersion < 1,
                "from 0 to below 1",
            ),
        ):
            if not within:
                raise OptionError(f"{name} is {real(name, value):g}", hint=f"give a number {limits}")


_MOST_DEPTH = 1e6


@dataclass(frozen=True, eq=False)
class SimulatedReads:
    """A simulation with reads.

    Attributes:
        made: the simulation; its matrix has the reads as evidence, and calls from them.
        dropout: float64, shape (n,): probability of allelic dropout of each mutation.
        model: the parameters.
    """

    made: Simulation
    dropout: NDArray[np.float64]
    model: ReadModel

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def reads(self) -> Reads:
        """The reads."""
        assert isinstance(self.made.matrix.evidence, Reads)
        return self.made.matrix.evidence

    @property
    def cells(self) -> Sequence[str]:
        """Names of the cells."""
        return self.made.matrix.named_cells


def simulate_reads(made: Simulation, model: ReadModel, seed: int) -> SimulatedReads:
    """Return a simulation with reads in place of observed values; values that are missing have no reads.

    Args:
        made: the simulation.
        model: the parameters.
        seed: the seed; the generator is another than that of the simulation.
    """
    rng = np.random.Generator(np.random.PCG64([seed, _OF_READS]))
    n, shape = made.matrix.n_mutations, made.matrix.values.shape
    dropout = np.full(n, model.allelic_dropout)
    if model.allelic_dropout_range is not None:
        dropout = rng.uniform(*model.allelic_dropout_range, n)
    states = states_of(made.parents, n, made.copies)
    first, second = states[:, made.attachments], states[:, made.partners]
    alternate, reference = _alleles(first, dropout, rng)
    for kept, more in zip((alternate, reference), _alleles(second, dropout, rng), strict=True):
        kept += np.where(made.partners >= 0, more, 0)
    silent = np.zeros(shape, np.bool_)
    silent[list(made.unplaced)] = True
    alternate[silent] = 0
    total = rng.negative_binomial(
        model.depth_shape, model.depth_shape / (model.depth_shape + model.depth), shape
    )
    left = alternate + reference
    total[(left == 0) | (made.matrix.values == MISSING)] = 0
    share = alternate / np.maximum(left, 1)
    expected = share * (1.0 - model.seq_error) + (1.0 - share) * model.seq_error
    expected[silent] = 0.0
    correlation = np.where((share > 0) & (share < 1), model.overdispersion, model.error_overdispersion)
    spread = (expected > 0) & (expected < 1) & (correlation > 0)
    mass = 1.0 / np.where(spread, correlation, 0.5) - 1.0
    inner = np.where(spread, expected, 0.5)
    expected = np.where(spread, rng.beta(inner * mass, (1.0 - inner) * mass), expected)
    found = rng.binomial(total, expected)
    calls = called(
        found.astype(np.float64), total.astype(np.float64), ReadOptions(evidence="reads"), "simulated reads"
    )
    matrix = replace(made.matrix, values=np.ascontiguousarray(calls.values), evidence=calls.evidence)
    return SimulatedReads(replace(made, matrix=matrix), dropout, model)


def _alleles(
    mutated: NDArray[np.bool_], dropout: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many alternate and reference alleles of single cells are left."""
    left = (rng.random((2, *mutated.shape)) >= dropout[:, np.newaxis]).astype(np.int64)
    return np.where(mutated, left[0], 0), np.where(mutated, left[1], left[0] + left[1])


def genotype_phred(simulated: SimulatedReads) -> NDArray[np.int64]:
    """Return PL: phred-scaled likelihoods of no, one and two alternate alleles, given the true parameters.

    Returns:
        int64, shape (n, m, 3), the least is 0; at most MOST_PHRED.
    """
    model, reads = simulated.model, simulated.reads
    pairs, where = np.unique(
        np.stack((reads.alternate.ravel(), reads.total.ravel()), axis=1), axis=0, return_inverse=True
    )
    of_pairs = np.array(
        [
            [
                _log_beta_binomial(int(alternate), int(total), share, correlation)
                for share, correlation in (
                    (model.seq_error, model.error_overdispersion),
                    (0.5, model.overdispersion),
                    (1.0 - model.seq_error, model.error_overdispersion),
                )
            ]
            for alternate, total in pairs
        ]
    )
    wild, half, full = (of_pairs[where.ravel(), at].reshape(reads.total.shape) for at in range(3))
    one_lost = (simulated.dropout / (1.0 + simulated.dropout))[:, np.newaxis]  # given that one is left
    with np.errstate(divide="ignore"):
        both, lost = np.log(1.0 - 2.0 * one_lost), np.log(one_lost)
    single = np.logaddexp(both + half, lost + np.logaddexp(wild, full))
    phred = np.stack((wild, single, full), axis=2) * (-10.0 / math.log(10.0))
    phred -= phred.min(axis=2, keepdims=True)
    rounded: NDArray[np.int64] = np.rint(np.minimum(phred, MOST_PHRED)).astype(np.int64)
    return rounded


def _log_beta_binomial(alternate: int, total: int, share: float, overdispersion: float) -> float:
    """Return the log-probability of numbers of reads, without the binomial coefficient."""
    if overdispersion == 0 or not 0 < share < 1:
        logs = ((alternate, share), (total - alternate, 1.0 - share))
        return sum(
            count * math.log(part) if part > 0 else (0.0 if count == 0 else -math.inf) for count, part in logs
        )
    a, b = (part * (1.0 / overdispersion - 1.0) for part in (share, 1.0 - share))
    above = math.lgamma(alternate + a) + math.lgamma(total - alternate + b) - math.lgamma(total + a + b)
    return above - math.lgamma(a) - math.lgamma(b) + math.lgamma(a + b)


_CHROM, _REF, _ALT = "1", "A", "C"
"""Place and alleles of simulated mutations, whose positions are their numbers."""


def files_of_callers(simulated: SimulatedReads) -> dict[str, Content]:
    """Return the reads as callers write them, by file name: a VCF, a folder of cellsnp-lite, an AnnData.

    There is no AnnData without anndata.
    """
    return {
        "reads.vcf": _vcf_text(simulated),
        **_cellsnp_files(simulated),
        **_annotated_file(simulated),
    }


def _vcf_text(simulated: SimulatedReads) -> str:
    """Return the text of a VCF of reads: GT, the likeliest genotype, AD, DP and PL; names are IDs."""
    matrix, reads, phred = simulated.made.matrix, simulated.reads, genotype_phred(simulated)
    kinds = (("GT", "1", "String"), ("AD", "R", "Integer"), ("DP", "1", "Integer"), ("PL", "G", "Integer"))
    lines = ["##fileformat=VCFv4.3", "##source=syclade simulate", f"##contig=<ID={_CHROM}>"]
    lines += [f'##FORMAT=<ID={name},Number={n},Type={kind},Description="{name}">' for name, n, kind in kinds]
    lines.append(
        "\t".join(("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *simulated.cells))
    )
    genotypes = np.array(("0/0", "0/1", "1/1"))[phred.argmin(axis=2)]
    for row, name in enumerate(matrix.mutations):
        columns = (genotypes[row], reads.alternate[row], reads.total[row], phred[row])
        entries = []
        for genotype, alternate, total, three in zip(*(one.tolist() for one in columns), strict=True):
            text = genotype if total else "./."
            entries.append(f"{text}:{total - alternate},{alternate}:{total}:{','.join(map(str, three))}")
        site = (_CHROM, str(row + 1), name, _REF, _ALT, ".", "PASS", ".", "GT:AD:DP:PL")
        lines.append("\t".join((*site, *entries)))
    return "\n".join(lines) + "\n"


def _cellsnp_files(simulated: SimulatedReads) -> dict[str, Content]:
    """Return the files of a folder of cellsnp-lite, by name; the names of mutations are IDs."""
    reads, names = simulated.reads, simulated.made.matrix.mutations
    sites = [f"{_CHROM}\t{row}\t{name}\t{_REF}\t{_ALT}\t.\tPASS\t." for row, name in enumerate(names, 1)]
    header = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    return {
        "cellSNP.base.vcf": "\n".join((*header, *sites)) + "\n",
        "cellSNP.samples.tsv": "".join(f"{cell}\n" for cell in simulated.cells),
        "cellSNP.tag.AD.mtx": _matrix_market(reads.alternate),
        "cellSNP.tag.DP.mtx": _matrix_market(reads.total),
        "cellSNP.tag.OTH.mtx": _matrix_market(np.zeros_like(reads.total)),
    }


def _matrix_market(table: NDArray[np.int32]) -> str:
    """Return the text of a sparse table in the Matrix Market format."""
    rows, columns = np.nonzero(table)
    lines = ["%%MatrixMarket matrix coordinate integer general", "%"]
    lines.append(f"{table.shape[0]} {table.shape[1]} {rows.size}")
    entries = zip((rows + 1).tolist(), (columns + 1).tolist(), table[rows, columns].tolist(), strict=True)
    lines += [f"{row} {column} {value}" for row, column, value in entries]
    return "\n".join(lines) + "\n"


def _annotated_file(simulated: SimulatedReads) -> dict[str, Content]:
    """Return reads.h5ad, an AnnData of cells × mutations: calls, and layers AD and DP; needs anndata."""
    if importlib.util.find_spec("anndata") is None:
        return {}
    matrix, reads = simulated.made.matrix, simulated.reads

    def write(path: Path) -> None:
        import anndata
        import pandas

        anndata.AnnData(
            matrix.values.T.astype(np.float32),
            obs=pandas.DataFrame(index=list(simulated.cells)),
            var=pandas.DataFrame(index=list(matrix.mutations)),
            layers={"AD": reads.alternate.T.copy(), "DP": reads.total.T.copy()},
        ).write_h5ad(path)

    return {"reads.h5ad": write}
