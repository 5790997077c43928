"""The mirror of the kernels in numpy, vectorised over the slots."""
