"""Reads and likelihoods in place of calls, and cells of several specimens."""

from __future__ import annotations

from tests.golden.run import Run

READS = "infer {reads} --evidence reads --quiet --device {device} --out out"
GIVEN = "--seq-error 0.01 --error-overdispersion 0.001 --allelic-dropout 0.2 --overdispersion 0.02"
LIKELIHOODS = "infer {forms}/scistree.txt --evidence likelihoods --quiet --device {device} --out out"
SPECIMENS = (
    "infer {specimens}/matrix.csv --metadata {specimens}/metadata.tsv --fp-rate 0.01 --fn-rate 0.2 --quiet "
    "--device {device} --out out"
)

EVIDENCE = (
    Run("reads", (f"{READS} {GIVEN} --support none",), also=("cpu",), never=("numpy",), rounded=True),
    Run("reads-estimated", (f"{READS} --support none --attach",), never=("numpy",), rounded=True),
    Run(
        "reads-chains",
        (f"{READS} {GIVEN} --chains 2 --steps 400 --samples 20 --score shares",),
        also=("cpu",),
        rounded=True,
    ),
    Run(
        "reads-of-vcf",
        (f"{READS} {GIVEN} --support none".replace("{reads}", "{reads}/reads.vcf"),),
        never=("numpy",),
    ),
    Run("likelihoods", (f"{LIKELIHOODS} --support none",), never=("numpy",), rounded=True),
    Run("likelihoods-floor", (f"{LIKELIHOODS} --support none --floor 0.05",), never=("numpy",), rounded=True),
    Run(
        "score-reads",
        (f"score {{reads}} {{reads}}/true_tree.newick --evidence reads {GIVEN} --json",),
        rounded=True,
    ),
    Run("convert-reads", ("convert {reads}/reads.vcf --evidence reads --out out",)),
    Run(
        "convert-likelihoods",
        ("convert {forms}/scistree.txt --evidence likelihoods --out out",),
        rounded=True,
    ),
    Run(
        "specimens",
        (f"{SPECIMENS} --chains 2 --steps 400 --samples 20 --score shares",),
        never=("numpy",),
        rounded=True,
    ),
)
"""Evidence, and specimens by `--metadata`."""
