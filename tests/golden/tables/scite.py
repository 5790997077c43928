"""The command `syclade scite`."""

from __future__ import annotations

from tests.golden.run import CPU, scite

SCITE = (
    scite("scite-small", "small", "12x20", "-r 3 -l 1200 -seed 4", also=("native",), own_kernel=True),
    scite("scite-attached", "small", "12x20", "-r 2 -l 1200 -a -names {names}/mutations", own_kernel=True),
    scite("scite-one-tree", "tiny", "6x9", "-r 2 -l 1200 -a -max_treelist_size 1", own_kernel=True),
    scite("scite-no-trees", "small", "12x20", "-r 2 -l 1000 -no_tree_list", own_kernel=True),
    scite("scite-all-trees", "few-cells", "24x5", "-r 2 -l 1200 -max_treelist_size 12", own_kernel=True),
    scite(
        "scite-true-tree",
        "clean",
        "20x30",
        "-r 2 -l 1500 -t {clean}/true_tree.gv -names {clean}/matrix.geneNames",
        rates="-fd 0.001 -ad 0.05",
        own_kernel=True,
    ),
    scite("scite-moves", "small", "12x20", "-r 2 -l 1200 -g 2 -move_probs 0.3 0.3 0.4", own_kernel=True),
    scite("scite-samples", "small", "12x20", "-r 2 -l 1200 -p 25", own_kernel=True),
    scite("scite-every-sample", "tiny", "6x9", "-r 1 -l 800 -p", own_kernel=True),
    scite("scite-sum", "small", "12x20", "-r 2 -l 1200 -s", rounded=True, own_kernel=True),
    scite("scite-sum-samples", "small", "12x20", "-r 2 -l 1200 -s -p 20", rounded=True, own_kernel=True),
    scite("scite-learned", "small", "12x20", "-r 2 -l 1200 -e 0.2", rounded=True, own_kernel=True),
    scite(
        "scite-learned-samples",
        "small",
        "12x20",
        "-r 2 -l 1200 -e 0.3 -sd 0.05 -x 5 -p 30",
        rounded=True,
        own_kernel=True,
    ),
    scite(
        "scite-twos",
        "twos",
        "11x24",
        "-r 2 -l 1200 -a",
        rates="-fd 0.005 -ad 0.15 0.1 -cc 0.002",
        own_kernel=True,
    ),
    scite("scite-transpose", "small", "12x20", "-r 2 -l 2000 -transpose", also=CPU),
    scite(
        "scite-transpose-twos",
        "twos",
        "11x24",
        "-r 2 -l 2000 -transpose -g 2 -move_probs 0.3 0.7",
        rates="-fd 0.005 -ad 0.15 0.1 -cc 0.002",
    ),
    scite(
        "scite-hou",
        "hou",
        "18x58",
        "-r 1 -l 1000 -a -max_treelist_size 3",
        rates="-fd 6.04e-5 -ad 0.21545 0.21545 -cc 1.299164e-5",
        own_kernel=True,
    ),
)
