"""Search for the most likely tree in numpy, one slot at a time: the mirror of `kernels/search`."""
