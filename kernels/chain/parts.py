"""The parts of a chain on the device, each a value that a factory or a table gives.

- A *move* proposes: from random words and the tree to an edit of it, with the correction of its probability.
- An *edit* is what moves do to a tree, of which there are few (edits.py); every encoding can do them all.
- *Relations* are the questions that moves may ask about a tree; every encoding answers them.
- A *score* says what a cell is worth.
- An *evaluation* is a score on an encoding: from an edit to the score of the tree after it.
- A *recorder* says which states leave the chain while it runs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from syclade.kernels.arguments import Argument
from syclade.kernels.target import device_function


class Relations(NamedTuple):
    """Questions to the tree of a slot. Nodes, sizes and ranks are control integers that lanes share.

    Attributes:
        is_descendant: (given, here, base, node, ancestor) -> 1 if `ancestor` is the node itself or above it,
            else 0.
        subtree_size: (given, here, base, node) -> nodes of its subtree, itself included.
        select: (given, here, base, node, inside, rank) -> the rank-th node, counted from 0 in the order of
            labels, of those in the node's subtree (inside 1) or of the others (0).
        parent_of: (given, here, base, node) -> its parent. The node may be one a lane.
    """

    is_descendant: Any
    subtree_size: Any
    select: Any
    parent_of: Any


class Kinds(NamedTuple):
    """How steps are counted.

    Attributes:
        first: the first kind of a move; it has as many as `Move.kinds` says.
        null: the kind of steps that propose nothing, the last of all.
    """

    first: int
    null: int


class Move(NamedTuple):
    """A way to propose.

    Attributes:
        kinds: in how many ways steps of this move are counted: what came of it may depend on the tree.
        second: device function (word, first, mutations) -> uint64, all uint64: what is drawn besides the
            first node. Done for many steps at once, a step a lane, without branches.
        make_propose: (relations, kinds) -> device function (given, here, base, draw, mutations) ->
            Proposal.
    """

    kinds: int
    second: Any
    make_propose: Callable[[Relations, Kinds], Any]


class Terms(NamedTuple):
    """How a cell's worth is made of all its attachments: device functions, of values one a lane.

    Attributes:
        form: (given, number) -> anything that the others want, which lanes share.
        term: (form, worth, best) -> int32, what an attachment with this score adds, given the best one's.
        of_sum: (form, best, total) -> what the cell adds to the tree's score, int64.
    """

    form: Any
    term: Any
    of_sum: Any


class Score(NamedTuple):
    """What a cell is worth, given the score of its best attachment, or of all its attachments.

    Attributes:
        arguments: what the kernel takes for it besides.
        of_cell: device function (given, number, best) -> what the cell adds to the tree's score, int32 or
            int64; `best` is int32, one a lane; `given` has the arguments, `number` is the slot's.
        wide: whether sums over a lane's cells need 64 bits although those of best attachments do not.
        terms: where all attachments count: then `of_cell` is not asked.
    """

    arguments: tuple[Argument, ...]
    of_cell: Any
    wide: bool
    terms: Terms | None = None


@device_function
def tell_nothing(given, here, events, event):
    """There is nothing besides the tree."""


class Evaluation(NamedTuple):
    """A score on an encoding, for given sizes: device functions.

    `given` has the kernel's arguments, `here` tells where the slot's parts of them are (a record of the
    evaluation's own), and `base`, an address, is where its tree starts: what is written to the tree is read
    through a `base` that lanes have been in step at since.

    Attributes:
        relations: questions to the tree.
        place: (given, number, lane, mutations) -> (here, base).
        start: (given, here, base) -> base: make what follows from the tree, if it is not there.
        evaluate: (given, here, base, proposal, current) -> (score after the edit, what `follow` wants to
            know).
        follow: (given, here, base, proposal, change): the tree becomes that after the edit.
        keep: (given, here, base): the tree becomes the best tree.
        finish: (given, here, base): after the last step, before the launch ends.
        tell: (given, here, events, event): put what the state has besides its tree in the ring of events, at
            the event of this number.
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
    """How a tree stands in memory, with the evaluations of scores on it.

    Attributes:
        name: the kernel's name begins with it.
        group: "sub-group" or "work-group": what a slot's lanes are (target/sycl.py).
        arguments: of the kernel, besides those of every chain.
        make_evaluation: (score, **sizes) -> Evaluation.
    """

    name: str
    group: str
    arguments: tuple[Argument, ...]
    make_evaluation: Callable[..., Evaluation]


class Recorder(NamedTuple):
    """Which states leave the chain.

    Attributes:
        arguments: what the kernel takes for it besides the ring.
        wants: device function (events, number, step, score, best, accepted) -> boolean, after step `step`
            (its number before it was done), given the tree's score, the best before it and whether it was
            accepted (1 or 0); `events` has the arguments.
    """

    arguments: tuple[Argument, ...]
    wants: Any
