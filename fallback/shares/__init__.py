"""Gibbs steps of the shares of the cells at each node, in numpy."""
