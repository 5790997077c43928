"""Context of a slot: where its parts of the arguments start, and sizes."""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.target import device_function


class Here(NamedTuple):
    """Context that the device functions take besides the arguments.

    Attributes:
        number: uint64, the slot.
        lane: uint64.
        mutations, columns: int64, the numbers of mutations and of distinct columns.
        root: int64, the root of the mutation tree.
        tree: uint64, where the slot's part of arrays over nodes of the mutation tree starts.
        joint: uint64, likewise of arrays over nodes of the cell tree.
        turn: uint64, likewise of `turn`.
        luck: uint64, likewise of `luck`, the Gumbel noise.
        cells, genes: int64, width of a row over columns and of a row over mutations.
        cell_rounds, gene_rounds: int64, these widths divided by the number of lanes.
        rows: uint64, where the slot's rows over columns start in arrays with one row per node.
        joint_rows: uint64, where its rows over mutations start in arrays with one row per node of the cell
            tree.
        spare_cells, spare_genes: uint64, where its spare rows over columns and over mutations start.
        search: uint64, number of the search.
        key_0, key_1: uint64, the low and the high half of the seed.
    """

    number: Any
    lane: Any
    mutations: Any
    columns: Any
    root: Any
    tree: Any
    joint: Any
    turn: Any
    luck: Any
    cells: Any
    genes: Any
    cell_rounds: Any
    gene_rounds: Any
    rows: Any
    joint_rows: Any
    spare_cells: Any
    spare_genes: Any
    search: Any
    key_0: Any
    key_1: Any


_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)


def make_place(lane_bits: int, cell_rows: int, gene_rows: int) -> Any:
    """Return the device function (given, number, lane) -> Here."""
    bits = np.int64(lane_bits)

    @device_function
    def place(given, number, lane):
        """Return the context of the slot (Here)."""
        parameters = given.parameters
        mutations, columns = parameters[np.uint64(0)], parameters[np.uint64(1)]
        cells, genes = parameters[np.uint64(2)], parameters[np.uint64(3)]
        nodes, joints = np.uint64(parameters[np.uint64(4)]), np.uint64(parameters[np.uint64(5)])
        seed = np.uint64(parameters[np.uint64(6)])
        longest = max(nodes, joints)
        return Here(
            number, lane, mutations, columns, mutations,
            number * nodes, number * joints,
            number * longest, number * np.uint64(4) * longest,
            cells, genes, cells >> bits, genes >> bits,
            number * nodes * np.uint64(cells), number * joints * np.uint64(genes),
            number * np.uint64(cell_rows) * np.uint64(cells),
            number * np.uint64(gene_rows) * np.uint64(genes),
            np.uint64(given.search[number]), seed & _LOW_WORD, seed >> _WORD,
        )  # fmt: skip

    return place
