"""Mutation trees whose score adds up all nodes, and all pairs of nodes, of each cell."""
