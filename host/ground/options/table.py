"""The table of options: a row for each option of `syclade infer`, in the order of its help.

Commands, checks, resumed runs, the command that repeats a run and docs/options.md follow from it.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from syclade.host.ground.options.defaults import DEFAULT_CHAINS, DEFAULT_SEED
from syclade.host.ground.options.types import (
    COUNT,
    FILE,
    FLAG,
    NAMES,
    NUMBER,
    OUTPUT,
    PAIR,
    PART,
    PERCENT,
    PROBABILITY,
    RATE,
    TEXT,
    TREE,
    WEIGHTS,
    AnyPath,
    Names,
    Option,
    number,
    one_of,
    whole,
)

__all__ = ["GROUPS", "Options"]

MOST_TREES = 10**6
"""Maximum number of co-optimal trees: all of them stay in memory."""

_MATRIX = "read_matrix"


# fmt: off
class Options(NamedTuple):
    """Options as values: by default, none is given.

    The annotation of each has its type in Python, and its row of the table. Values are as users give them
    until `checked` has checked them.
    """

    format: Annotated[str, Option(TEXT, of=_MATRIX, metavar="FORMAT", help=
        "Of MATRIX: scite, sc, tsv, csv, long, condor, sifit, sphyr, sasc, vcf, bcf, compass, scistree2, "
        "h5ad, tapestri, loom, cellsnp or mquad; auto detects it.")] = "auto"
    two: Annotated[str | None, Option(one_of("homozygous", "missing"), of=_MATRIX, help=
        "Meaning of 2.")] = None
    rows: Annotated[str | None, Option(one_of("cells", "mutations"), of=_MATRIX, help=
        "Meaning of rows (tsv, csv).")] = None
    min_depth: Annotated[int | None, Option(COUNT, of=_MATRIX, metavar="N", help=
        "Calls of fewer reads are missing (all formats with reads: docs/formats.md).")] = None
    min_vaf: Annotated[float | None, Option(PERCENT, of=_MATRIX, metavar="PERCENT", help=
        "Alternate reads that a mutation needs; with fewer, it is not observed (0). 10 by default where "
        "there are numbers of reads and no genotypes.")] = None
    min_gq: Annotated[int | None, Option(COUNT, of=_MATRIX, metavar="Q", help=
        "Calls of lower quality are missing (vcf, bcf, tapestri, loom).")] = None
    vaf_ref: Annotated[float | None, Option(PERCENT, of=_MATRIX, metavar="PERCENT", help=
        "Alternate reads that a wild type may have; with more, it is missing.")] = None
    vaf_het: Annotated[float | None, Option(PERCENT, of=_MATRIX, metavar="PERCENT", help=
        "Alternate reads that a heterozygous call needs; with fewer, it is missing (vcf, bcf, compass, "
        "tapestri, loom).")] = None
    vaf_hom: Annotated[float | None, Option(PERCENT, of=_MATRIX, metavar="PERCENT", help=
        "Alternate reads that a homozygous call needs; with fewer, it is missing. Where there are "
        "numbers of reads and no genotypes, those from which a mutation is homozygous (90 by "
        "default).")] = None
    total_reads: Annotated[object, Option(NAMES, of=_MATRIX, metavar="FILE", help=
        "Table of the numbers of all reads, if MATRIX has those of alternate reads (tsv, csv).")] = None
    ref_reads: Annotated[object, Option(NAMES, of=_MATRIX, metavar="FILE", help=
        "Table of the numbers of reference reads, if MATRIX has those of alternate reads (tsv, csv).")] = None
    columns: Annotated[str | None, Option(TEXT, of=_MATRIX, metavar="LIST", help=
        "Names or numbers of the columns of a long table, such as "
        "cell=barcode,mutation=chr+pos,alt=5,total=6; or ref for total (long).")] = None
    name_by: Annotated[str | None, Option(one_of("site", "id"), of=_MATRIX, help=
        "Names of mutations: CHROM:POS:REF/ALT, or the column ID where it has one, such as a gene (vcf, "
        "bcf, cellsnp).")] = None
    layer: Annotated[str | None, Option(TEXT, of=_MATRIX, metavar="NAME", help=
        "Layer of the calls, if they are not in X (h5ad).")] = None
    total_layer: Annotated[str | None, Option(TEXT, of=_MATRIX, metavar="NAME", help=
        "Layer of the numbers of all reads, if X or --layer has those of alternate reads (h5ad).")] = None
    coding: Annotated[str | None, Option(one_of("scite", "cyvcf2"), of=_MATRIX, help=
        "Coding of a layer: 2 homozygous and 3 missing, or 2 unknown and 3 homozygous (h5ad).")] = None
    filter: Annotated[str | None, Option(one_of("pass", "all"), of=_MATRIX, help=
        "Records to read: those whose FILTER is PASS or '.', or all, the default (vcf, bcf).")] = None

    drop_filtered: Annotated[bool, Option(FLAG, of=_MATRIX, help=
        "Leave out variants and cells that the pipeline marks as filtered (tapestri, loom).")] = False
    obs_mask: Annotated[str | None, Option(TEXT, of=_MATRIX, metavar="NAME", help=
        "Keep only cells for which this column of obs is true (h5ad).")] = None
    var_mask: Annotated[str | None, Option(TEXT, of=_MATRIX, metavar="NAME", help=
        "Keep only mutations for which this column of var is true (h5ad).")] = None
    max_missing_mutation: Annotated[float | None, Option(PART, of=_MATRIX, metavar="PART", help=
        "Leave out mutations that are missing in more than this part of the cells; then")] = None
    max_missing_cell: Annotated[float | None, Option(PART, of=_MATRIX, metavar="PART", help=
        "leave out cells in which more than this part of the other mutations is missing; then")] = None
    min_cells: Annotated[int | None, Option(COUNT, of=_MATRIX, metavar="N", help=
        "leave out mutations that are seen in fewer than N of the other cells.")] = None

    fp_rate: Annotated[float | None, Option(PROBABILITY, decides=True, help=
        "Probability of observing a mutation that is not there (SCITE's -fd). Without it, estimated from "
        "the matrix.")] = None
    fn_rate: Annotated[float | None, Option(PROBABILITY, decides=True, help=
        "Probability of not observing a mutation (SCITE's -ad). Without it, estimated from the "
        "matrix.")] = None
    fn_rate_hom: Annotated[float | None, Option(PROBABILITY, decides=True, metavar="RATE", help=
        "Probability of observing a mutation as homozygous (2), as SCITE's second -ad.")] = None
    hom_rate: Annotated[float | None, Option(PROBABILITY, decides=True, metavar="RATE", help=
        "Probability of observing a homozygous mutation that is not there (SCITE's -cc).")] = None
    merge_homozygous: Annotated[bool, Option(FLAG, decides=True, help="Treat 2 (homozygous) as 1.")] = False
    names: Annotated[Names, Option(NAMES, metavar="FILE", help=
        "Names of the mutations, one per line, blanks included. Default: those of the matrix, which for "
        "SCITE's format are in x.geneNames beside x.csv; else numbers from 1.")] = None
    cell_names: Annotated[Names, Option(NAMES, metavar="FILE", help=
        "Names of the cells, one per line. Default: those of the matrix, or in x.cellNames; else s0, "
        "s1, … as in SCITE.")] = None

    score: Annotated[str, Option(one_of("max", "sum", "shares"), decides=True, help=
        "Score of a tree: every cell at its best node (max), or at all nodes, each with its likelihood "
        "(sum, SCITE's -s), or with its likelihood and its share of the cells, which the chains of "
        "--steps sample, too (shares; docs/model.md).")] = "max"
    doublets: Annotated[float | str | None, Option(RATE, decides=True, metavar="RATE|learn", help=
        "Rate of doublets: with this probability, a cell is two of the tree's clones together "
        "(∞SCITE's -d). All nodes, and all pairs of nodes, count. learn: the rate is learned, with a "
        "uniform prior, by chains of --steps; without, it is estimated, as error rates are.")] = None
    recurrent: Annotated[str | int | None, Option(TEXT, decides=True, metavar="NAME|NUMBER|all", help=
        "Mutation that occurs twice (∞SCITE's -rec): in two branches, or gained and then lost. A name, "
        "or the number of a row from 1; all tests each one, in rounds, and DIR gets recurrences.tsv.")] = None
    method: Annotated[str, Option(one_of("auto", "search", "chain", "anneal"), decides=True, help=
        "Search for the most likely tree, run SCITE's chains, or search and then improve the trees by "
        "annealed chains (anneal). auto: chains if an option is given that only chains have, such as "
        "--chains, --steps, --samples, --image, --learn-fn or --score sum; else search, with --doublets "
        "or cell trees anneal.")] = "auto"
    tree: Annotated[str, Option(one_of("mutation", "leaf"), decides=True, help=
        "Trees of mutations; or binary trees whose leaves are the cells (leaf, SCITE's -transpose). "
        "Searches find trees of mutations, from which chains of cell trees start.")] = "mutation"
    start: Annotated[str, Option(one_of("random", "search"), decides=True, help=
        "Trees that chains start from: random ones, or those that searches find.")] = "random"
    chains: Annotated[int | None, Option(whole(1, 2**32 - 1), decides=True, help=
        f"Independent chains; {DEFAULT_CHAINS} by default.")] = None
    steps: Annotated[int | None, Option(whole(1, 2**62 - 1), decides=True, help=
        "Steps of each chain. By default, the chains run until half of them agree on the best score.")] = None
    seed: Annotated[int, Option(whole(0, 2**64 - 1), decides=True, metavar="INTEGER", help=
        "Seed of the random numbers; equal seeds give equal results.")] = DEFAULT_SEED
    gamma: Annotated[float, Option(number(1e-06, 1000000.0), decides=True, help=
        "Exponent of the likelihood; 1 is usual.")] = 1.0
    move_probabilities: Annotated[Sequence[float] | None, Option(WEIGHTS,
        decides=True, flag="--move-probs", metavar="P L S", help=
        "Weights of prune and reattach, swap labels, swap subtrees (default: 0.55 0.4 0.05); with --tree "
        "leaf, of prune and reattach, swap leaves, and 0 (default: 0.4 0.6 0).")] = None

    samples: Annotated[int | None, Option(whole(1, 2**62 - 1), decides=True, metavar="K", help=
        "Sample each chain's tree every K steps (with --steps); DIR gets tree.samples (SCITE's format), "
        "posterior.tsv and posterior.gv, and of mutation trees consensus.newick, clones.tsv, "
        "relations.tsv and cells.tsv.")] = None
    netcdf: Annotated[bool, Option(FLAG, of="", help=
        "Write the samples to DIR as samples.nc, too, for ArviZ and xarray.")] = False
    support: Annotated[str | None, Option(one_of("quick", "full", "none"), help=
        "Sample trees after the search, for the probability of each edge, clade and attachment: for a "
        "few seconds (quick), or until there are enough samples (full). By default quick where a search "
        "finds mutation trees, else none; DIR gets support.tsv and support.nhx.")] = None
    dropout: Annotated[str, Option(one_of("auto", "shared", "per-mutation"), help=
        "Rates of false negatives of the trees for support: one for all mutations (shared), or one for "
        "each (per-mutation; DIR gets dropout.tsv). auto: one for each if the data show a difference. "
        "Tests of --recurrent all follow.")] = "auto"
    burn_in: Annotated[float, Option(number(0, 1, open_high=True), decides=True, help=
        "Part of a chain's steps before its first sample.")] = 0.25

    learn_fn: Annotated[float | None, Option(PROBABILITY, decides=True, metavar="P", help=
        "Learn the rate of false negatives: a step changes it, and not the tree, with probability P, "
        "such as 0.2 (with --steps). --fn-rate is then the mean of a Beta prior.")] = None
    fn_sd: Annotated[float | None, Option(NUMBER, decides=True, metavar="SD", help=
        "The prior's standard deviation; 0.1 by default (SCITE's -sd).")] = None
    fn_step: Annotated[float | None, Option(NUMBER, decides=True, metavar="SD", help=
        "Standard deviation of a change; a tenth of the prior's by default.")] = None
    learn_fp: Annotated[float | None, Option(PROBABILITY, decides=True, metavar="P", help=
        "The same for the rate of false positives.")] = None
    fp_sd: Annotated[float | None, Option(NUMBER, decides=True, metavar="SD", help=
        "Its prior's standard deviation; --fp-rate itself by default.")] = None
    fp_step: Annotated[float | None, Option(NUMBER, decides=True, metavar="SD", help=
        "Standard deviation of a change; a tenth of the prior's by default.")] = None
    unmutated_counts: Annotated[tuple[int, int] | None, Option(PAIR, decides=True, metavar="Z0 Z1", help=
        "Observations of 0 and of 1 at positions without mutations that were left out of the matrix "
        "(∞SCITE's -z): with --learn-fp, they add to the prior what they say of that rate.")] = None
    learn_doublets: Annotated[float | None, Option(PROBABILITY, decides=True, metavar="P", help=
        "The same for the rate of doublets, whose --doublets is then the mean of a Beta prior; with "
        "--doublets learn, the probability of a change, 0.1 by default.")] = None
    doublets_sd: Annotated[float | None, Option(NUMBER, decides=True, metavar="SD", help=
        "Its prior's standard deviation; 0.1 by default.")] = None
    doublets_step: Annotated[float | None, Option(NUMBER, decides=True, metavar="SD", help=
        "Standard deviation of a change; a tenth of the prior's by default.")] = None

    device: Annotated[str, Option(TEXT, metavar="auto|cpu|native|fpga-emu|fpga|numpy|FILTER", help=
        "Where to run; FILTER as 'syclade devices' lists it. Several with commas between, such as "
        "cpu,fpga-emu, share the work.")] = "auto"
    scheduler: Annotated[str | None, Option(TEXT, of="", metavar="local:N|tcp://…|slurm[:…]", help=
        "Share the work among workers of dask: N processes of this machine, those of a scheduler at an "
        "address, or jobs of SLURM, such as slurm:jobs=20,cores=4,memory=8GB,walltime=4:00:00 "
        "(docs/cluster.md).")] = None
    threads: Annotated[int | None, Option(whole(1, 2**31 - 1), of="", metavar="N", help=
        "Maximum number of cores; by default all that this process may use (also: SYCLADE_THREADS).")] = None
    encoding: Annotated[str, Option(
        one_of("auto", "preorder", "ancestor", "clade", "sums", "parities", "plain"), help=
        "How trees are stored in the device's memory; changes the speed only.")] = "auto"
    image: Annotated[AnyPath | None, Option(FILE, metavar="FILE", help=
        "Precompiled kernel for the device, as 'syclade export --with-image' makes it.")] = None
    slots: Annotated[int | None, Option(whole(1, 2**31 - 1), help=
        "Chain states on the device at once; chosen for the device by default.")] = None
    stages: Annotated[str, Option(one_of("fused", "separate"), help=
        "How the stages of a chain step run: in one kernel, or as five kernels that the host keeps full "
        "of chain states (to check an FPGA design; slow). Changes the speed only.")] = "fused"
    trace: Annotated[AnyPath | None, Option(OUTPUT, metavar="FILE", help=
        "Write the timeline of the first 1000 steps of --stages separate, in Chrome's trace format.")] = None

    checkpoint: Annotated[AnyPath | None, Option(OUTPUT, metavar="FILE", help=
        "Write checkpoints to FILE, from which --resume FILE continues the run.")] = None
    checkpoint_every: Annotated[float, Option(number(0), metavar="SECONDS", help=
        "Time between checkpoints of chains; searches write one after every phase.")] = 60.0
    resume: Annotated[AnyPath | None, Option(FILE, metavar="FILE", help=
        "Resume the run in FILE, to the result that it would have had; give its options again.")] = None

    attach: Annotated[bool, Option(FLAG, help=
        "Include the cells in the trees, each attached to its best node.")] = False
    max_trees: Annotated[int | None, Option(whole(1, MOST_TREES), metavar="K", help=
        "Look for all trees that are as likely as the best, up to K; DIR gets tree_0.newick, tree_0.gv, "
        "…, co_optimal.tsv and co_optimal.gv.")] = None
    true_tree: Annotated[object, Option(TREE, metavar="FILE", help=
        "Compare the tree with this one (Newick or GraphViz).")] = None
    report: Annotated[bool, Option(FLAG, of="", help=
        "Write report.html to DIR: a page to read, print and send.")] = False
    multiqc: Annotated[bool, Option(FLAG, of="", help=
        "Write syclade_mqc.json to DIR, a table for MultiQC.")] = False
    out: Annotated[AnyPath | None, Option(FILE, of="", metavar="DIR", help=
        "Directory for the files; created if necessary.")] = None
    force: Annotated[bool, Option(FLAG, help=
        "Replace existing files in the directory; infer also removes the others of its earlier "
        "result.")] = False
    json: Annotated[bool, Option(FLAG, of="", help="Print JSON.")] = False
    quiet: Annotated[bool, Option(FLAG, of="", help="Print only the log-likelihood, and warnings.")] = False
    verbose: Annotated[bool, Option(FLAG, of="", help="Log details of kernels and devices, too.")] = False
# fmt: on


_TITLES = {
    "format": "Format of the matrix",
    "drop_filtered": "Mutations and cells to leave out",
    "fp_rate": "Error rates and names",
    "score": "Method",
    "samples": "Posterior samples",
    "learn_fn": "Learned rates",
    "device": "Device",
    "checkpoint": "Checkpoints",
    "attach": "Results",
}
"""Titles of the groups of options, by the first option of each."""


def _groups() -> dict[str, tuple[Option, ...]]:
    """Return the rows of the table by the titles of their groups, with names and defaults."""
    groups: dict[str, list[Option]] = {}
    title = ""
    for name, annotation in Options.__annotations__.items():
        title = _TITLES.get(name, title)
        (option,) = annotation.__metadata__
        option = option._replace(name=name, default=Options._field_defaults[name])
        groups.setdefault(title, []).append(option)
    return {title: tuple(options) for title, options in groups.items()}


GROUPS = _groups()
"""Options by group; the order within groups is that of the help."""
