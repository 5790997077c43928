"""Arguments of the batched stages. Arrays with the size `teams` are each team's own."""

from syclade.kernels.arguments import SCRATCH, Argument
from syclade.kernels.search.arguments import ARGUMENTS

BATCH = 16
"""Most decisions that are prepared at once; a multiple of four."""

WARPS = 16
"""Most warps of a team."""

BUFFERS = 3
"""Buffers of sums: one in use, one that slower teams may still read, and one that is cleared."""

NUMBERS = 8
"""Numbers of a team: see team.py."""

_NODES: tuple[str | int, ...] = ("slots", "teams", "nodes")
_JOINTS: tuple[str | int, ...] = ("slots", "teams", "joints")
_ROWS: tuple[str | int, ...] = ("slots", "nodes", "cells")
_GENE_ROWS: tuple[str | int, ...] = ("slots", "joints", "genes")

BATCHED_ARGUMENTS = (
    *(one for one in ARGUMENTS if one.role != SCRATCH),
    Argument("arrivals", SCRATCH, "int32", ("slots", 32), "counter at which teams meet"),
    Argument("gains", SCRATCH, "int32", ("slots", BUFFERS, "places"), "sums over all columns, by place"),
    Argument("luck", SCRATCH, "int64", ("slots", BUFFERS, "lucks"), "the noise of each place"),
    Argument("turn_scores", SCRATCH, "int32", ("slots", "turns"), "the score after each turn"),
    Argument("packed", SCRATCH, "int64", ("slots", "widest"), "best number and where it is, by column"),
    Argument("holder", SCRATCH, "int32", ("slots", "cells"), "best node of each column"),
    Argument("edges", SCRATCH, "int32", ("slots", "genes"), "best edge of each mutation"),
    Argument("scores", SCRATCH, "int32", _ROWS, "of attachments, a row a node"),
    Argument("maxima", SCRATCH, "int32", _ROWS, "the best attachment below each node"),
    Argument("before", SCRATCH, "int32", _ROWS, "the best score at earlier positions"),
    Argument("after", SCRATCH, "int32", _ROWS, "the best score at a position or later"),
    Argument("moving", SCRATCH, "int32", ("slots", BATCH, "cells"), "what columns gain besides the place"),
    Argument("segments", SCRATCH, "int32", ("slots", WARPS, "cells"), "the best score in each segment"),
    Argument("sums", SCRATCH, "int32", _GENE_ROWS, "of weights of the cells below each edge"),
    Argument("tops", SCRATCH, "int32", _GENE_ROWS, "the best sum at or below each edge"),
    Argument("on_path", SCRATCH, "int32", _GENE_ROWS, "the best sum at or above each edge"),
    Argument("beside", SCRATCH, "int32", _GENE_ROWS, "the best sum beside the path to each edge"),
    Argument(
        "numbers", SCRATCH, "int64", ("slots", "teams", NUMBERS), "numbers that a team remembers", hot=True
    ),
    Argument("keys", SCRATCH, "int64", ("slots", "teams", 2 * BATCH * WARPS), "best keys, ranks", hot=True),
    Argument("parents", SCRATCH, "int32", _NODES, "parent of each node", hot=True),
    Argument("first_child", SCRATCH, "int32", _NODES, "first child; -1: none", hot=True),
    Argument("following", SCRATCH, "int32", _NODES, "next sibling; -1: none", hot=True),
    Argument("previous", SCRATCH, "int32", _NODES, "previous sibling; -1: none", hot=True),
    Argument("order", SCRATCH, "int32", _NODES, "the node at each position of the preorder", hot=True),
    Argument("position", SCRATCH, "int32", _NODES, "position of each node", hot=True),
    Argument("size", SCRATCH, "int32", _NODES, "nodes of each node's subtree", hot=True),
    Argument("offset", SCRATCH, "int32", _NODES, "position of each node, from that of its parent"),
    Argument("kid", SCRATCH, "int32", _NODES, "1: was a child of the node that moves"),
    Argument("taken", SCRATCH, "int32", _NODES, "1: the mutation gains below the node"),
    Argument("turn", SCRATCH, "int32", ("slots", "teams", "turns"), "the order of a sweep", hot=True),
    Argument("left", SCRATCH, "int32", _JOINTS, "of the cell tree: one child; -1: a leaf", hot=True),
    Argument("right", SCRATCH, "int32", _JOINTS, "the other child", hot=True),
    Argument("above", SCRATCH, "int32", _JOINTS, "the parent; -1: none", hot=True),
    Argument("joint_order", SCRATCH, "int32", _JOINTS, "the node at each position", hot=True),
    Argument("joint_position", SCRATCH, "int32", _JOINTS, "position of each node", hot=True),
    Argument("joint_size", SCRATCH, "int32", _JOINTS, "nodes of each node's subtree", hot=True),
    Argument("joint_offset", SCRATCH, "int32", _JOINTS, "items to join, or places from the parent"),
    Argument("words", SCRATCH, "int64", ("slots", "teams", "doubled"), "random words"),
    Argument("path", SCRATCH, "int32", ("slots", "teams", WARPS, "joints"), "a path to the root"),
    Argument("gain", SCRATCH, "int32", ("slots", "teams", BATCH, "nodes"), "weights below each node"),
    Argument("hope", SCRATCH, "int32", ("slots", "teams", BATCH, "nodes"), "what a mutation would add"),
)
