"""What accepted moves change (the mirror of `kernels/preorder/changes.py`).

A move rearranges at most four runs of the preorder, each of which is shifted as a whole: the ranges called
first and last in propose.py, and one or two between them. A run that stays as it is is left out.

Only few moves of a step are accepted, and for few numbers Python is faster than numpy: so this goes through
the moves one by one. All work on nodes and cells is left to tree_update.py and rebuild.py.
"""

from syclade.fallback import proposal as bits
from syclade.fallback.preorder.propose import Moves
from syclade.fallback.preorder.trees import Numbers, Trees


class Changes:
    """What the accepted moves of a step change, at most one move a slot.

    Attributes:
        runs: five numbers a run: its first place, its length, where it goes, and two rows whose difference
            shifts its scores.
        sizes: seven numbers a move that changes sizes: its slot, then twice, for nodes that grow and nodes
            that shrink: by how much, above which place, and from which place on.
        adopted: two numbers a node that gets a new parent: its key, and the parent's place.
        swapped: two numbers a swap of labels: the places.
    """

    def __init__(self, trees: Trees) -> None:
        self._order, self._nodes, self._end = trees.order, trees.nodes, trees.end
        self.runs: list[int] = []
        self.sizes: list[int] = []
        self.adopted: list[int] = []
        self.swapped: list[int] = []

    def add(
        self,
        moves: Moves,
        lanes: Numbers,  # IN (accepted,): which of the moves, ascending
        slots: Numbers,  # IN (accepted,)
        kinds: Numbers,  # IN (accepted,)
    ) -> None:
        """Add accepted moves."""
        cuts = moves.cuts[1:5].take(lanes, axis=1).T.tolist()
        shifts = moves.shift.take(lanes, axis=1).T.tolist()
        nested = moves.nested.take(lanes).tolist()
        for at, (slot, kind) in enumerate(zip(slots.tolist(), kinds.tolist(), strict=True)):
            one, two, three, four = cuts[at]
            plus, minus = shifts[at]
            if kind == bits.PRUNE_AND_REATTACH:
                self._prune(slot, one, two, plus, minus)
            elif kind == bits.SWAP_LABELS:
                self._swap_labels(nested[at], one, two, three, four, plus, minus)
            elif kind == bits.SWAP_UNRELATED_SUBTREES:
                self._swap_unrelated(slot, one, two, three, four, plus, minus)
            else:
                here = moves.inner[0].searchsorted(lanes[at])
                self._swap_related(slot, one, two, three, four, plus, minus, moves.inner.item(1, here))

    def _run(self, start: int, stop: int, target: int, plus: int = 0, minus: int = 0) -> None:
        """Two equal rows are no shift."""
        if start < stop:
            self.runs += (start, stop - start, target, plus, minus)

    def _adopt(self, place: int, parent: int) -> None:
        """The node at this place gets a new parent."""
        self.adopted += (self._order.item(place), parent)

    def _prune(self, slot: int, start: int, stop: int, parent: int, old_parent: int) -> None:
        """The subtree becomes its new parent's first or last child, whichever moves fewer nodes."""
        length = stop - start
        front = parent + 1
        back = self._nodes.item(self._order.item(parent) + self._end)
        goal = front if max(stop - front, front - start) <= max(stop - back, back - start) else back
        if goal > start:
            self._run(stop, goal, start)
            self._run(start, stop, goal - length, parent, old_parent)
        else:
            self._run(start, stop, goal, parent, old_parent)
            self._run(goal, start, goal + length)
        self._adopt(start, parent)
        self.sizes += (slot, length, parent, 0, length, old_parent, 0)

    def _swap_labels(
        self, nested: bool, one: int, two: int, three: int, four: int, plus: int, minus: int
    ) -> None:
        """Nodes stay where they are, but two change their names."""
        self._run(one, two, one, plus, minus)
        if nested:
            self._run(three, four, three, plus, minus)
        else:
            self._run(three, four, three, minus, plus)
        self.swapped += (one, two if nested else three)

    def _swap_unrelated(
        self, slot: int, one: int, two: int, three: int, four: int, plus: int, minus: int
    ) -> None:
        """First and last change places, and what is between them may move."""
        first, last = two - one, four - three
        self._run(three, four, one, minus, plus)
        self._run(two, three, one + last)
        self._run(one, two, four - first, plus, minus)
        self._adopt(one, plus)
        self._adopt(three, minus)
        self.sizes += (slot, first - last, plus, 0, first - last, minus, 0)

    def _swap_related(
        self, slot: int, one: int, two: int, three: int, four: int, target: int, above_lower: int, above: int
    ) -> None:
        """The lower subtree goes up; the rest of the upper one becomes the first child of a node in it.

        The nodes between the two lose the lower subtree; those that now are above the upper node gain the
        rest of its subtree.
        """
        head = target + 1
        self._run(two, head, one, above, above_lower)
        self._run(one, two, one + head - two, target, above_lower)
        self._run(three, four, head, target, above_lower)
        self._run(head, three, head + four - three, above, above_lower)
        self._adopt(one, target)
        self._adopt(two, above)
        self.sizes += (slot, two - one + four - three, target, two, three - two, above_lower, one)
