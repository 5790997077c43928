"""The table of options: a row for each option of `syclade infer`, in the order of its help.

Commands, checks, resumed runs, the command that repeats a run and docs/options.md follow from it.
"""

from __future__ import annotations

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
    Option,
    number,
    one_of,
    whole,
)  # fmt: skip

__all__ = ["GROUPS"]

MOST_TREES = 10**6
"""Maximum number of co-optimal trees: all of them stay in memory."""

_MATRIX = "read_matrix"

# fmt: off
GROUPS = {
    "Format of the matrix": (
        Option("format", TEXT, "auto", of=_MATRIX, metavar="FORMAT", help=
            "Of MATRIX: scite, sc, tsv, csv, long, condor, sifit, sphyr, sasc, vcf, bcf, compass, scistree2, "
            "h5ad, tapestri, loom, cellsnp or mquad; auto detects it."),
        Option("two", one_of("homozygous", "missing"), None, of=_MATRIX, help="Meaning of 2."),
        Option("rows", one_of("cells", "mutations"), None, of=_MATRIX, help="Meaning of rows (tsv, csv)."),
        Option("min_depth", COUNT, None, of=_MATRIX, metavar="N", help=
            "Calls of fewer reads are missing (all formats with reads: docs/formats.md)."),
        Option("min_vaf", PERCENT, None, of=_MATRIX, metavar="PERCENT", help=
            "Alternate reads that a mutation needs; with fewer, it is not observed (0). 10 by default where "
            "there are numbers of reads and no genotypes."),
        Option("min_gq", COUNT, None, of=_MATRIX, metavar="Q", help=
            "Calls of lower quality are missing (vcf, bcf, tapestri, loom)."),
        Option("vaf_ref", PERCENT, None, of=_MATRIX, metavar="PERCENT", help=
            "Alternate reads that a wild type may have; with more, it is missing."),
        Option("vaf_het", PERCENT, None, of=_MATRIX, metavar="PERCENT", help=
            "Alternate reads that a heterozygous call needs; with fewer, it is missing (vcf, bcf, compass, "
            "tapestri, loom)."),
        Option("vaf_hom", PERCENT, None, of=_MATRIX, metavar="PERCENT", help=
            "Alternate reads that a homozygous call needs; with fewer, it is missing. Where there are "
            "numbers of reads and no genotypes, those from which a mutation is homozygous (90 by default)."),
        Option("total_reads", NAMES, None, of=_MATRIX, metavar="FILE", help=
            "Table of the numbers of all reads, if MATRIX has those of alternate reads (tsv, csv)."),
        Option("ref_reads", NAMES, None, of=_MATRIX, metavar="FILE", help=
            "Table of the numbers of reference reads, if MATRIX has those of alternate reads (tsv, csv)."),
        Option("columns", TEXT, None, of=_MATRIX, metavar="LIST", help=
            "Names or numbers of the columns of a long table, such as "
            "cell=barcode,mutation=chr+pos,alt=5,total=6; or ref for total (long)."),
        Option("name_by", one_of("site", "id"), None, of=_MATRIX, help=
            "Names of mutations: CHROM:POS:REF/ALT, or the column ID where it has one, such as a gene (vcf, "
            "bcf, cellsnp)."),
        Option("layer", TEXT, None, of=_MATRIX, metavar="NAME", help=
            "Layer of the calls, if they are not in X (h5ad)."),
        Option("total_layer", TEXT, None, of=_MATRIX, metavar="NAME", help=
            "Layer of the numbers of all reads, if X or --layer has those of alternate reads (h5ad)."),
        Option("coding", one_of("scite", "cyvcf2"), None, of=_MATRIX, help=
            "Coding of a layer: 2 homozygous and 3 missing, or 2 unknown and 3 homozygous (h5ad)."),
        Option("filter", one_of("pass", "all"), None, of=_MATRIX, help=
            "Records to read: those whose FILTER is PASS or '.', or all, the default (vcf, bcf)."),
    ),
    "Mutations and cells to leave out": (
        Option("drop_filtered", FLAG, False, of=_MATRIX, help=
            "Leave out variants and cells that the pipeline marks as filtered (tapestri, loom)."),
        Option("obs_mask", TEXT, None, of=_MATRIX, metavar="NAME", help=
            "Keep only cells for which this column of obs is true (h5ad)."),
        Option("var_mask", TEXT, None, of=_MATRIX, metavar="NAME", help=
            "Keep only mutations for which this column of var is true (h5ad)."),
        Option("max_missing_mutation", PART, None, of=_MATRIX, metavar="PART", help=
            "Leave out mutations that are missing in more than this part of the cells; then"),
        Option("max_missing_cell", PART, None, of=_MATRIX, metavar="PART", help=
            "leave out cells in which more than this part of the other mutations is missing; then"),
        Option("min_cells", COUNT, None, of=_MATRIX, metavar="N", help=
            "leave out mutations that are seen in fewer than N of the other cells."),
    ),
    "Error rates and names": (
        Option("fp_rate", PROBABILITY, None, decides=True, help=
            "Probability of observing a mutation that is not there (SCITE's -fd). Without it, estimated from "
            "the matrix."),
        Option("fn_rate", PROBABILITY, None, decides=True, help=
            "Probability of not observing a mutation (SCITE's -ad). Without it, estimated from the matrix."),
        Option("fn_rate_hom", PROBABILITY, None, decides=True, metavar="RATE", help=
            "Probability of observing a mutation as homozygous (2), as SCITE's second -ad."),
        Option("hom_rate", PROBABILITY, None, decides=True, metavar="RATE", help=
            "Probability of observing a homozygous mutation that is not there (SCITE's -cc)."),
        Option("merge_homozygous", FLAG, False, decides=True, help="Treat 2 (homozygous) as 1."),
        Option("names", NAMES, None, metavar="FILE", help=
            "Names of the mutations, one per line, blanks included. Default: those of the matrix, which for "
            "SCITE's format are in x.geneNames beside x.csv; else numbers from 1."),
        Option("cell_names", NAMES, None, metavar="FILE", help=
            "Names of the cells, one per line. Default: those of the matrix, or in x.cellNames; else s0, "
            "s1, … as in SCITE."),
    ),
    "Method": (
        Option("score", one_of("max", "sum", "shares"), "max", decides=True, help=
            "Score of a tree: every cell at its best node (max), or at all nodes, each with its likelihood "
            "(sum, SCITE's -s), or with its likelihood and its share of the cells, which the chains of "
            "--steps sample, too (shares; docs/model.md)."),
        Option("doublets", RATE, None, decides=True, metavar="RATE|learn", help=
            "Rate of doublets: with this probability, a cell is two of the tree's clones together "
            "(∞SCITE's -d). All nodes, and all pairs of nodes, count. learn: the rate is learned, with a "
            "uniform prior, by chains of --steps; without, it is estimated, as error rates are."),
        Option("recurrent", TEXT, None, decides=True, metavar="NAME|NUMBER|all", help=
            "Mutation that occurs twice (∞SCITE's -rec): in two branches, or gained and then lost. A name, "
            "or the number of a row from 1; all tests each one, in rounds, and DIR gets recurrences.tsv."),
        Option("method", one_of("auto", "search", "chain", "anneal"), "auto", decides=True, help=
            "Search for the most likely tree, run SCITE's chains, or search and then improve the trees by "
            "annealed chains (anneal). auto: chains if an option is given that only chains have, such as "
            "--chains, --steps, --samples, --image, --learn-fn or --score sum; else search, with --doublets "
            "or cell trees anneal."),
        Option("tree", one_of("mutation", "leaf"), "mutation", decides=True, help=
            "Trees of mutations; or binary trees whose leaves are the cells (leaf, SCITE's -transpose). "
            "Searches find trees of mutations, from which chains of cell trees start."),
        Option("start", one_of("random", "search"), "random", decides=True, help=
            "Trees that chains start from: random ones, or those that searches find."),
        Option("chains", whole(1, 2**32 - 1), None, decides=True, help=
            f"Independent chains; {DEFAULT_CHAINS} by default."),
        Option("steps", whole(1, 2**62 - 1), None, decides=True, help=
            "Steps of each chain. By default, the chains run until half of them agree on the best score."),
        Option("seed", whole(0, 2**64 - 1), DEFAULT_SEED, decides=True, metavar="INTEGER", help=
            "Seed of the random numbers; equal seeds give equal results."),
        Option("gamma", number(1e-6, 1e6), 1.0, decides=True, help="Exponent of the likelihood; 1 is usual."),
        Option("move_probabilities", WEIGHTS, None,
            decides=True, flag="--move-probs", metavar="P L S", help=
            "Weights of prune and reattach, swap labels, swap subtrees (default: 0.55 0.4 0.05); with --tree "
            "leaf, of prune and reattach, swap leaves, and 0 (default: 0.4 0.6 0)."),
    ),
    "Posterior samples": (
        Option("samples", whole(1, 2**62 - 1), None, decides=True, metavar="K", help=
            "Sample each chain's tree every K steps (with --steps); DIR gets tree.samples (SCITE's format), "
            "posterior.tsv and posterior.gv, and of mutation trees consensus.newick, clones.tsv, "
            "relations.tsv and cells.tsv."),
        Option("netcdf", FLAG, False, of="", help=
            "Write the samples to DIR as samples.nc, too, for ArviZ and xarray."),
        Option("support", one_of("quick", "full", "none"), None, help=
            "Sample trees after the search, for the probability of each edge, clade and attachment: for a "
            "few seconds (quick), or until there are enough samples (full). By default quick where a search "
            "finds mutation trees, else none; DIR gets support.tsv and support.nhx."),
        Option("dropout", one_of("auto", "shared", "per-mutation"), "auto", help=
            "Rates of false negatives of the trees for support: one for all mutations (shared), or one for "
            "each (per-mutation; DIR gets dropout.tsv). auto: one for each if the data show a difference. "
            "Tests of --recurrent all follow."),
        Option("burn_in", number(0, 1, open_high=True), 0.25, decides=True, help=
            "Part of a chain's steps before its first sample."),
    ),
    "Learned rates": (
        Option("learn_fn", PROBABILITY, None, decides=True, metavar="P", help=
            "Learn the rate of false negatives: a step changes it, and not the tree, with probability P, "
            "such as 0.2 (with --steps). --fn-rate is then the mean of a Beta prior."),
        Option("fn_sd", NUMBER, None, decides=True, metavar="SD", help=
            "The prior's standard deviation; 0.1 by default (SCITE's -sd)."),
        Option("fn_step", NUMBER, None, decides=True, metavar="SD", help=
            "Standard deviation of a change; a tenth of the prior's by default."),
        Option("learn_fp", PROBABILITY, None, decides=True, metavar="P", help=
            "The same for the rate of false positives."),
        Option("fp_sd", NUMBER, None, decides=True, metavar="SD", help=
            "Its prior's standard deviation; --fp-rate itself by default."),
        Option("fp_step", NUMBER, None, decides=True, metavar="SD", help=
            "Standard deviation of a change; a tenth of the prior's by default."),
        Option("unmutated_counts", PAIR, None, decides=True, metavar="Z0 Z1", help=
            "Observations of 0 and of 1 at positions without mutations that were left out of the matrix "
            "(∞SCITE's -z): with --learn-fp, they add to the prior what they say of that rate."),
        Option("learn_doublets", PROBABILITY, None, decides=True, metavar="P", help=
            "The same for the rate of doublets, whose --doublets is then the mean of a Beta prior; with "
            "--doublets learn, the probability of a change, 0.1 by default."),
        Option("doublets_sd", NUMBER, None, decides=True, metavar="SD", help=
            "Its prior's standard deviation; 0.1 by default."),
        Option("doublets_step", NUMBER, None, decides=True, metavar="SD", help=
            "Standard deviation of a change; a tenth of the prior's by default."),
    ),
    "Device": (
        Option("device", TEXT, "auto", metavar="auto|cpu|native|fpga-emu|fpga|numpy|FILTER", help=
            "Where to run; FILTER as 'syclade devices' lists it. Several with commas between, such as "
            "cpu,fpga-emu, share the work."),
        Option("scheduler", TEXT, None, of="", metavar="local:N|tcp://…|slurm[:…]", help=
            "Share the work among workers of dask: N processes of this machine, those of a scheduler at an "
            "address, or jobs of SLURM, such as slurm:jobs=20,cores=4,memory=8GB,walltime=4:00:00 "
            "(docs/cluster.md)."),
        Option("threads", whole(1, 2**31 - 1), None, of="", metavar="N", help=
            "Maximum number of cores; by default all that this process may use (also: SYCLADE_THREADS)."),
        Option("encoding",
            one_of("auto", "preorder", "ancestor", "clade", "sums", "parities", "plain"), "auto", help=
            "How trees are stored in the device's memory; changes the speed only."),
        Option("image", FILE, None, metavar="FILE", help=
            "Precompiled kernel for the device, as 'syclade export --with-image' makes it."),
        Option("slots", whole(1, 2**31 - 1), None, help=
            "Chain states on the device at once; chosen for the device by default."),
        Option("stages", one_of("fused", "separate"), "fused", help=
            "How the stages of a chain step run: in one kernel, or as five kernels that the host keeps full "
            "of chain states (to check an FPGA design; slow). Changes the speed only."),
        Option("trace", OUTPUT, None, metavar="FILE", help=
            "Write the timeline of the first 1000 steps of --stages separate, in Chrome's trace format."),
    ),
    "Checkpoints": (
        Option("checkpoint", OUTPUT, None, metavar="FILE", help=
            "Write checkpoints to FILE, from which --resume FILE continues the run."),
        Option("checkpoint_every", number(0), 60.0, metavar="SECONDS", help=
            "Time between checkpoints of chains; searches write one after every phase."),
        Option("resume", FILE, None, metavar="FILE", help=
            "Resume the run in FILE, to the result that it would have had; give its options again."),
    ),
    "Results": (
        Option("attach", FLAG, False, help="Include the cells in the trees, each attached to its best node."),
        Option("max_trees", whole(1, MOST_TREES), None, metavar="K", help=
            "Look for all trees that are as likely as the best, up to K; DIR gets tree_0.newick, tree_0.gv, "
            "…, co_optimal.tsv and co_optimal.gv."),
        Option("true_tree", TREE, None, metavar="FILE", help=
            "Compare the tree with this one (Newick or GraphViz)."),
        Option("report", FLAG, False, of="", help=
            "Write report.html to DIR: a page to read, print and send."),
        Option("multiqc", FLAG, False, of="", help="Write syclade_mqc.json to DIR, a table for MultiQC."),
        Option("out", FILE, None, of="", metavar="DIR", help=
            "Directory for the files; created if necessary."),
        Option("force", FLAG, False, help=
            "Replace existing files in the directory; infer also removes the others of its earlier result."),
        Option("json", FLAG, False, of="", help="Print JSON."),
        Option("quiet", FLAG, False, of="", help="Print only the log-likelihood, and warnings."),
        Option("verbose", FLAG, False, of="", help="Log details of kernels and devices, too."),
    ),
}
# fmt: on
"""Options by group; the order within groups is that of the help."""
