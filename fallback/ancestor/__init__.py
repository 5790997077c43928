"""The chain's stages on ancestor matrices, in numpy."""
