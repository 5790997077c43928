"""A team's copy of the mutation tree: lists of children in the order of their numbers, and the preorder.

One thread changes the lists; all threads number the nodes anew.
"""

import numpy as np

from syclade.kernels.search.batched.team import BEST, number_of, own, put_number
from syclade.kernels.search.exact_move import ABOVE_ALL, ABOVE_SOME, AS_BEFORE, ON_EDGE
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, meet

_NONE = np.int32(-1)


@device_function
def parent_of(work, node):
    """Return the parent (control)."""
    return control(work.given.parents[own(work, node)])


@device_function
def first_child_of(work, node):
    """Return the first child (control); -1: none."""
    return control(work.given.first_child[own(work, node)])


@device_function
def following_of(work, node):
    """Return the next sibling (control); -1: none."""
    return control(work.given.following[own(work, node)])


@device_function
def node_at(work, place):
    """Return the node at a position (control)."""
    return control(work.given.order[own(work, place)])


@device_function
def start_of(work, node):
    """Return the node's position (control)."""
    return control(work.given.position[own(work, node)])


@device_function
def size_of(work, node):
    """Return the number of nodes of its subtree (control)."""
    return control(work.given.size[own(work, node)])


@device_function
def interval_of(work, node):
    """Return (position, end of the subtree), control."""
    start = start_of(work, node)
    return start, start + size_of(work, node)


@device_function
def children_of(work, node):
    """Return the number of children (control)."""
    count, child = control(0), first_child_of(work, node)
    while child >= 0:
        count = count + 1
        child = following_of(work, child)
    return count


@device_function
def unlink(work, node):
    """Take a node off the list of its parent's children; one thread does."""
    given = work.given
    before, after = given.previous[own(work, node)], given.following[own(work, node)]
    if before >= 0:
        given.following[own(work, control(before))] = after
    else:
        given.first_child[own(work, parent_of(work, node))] = after
    if after >= 0:
        given.previous[own(work, control(after))] = before


@device_function
def link(
    work,  # IN OUT Team
    node,  # IN control
    parent,  # IN control: its parent from now on
    after,  # IN control: a child before it in the list; -1: search from the first
):
    """Make a node a child of a parent; one thread does.

    Returns the node, from which a child with a higher number can be linked.
    """
    given = work.given
    last = after
    found = first_child_of(work, parent)
    if after >= 0:
        found = following_of(work, after)
    while found >= 0 and found < node:
        last = found
        found = following_of(work, found)
    given.parents[own(work, node)] = np.int32(parent)
    given.previous[own(work, node)] = np.int32(last)
    given.following[own(work, node)] = np.int32(found)
    if last >= 0:
        given.following[own(work, last)] = np.int32(node)
    else:
        given.first_child[own(work, parent)] = np.int32(node)
    if found >= 0:
        given.previous[own(work, found)] = np.int32(node)
    return node


@device_function
def link_at(
    work,  # IN OUT Team
    v,  # IN control: the mutation
    kind,  # IN control: kind of place
    node,  # IN control: where it goes
):
    """Put v, which is in no list and has no child, at its place in the lists; one thread does."""
    below, parent = control(1), node
    if kind == ON_EDGE:
        parent = parent_of(work, node)
        unlink(work, node)
        link(work, node, v, control(-1))
        below = below + size_of(work, node)
    else:
        child, last = first_child_of(work, node), control(-1)
        while child >= 0:
            after = following_of(work, child)
            goes = kind == ABOVE_ALL
            if kind == ABOVE_SOME:
                goes = work.given.taken[own(work, child)] == np.int32(1)
            if kind == AS_BEFORE:
                goes = work.given.kid[own(work, child)] == np.int32(1)
            if goes:
                unlink(work, child)
                last = link(work, child, v, last)
                below = below + size_of(work, child)
            child = after
    link(work, v, parent, control(-1))
    work.given.size[own(work, v)] = np.int32(below)


@device_function
def release_children(work, v, old):
    """Give v's children to its parent; one thread does. `kid` marks them."""
    given = work.given
    child, last = first_child_of(work, v), control(-1)
    while child >= 0:
        after = following_of(work, child)
        last = link(work, child, old, last)
        given.kid[own(work, child)] = np.int32(1)
        child = after
    given.first_child[own(work, v)] = _NONE


@device_function
def resize(
    work,  # IN parents, position; IN OUT size
    losing,  # IN control: node that loses `change` nodes below it, as do those above it; -1: none
    gaining,  # IN control: node that gains as many; -1: none
    change,  # IN control
    spared,  # IN control: node whose size stays
):
    """Change the sizes on the paths to two nodes, which positions tell; both are those before the change."""
    lost, found = control(-1), control(-1)
    if losing >= 0:
        lost = start_of(work, losing)
    if gaining >= 0:
        found = start_of(work, gaining)
    for other in range(work.thread, work.root + 1, work.threads):
        if other != spared and (parent_of(work, other) != other or other == work.root):
            start, size = start_of(work, other), size_of(work, other)
            more = control(0)
            if start <= lost and lost < start + size:
                more = more - change
            if start <= found and found < start + size:
                more = more + change
            work.given.size[own(work, other)] = np.int32(size + more)


@device_function
def renumber(work):
    """Compute positions and order from lists and sizes; the team meets before and after."""
    given = work.given
    meet()
    for node in range(work.thread, work.root, work.threads):
        place, before = control(1), control(-1)
        if parent_of(work, node) != node:
            before = control(given.previous[own(work, node)])
        while before >= 0:
            place = place + size_of(work, before)
            before = control(given.previous[own(work, before)])
        given.offset[own(work, node)] = np.int32(place)
    meet()
    for node in range(work.thread, work.root, work.threads):
        place, at = control(0), control(node)
        while at != work.root:
            place = place + control(given.offset[own(work, at)])
            above = parent_of(work, at)
            if above == at:  # not in the tree
                place = control(-1)
                above = work.root
            at = above
        if place > 0:
            given.position[own(work, node)] = np.int32(place)
            given.order[own(work, place)] = np.int32(node)
    meet()


@device_function
def make_tree(work):
    """Compute everything from the parents; return the number of nodes in the tree (control)."""
    given = work.given
    for node in range(work.thread, work.root + 1, work.threads):
        given.first_child[own(work, node)] = _NONE
        given.following[own(work, node)] = _NONE
        given.previous[own(work, node)] = _NONE
        given.size[own(work, node)] = np.int32(0)
        given.kid[own(work, node)] = np.int32(0)
    meet()
    if work.thread == 0:
        given.order[own(work, 0)] = np.int32(work.root)
        given.position[own(work, work.root)] = np.int32(0)
        for done in range(work.root):
            node = work.root - 1 - done
            parent = parent_of(work, node)
            if parent != node:
                head = given.first_child[own(work, parent)]
                given.following[own(work, node)] = head
                if head >= 0:
                    given.previous[own(work, control(head))] = np.int32(node)
                given.first_child[own(work, parent)] = np.int32(node)
    for node in range(work.thread, work.root + 1, work.threads):
        at = control(node)
        if parent_of(work, at) != at or at == work.root:
            while at != work.root:
                add_to(given.size, own(work, at), np.int32(1))
                at = parent_of(work, at)
            add_to(given.size, own(work, at), np.int32(1))
    renumber(work)
    return size_of(work, work.root)


@device_function
def load_tree(work):
    """Copy the tree and the best score from the search's state."""
    given = work.given
    for node in range(work.thread, work.root + 1, work.threads):
        given.parents[own(work, node)] = given.parent[work.number * work.nodes + node]
    if work.thread == 0:
        put_number(work, BEST, given.best_score[work.number])
    meet()


@device_function
def store_tree(work):
    """Copy the tree to the search's state; the first team does."""
    if work.team == 0:
        for node in range(work.thread, work.root + 1, work.threads):
            work.given.parent[work.number * work.nodes + node] = work.given.parents[own(work, node)]


@device_function
def keep_best(work, score):
    """Copy the tree to the best tree if its score is higher; the team meets."""
    given = work.given
    higher = score > number_of(work, BEST)
    meet()
    if higher and work.thread == 0:
        put_number(work, BEST, score)
    if higher and work.team == 0:
        for node in range(work.thread, work.root + 1, work.threads):
            given.best_parent[work.number * work.nodes + node] = given.parents[own(work, node)]
        if work.thread == 0:
            given.best_score[work.number] = score
    meet()
