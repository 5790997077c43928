"""Mutation trees as parent vectors, and the files they come from and go to."""
