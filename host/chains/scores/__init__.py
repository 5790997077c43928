"""Scores of a tree, one per file: a slow, obviously correct definition, and names of the implementations."""
