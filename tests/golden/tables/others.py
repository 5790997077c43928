"""Other commands, and other inputs and outputs of `infer`."""

from __future__ import annotations

from tests.golden.run import Run

USUAL = "--fp-rate 0.01 --fn-rate 0.2 --quiet --device {device} --out out"
TWOS = "--fp-rate 0.005 --fn-rate 0.15"
HOMOZYGOUS = f"{TWOS} --fn-rate-hom 0.1 --hom-rate 0.01"
SMALL = "score {matrix:small} --names {small}/matrix.geneNames"
SMALL_TREE = f"{SMALL} {{small}}/true_tree.newick --fp-rate 0.01 --fn-rate 0.2"
TWOS_TREE = "score {matrix:twos} --names {twos}/matrix.geneNames {twos}/true_tree.newick"

OTHERS = (
    Run(
        "infer-json",
        ("infer {matrix:small} --fp-rate 0.01 --fn-rate 0.2 --json --device {device}",),
        never=("numpy",),
        rounded=True,
    ),
    Run("infer-standard-input", (f"infer - {USUAL} --support none",), given="small", never=("numpy",)),
    Run(
        "infer-table",
        (f"infer {{forms}}/table.csv --format csv --rows cells {USUAL} --attach --support none",),
        never=("numpy",),
    ),
    Run("score", (SMALL_TREE,)),
    Run("score-json", (f"{SMALL_TREE} --json",)),
    Run("score-sum", (f"{SMALL_TREE} --score sum --json",), rounded=True),
    Run("score-shares", (f"{SMALL_TREE} --score shares --json",), rounded=True),
    Run("score-graphviz", (f"{SMALL} {{small}}/true_tree.gv --fp-rate 0.3 --fn-rate 0.1",)),
    Run(
        "score-twos",
        (f"{TWOS_TREE} --json {HOMOZYGOUS}",),
    ),
    Run("score-merged-twos", (f"{TWOS_TREE} --merge-homozygous {TWOS}",)),
    Run(
        "score-leaf",
        (
            f"infer {{matrix:tiny}} --tree leaf --chains 2 --steps 100 {USUAL}",
            "score {matrix:tiny} out/tree.newick --tree leaf --fp-rate 0.02 --fn-rate 0.1",
        ),
    ),
    Run(
        "compare",
        (
            f"infer {{matrix:clean}} --chains 1 --steps 300 {USUAL}",
            "compare out/tree.gv {clean}/true_tree.newick --names {clean}/matrix.geneNames",
        ),
    ),
    Run(
        "compare-json",
        (
            f"infer {{matrix:small}} --chains 1 --steps 200 {USUAL}",
            "compare out/tree.newick {small}/true_tree.newick --names {small}/matrix.geneNames --json",
        ),
    ),
    Run(
        "simulate",
        ("simulate --mutations 15 --cells 22 --fp-rate 0.02 --fn-rate 0.3 --missing 0.2 --out out --json",),
    ),
    Run(
        "simulate-twos",
        (f"simulate --mutations 9 --cells 12 {HOMOZYGOUS} --out out",),
    ),
    Run(
        "simulate-copies",
        (
            "simulate --mutations 12 --cells 15 --fp-rate 0.02 --fn-rate 0.3 --doublets 0.3 --recurrent 2 "
            "--losses 1 --out out",
        ),
    ),
    Run("convert-to-sc", ("convert {matrix:small} --to sc --out out",)),
    Run("convert-sc", ("convert {forms}/matrix.SC --out out",)),
    Run("convert-table", ("convert {forms}/table.tsv --format tsv --rows mutations --out out",)),
    Run("convert-condor", ("convert {forms}/condor.csv --out out",)),
    Run("convert-sasc", ("convert {forms}/sasc.txt --format sasc --out out",)),
    Run("convert-vcf", ("convert {forms}/calls.vcf.gz --out out",)),
    Run("convert-compass", ("convert {forms}/compass.csv --to sc --out out",)),
    Run("convert-scistree", ("convert {forms}/scistree.txt --out out",)),
    Run("convert-h5ad", ("convert {forms}/data.h5ad --out out",)),
    Run("convert-tapestri", ("convert {forms}/tapestri.h5 --min-depth 1 --out out",)),
    Run("convert-twos", ("convert {matrix:twos} --two homozygous --to sc --out out --json",)),
)
