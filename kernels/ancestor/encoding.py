"""The encoding `ancestor`: a row of bits a node, loops of fixed length (ffSCITE's design), scores on it."""

from typing import Any, NamedTuple

from syclade.kernels.ancestor.arguments import ARGUMENTS
from syclade.kernels.ancestor.find_parent import from_own_row
from syclade.kernels.ancestor.reduction import make_copy_rows, make_total
from syclade.kernels.ancestor.relations import make_relations
from syclade.kernels.ancestor.score_mapping import make_score_mapping
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.chain.parts import Encoding, Evaluation, Score
from syclade.kernels.target import address, control, device_function, in_step


class Here(NamedTuple):
    """Where a slot's parts of the arguments are.

    Attributes:
        number: address, the slot.
        lane: address.
    """

    number: Any
    lane: Any


def make_evaluation(
    score: Score, *, nodes: int, words: int, cells: int, lanes: int, values: int, **_others: int
) -> Evaluation:
    """The evaluation of a score for matrices of `nodes` rows of `words` words, and `cells` columns."""
    matrix_size, lanes_u = address(nodes * words), address(lanes)
    tree_update = make_tree_update(nodes, words, lanes, from_own_row)
    score_mapping = make_score_mapping(score, nodes, words, cells, lanes, values)
    total, copy_rows = make_total(lanes), make_copy_rows(nodes, words, lanes)
    relations = make_relations(nodes, words)

    @device_function
    def place(given, number, lane, mutations):
        """Where the slot's matrices start."""
        return Here(number, lane), number * matrix_size

    @device_function
    def start(given, here, base):
        """Nothing follows from the matrix."""
        return base

    @device_function
    def evaluate(given, here, base, proposal, current):
        """The score of the proposed tree (int64), which is written anew as a whole; nothing more to know."""
        tree_update(given, base, base, here.lane, proposal)
        share = score_mapping(given, here.number, given.proposal, in_step(base), here.lane)
        shares = here.number * lanes_u
        given.shares[shares + here.lane] = share
        return total(given.shares, in_step(shares)), control(0)

    @device_function
    def follow(given, here, base, proposal, change):
        """Take the proposed tree."""
        copy_rows(given.proposal, given.ancestors, base, here.lane)

    @device_function
    def keep(given, here, base):
        """Take the tree for the best one."""
        copy_rows(given.ancestors, given.best_ancestors, base, here.lane)

    @device_function
    def finish(given, here, base):
        """Everything is as the host wants it."""

    return Evaluation(relations, place, start, evaluate, follow, keep, finish)


ENCODING = Encoding(name="ancestor", group="work-group", arguments=ARGUMENTS, make_evaluation=make_evaluation)
