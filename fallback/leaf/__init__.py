"""Cell trees in numpy: the plain mirror of `kernels/clade`."""
