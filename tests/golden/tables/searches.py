"""Searches for the most likely mutation tree."""

from __future__ import annotations

from tests.golden.run import CPU, SYCL, search

SEARCHES = (
    search("search-one-mutation", "one", also=CPU, numpy=True),
    search("search-tiny", "tiny", also=SYCL, numpy=True),
    search("search-small", "small", also=SYCL),
    search("search-small-seed", "small", "--seed 18446744073709551615"),
    search("search-small-method", "small", "--method search --seed 2", also=CPU),
    search("search-other-rates", "small", rates="--fp-rate 0.1 --fn-rate 0.45"),
    search("search-low-rates", "small", rates="--fp-rate 1e-6 --fn-rate 0.05"),
    search("search-noisy", "noisy", "--seed 4", also=CPU),
    search("search-clean", "clean"),
    search("search-few-cells", "few-cells"),
    search("search-many-cells", "many-cells", "--seed 3"),
    search("search-63", "n63", also=CPU),
    search("search-64", "n64"),
    search("search-127", "n127", "--seed 5"),
    search("search-150", "n150"),
    search("search-example", "example"),
    search("search-gamma", "small", "--method search --gamma 2"),
    search(
        "search-true-tree", "clean", "--true-tree {clean}/true_tree.newick --names {clean}/matrix.geneNames"
    ),
    search("search-attach", "small", "--attach"),
    search("search-names", "small", "--attach --names {names}/mutations --cell-names {names}/cells"),
    search("search-co-optimal", "tiny", "--max-trees 1000", also=CPU, numpy=True),
    search("search-co-optimal-attached", "few-cells", "--max-trees 5 --attach"),
    search("search-twos", "twos", "--seed 2", also=CPU),
    search("search-merged-twos", "twos", "--merge-homozygous", rates="--fp-rate 0.01 --fn-rate 0.2"),
    search("search-many-twos", "many-twos", "--max-trees 20"),
    search("search-navin", "navin"),
    search("search-pat", "pat", "--max-trees 50", rounded=True),
    search("search-hou", "hou", "--max-trees 200 --attach"),
)
