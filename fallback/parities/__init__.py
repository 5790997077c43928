"""Mutation trees in which one mutation has two nodes."""
