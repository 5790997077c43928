"""The chain's stages on ancestor matrices in numpy, one stage per file (the mirror of `kernels/ancestor`)."""
