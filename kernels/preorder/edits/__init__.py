"""Edits on intervals of the preorder, one per file (docs/model.md, "Intervals")."""
