"""The table of options: a row for each option of `syclade infer`, in the order of its help.

Commands, checks, resumed runs, the command that repeats a run and docs/options.md follow from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from syclade.host.ground.options.types import (
    COUNT,
    DEFAULT_CHAINS,
    DEFAULT_SEED,
    FILE,
    FLAG,
    LABELS,
    LIST,
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
    Values,
    number,
    one_of,
    option,
    whole,
)

__all__ = ["GROUPS", "Options"]

MOST_TREES = 10**6
"""Maximum number of co-optimal trees: all of them stay in memory."""

_MATRIX = "read_matrix"


# fmt: off
class Options(Values):
    """Options of an inference; values are as users give them until `checked` has checked them."""

    format: str = option(TEXT, of=_MATRIX, metavar="FORMAT", default="auto", help=
        "Of MATRIX: scite, sc, tsv, csv, long, condor, sifit, sphyr, sasc, vcf, bcf, compass, scistree2, "
        "h5ad, tapestri, loom, cellsnp, mquad or folder; auto detects it.")
    two: str | None = option(one_of("homozygous", "missing"), of=_MATRIX, default=None, help=
        "Meaning of 2.")
    rows: str | None = option(one_of("cells", "mutations"), of=_MATRIX, default=None, help=
        "Meaning of rows (tsv, csv).")
    evidence: str = option(one_of("calls", "likelihoods", "reads"), of=_MATRIX, default="calls", help=
        "What of MATRIX is used: its calls; the likelihoods of a caller, or its numbers of reads, in their "
        "place (docs/formats.md has the formats).")
    min_depth: int | None = option(COUNT, of=_MATRIX, metavar="N", default=None, help=
        "Calls of fewer reads are missing (all formats with reads: docs/formats.md).")
    min_vaf: float | None = option(PERCENT, of=_MATRIX, metavar="PERCENT", default=None, help=
        "Alternate reads that a mutation needs; with fewer, it is not observed (0). 10 by default where "
        "there are numbers of reads and no genotypes.")
    min_gq: int | None = option(COUNT, of=_MATRIX, metavar="Q", default=None, help=
        "Calls of lower quality are missing (vcf, bcf, tapestri, loom).")
    vaf_ref: float | None = option(PERCENT, of=_MATRIX, metavar="PERCENT", default=None, help=
        "Alternate reads that a wild type may have; with more, it is missing.")
    vaf_het: float | None = option(PERCENT, of=_MATRIX, metavar="PERCENT", default=None, help=
        "Alternate reads that a heterozygous call needs; with fewer, it is missing (vcf, bcf, compass, "
        "tapestri, loom).")
    vaf_hom: float | None = option(PERCENT, of=_MATRIX, metavar="PERCENT", default=None, help=
        "Alternate reads that a homozygous call needs; with fewer, it is missing. Where there are "
        "numbers of reads and no genotypes, those from which a mutation is homozygous (90 by "
        "default).")
    total_reads: object = option(NAMES, of=_MATRIX, metavar="FILE", default=None, help=
        "Table of the numbers of all reads, if MATRIX has those of alternate reads (tsv, csv).")
    ref_reads: object = option(NAMES, of=_MATRIX, metavar="FILE", default=None, help=
        "Table of the numbers of reference reads, if MATRIX has those of alternate reads (tsv, csv).")
    absent: object = option(NAMES, of=_MATRIX, metavar="FILE", default=None, help=
        "Table of likelihoods without the mutation, if MATRIX has those with it (tsv, csv; with --evidence "
        "likelihoods and --coding).")
    columns: str | None = option(TEXT, of=_MATRIX, metavar="LIST", default=None, help=
        "Names or numbers of the columns of a long table, such as "
        "cell=barcode,mutation=chr+pos,alt=5,total=6; or ref for total (long).")
    name_by: str | None = option(one_of("site", "id"), of=_MATRIX, default=None, help=
        "Names of mutations: CHROM:POS:REF/ALT, or the column ID where it has one, such as a gene (vcf, "
        "bcf, cellsnp).")
    layer: str | None = option(TEXT, of=_MATRIX, metavar="NAME", default=None, help=
        "Layer of the calls, if they are not in X (h5ad).")
    total_layer: str | None = option(TEXT, of=_MATRIX, metavar="NAME", default=None, help=
        "Layer of the numbers of all reads, if X or --layer has those of alternate reads (h5ad).")
    absent_layer: str | None = option(TEXT, of=_MATRIX, metavar="NAME", default=None, help=
        "Layer of the likelihoods without the mutation, if X or --layer has those with it (h5ad).")
    coding: str | None = option(one_of("scite", "cyvcf2", "probability", "log"), of=_MATRIX, default=None,
        help=
        "Coding of a layer: 2 homozygous and 3 missing (scite), or 2 unknown and 3 homozygous (cyvcf2) "
        "(h5ad). With --evidence likelihoods, numbers are probabilities of the mutation, or log odds; with "
        "--absent or --absent-layer, likelihoods, or their logarithms (tsv, csv, h5ad).")
    filter: str | None = option(one_of("pass", "all"), of=_MATRIX, default=None, help=
        "Records to read: those whose FILTER is PASS or '.', or all, the default (vcf, bcf).")

    drop_filtered: bool = option(FLAG, of=_MATRIX, default=False, help=
        "Leave out variants and cells that the pipeline marks as filtered (tapestri, loom).")
    obs_mask: str | None = option(TEXT, of=_MATRIX, metavar="NAME", default=None, help=
        "Keep only cells for which this column of obs is true (h5ad).")
    var_mask: str | None = option(TEXT, of=_MATRIX, metavar="NAME", default=None, help=
        "Keep only mutations for which this column of var is true (h5ad).")
    exclude_mutations: Names = option(LIST, of=_MATRIX, metavar="NAMES|@FILE", default=None, help=
        "Leave out these mutations, such as germline variants or artefacts: names or genes with commas "
        "between (a name with a comma in double quotes), or FILE with one name per line. The matrix need not "
        "have those behind 'if-present:'.")
    max_missing_mutation: float | None = option(PART, of=_MATRIX, metavar="PART", default=None, help=
        "Leave out mutations that are missing in more than this part of the cells; then")
    max_missing_cell: float | None = option(PART, of=_MATRIX, metavar="PART", default=None, help=
        "leave out cells in which more than this part of the other mutations is missing; then")
    min_cells: int | None = option(COUNT, of=_MATRIX, metavar="N", default=None, help=
        "leave out mutations that are seen in fewer than N of the other cells.")

    fp_rate: float | None = option(PROBABILITY, decides=True, default=None, help=
        "Probability of observing a mutation that is not there (SCITE's -fd). Without it, estimated from "
        "the matrix.")
    fn_rate: float | None = option(PROBABILITY, decides=True, default=None, help=
        "Probability of not observing a mutation (SCITE's -ad). Without it, estimated from the "
        "matrix.")
    floor: float = option(number(1e-300, 0.5, open_high=True), decides=True, metavar="P", default=1e-4, help=
        "With --evidence likelihoods or reads: least probability of an entry to be mutated, and not to be. "
        "Evidence that is surer counts as this sure.")
    seq_error: float | None = option(PROBABILITY, decides=True, default=None, help=
        "With --evidence reads: part of alternate reads of alleles without the mutation. Without it, "
        "estimated from the matrix, as the next three.")
    allelic_dropout: float | None = option(PROBABILITY, decides=True, default=None, help=
        "Probability that an allele of an entry is not sequenced. --dropout per-mutation estimates one for "
        "each mutation.")
    overdispersion: float | None = option(PROBABILITY, decides=True, default=None, help=
        "Correlation of the reads of an entry with both alleles.")
    error_overdispersion: float | None = option(PROBABILITY, decides=True, default=None, help=
        "Correlation of the reads of an entry with one of the alleles.")
    fn_rate_hom: float | None = option(PROBABILITY, decides=True, metavar="RATE", default=None, help=
        "Probability of observing a mutation as homozygous (2), as SCITE's second -ad.")
    hom_rate: float | None = option(PROBABILITY, decides=True, metavar="RATE", default=None, help=
        "Probability of observing a homozygous mutation that is not there (SCITE's -cc).")
    merge_homozygous: bool = option(FLAG, decides=True, default=False, help=
        "Treat 2 (homozygous) as 1. Without rates of homozygous observations, this is done for all sources "
        "but SCITE's format and arrays, where a 2 may be another value.")
    names: Names = option(NAMES, metavar="FILE", default=None, help=
        "Names of the mutations, one per line, blanks included. Default: those of the matrix, which for "
        "SCITE's format are in x.geneNames beside x.csv; else numbers from 1.")
    cell_names: Names = option(NAMES, metavar="FILE", default=None, help=
        "Names of the cells, one per line. Default: those of the matrix, or in x.cellNames; else s0, "
        "s1, … as in SCITE.")

    metadata: object = option(LABELS, metavar="FILE", default=None, help=
        "Labels of the cells: a table with a header, whose first column, or one named cell or barcode, has "
        "the cells (tabs or commas). DIR gets clones_by_sample.tsv, and cells.tsv the labels. Default: the "
        "column sample of the matrix, if it has one (h5ad, tapestri).")
    sample_column: str | None = option(TEXT, metavar="NAME", default=None, help=
        "Column of the labels with the specimens (biopsies) that the cells are from. Default: sample, else "
        "the only one of FILE.")
    time_column: str | None = option(TEXT, metavar="NAME", default=None, help=
        "Column of the labels with the time point of each specimen: numbers, or words in the order of FILE.")

    score: str = option(one_of("max", "sum", "shares"), decides=True, default="max", help=
        "Score of a tree: every cell at its best node (max), or at all nodes, each with its likelihood "
        "(sum, SCITE's -s), or with its likelihood and its share of the cells, which the chains of "
        "--steps sample, too (shares; docs/model.md).")
    doublets: float | str | None = option(RATE, decides=True, metavar="RATE|learn", default=None, help=
        "Rate of doublets: with this probability, a cell is two of the tree's clones together "
        "(∞SCITE's -d). All nodes, and all pairs of nodes, count. learn: the rate is learned, with a "
        "uniform prior, by chains of --steps; without, it is estimated, as error rates are.")
    recurrent: str | int | None = option(TEXT, decides=True, metavar="NAME|NUMBER|all", default=None, help=
        "Mutation that occurs twice (∞SCITE's -rec): in two branches, or gained and then lost. A name, "
        "or the number of a row from 1. For infer also all: each one is tested, in rounds, and DIR gets "
        "recurrences.tsv.")
    method: str = option(one_of("auto", "search", "chain", "anneal"), decides=True, default="auto", help=
        "Search for the most likely tree, run SCITE's chains, or search and then improve the trees by "
        "annealed chains (anneal). auto: chains if an option is given that only chains have, such as "
        "--chains, --steps, --samples, --image, --learn-fn or --score sum; else search, with --doublets "
        "anneal, with cell trees both if the search is not enough.")
    tree: str = option(one_of("mutation", "leaf"), decides=True, default="mutation", help=
        "Trees of mutations; or binary trees whose leaves are the cells (leaf, SCITE's -transpose). "
        "Searches find trees of mutations, which are drawn as cell trees; chains go on from these "
        "where needed.")
    start: str = option(one_of("random", "search"), decides=True, default="random", help=
        "Trees that chains start from: random ones, or those that searches find.")
    chains: int | None = option(whole(1, 2**32 - 1), decides=True, default=None, help=
        f"Independent chains; {DEFAULT_CHAINS} by default.")
    steps: int | None = option(whole(1, 2**62 - 1), decides=True, default=None, help=
        "Steps of each chain. By default, the chains run until half of them agree on the best score.")
    seed: int = option(whole(0, 2**64 - 1), decides=True, metavar="INTEGER", default=DEFAULT_SEED, help=
        "Seed of the random numbers; equal seeds give equal results.")
    gamma: float = option(number(1e-06, 1000000.0), decides=True, default=1.0, help=
        "Exponent of the likelihood; 1 is usual.")
    move_probabilities: Sequence[float] | None = option(WEIGHTS,
        decides=True, flag="--move-probs", metavar="P L S", default=None, help=
        "Weights of prune and reattach, swap labels, swap subtrees (default: 0.55 0.4 0.05), in steps of "
        "1/65536 of their sum; with --tree "
        "leaf, of prune and reattach, swap leaves, and 0 (default: 0.4 0.6 0).")

    samples: int | None = option(whole(1, 2**62 - 1), decides=True, metavar="K", default=None, help=
        "Sample each chain's tree every K steps (with --steps); DIR gets tree.samples (SCITE's format), "
        "posterior.tsv and posterior.gv, and of mutation trees consensus.newick, clones.tsv, "
        "relations.tsv and cells.tsv.")
    netcdf: bool = option(FLAG, of="", default=False, help=
        "Write the samples to DIR as samples.nc, too, for ArviZ and xarray.")
    support: str | None = option(one_of("quick", "full", "none"), default=None, help=
        "Sample trees after the search, for the probability of each edge, clade and attachment: seconds, or "
        "minutes for large or difficult matrices (quick), or until there are enough samples (full). By "
        "default quick where a search finds mutation trees, else none; DIR gets support.tsv and support.nhx.")
    dropout: str = option(one_of("auto", "shared", "per-mutation"), default="auto", help=
        "Rates of false negatives of the trees for support: one for all mutations (shared), or one for "
        "each (per-mutation; DIR gets dropout.tsv). auto: one for each if the data show a difference. "
        "Tests of --recurrent all follow.")
    burn_in: float = option(number(0, 1, open_high=True), decides=True, default=0.25, help=
        "Part of a chain's steps before its first sample.")

    learn_fn: float | None = option(PROBABILITY, decides=True, metavar="P", default=None, help=
        "Learn the rate of false negatives: a step changes it, and not the tree, with probability P, "
        "such as 0.2 (with --steps). --fn-rate is then the mean of a Beta prior.")
    fn_sd: float | None = option(NUMBER, decides=True, metavar="SD", default=None, help=
        "The prior's standard deviation; 0.1 by default (SCITE's -sd).")
    fn_step: float | None = option(NUMBER, decides=True, metavar="SD", default=None, help=
        "Standard deviation of a change; a tenth of the prior's by default.")
    learn_fp: float | None = option(PROBABILITY, decides=True, metavar="P", default=None, help=
        "The same for the rate of false positives.")
    fp_sd: float | None = option(NUMBER, decides=True, metavar="SD", default=None, help=
        "Its prior's standard deviation; --fp-rate itself by default.")
    fp_step: float | None = option(NUMBER, decides=True, metavar="SD", default=None, help=
        "Standard deviation of a change; a tenth of the prior's by default.")
    unmutated_counts: tuple[int, int] | None = option(PAIR, decides=True, metavar="Z0 Z1", default=None, help=
        "Observations of 0 and of 1 at positions without mutations that were left out of the matrix "
        "(∞SCITE's -z): with --learn-fp, they add to the prior what they say of that rate.")
    learn_doublets: float | None = option(PROBABILITY, decides=True, metavar="P", default=None, help=
        "The same for the rate of doublets, whose --doublets is then the mean of a Beta prior; with "
        "--doublets learn, the probability of a change, 0.1 by default.")
    doublets_sd: float | None = option(NUMBER, decides=True, metavar="SD", default=None, help=
        "Its prior's standard deviation; 0.1 by default.")
    doublets_step: float | None = option(NUMBER, decides=True, metavar="SD", default=None, help=
        "Standard deviation of a change; a tenth of the prior's by default.")

    device: str = option(TEXT, metavar="auto|cpu|cuda|native|fpga-emu|numpy|FILTER", default="auto", help=
        "Where to run; FILTER as 'syclade devices' lists it. Several with commas between, such as "
        "cpu,fpga-emu, share the work.")
    scheduler: str | None = option(TEXT, of="", metavar="local:N|tcp://…|slurm[:…]", default=None, help=
        "Share the work among workers of dask: N processes of this machine, those of a scheduler at an "
        "address, or jobs of SLURM, such as slurm:jobs=20,cores=4,memory=8GB,walltime=4:00:00 "
        "(docs/cluster.md).")
    threads: int | None = option(whole(1, 2**31 - 1), of="", metavar="N", default=None, help=
        "Maximum number of cores; by default all that this process may use (also: SYCLADE_THREADS).")
    encoding: str = option(
        one_of("auto", "preorder", "ancestor", "clade", "sums", "parities", "plain"), default="auto", help=
        "How trees are stored in the device's memory; changes the speed only.")
    image: AnyPath | None = option(FILE, metavar="FILE", default=None, help=
        "Precompiled kernel for the device, as 'syclade export --with-image' makes it.")
    slots: int | None = option(whole(1, 2**31 - 1), default=None, help=
        "Chain states on the device at once; chosen for the device by default.")
    stages: str = option(one_of("fused", "separate", "overlapping"), default="fused", help=
        "How the stages of a chain step run: one after another in one kernel, or, to check an FPGA design, "
        "as a pipeline full of chain states: five kernels, or one kernel whose work-groups do different "
        "stages at the same time. Changes the speed only.")
    trace: AnyPath | None = option(OUTPUT, metavar="FILE", default=None, help=
        "Write the timeline of the first 1000 steps of --stages separate or overlapping, in Chrome's trace "
        "format.")

    checkpoint: AnyPath | None = option(OUTPUT, metavar="FILE", default=None, help=
        "Write checkpoints to FILE, from which --resume FILE continues the run.")
    checkpoint_every: float = option(number(0), metavar="SECONDS", default=60.0, help=
        "Time between checkpoints of chains; searches write one after every phase.")
    resume: AnyPath | None = option(FILE, metavar="FILE", default=None, help=
        "Resume the run in FILE, to the result that it would have had; give its options again.")

    attach: bool = option(FLAG, default=False, help=
        "Include the cells in the trees, each attached to its best node.")
    genotypes: bool = option(FLAG, default=False, help=
        "Write the mutations of each cell: genotypes.tsv, genotypes.CFMatrix (scphylo-tools), those of "
        "clones, and genotype_probabilities.tsv over the sampled trees.")
    anndata: bool = option(FLAG, of="", default=False, help=
        "Write result.h5ad to DIR: an AnnData with matrix, clones and their probabilities, and genotypes.")
    max_trees: int | None = option(whole(1, MOST_TREES), metavar="K", default=None, help=
        "Look for all trees that are as likely as the best, up to K; DIR gets tree_0.newick, tree_0.gv, "
        "…, co_optimal.tsv and co_optimal.gv.")
    true_tree: object = option(TREE, metavar="FILE", default=None, help=
        "Compare the tree with this one (Newick or GraphViz).")
    report: bool = option(FLAG, of="", default=False, help=
        "Write report.html to DIR: a page to read, print and send.")
    title: str | None = option(TEXT, of="", metavar="TEXT", default=None, help=
        "Title of the report, such as the name of a patient.")
    highlight: str | None = option(TEXT, of="", metavar="NAMES", default=None, help=
        "Names of mutations or genes, with commas between, that the report names first, and whose order it "
        "gives with probabilities. A name with a comma is in double quotes.")
    multiqc: bool = option(FLAG, of="", default=False, help=
        "Write syclade_mqc.json to DIR, a table for MultiQC.")
    out: AnyPath | None = option(FILE, of="", letter="o", metavar="DIR", default=None, help=
        "Directory for the files; created if necessary.")
    force: bool = option(FLAG, default=False, help=
        "Replace existing files in the directory; infer also removes the others of its earlier "
        "result.")
    json: bool = option(FLAG, of="", default=False, help="Print JSON.")
    quiet: bool = option(FLAG, of="", default=False, help="Print only the log-likelihood, and warnings.")
    verbose: bool = option(FLAG, of="", letter="v", default=False, help=
        "Log details of kernels and devices, too.")
# fmt: on


_TITLES = {
    "format": "Format of the matrix",
    "drop_filtered": "Mutations and cells to leave out",
    "fp_rate": "Error rates and names",
    "metadata": "Labels of cells",
    "score": "Method",
    "samples": "Posterior samples",
    "learn_fn": "Learned rates",
    "device": "Device",
    "checkpoint": "Checkpoints",
    "attach": "Results",
}
"""Titles of the groups of options, by the first option of each."""


def _groups() -> dict[str, tuple[Option, ...]]:
    """Return the rows of the table by the titles of their groups."""
    groups: dict[str, list[Option]] = {}
    title = ""
    for name, row in Options.table.items():
        title = _TITLES.get(name, title)
        groups.setdefault(title, []).append(row)
    return {title: tuple(rows) for title, rows in groups.items()}


GROUPS = _groups()
"""Options by group; the order within groups is that of the help."""
