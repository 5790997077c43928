"""Moves on cell trees, one per file."""
