"""Slot: the one record of arguments, of where the slot's parts of them start, and of sizes."""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.arguments import CELL_ROWS, GENE_ROWS
from syclade.kernels.target import address, control, device_function


class Slot(NamedTuple):
    """Arguments of a kernel, and the place of the slot in them.

    Attributes:
        given: record of arguments.py.
        number: address, the slot.
        lane: address.
        lanes: address, the number of lanes.
        mutations, columns: control, the numbers of mutations and of distinct columns.
        root: control, the root of the mutation tree.
        tree: address, where the slot's part of arrays over nodes of the mutation tree starts.
        joint: address, likewise of arrays over nodes of the cell tree.
        turn: address, likewise of `turn`.
        luck: address, likewise of `luck`, the Gumbel noise.
        cells, genes: control, width of a row over columns and of a row over mutations.
        cell_rounds, gene_rounds: control, these widths divided by the number of lanes.
        rows: address, where the slot's rows over columns start in arrays with one row per node.
        joint_rows: address, where its rows over mutations start in arrays with one row per node of the cell
            tree.
        spare_cells, spare_genes: address, where its spare rows over columns and over mutations start.
        search: uint64, number of the search.
        key_0, key_1: uint64, the low and the high half of the seed.
    """

    given: Any
    number: Any
    lane: Any
    lanes: Any
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
_CELL_ROWS, _GENE_ROWS = address(CELL_ROWS), address(GENE_ROWS)


def make_place(lanes: int) -> Any:
    """Return the device function (given, number, lane) -> Slot, for this number of lanes, a power of two."""
    lanes_u, lane_bits = address(lanes), control(lanes.bit_length() - 1)

    @device_function
    def place(given, number, lane):
        """Return the Slot."""
        parameters = given.parameters
        mutations, columns = control(parameters[address(0)]), control(parameters[address(1)])
        cells, genes = control(parameters[address(2)]), control(parameters[address(3)])
        nodes, joints = address(parameters[address(4)]), address(parameters[address(5)])
        seed = np.uint64(parameters[address(6)])
        longest = max(nodes, joints)
        return Slot(
            given, number, lane, lanes_u, mutations, columns, mutations,
            number * nodes, number * joints,
            number * longest, number * address(4) * longest,
            cells, genes, cells >> lane_bits, genes >> lane_bits,
            number * nodes * address(cells), number * joints * address(genes),
            number * _CELL_ROWS * address(cells), number * _GENE_ROWS * address(genes),
            np.uint64(given.search[number]), seed & _LOW_WORD, seed >> _WORD,
        )  # fmt: skip

    return place


@device_function
def lane_at(slot, part):
    """Return the lane's own column of a row in a round (address)."""
    return address(part) * slot.lanes + slot.lane


@device_function
def at_node(slot, node):
    """Return where a node is in arrays over nodes of the mutation tree (address)."""
    return slot.tree + address(node)


@device_function
def at_joint(slot, joint):
    """Return where a node is in arrays over nodes of the cell tree (address)."""
    return slot.joint + address(joint)


@device_function
def spare_row(slot, number):
    """Return where a spare row over columns starts (address)."""
    return slot.spare_cells + address(number * slot.cells)


@device_function
def spare_gene_row(slot, number):
    """Return where a spare row over mutations starts (address)."""
    return slot.spare_genes + address(number * slot.genes)
