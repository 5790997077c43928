"""Parts of a chain on the device, each a value that a factory or a table provides.

- A *move* proposes: it maps random words and the tree to an edit of the tree and the correction of its
  probability.
- An *edit* is a change that moves make to a tree. There are few (edits.py), and every encoding implements
  all.
- *Relations* are the queries about a tree that moves may use; every encoding answers them.
- A *score* defines what a cell contributes to the score of the tree.
- An *evaluation* is a score on an encoding: it maps an edit to the score of the tree after it.
- A *recorder* selects the states that leave the chain while it runs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from syclade.kernels.arguments import Argument
from syclade.kernels.target import device_function


class Relations(NamedTuple):
    """Queries about a slot's tree. Nodes, sizes and ranks are control integers, the same in all lanes.

    Attributes:
        is_descendant: (slot, node, ancestor) -> 1 if `ancestor` is the node itself or above it, else 0.
        subtree_size: (slot, node) -> number of nodes in its subtree, itself included.
        select: (slot, node, inside, rank) -> the rank-th node, counted from 0 in order of node numbers, of
            those in the node's subtree (inside 1) or of the others (inside 0).
        parent_of: (slot, node) -> its parent. The node may differ between lanes.
    """

    is_descendant: Any
    subtree_size: Any
    select: Any
    parent_of: Any


class Kinds(NamedTuple):
    """Kinds that the steps of a move are counted as.

    Attributes:
        first: the move's first kind; `Move.kinds` is how many it has.
        null: the kind of steps that propose nothing, the last of all.
    """

    first: int
    null: int


class Move(NamedTuple):
    """Move: a way to propose.

    Attributes:
        kinds: number of kinds that its steps are counted as; which one may depend on the tree.
        second: device function (word, first, mutations) -> uint64, all uint64: the draw besides the first
            node. It is done for many steps at once, one step per lane, without branches.
        make_propose: (relations, kinds) -> device function (slot, draw, mutations) -> Proposal.
    """

    kinds: int
    second: Any
    make_propose: Callable[[Relations, Kinds], Any]


class Terms(NamedTuple):
    """Contribution of a cell from all its attachments: device functions of values, one per lane.

    Attributes:
        form: (given, number) -> any value that the other two need, the same in all lanes.
        term: (form, worth, best) -> int32, the term of an attachment with score `worth`, given the best
            one's.
        of_sum: (form, best, total) -> int64, the cell's contribution to the tree's score.
    """

    form: Any
    term: Any
    of_sum: Any


class Score(NamedTuple):
    """Contribution of a cell to the tree's score, from its best attachment or from all its attachments.

    Attributes:
        arguments: arguments that the kernel takes for the score in addition.
        of_cell: device function (given, number, best) -> the cell's contribution to the tree's score, int32
            or int64; `best` is int32, one per lane; `given` has the arguments, `number` is the slot.
        wide: True if sums over a lane's cells need 64 bits although those of best attachments do not.
        terms: set if all attachments count; then `of_cell` is not called.
    """

    arguments: tuple[Argument, ...]
    of_cell: Any
    wide: bool
    terms: Terms | None = None


@device_function
def tell_nothing(
    slot,  # IN the kernel's arguments
    events,  # OUT record of the recorders' arguments
    event,  # IN address: number of the event
):
    """Report nothing besides the tree."""


class Evaluation(NamedTuple):
    """Score on an encoding, for given sizes: device functions.

    They take a `Slot`. After a write to the tree, it is read only through a slot whose
    `base` has passed `in_step` since.

    Attributes:
        relations: queries about the tree.
        place: (given, number, lane, mutations) -> Slot.
        start: (slot) -> base: compute what follows from the tree, unless it is up to date.
        evaluate: (slot, proposal, current, threshold) -> (score after the edit, the `change` that `follow`
            needs). The proposal is accepted if its score plus the threshold is at least 0. If it is not,
            any score below minus the threshold will do, so an evaluation may stop early.
        follow: (slot, proposal, change): apply the edit to the tree.
        keep: (slot): copy the tree to the best tree.
        finish: (slot): called after the last step, before the launch ends.
        tell: (slot, events, event): write what the state has besides its tree to the ring of events, at the
            event with this number.
    """

    relations: Relations
    place: Any
    start: Any
    evaluate: Any
    follow: Any
    keep: Any
    finish: Any
    tell: Any = tell_nothing


class Encoding(NamedTuple):
    """Representation of a tree in memory, with the evaluations of scores on it.

    Attributes:
        name: the kernel's name begins with it.
        group: "sub-group" or "work-group": the group that a slot's lanes form (target/sycl.py).
        arguments: arguments of the kernel besides those of every chain.
        make_evaluation: (score, **sizes) -> Evaluation.
    """

    name: str
    group: str
    arguments: tuple[Argument, ...]
    make_evaluation: Callable[..., Evaluation]


class Recorder(NamedTuple):
    """Selection of the states that leave the chain.

    Attributes:
        arguments: arguments that the kernel takes for it besides the ring.
        wants: device function (events, number, step, score, best, accepted) -> boolean, called after a step.
            `step` is the number of that step, `score` the tree's score after it, `best` the best score before
            it, and `accepted` 1 if it was accepted, else 0; `events` has the arguments.
    """

    arguments: tuple[Argument, ...]
    wants: Any
