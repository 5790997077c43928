"""Cell-leaf trees in numpy: the mirror of `kernels/clade`, plain and simple."""
