"""The chain's stages on ancestor matrices."""
