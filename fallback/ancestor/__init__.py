"""The chain's stages on ancestor matrices in numpy, one stage a file (the mirror of `kernels/ancestor`)."""
