"""The tree as preorder intervals: a proposal costs O(cells)."""
