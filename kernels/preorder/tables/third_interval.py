"""The third of at most three intervals that an edit's score is made of."""

from syclade.kernels.preorder.changes import TWO_APART
from syclade.kernels.target import choose, device_function, equal, less


@device_function
def third_interval(
    moved,  # IN Moved: TWO_APART or ONE_IN_THE_OTHER
):
    """(start, end, plus_3), control: an interval that is shifted by row plus_3 less row minus_1.

    What lies between two apart, which is not shifted; or behind the inner of one in the other, shifted as the
    first part is. Where there is nothing, the first part again.
    """
    apart = equal(moved.shape, TWO_APART)
    start = choose(apart, moved.b1, moved.b2)
    end = choose(apart, moved.a2, moved.b1)
    some = less(start, end)
    return (
        choose(some, start, moved.a1),
        choose(some, end, moved.end_first),
        choose(apart & some, moved.minus_1, moved.plus_1),
    )
