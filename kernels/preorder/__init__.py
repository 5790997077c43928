"""The tree as preorder intervals: a proposal costs O(cells), and an accepted one changes little."""
