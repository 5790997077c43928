"""Arguments of the search kernels, in order."""

from syclade.kernels.arguments import PROBLEM, SCRATCH, SETTING, STATE, Argument

PARAMETERS = ("mutations", "columns", "cells", "genes", "nodes", "joints", "seed")
"""Sizes of the problem, and the seed.

The sizes are the numbers of mutations and of distinct columns; the widths of rows over columns and over
mutations; the numbers of nodes of the mutation tree and of the cell tree, with padding.
"""

LOG_SIZE = 257

_TREE: tuple[str | int, ...] = ("slots", "nodes")
_JOINTS: tuple[str | int, ...] = ("slots", "joints")

CELL_ROWS = 6
"""Spare rows over columns per slot (used in attachment.py, exact_move.py, subtree_move.py)."""

GENE_ROWS = 2
"""Spare rows over mutations per slot."""

ARGUMENTS = (
    Argument("parameters", PROBLEM, "int64", (len(PARAMETERS),), ", ".join(PARAMETERS)),
    Argument("log_table", PROBLEM, "int64", (LOG_SIZE,), "ln(1 + j/256), in units of 2^-16"),
    Argument(
        "weights", PROBLEM, "int32", ("mutations", "cells"), "what a mutation adds to a column below it"
    ),
    Argument("columns", PROBLEM, "int32", ("columns", "genes"), "the same, a row a column"),
    Argument("falling", PROBLEM, "int32", ("mutations",), "mutations, those seen in most cells first"),
    Argument("fullest", PROBLEM, "int32", ("columns",), "columns, those with most mutations first"),
    Argument("search", SETTING, "int64", ("slots",), "number of the search in the slot"),
    Argument("stage", SETTING, "int64", ("slots",), "what to do: stages.py; 0: nothing"),
    Argument("repeats", SETTING, "int64", ("slots",), "most sweeps; one that changes nothing is the last"),
    Argument("noise", SETTING, "int64", ("slots",), "1/gamma in units of score, times 16; 0: the best place"),
    Argument("sweep", STATE, "int64", ("slots",), "sweeps done"),
    Argument("score", STATE, "int64", ("slots",), "score of the tree"),
    Argument("best_score", STATE, "int64", ("slots",), "the best score yet"),
    Argument("parent", STATE, "int32", _TREE, "parent of each node"),
    Argument("best_parent", STATE, "int32", _TREE, "parents in the best tree yet"),
    Argument("first_child", SCRATCH, "int32", _TREE, "first child; -1: none"),
    Argument("next_sibling", SCRATCH, "int32", _TREE, "next sibling; -1: none"),
    Argument("order", SCRATCH, "int32", _TREE, "the node at each position of the preorder"),
    Argument("position", SCRATCH, "int32", _TREE, "position of each node"),
    Argument("size", SCRATCH, "int32", _TREE, "nodes of each node's subtree"),
    Argument("kid", SCRATCH, "int32", _TREE, "1: was a child of the node that moves"),
    Argument("taken", SCRATCH, "int32", _TREE, "1: is to be a child of the node that moves"),
    Argument("gain", SCRATCH, "int64", _TREE, "of a node: the moving mutation's weights below it"),
    Argument("hope", SCRATCH, "int64", _TREE, "of a node: what the mutation would add below it"),
    Argument("turn", SCRATCH, "int32", ("slots", "turns"), "the order of a sweep"),
    Argument("luck", SCRATCH, "int64", ("slots", "luck"), "the noise of each place"),
    Argument("scores", SCRATCH, "int32", ("slots", "nodes", "cells"), "of attachments, a row a node"),
    Argument("maxima", SCRATCH, "int32", ("slots", "nodes", "cells"), "the best attachment below each node"),
    Argument(
        "outside", SCRATCH, "int32", ("slots", "nodes", "cells"), "the best that is not below each node"
    ),
    Argument("cell_rows", SCRATCH, "int32", ("slots", CELL_ROWS, "cells"), "spare"),
    Argument("left", SCRATCH, "int32", _JOINTS, "of the cell tree: one child; -1: a leaf"),
    Argument("right", SCRATCH, "int32", _JOINTS, "the other child"),
    Argument("above", SCRATCH, "int32", _JOINTS, "the parent; -1: none"),
    Argument("chain", SCRATCH, "int32", _JOINTS, "mutations on each edge, and the last of them"),
    Argument(
        "sums", SCRATCH, "int32", ("slots", "joints", "genes"), "of weights of the cells below each edge"
    ),
    Argument("tops", SCRATCH, "int32", ("slots", "joints", "genes"), "the best sum at or below each edge"),
    Argument(
        "path_sums", SCRATCH, "int32", ("slots", "joints", "genes"), "the best sum on the path, by depth"
    ),
    Argument(
        "path_tops", SCRATCH, "int32", ("slots", "joints", "genes"), "the best beside the path, by depth"
    ),
    Argument("gene_rows", SCRATCH, "int32", ("slots", GENE_ROWS, "genes"), "spare"),
)
