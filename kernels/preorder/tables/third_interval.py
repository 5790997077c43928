"""Third of at most three intervals that an edit's score is computed from."""

from syclade.kernels.preorder.changes import TWO_APART
from syclade.kernels.target import choose, device_function, equal, less


@device_function
def third_interval(
    moved,  # IN Moved: TWO_APART or ONE_IN_THE_OTHER
):
    """Return (start, end, plus_3), control: an interval that is shifted by row plus_3 minus row minus_1.

    For two separate intervals it is what is between them, which is not shifted. For one inside the other it
    is what follows the inner one, shifted like the first part. If that is empty, it is the first part again.
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
