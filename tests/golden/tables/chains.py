"""Chains of mutation trees: steps or the stopping rule, moves, encodings, samples."""

from __future__ import annotations

from tests.golden.run import ALL, CPU, SYCL, infer

CHAINS = (
    infer("chain-one-mutation", "one", "--chains 3 --steps 200", also=ALL),
    infer("chain-tiny", "tiny", "--chains 3 --steps 500", also=ALL),
    infer("chain-small", "small", "--chains 4 --steps 2000", also=ALL),
    infer("chain-one", "small", "--chains 1 --steps 3001 --seed 9", also=CPU),
    infer("chain-sixteen", "small", "--steps 700 --seed 3"),
    infer("chain-gamma", "small", "--chains 3 --steps 1500 --gamma 2.5", also=SYCL),
    infer("chain-small-gamma", "noisy", "--chains 3 --steps 1500 --gamma 0.1"),
    infer("chain-moves", "small", "--chains 3 --steps 1500 --move-probs 0.2 0.3 0.5", also=SYCL),
    infer("chain-one-move", "small", "--chains 2 --steps 1500 --move-probs 1 0 0"),
    infer("chain-swaps", "clean", "--chains 2 --steps 1500 --move-probs 0 3 1"),
    infer("chain-slots", "small", "--chains 7 --steps 1500 --slots 2", also=CPU),
    infer(
        "chain-preorder",
        "clean",
        "--chains 3 --steps 2000 --encoding preorder",
        also=SYCL,
        never=("numpy",),
    ),
    infer("chain-ancestor", "clean", "--chains 3 --steps 1200 --encoding ancestor", own_kernel=True),
    infer("chain-63", "n63", "--chains 3 --steps 3000", also=CPU),
    infer("chain-64", "n64", "--chains 3 --steps 3000", also=CPU),
    infer("chain-127", "n127", "--chains 2 --steps 4000", never=("numpy",)),
    infer("chain-150", "n150", "--chains 2 --steps 4000", also=CPU, never=("numpy",)),
    infer("chain-many-cells", "many-cells", "--chains 2 --steps 2000"),
    infer("chain-few-cells", "few-cells", "--chains 2 --steps 2000"),
    infer("chain-rule", "small", "--method chain --chains 4", never=("numpy",)),
    infer("chain-rule-noisy", "noisy", "--method chain --seed 6", also=CPU, never=("numpy",)),
    infer("chain-twos", "twos", "--chains 3 --steps 2000", also=ALL),
    infer(
        "chain-merged-twos",
        "twos",
        "--chains 2 --steps 2000 --merge-homozygous",
        rates="--fp-rate 0.01 --fn-rate 0.2",
    ),
    infer("chain-many-twos", "many-twos", "--chains 2 --steps 3000 --attach", also=CPU),
    infer(
        "chain-from-searches", "small", "--chains 4 --steps 1000 --start search", also=CPU, never=("numpy",)
    ),
    infer(
        "chain-names",
        "small",
        "--chains 2 --steps 900 --attach --names {names}/mutations --cell-names {names}/cells",
    ),
    infer(
        "chain-true-tree",
        "small",
        "--chains 2 --steps 900 --true-tree {small}/true_tree.newick --names {small}/matrix.geneNames",
    ),
    infer("chain-co-optimal", "tiny", "--chains 3 --steps 900 --max-trees 30"),
    infer("chain-example", "example", "--chains 4 --steps 5000"),
    infer("chain-navin", "navin", "--chains 2 --steps 5000", also=CPU),
    infer("chain-hou", "hou", "--chains 2 --steps 5000", also=CPU),
)

SAMPLES = (
    infer("samples-small", "small", "--chains 3 --steps 4000 --samples 20", also=ALL),
    infer("samples-burn-in", "small", "--chains 2 --steps 3000 --samples 7 --burn-in 0.6", also=CPU),
    infer("samples-no-burn-in", "tiny", "--chains 2 --steps 1000 --samples 1 --burn-in 0", also=CPU),
    infer("samples-slots", "noisy", "--chains 5 --steps 2000 --samples 10 --slots 2"),
    infer("samples-63", "n63", "--chains 2 --steps 3000 --samples 50", also=CPU),
    infer("samples-64", "n64", "--chains 2 --steps 3000 --samples 50"),
    infer("samples-names", "small", "--chains 2 --steps 2000 --samples 20 --names {names}/mutations"),
    infer("samples-twos", "twos", "--chains 2 --steps 3000 --samples 25", also=CPU),
    infer(
        "samples-from-searches",
        "small",
        "--chains 2 --steps 1500 --samples 25 --start search",
        never=("numpy",),
    ),
)
