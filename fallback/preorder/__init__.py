"""The chain's stages on preorder intervals, in numpy: a proposal costs O(cells)."""
