"""Encoding `sums`: rows of sums over the nodes of each subtree, and over its pairs of nodes."""
