"""Narrow tables with the sum of every subtree, for scores of all attachments: most proposals need no pass."""
