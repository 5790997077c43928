"""Scores of a cell, one per file."""
